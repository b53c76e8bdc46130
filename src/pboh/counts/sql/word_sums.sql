-- N(w,e): how often the word w stands around a link to the entity e. Unpruned, for one range of entities.
SELECT e.entity, w.word, CAST(SUM(c.count) AS INT) AS count
FROM input_context_words AS c
JOIN entity_ids AS e ON c.input = e.input AND c.entity = e.given
JOIN word_ids AS w ON c.input = w.input AND c.word = w.given
WHERE e.entity >= {first} AND e.entity < {last}
GROUP BY e.entity, w.word
ORDER BY entity, word
