"""One document in, its entities out."""
