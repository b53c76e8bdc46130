-- Z_e: the sum of N(w,e) over all words, before pruning.
SELECT entity, CAST(SUM(count) AS BIGINT) AS total
FROM word_sums
GROUP BY entity
ORDER BY entity
