"""Context words: how much more (or less) likely the words around a mention are if it means an entity."""

from __future__ import annotations

from typing import Any

import numpy as np

from pboh.text.hashing import Array

WORD_THRESHOLDS = (2, 3)  # smallest N(w,e) a loaded model can be asked to respect (the paper's is 3)


def background_probability(counts: Array) -> Array:
    """p(w) of every vocabulary word from its count in running text."""
    total: Any = counts.sum()
    return np.asarray(np.maximum(counts, 1) / max(total, 1), np.float32)
