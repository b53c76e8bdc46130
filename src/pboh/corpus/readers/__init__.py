"""Reading input files: dumps and JSON lines, in chunks that workers can share."""
