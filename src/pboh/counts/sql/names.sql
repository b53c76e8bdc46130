-- The dictionary: c(m,e) of every source of names, pruned to {top} entities a name.
--
-- Entities of a name are ranked by what the paper counts (anchors and Crosswikis); the other sources only
-- break ties. A pair stays when it is among the best of its name as written or of its name in lower case,
-- so neither a cased nor a lower-cased dictionary misses anything. The source "followed" is no name of its
-- own: it says how many of the anchor's links a word follows at once.
WITH sources AS (
  SELECT name, entity, 'anchor' AS source, count FROM anchors
  UNION ALL
  SELECT name, entity, 'followed' AS source, followed AS count FROM anchors WHERE followed > 0
  UNION ALL
  SELECT name, entity, 'crosswikis' AS source, count FROM crosswikis_names
  UNION ALL
  SELECT title AS name, entity, 'title' AS source, CAST(1 AS BIGINT) AS count
  FROM titles
  UNION ALL
  SELECT r.title AS name, t.entity, 'redirect' AS source, CAST(1 AS BIGINT) AS count
  FROM resolution AS r
  JOIN titles AS t ON r.final = t.title
  WHERE r.kind = 'redirect'
  UNION ALL
  SELECT DISTINCT REGEXP_REPLACE(title, ' [(][^()]*[)]$', '') AS name, entity, 'disambiguation' AS source,
         CAST(1 AS BIGINT) AS count
  FROM disambiguations
),
pairs AS (
  SELECT LOWER(name) AS lower_name, name, entity,
         SUM(CASE WHEN source = 'anchor' OR source = 'crosswikis' THEN count ELSE 0 END) AS linked,
         SUM(CASE WHEN source = 'anchor' OR source = 'crosswikis' THEN 0 ELSE count END) AS extra
  FROM sources
  WHERE name <> '' AND source <> 'followed'
  GROUP BY name, entity
),
lower_pairs AS (
  SELECT lower_name, entity, SUM(linked) AS linked, SUM(extra) AS extra
  FROM pairs
  GROUP BY lower_name, entity
),
placed AS (
  SELECT lower_name, entity, linked, extra,
         ROW_NUMBER() OVER (PARTITION BY lower_name ORDER BY linked DESC, extra DESC, entity) AS place
  FROM lower_pairs
),
kept AS (
  SELECT p.name, p.entity,
         ROW_NUMBER() OVER (PARTITION BY p.name ORDER BY p.linked DESC, p.extra DESC, p.entity) AS place,
         l.place AS lower_place
  FROM pairs AS p
  JOIN placed AS l ON p.lower_name = l.lower_name AND p.entity = l.entity
  WHERE l.linked >= {min_name_count} OR l.extra > 0
)
SELECT s.name, s.entity, s.source, s.count
FROM sources AS s
JOIN kept AS k ON s.name = k.name AND s.entity = k.entity
WHERE k.place <= {top} OR k.lower_place <= {top}
ORDER BY name, entity, source
