"""Pages and their hyperlinks: dumps read, wikitext made plain, titles made unique."""
