"""Text as every stage reads it: words, stop words, hashes of names, and the one matcher of names in text."""
