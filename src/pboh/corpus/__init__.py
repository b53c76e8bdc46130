"""Pages and their hyperlinks: dumps are downloaded, read, and turned into tables of links and words."""
