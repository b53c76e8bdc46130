-- The running texts of all pages; those that are not documents are passed over while names are counted.
SELECT input, page, text
FROM input_texts
