-- The name-title counts of the Crosswikis dictionary, as read and as counted before. Unpruned.
SELECT name, title, CAST(SUM(count) AS BIGINT) AS count
FROM (
  SELECT name, title, count FROM crosswikis_lines WHERE problem IS NULL
  UNION ALL
  SELECT name, title, count FROM counted_crosswikis
) AS counted
GROUP BY name, title
ORDER BY name, title
