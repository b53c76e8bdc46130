-- Number of distinct pairs e < e' with N(e,e') > 0, for one of {parts} shares of the entities e.
-- Only the pairs of one share exist at a time, as single integers; all shares together are never stored.
SELECT COUNT(*) AS pairs
FROM (
  SELECT DISTINCT CAST(a.entity AS BIGINT) * 4294967296 + b.entity AS pair
  FROM incidences AS a
  JOIN incidences AS b ON a.document = b.document AND a.entity < b.entity
  WHERE a.entity % {parts} = {part}
) AS pairs
