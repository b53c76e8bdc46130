-- How often a word stands at the beginning of the entity's own page.
SELECT e.entity, w.word, CAST(SUM(o.count) AS INT) AS count
FROM input_own_words AS o
JOIN entity_ids AS e ON o.input = e.input AND o.entity = e.given
JOIN word_ids AS w ON o.input = w.input AND o.word = w.given
GROUP BY e.entity, w.word
ORDER BY entity, word
