"""The kernel that makes vectors of entities from their words."""

from __future__ import annotations

import numpy as np
from numba import njit

from pboh.text.hash_kernels import Array, hash_units


@njit(cache=True, nogil=True)
def project(words: Array, weights: Array, out: Array) -> None:
    """Random projection: out_j += Σ_w weight(w) · r_j(w), where r_j(w) = ±1 is bit j of the word's hash."""
    key = np.zeros(2, np.uint64)
    for i in range(words.size):
        key[0] = words[i]
        for block in range((out.size + 63) // 64):
            key[1] = block
            bits = hash_units(key, 0, 2)
            for j in range(64 * block, min(64 * block + 64, out.size)):
                out[j] += weights[i] if bits & np.uint64(1) else -weights[i]
                bits >>= np.uint64(1)
