-- For the link probability of a name: how often it stands in running text as a link, and how often at all.
-- A link on a part of a word is no occurrence of whole words, so total is never less than linked.
SELECT n.name,
       CAST(COALESCE(l.linked, 0) AS BIGINT) AS linked,
       CAST(GREATEST(COALESCE(o.total, 0), COALESCE(l.linked, 0)) AS BIGINT) AS total
FROM name_ids AS n
LEFT JOIN (SELECT name, SUM(count) AS linked FROM anchors GROUP BY name) AS l ON n.name = l.name
LEFT JOIN (SELECT id, SUM(count) AS total FROM name_occurrences GROUP BY id) AS o ON n.id = o.id
ORDER BY name
