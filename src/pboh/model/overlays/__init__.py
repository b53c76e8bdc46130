"""Entities of your own on top of a model: read from a file, added, and opened with the model."""
