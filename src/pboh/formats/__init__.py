"""Documents and answers in the formats of others: JSON lines, HTML, NIF and Turtle, identifiers."""
