"""Keeps validation and test data apart: documents that chose a model's settings do not judge it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Dataset


def fingerprints(datasets: Iterable[Dataset]) -> set[str]:
    """A short hash of every document's whole text, by which it is recognised in any dataset."""
    return {
        hashlib.sha256(document.origin.encode("utf-8", "replace")).hexdigest()[:16]
        for dataset in datasets
        for document in dataset
    }


def check_disjoint(validation: Sequence[Dataset], test: Sequence[Dataset]) -> None:
    """Refuse test data that shares a document with the data that is tuned on."""
    tuned_on = fingerprints(validation)
    for dataset in test:
        _refuse(dataset, tuned_on, "are also in the validation data", "Tune on data you do not evaluate on")


def check_not_tuned_on(info: Mapping[str, Any], datasets: Sequence[Dataset]) -> None:
    """Refuse data that chose the settings stored in a model (``info`` is its model.json)."""
    tuned_on = info.get("tuned_on", {})
    for dataset in datasets:
        _refuse(
            dataset,
            set(tuned_on.get("documents", ())),
            f"chose the settings of this model (tuned on {', '.join(tuned_on.get('datasets', ()))})",
            "Evaluate on other data, with --paper, or, knowing that it flatters, with --allow-tuned",
        )


def _refuse(dataset: Dataset, tuned_on: set[str], what: str, todo: str) -> None:
    shared = tuned_on & fingerprints([dataset])
    if shared:
        where = dataset.source or dataset.name
        raise InputError(f"{len(shared):,} of {len(dataset):,} documents {what}", where=where, todo=todo)
