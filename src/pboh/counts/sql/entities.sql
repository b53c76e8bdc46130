-- Of every entity: links to it, documents with it, and its marginal sum over e' of N(e,e'),
-- which is the sum of n_d - 1 over its documents; and the wiki's number of its page.
WITH marginals AS (
  SELECT i.entity, COUNT(*) AS documents, SUM(s.size - 1) AS marginal
  FROM incidences AS i
  JOIN document_sizes AS s ON i.document = s.document
  GROUP BY i.entity
),
occurrences AS (
  SELECT entity, SUM(count) AS occurrences FROM anchors GROUP BY entity
),
numbers AS (
  SELECT i.entity, MIN(p.id) AS id
  FROM input_page_ids AS p
  JOIN entity_ids AS i ON p.input = i.input AND p.entity = i.given
  GROUP BY i.entity
)
SELECT t.entity, t.title,
       CAST(COALESCE(o.occurrences, 0) AS BIGINT) AS occurrences,
       CAST(COALESCE(m.documents, 0) AS BIGINT) AS documents,
       CAST(COALESCE(m.marginal, 0) AS BIGINT) AS marginal,
       t.page, n.id
FROM titles AS t
LEFT JOIN marginals AS m ON t.entity = m.entity
LEFT JOIN occurrences AS o ON t.entity = o.entity
LEFT JOIN numbers AS n ON t.entity = n.entity
ORDER BY entity
