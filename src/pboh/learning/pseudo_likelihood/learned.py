"""Learned parameters as an optional part of a model: arrays beside the others, vouched for by model.json."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from pboh.learning.pseudo_likelihood.kernels import Array, Pairs
from pboh.model.names import Layer
from pboh.model.store import Model, changing, put_arrays, read_manifest

PREFIX = "learned_"


def learned_arrays(model: Model, entry: Array, rho: Array, pairs: Pairs, lam: Array) -> dict[str, Array]:
    """The arrays inference reads for the system ``learned``.

    ``learned_count`` stands in for ``name_count``: for lower-cased names it is Σ_e c(m,e)·softmax(ρ(m,·)), so
    that p(e|m) becomes ∝ e^ρ. ``learned_pair_*`` are rows of λ by entity, both ways, without zeros.
    """
    kept = lam != 0.0
    parameter = pairs.parameter
    stay = kept[parameter]
    row = np.repeat(np.arange(pairs.offsets.size - 1), np.diff(pairs.offsets))[stay]
    return {
        "learned_count": _as_counts(model, entry, rho),
        "learned_pair_offsets": np.searchsorted(row, np.arange(pairs.offsets.size)).astype(np.int64),
        "learned_pair_other": pairs.other[stay].astype(np.uint32),
        "learned_pair_value": lam[parameter[stay]].astype(np.float32),
    }


def _as_counts(model: Model, entry: Array, rho: Array) -> Array:
    """Name counts that say e^ρ; entries no training page uses keep their share of the name.

    A name's ρ are known up to a constant. It is chosen so that the learned entries together weigh what their
    counts weighed, and beside the others (from other sources, or held-out pages) nothing changes.
    """
    counts = model["name_count"].astype(np.float64)
    out = counts.copy()
    owner = np.searchsorted(model["name_offsets"], entry, side="right") - 1
    _, first = np.unique(owner, return_index=True)
    sizes = np.diff(np.append(first, entry.size))
    if entry.size:
        top = np.repeat(np.maximum.reduceat(rho, first), sizes)
        weight = np.exp(rho.astype(np.float64) - top)
        share = weight / np.repeat(np.add.reduceat(weight, first), sizes)
        out[entry] = share * np.repeat(np.add.reduceat(counts[entry], first), sizes)
    out[model["name_layer"] != Layer.LOWER] = counts[model["name_layer"] != Layer.LOWER]
    return np.maximum(out, 1e-30).astype(np.float32)  # a candidate never vanishes: its log must be finite


def attach(folder: Path, arrays: dict[str, Array], description: dict[str, Any]) -> None:
    """Add or replace the learned part of a model folder."""
    learned = {"created": datetime.now(UTC).isoformat(timespec="seconds"), **description}
    with changing(folder):
        info = read_manifest(folder)
        old = [name for name in info["arrays"] if name.startswith(PREFIX)]
        put_arrays(folder, info, arrays, old, learned=learned)
