-- The documents: every article and list of every input, numbered in input order, but for the pages that
-- extraction set aside.
-- counted is the number an input that is itself a counts folder gave the document.
SELECT input, page, document AS counted, entity AS given,
       CAST(ROW_NUMBER() OVER (ORDER BY input, page) - 1 AS INT) AS document
FROM input_pages
WHERE (kind = 'article' OR kind = 'list') AND NOT held
