-- c(m,e): how often the name m, as written, is the anchor of a link to the entity e; and how many of these
-- links a word follows at once ("French shares"). Unpruned.
SELECT name, entity, CAST(SUM(count) AS BIGINT) AS count, CAST(SUM(followed) AS BIGINT) AS followed
FROM (
  SELECT l.anchor AS name, e.entity, 1 AS count, CASE WHEN l.followed THEN 1 ELSE 0 END AS followed
  FROM input_links AS l
  JOIN documents AS d ON l.input = d.input AND l.page = d.page
  JOIN entity_ids AS e ON l.input = e.input AND l.entity = e.given
  UNION ALL
  SELECT a.name, e.entity, a.count, a.followed
  FROM counted_anchors AS a
  JOIN entity_ids AS e ON a.input = e.input AND a.entity = e.given
) AS links
GROUP BY name, entity
ORDER BY name, entity
