"""Puts this folder on the path: tests in the folders below use its helpers."""
