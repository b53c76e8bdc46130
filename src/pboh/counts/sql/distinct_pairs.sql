-- Number of distinct pairs e < e' with N(e,e') > 0, for one of {parts} shares of the entities e.
-- Only the pairs of one share exist at a time; all shares together are never stored.
SELECT COUNT(*) AS pairs
FROM (
  SELECT DISTINCT a.entity, b.entity AS other
  FROM incidences AS a
  JOIN incidences AS b ON a.document = b.document AND a.entity < b.entity
  WHERE a.entity % {parts} = {part}
) AS pairs
