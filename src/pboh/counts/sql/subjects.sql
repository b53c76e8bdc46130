-- What every entity is, as its page says: a short description, a type, what told the type, and the
-- type its title hints at. Of several inputs the first that says something decides.
SELECT entity, description, type, evidence, hint
FROM (
  SELECT i.entity, s.description, s.type, s.evidence, s.hint,
         ROW_NUMBER() OVER (PARTITION BY i.entity ORDER BY CASE WHEN s.description = '' AND s.type = '' THEN 1 ELSE 0 END,
                            s.input, s.entity) AS place
  FROM input_subjects AS s
  JOIN entity_ids AS i ON s.input = i.input AND s.entity = i.given
) AS placed
WHERE place = 1
ORDER BY entity
