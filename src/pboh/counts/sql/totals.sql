-- The totals: one row. pairs is N_ep, the sum of n_d (n_d - 1); both kinds of pairs are ordered.
SELECT
  (SELECT COUNT(*) FROM documents) AS documents,
  (SELECT CAST(COALESCE(SUM(occurrences), 0) AS BIGINT) FROM entities) AS links,
  (SELECT COUNT(*) FROM entities) AS entities,
  (SELECT CAST(COALESCE(SUM(CASE WHEN page THEN 1 ELSE 0 END), 0) AS BIGINT) FROM entities) AS entities_with_page,
  (SELECT COUNT(*) FROM names) AS names,
  (SELECT COUNT(*) FROM incidences) AS incidences,
  (SELECT COALESCE(MAX(documents), 0) FROM entities) AS longest_list,
  (SELECT CAST(COALESCE(SUM(size * (size - 1)), 0) AS BIGINT) FROM document_sizes) AS pairs,
  (SELECT CAST(COALESCE(2 * SUM(pairs), 0) AS BIGINT) FROM distinct_pairs) AS distinct_pairs,
  (SELECT COUNT(*) FROM words) AS words,
  (SELECT CAST(COALESCE(SUM(count), 0) AS BIGINT) FROM words) AS word_tokens,
  (SELECT CAST(COALESCE(SUM(total), 0) AS BIGINT) FROM word_totals) AS context_tokens,
  (SELECT COUNT(*) FROM word_entity) AS word_entity
