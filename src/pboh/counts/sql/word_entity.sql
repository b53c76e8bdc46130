-- N(w,e), kept from {min_word_count} on (the paper: 3).
SELECT entity, word, count
FROM word_sums
WHERE count >= {min_word_count}
ORDER BY entity, word
