"""Sufficient statistics: one SQL file per count of the paper, run on DuckDB or on Spark."""

from __future__ import annotations

from pboh.counts.count import count
from pboh.counts.inputs import SpentError
from pboh.counts.plan import CountOptions

__all__ = ["CountOptions", "SpentError", "count"]
