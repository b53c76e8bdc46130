-- What every entity is, as its page says: a short description, a type, and what told the type. Of several inputs
-- the first that has the page decides.
SELECT entity, description, type, evidence
FROM (
  SELECT i.entity, s.description, s.type, s.evidence,
         ROW_NUMBER() OVER (PARTITION BY i.entity ORDER BY s.input, s.entity) AS place
  FROM input_subjects AS s
  JOIN entity_ids AS i ON s.input = i.input AND s.entity = i.given
) AS placed
WHERE place = 1
ORDER BY entity
