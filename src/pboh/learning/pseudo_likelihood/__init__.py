"""Learns ρ and λ from the links of a corpus by pseudo-likelihood (the paper's section 3.4)."""
