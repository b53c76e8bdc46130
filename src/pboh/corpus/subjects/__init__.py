"""What pages are about: a type and a short description, from infobox, first sentence, title, categories."""
