-- From an input's own number of a word to its number in the result.
SELECT i.input, i.word AS given, w.word
FROM input_words AS i
JOIN words AS w ON i.text = w.text
