"""Annotating many documents: rows in, rows with linked mentions out, on one machine or on a cluster."""

from __future__ import annotations

from pboh.annotation.job import annotate, annotate_stream
from pboh.annotation.rows import Options

__all__ = ["Options", "annotate", "annotate_stream"]
