"""From pages to the Parquet tables of a corpus: two passes over its chunks, titles resolved in between."""
