-- The entities a disambiguation page lists under its title.
SELECT DISTINCT title, entity
FROM (
  SELECT p.title, e.entity
  FROM input_links AS l
  JOIN input_pages AS p ON l.input = p.input AND l.page = p.page
  JOIN entity_ids AS e ON l.input = e.input AND l.entity = e.given
  WHERE p.kind = 'disambiguation'
  UNION ALL
  SELECT a.title, e.entity
  FROM counted_disambiguations AS a
  JOIN entity_ids AS e ON a.input = e.input AND a.entity = e.given
) AS listed
ORDER BY title, entity
