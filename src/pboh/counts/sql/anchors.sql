-- c(m,e): how often the name m, as written, is the anchor of a link to the entity e. Unpruned.
SELECT name, entity, CAST(SUM(count) AS BIGINT) AS count
FROM (
  SELECT l.anchor AS name, e.entity, 1 AS count
  FROM input_links AS l
  JOIN documents AS d ON l.input = d.input AND l.page = d.page
  JOIN entity_ids AS e ON l.input = e.input AND l.entity = e.given
  UNION ALL
  SELECT a.name, e.entity, a.count
  FROM counted_anchors AS a
  JOIN entity_ids AS e ON a.input = e.input AND a.entity = e.given
) AS links
GROUP BY name, entity
ORDER BY name, entity
