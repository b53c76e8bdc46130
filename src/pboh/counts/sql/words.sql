-- Background word counts, the numerators of p(w), numbered in the order of words.
SELECT CAST(ROW_NUMBER() OVER (ORDER BY text) - 1 AS INT) AS word, text, count
FROM (
  SELECT text, CAST(SUM(count) AS BIGINT) AS count FROM input_words GROUP BY text
) AS totals
ORDER BY word
