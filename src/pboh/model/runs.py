"""Runs of equal rows in sorted columns: where they begin, and the place of every row in its run."""

from __future__ import annotations

import numpy as np

from pboh.text.hashing import Array


def run_starts(*columns: Array) -> Array:
    """Places at which a row differs from the one before in at least one column."""
    new = np.ones(columns[0].size, bool)
    new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(new)


def run_sizes(starts: Array, rows: int) -> Array:
    """Length of every run."""
    return np.diff(np.append(starts, rows))


def place_in_run(starts: Array, rows: int) -> Array:
    """Place of every row in its run, from 0 on."""
    return np.asarray(np.arange(rows) - np.repeat(starts, run_sizes(starts, rows)))


def sums_of_runs(values: Array, starts: Array) -> Array:
    """Sum of the values of every run."""
    return np.asarray(np.add.reduceat(values, starts)) if starts.size else values


def offsets_of(owners: Array, size: int) -> Array:
    """CSR offsets of rows sorted by owner."""
    return np.searchsorted(owners, np.arange(size + 1)).astype(np.int64)
