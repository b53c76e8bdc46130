-- The running text of every document.
SELECT t.text
FROM input_texts AS t
JOIN documents AS d ON t.input = d.input AND t.page = d.page
