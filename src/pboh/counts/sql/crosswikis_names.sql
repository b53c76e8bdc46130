-- c(m,e) of the Crosswikis dictionary, its titles resolved like link targets.
SELECT c.name, t.entity, CAST(SUM(c.count) AS BIGINT) AS count
FROM crosswikis AS c
LEFT JOIN resolution AS r ON c.title = r.title
JOIN titles AS t ON t.title = CASE WHEN r.title IS NULL THEN c.title ELSE r.final END
GROUP BY c.name, t.entity
HAVING SUM(c.count) >= {min_crosswikis_count}
