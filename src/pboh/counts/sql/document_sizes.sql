-- n_d: the number of entities of a document.
SELECT document, COUNT(*) AS size
FROM incidences
GROUP BY document
