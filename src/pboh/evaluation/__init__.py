"""How good the answers are: gold datasets in, tables and a report out.

Order of rooms: ``linker → evaluation → learning``. Evaluation never imports learning.
"""
