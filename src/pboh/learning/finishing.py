"""What a model lacks when it is built: the name finder, calibration, thresholds; and how good it is then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pboh.detection.finder_training import FinderOptions, train_finder
from pboh.errors import InputError
from pboh.evaluation.breakdowns import calibration_of
from pboh.evaluation.datasets import Dataset
from pboh.evaluation.end_to_end import evaluate_end_to_end
from pboh.evaluation.runner import evaluate
from pboh.files.progress import Report, silent, within
from pboh.learning.annotated import texts_for
from pboh.learning.calibration import calibrate
from pboh.learning.store import store_calibration, target
from pboh.linker import load
from pboh.model.store import open_model, read_manifest
from pboh.model.writing import changing, put_arrays

LEAST_LINKS = 100
"""Fewer links on the documents do not tell how far answers can be trusted."""
FITTED = 200
"""Pages to fit on, at most: a few weights need no more."""


def halves(pages: Dataset) -> tuple[Dataset, Dataset]:
    """Pages to fit on, and pages to judge by; both are named as the slices they are."""
    middle = len(pages) // 2
    parts = ((0, min(middle, FITTED)), (middle, len(pages)))
    first, second = (
        replace(pages, name=f"{pages.name}#{a}:{b}", documents=pages.documents[a:b]) for a, b in parts
    )
    return first, second


def add_finder(
    corpus: Path,
    model: Path,
    options: FinderOptions | None = None,
    report: Report = silent,
) -> dict[str, float]:
    """Train the name finder on the corpus that a model was built from, add it, and return its size.

    It needs to know how often names are links: a model without that stays without a finder.
    """
    built, options = open_model(model), options or FinderOptions()
    arrays = train_finder(corpus, built, options, report) if "name_link_written" in built else {}
    with changing(model):
        put_arrays(model, read_manifest(model), arrays)
    report(1, 1)
    return {"finder_megabytes": round(sum(array.nbytes for array in arrays.values()) / 1e6, 1)}


def fit(
    model: Path, pages: Sequence[Dataset], gold: Sequence[Dataset] = (), report: Report = silent
) -> dict[str, Any]:
    """Calibrate a model on pages set aside and on texts in which every name is annotated.

    These are ``gold`` of the user, or those that come with pboh if they suit the model. Returns whether pages
    and gold were enough, and how well names are found in sentences that the fit left out.
    """
    if not gold and sum(dataset.mentions for dataset in pages) < LEAST_LINKS:
        return {"fitted": False}
    linker = load(model, threshold=0.0)
    complete = gold or texts_for(linker)
    try:
        fitted = calibrate(linker, pages, report, complete=complete)
    except InputError:
        if gold:
            raise
        return {"fitted": False}
    store_calibration(target(model), [*pages, *complete], fitted)
    if "names" not in fitted:
        return {"fitted": True}
    names = fitted["names"]["fitted"]
    return {"fitted": True, "found_names": {**names["at_threshold"], "calibration_error": names["error"]}}


def judge(model: Path, datasets: Sequence[Dataset], report: Report = silent) -> dict[str, Any]:
    """What a model achieves on pages: with their mentions given, and from raw text, concepts too."""
    pages = [dataset for dataset in datasets if dataset.mentions]
    if not pages:
        return {}
    linker = load(model)
    [given] = evaluate(linker, pages, samples=0, report=within(report, 0, 0.5)).runs
    [raw] = evaluate_end_to_end(linker, pages, mentions="all", report=within(report, 0.5, 1))
    return {
        "pages": raw.documents,
        "links": raw.gold,
        "given_mentions": {
            "f1": given.row.micro.f1,
            "calibration_error": calibration_of([given.judgement]).error,
        },
        "raw_text": asdict(raw.a2kb["strong"]),
    }
