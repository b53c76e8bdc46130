"""Many settings of one model on the same documents: what grid search and ablations are made of.

Nothing is rebuilt between two trials: every setting is read when a document is scored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import LARGEST, Floats, judge, macro_scores, resamples, weighted_micro_scores
from pboh.evaluation.runner import answer_document
from pboh.files.workers import Workers
from pboh.inference.settings import Settings
from pboh.linker import Linker

Counts = list[Floats]
"""Correct, answered and gold mentions of each document, an array (documents, 3) for each dataset."""

Integers = NDArray[np.int64]
Score = Callable[[Sequence[Settings]], Iterator[Counts]]
Measure = Callable[[Floats, Floats], Floats]
"""A figure of a dataset's counts for each row of weights (samples, documents)."""

_CHUNK = 25  # documents a worker answers at a time: small enough to keep all cores busy to the end
_Piece = tuple[Settings, int, int]


class _Scorer:
    """Answers some documents of a dataset under some settings; travels to worker processes."""

    def __init__(self, linker: Linker, datasets: Sequence[Dataset]) -> None:
        self.linker, self.datasets = linker, datasets
        self.resolve = cache(linker.resolve)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Scorer, (self.linker, self.datasets)

    def __call__(self, piece: _Piece) -> Floats:
        settings, number, first = piece
        # a calibration fits one setting only: with it, the threshold would mean something else there
        linker = Linker(self.linker.model, settings, calibrated=False)
        dataset = self.datasets[number]
        part = replace(dataset, documents=dataset.documents[first : first + _CHUNK])
        return judge(part, [answer_document(linker, document) for document in part], self.resolve).counts


@contextmanager
def scoring(linker: Linker, datasets: Sequence[Dataset], workers: int = 1) -> Iterator[Score]:
    """Yield a function from settings to their counts, in order, on ``workers`` processes."""
    pieces = [(n, first) for n, dataset in enumerate(datasets) for first in range(0, len(dataset), _CHUNK)]
    scorer = _Scorer(linker, datasets)
    with Workers(workers) as pool:

        def score(many: Sequence[Settings]) -> Iterator[Counts]:
            results = pool.map(scorer, ((settings, *piece) for settings in many for piece in pieces))
            for _ in many:
                parts: list[list[Floats]] = [[] for _ in datasets]
                for number, _ in pieces:
                    parts[number].append(next(results))
                yield [np.concatenate(part) for part in parts]

        yield score


def value_of(settings: Settings, name: str) -> Any:
    """The value of a setting, or with ``layers.x`` the weight of a name layer."""
    name, _, layer = name.partition(".")
    found = getattr(settings, name)
    return found[layer] if layer else found


def with_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Settings with some values changed, named as by :func:`value_of`."""
    for key, value in values.items():
        name, _, layer = key.partition(".")
        settings = settings.change(**{name: {layer: value} if layer else value})
    return settings


def written(value: object) -> str:
    """The value of a setting as ``--set`` takes it."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def micro_f1(counts: Floats, weights: Floats) -> Floats:
    """Micro F1 when each document is counted as often as ``weights`` (samples, documents) say."""
    return weighted_micro_scores(counts, weights)[:, 2]


def macro_f1(counts: Floats, weights: Floats) -> Floats:
    """Macro F1 of the same."""
    return macro_scores(counts, weights)[:, 2]


def text_numbers(datasets: Sequence[Dataset]) -> list[Integers]:
    """The number of the text that each document is or was cut from; readings of a text share its number."""
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(d.origin, len(numbers)) for d in dataset]) for dataset in datasets]


def gain_draws(
    new: Counts, old: Counts, measure: Measure, texts: Sequence[Integers] | None = None, samples: int = 1000
) -> Floats:
    """The gain of new over old, averaged over datasets, when texts are drawn again with replacement.

    ``texts`` says which text each document is from, see :func:`text_numbers`; without it, each is its own.
    All sentences of a page are drawn together, and datasets of equally many texts are drawn alike: what
    shares a page is not independent evidence.
    """
    texts = texts or [np.arange(len(one)) for one in new]
    gains = []
    for one, other, numbers in zip(new, old, texts, strict=True):
        distinct, owner = np.unique(numbers, return_inverse=True)
        drawn = [
            measure(one, weights[:, owner]) - measure(other, weights[:, owner])
            for block in resamples(distinct.size, samples)
            for weights in np.array_split(block, 1 + block.shape[0] * owner.size // LARGEST)
        ]
        gains.append(np.concatenate(drawn))
    return np.asarray(sum(gains) / len(gains))
