"""What clients speak: one module per protocol, each a table of addresses and the functions that answer."""
