-- From an input's own number of an entity to its number in the result.
SELECT e.input, e.entity AS given, t.entity
FROM input_entities AS e
LEFT JOIN resolution AS r ON e.title = r.title
JOIN titles AS t ON t.title = CASE WHEN r.title IS NULL THEN e.title ELSE r.final END
