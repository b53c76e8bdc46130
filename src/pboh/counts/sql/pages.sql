-- All pages of all inputs: what is needed to resolve titles again when something is added later.
SELECT CAST(ROW_NUMBER() OVER (ORDER BY p.input, p.page) - 1 AS INT) AS page,
       p.title, p.kind, p.target, d.document
FROM input_pages AS p
LEFT JOIN documents AS d ON p.input = d.input AND p.page = d.page
ORDER BY page
