-- Every name of the dictionary with a number.
SELECT CAST(ROW_NUMBER() OVER (ORDER BY name) - 1 AS INT) AS id, name
FROM (SELECT DISTINCT name FROM names) AS kept
ORDER BY id
