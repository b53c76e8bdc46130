"""``pboh fit`` as a function: gold documents in, weights with standard errors and what they are worth out."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from pboh.files.progress import Report, silent
from pboh.learning.weights import FEATURES, GoldSpan, features, fit, fixed, judge, usefulness
from pboh.linker import Linker


def fit_weights(
    linker: Linker,
    documents: Sequence[tuple[str, Sequence[GoldSpan]]],
    names: Sequence[str] | None = None,
    test: float = 0.3,
    seed: int = 0,
    report: Report = silent,
) -> dict[str, Any]:
    """Weights fitted to a random part of the documents, judged on the others beside the linker's own."""
    began = perf_counter()
    choices = features(linker, documents, report)
    ready = perf_counter()
    order = np.random.default_rng(seed).permutation(len(documents))
    cut = max(round(len(order) * (1.0 - test)), 1)
    here, there = choices.of(order[:cut]), choices.of(order[cut:])
    if names is None:
        names = [name for name in FEATURES if np.ptp(choices.matrix[:, FEATURES.index(name)]) > 0.0]
    weights = fit(here, names)
    loss = usefulness(here, weights)
    s = linker.settings
    current = fixed(FEATURES, (1.0, s.zeta, s.tau, 0.0, 0.0, float(s.coreference > 0), s.zeta * s.own_words))
    figures: dict[str, Any] = {
        "documents": len(documents), "mentions_with_a_choice": int(choices.gold.size),
        "mentions_without": choices.unanswerable,
        "seconds_features": ready - began, "seconds_fitting": perf_counter() - ready,
    }  # fmt: skip
    for name, value, error in zip(weights.names, weights.value.tolist(), weights.error.tolist(), strict=True):
        figures[f"weight_{name}"] = f"{value:.4f} ± {error:.4f}, without it {loss[name]:+.4f} loss"
    figures |= {f"setting_{name}": value for name, value in weights.settings().items()}
    if there.gold.size:
        for label, found in (("fitted", weights), ("current", current)):
            figures |= {f"{label}_{name}": value for name, value in judge(there, found).items()}
    return figures
