"""pboh where people already work: one module per outside program, each importing it only when used."""
