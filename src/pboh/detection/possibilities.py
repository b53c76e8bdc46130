"""What may be a mention of a text: names of the finder, names of the dictionary, spans from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np

from pboh.detection.cover_kernels import best_cover, strongest_rivals
from pboh.detection.detector import Detector, Spots
from pboh.detection.finder import Finder
from pboh.errors import SpanError
from pboh.inference.reliability import log_odds
from pboh.inference.spans import Span, check_spans
from pboh.text.hashing import Array

Mentions = Literal["names", "all"]
SPEAKING = 0.35
"""Spans less probable than this are resolved, but do not influence others."""
BESIDE_ANOTHER, SURE = 0.2, 0.75
"""Spans less probable than the first are left out where they overlap one as probable as the second."""
HINTED = 0.3
"""A span that a recogniser is sure of with less than this is less probably a name than before."""


@dataclass(slots=True)
class Possibilities:
    """Spans of a text (code points) in order of their place, which may overlap, and the evidence for each."""

    start: Array
    end: Array
    link: Array  # how often these words are a link in the corpus
    name: Array  # probability that this is a name, 0 for what only the dictionary has
    again: Array  # the highest such probability of the same words elsewhere
    given: Array  # whether it is kept whatever it is
    touched: Array  # whether an unknown capitalised word is beside it, so that it may be part of a name
    speaks: Array  # whether it influences others
    entity: dict[int, str]  # entities of spans that were given with one
    found: bool  # whether there is a finder, so that names are told from concepts

    def __len__(self) -> int:
        return int(self.start.size)

    @property
    def where(self) -> Array:
        """Numbers of the places in the text: spans that overlap, directly or over others, share one."""
        reached = np.maximum.accumulate(self.end)
        fresh = np.ones(len(self), bool)
        fresh[1:] = self.start[1:] >= reached[:-1]
        return np.cumsum(fresh) - 1

    def spans(self, first: int, last: int, begin: int) -> list[Span]:
        """The spans of some rows in a part of the text that begins there."""
        places = zip(
            (self.start[first:last] - begin).tolist(), (self.end[first:last] - begin).tolist(), strict=True
        )
        return [Span(a, b, self.entity.get(k)) for k, (a, b) in enumerate(places, first)]

    def surfaces(self, text: str) -> list[str]:
        """The words of every span."""
        return [text[a:b] for a, b in zip(self.start.tolist(), self.end.tolist(), strict=True)]


def possibilities(
    text: str,
    detector: Detector,
    finder: Finder | None,
    mentions: Mentions = "names",
    given: Sequence[Span] = (),
    hints: Sequence[tuple[int, int, float]] = (),
    keep: Callable[[Spots], Array] | None = None,
) -> Possibilities:
    """Find what may be a mention; ``keep`` says which names of the dictionary come into question at all."""
    columns: list[Array] = []
    if finder is not None:
        names = finder.find(text)
        start, end, name, *rest = _hinted(
            hints, names.start, names.end, names.probability, names.link, names.again, names.touched
        )
        link, again, touched = rest
        rows = np.stack([start, end, link, name, again, np.zeros(len(start)), touched])
        columns = [rows[:, _hopeful(start, end, name)]]
    fixed = [np.asarray([[s.start, s.end, 1.0, 1.0, 0.0, 1.0, 0.0] for s in given]).reshape(-1, 7).T]
    if finder is None or mentions == "all":
        sure = list(given)
        if columns:
            likely = columns[0][:, columns[0][3] >= 0.5]
            sure += [Span(int(a), int(b)) for a, b in likely[:2].T]
        spots = detector.detect(text, _apart(sure), keep)
        nothing = np.zeros(len(spots))
        columns.append(np.stack([spots.start, spots.end, spots.link, *[nothing] * 4]))
    return _ordered(np.concatenate([*fixed, *columns], axis=1), given, finder is not None)


def check_hints(text: str, hints: Iterable[Sequence[Any]]) -> list[tuple[int, int, float]]:
    """Spans with scores, or an error that names the one that is wrong."""
    checked = []
    for k, hint in enumerate(hints):
        start, end, *rest = hint
        [span] = check_spans(text, [(start, end)])
        if len(rest) != 1 or not isinstance(rest[0], Real) or not 0 <= float(rest[0]) <= 1:
            raise SpanError(f"hint {k} is {hint!r}, not (start, end, score) with a score from 0 to 1")
        checked.append((span.start, span.end, float(rest[0])))
    return checked


def _hopeful(start: Array, end: Array, name: Array) -> Array:
    """Which spans may win: not what is improbable beside a probable one that it overlaps."""
    order = np.argsort(start, kind="stable")
    rival = np.empty(start.size)
    rival[order] = strongest_rivals(start[order], end[order], name[order])
    return (name >= BESIDE_ANOTHER) | (rival < SURE)


def _apart(spans: list[Span]) -> list[Span]:
    """Spans, those that overlap joined to one."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start < joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def _ordered(rows: Array, given: Sequence[Span], found: bool) -> Possibilities:
    """Rows by place; of equal spans the first, and nothing that overlaps a given span."""
    start, end = rows[0].astype(np.int64), rows[1].astype(np.int64)
    free = np.ones(start.size, bool)
    if given:
        starts, ends = (np.sort([getattr(s, side) for s in given]) for side in ("start", "end"))
        after = np.searchsorted(ends, start, side="right")
        free = (after >= starts.size) | (starts[np.minimum(after, starts.size - 1)] >= end)
        free |= rows[5] > 0
    order = np.lexsort((-rows[5], end, start))
    order = order[free[order]]
    first = np.ones(order.size, bool)
    first[1:] = (start[order][1:] != start[order][:-1]) | (end[order][1:] != end[order][:-1])
    order = order[first]
    start, end, (link, name, again, fixed, touched) = start[order], end[order], rows[2:, order]
    entity = {(s.start, s.end): s.entity for s in given if s.entity is not None}
    named = {k: entity[place] for k, place in enumerate(zip(start, end, strict=True)) if place in entity}
    speaks = _speaking(start, end, np.where(fixed > 0, 9.0, np.where(name > 0, name - SPEAKING, link / 99)))
    return Possibilities(start, end, link, name, again, fixed > 0, touched > 0, speaks, named, found)


def _speaking(start: Array, end: Array, weight: Array) -> Array:
    """The spans that do not overlap each other and weigh most together."""
    order = np.lexsort((start, end))
    speaks = np.zeros(start.size, bool)
    speaks[order] = best_cover(start[order], end[order], weight[order])
    return speaks


def _hinted(
    hints: Sequence[tuple[int, int, float]], start: Array, end: Array, name: Array, *rest: Array
) -> tuple[Array, ...]:
    """Add what a recogniser says to what the finder says, as evidence that does not depend on it.

    log-odds add up, less those of a span that was merely proposed.
    """
    if not hints:
        return start, end, name, *rest
    place = {span: k for k, span in enumerate(zip(start.tolist(), end.tolist(), strict=True))}
    new = [(a, b) for a, b, _ in hints if (a, b) not in place]
    lowest = float(name.min(initial=0.025))
    start, end = (
        np.concatenate([old, [s[k] for s in new]]).astype(np.int64) for k, old in ((0, start), (1, end))
    )
    name = np.concatenate([name, np.full(len(new), lowest)])
    rest = tuple(np.concatenate([old, np.zeros(len(new))]) for old in rest)
    place |= {span: len(place) + k for k, span in enumerate(new)}
    for a, b, score in hints:
        evidence = float(log_odds(np.asarray(score)) - log_odds(np.asarray(HINTED)))
        odds = float(log_odds(name[place[a, b]])) + evidence
        name[place[a, b]] = 1 / (1 + np.exp(-odds))
    return start, end, name, *rest
