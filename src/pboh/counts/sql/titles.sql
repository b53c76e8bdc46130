-- Every entity of all inputs under its final title, numbered in the order of titles. Those that only pages set
-- aside link to are left out.
-- With {crosswikis_entities} = 1 the titles only Crosswikis knows (from {min_crosswikis_count} links on)
-- become entities too.
SELECT CAST(ROW_NUMBER() OVER (ORDER BY title) - 1 AS INT) AS entity, title, page
FROM (
  SELECT title, MAX(page) = 1 AS page
  FROM (
    SELECT CASE WHEN r.title IS NULL THEN e.title ELSE r.final END AS title,
           CASE WHEN e.page THEN 1 ELSE 0 END AS page
    FROM input_entities AS e
    LEFT JOIN resolution AS r ON e.title = r.title
    WHERE NOT e.held
    UNION ALL
    SELECT CASE WHEN r.title IS NULL THEN c.title ELSE r.final END AS title, 0 AS page
    FROM crosswikis AS c
    LEFT JOIN resolution AS r ON c.title = r.title
    WHERE {crosswikis_entities} = 1 AND c.count >= {min_crosswikis_count}
  ) AS resolved
  WHERE title IS NOT NULL
  GROUP BY title
) AS entities
