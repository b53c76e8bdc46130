-- Which entity is in which document: those it links to, and the one it is about.
-- These posting lists stand for all co-occurrence counts N(e,e'): the number of documents two lists share.
SELECT DISTINCT entity, document
FROM (
  SELECT e.entity, d.document
  FROM input_links AS l
  JOIN documents AS d ON l.input = d.input AND l.page = d.page
  JOIN entity_ids AS e ON l.input = e.input AND l.entity = e.given
  UNION ALL
  SELECT e.entity, d.document
  FROM documents AS d
  JOIN entity_ids AS e ON d.input = e.input AND d.given = e.given
  UNION ALL
  SELECT e.entity, d.document
  FROM counted_incidences AS i
  JOIN documents AS d ON i.input = d.input AND i.document = d.counted
  JOIN entity_ids AS e ON i.input = e.input AND i.entity = e.given
) AS found
ORDER BY entity, document
