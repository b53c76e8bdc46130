"""Kernels of λ (see :mod:`pboh.inference.bethe`): of one pair, of many, and of all pairs of a document."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def bethe(n, c_e, c_u, shared):  # type: ignore[no-untyped-def]
    """λ(e,u) − λ(unseen) of Eq. (lambda-bethe): log(1 + max(N−δ,0)·N_ep/(c_e·c_u·(1−μ)))."""
    if n <= shared.delta:
        return 0.0
    ratio = (n - shared.delta) * shared.pairs / (c_e * c_u)
    return np.log1p(ratio / shared.backoff)


@njit(cache=True, nogil=True)
def bethe_of_all(n, c_e, c_u, shared):  # type: ignore[no-untyped-def]
    """The same for arrays of pairs."""
    out = np.empty(n.size)
    for k in range(n.size):
        out[k] = bethe(float(n[k]), float(c_e[k]), float(c_u[k]), shared)
    return out


@njit(cache=True, nogil=True)
def pair_couplings(start, other, count, marginal, shared, weight):  # type: ignore[no-untyped-def]
    """weight·(λ(e,e′) − λ(unseen)) of the pairs seen, as rows of a sparse matrix with its diagonal.

    An entity never seen beside another has no p(e) = c_e/N_ep, so its pairs count as unseen.
    """
    u = marginal.size
    rows = np.zeros(u + 1, np.int64)
    columns = np.empty(other.size + u, np.int32)
    values = np.empty(other.size + u, np.float32)
    used = 0
    for i in range(u):
        c_i = float(marginal[i])
        diagonal = True
        for k in range(start[i], start[i + 1] + 1):
            last = k == start[i + 1]
            if diagonal and (last or other[k] > i):
                diagonal = False
                n = shared.self_pair * c_i
                if n > shared.delta:
                    columns[used] = i
                    values[used] = weight * bethe(n, c_i, c_i, shared)
                    used += 1
            if not last and count[k] > shared.delta:
                columns[used] = other[k]
                values[used] = weight * bethe(float(count[k]), c_i, float(marginal[other[k]]), shared)
                used += 1
        rows[i + 1] = used
    return rows, columns[:used], values[:used]
