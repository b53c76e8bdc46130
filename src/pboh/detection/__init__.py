"""Mention detection, beyond the paper: raw text in, the spans worth linking out."""
