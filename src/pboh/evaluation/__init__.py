"""How good the answers are: gold datasets in, tables and a report out."""
