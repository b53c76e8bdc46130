-- What a page that is no article stands for, over all inputs together.
--
-- Extraction has followed the redirects of each input. They are followed again here because a redirect of one
-- input may lead to a page of another, and because the titles of Crosswikis were never resolved.
-- A redirect stands for the article or red link at its end (at most eight redirects in a row);
-- disambiguation pages, lists and endless redirects stand for nothing (final is NULL), and links to
-- them are dropped. The same title in two inputs: the first input decides.
WITH first_pages AS (
  SELECT title, kind, target
  FROM (
    SELECT title, kind, target, ROW_NUMBER() OVER (PARTITION BY title ORDER BY input, page) AS place
    FROM input_pages
  ) AS placed
  WHERE place = 1
),
others AS (
  SELECT title, kind, target FROM first_pages WHERE kind <> 'article'
),
one AS (
  SELECT title, target FROM others WHERE kind = 'redirect' AND target IS NOT NULL
),
two AS (
  SELECT a.title, COALESCE(b.target, a.target) AS target FROM one AS a LEFT JOIN one AS b ON a.target = b.title
),
four AS (
  SELECT a.title, COALESCE(b.target, a.target) AS target FROM two AS a LEFT JOIN two AS b ON a.target = b.title
),
eight AS (
  SELECT a.title, COALESCE(b.target, a.target) AS target FROM four AS a LEFT JOIN four AS b ON a.target = b.title
)
SELECT o.title, o.kind, CASE WHEN dead.title IS NULL THEN r.target END AS final
FROM others AS o
LEFT JOIN eight AS r ON o.title = r.title
LEFT JOIN others AS dead ON r.target = dead.title
