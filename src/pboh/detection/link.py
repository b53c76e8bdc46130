"""From raw text to a linked document: detect, resolve together, then decide again which mentions to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pboh.document import Document, Mention
from pboh.inference.candidates import EntitySet, longer_mentions
from pboh.inference.reliability import Reliability, answer_features, log_odds
from pboh.inference.spans import Span, check_spans
from pboh.text.hashing import Array

if TYPE_CHECKING:
    from pboh.detection.detector import Spots
    from pboh.linker import Linker, Solution

MENTIONS_AT_A_TIME = 400
"""Longer documents are resolved part by part, so that time grows with their length, not its square."""
MARGIN = 4000  # code points of context to each side of a part

DEFAULT = Reliability(
    {"bias": -0.5, "link": 1.0, "posterior": 0.25, "coherence": 0.5, "capital": 0.5}, threshold=0.3
)
"""For models without a fitted decision."""


def link(
    linker: Linker,
    text: str,
    *,
    threshold: float | None = None,
    spans: Sequence[Sequence[Any]] = (),
    id: str | None = None,
    only: EntitySet | None = None,
) -> Document:
    """See :meth:`pboh.linker.Linker.link`."""
    began = perf_counter()
    given = check_spans(text, spans)
    keep = None if only is None else partial(_meant, linker, text, only)
    spots = linker.detector.detect(text, given, keep)
    places = [Span(start, end) for start, end in zip(spots.start.tolist(), spots.end.tolist(), strict=True)]
    both = sorted([*zip(places, spots.link.tolist(), strict=True), *((span, 1.0) for span in given)])
    timings = {"detection": perf_counter() - began}
    document = Document(text, [], id, timings=timings)
    decision = Reliability.of(linker.model.info.get("detection")) or DEFAULT
    limit = decision.threshold if threshold is None else threshold
    sure = {(span.start, span.end) for span in given}
    for first, part in _parts(text, both):
        inside = [Span(s.start - first, s.end - first, s.entity) for s, _ in part]
        cut = text[first : inside[-1].end + first + MARGIN] if inside else ""
        solution = linker.solve(cut, inside, only=only)
        solved = linker._document(cut, inside, solution, id, only)
        confidence = decision.probability(
            detection_features(
                solution, linker.model["entity_occurrences"], cut, inside, [p for _, p in part]
            )
        )
        for mention, certain in zip(solved.mentions, confidence.tolist(), strict=True):
            mention.start, mention.end = mention.start + first, mention.end + first
            mention.detection = 1.0 if (mention.start, mention.end) in sure else certain
        _say_again(solved.mentions)
        document.mentions += [
            mention
            for mention in solved.mentions
            if (mention.start, mention.end) in sure
            or (mention.entity is not None and mention.detection >= limit)
        ]
        document.rounds = max(document.rounds, solved.rounds)
        document.converged &= solved.converged
        for stage, seconds in solved.timings.items():
            timings[stage] = timings.get(stage, 0.0) + seconds
    return document


def _meant(linker: Linker, text: str, only: EntitySet, spots: Spots) -> Array:
    """Which names can mean an entity of a set: the others must not stand in their way."""
    surfaces = [text[a:b] for a, b in zip(spots.start.tolist(), spots.end.tolist(), strict=True)]
    unique, find = list(dict.fromkeys(surfaces)), linker.with_settings(coreference=0.0)._candidates.find
    meant: dict[str, bool] = {}
    for k in range(0, len(unique), MENTIONS_AT_A_TIME):
        part = unique[k : k + MENTIONS_AT_A_TIME]
        meant |= zip(part, (find(part, only)[2] > 0).tolist(), strict=True)
    return np.asarray([meant[surface] for surface in surfaces], bool)


def _say_again(mentions: Sequence[Mention]) -> None:
    """A shorter name of an entity is as sure as the longer one that holds it: Obama beside Barack Obama.

    Wikipedia, which taught the decision, links a name once; readers expect every one to be linked.
    """
    surest: dict[tuple[int, str], float] = {}
    for mention in mentions:
        if mention.entity is not None:
            for word in mention.text.split():
                key = mention.entity.index, word
                surest[key] = max(surest.get(key, 0.0), mention.detection)
    for mention in mentions:
        if mention.entity is not None and not mention.text[:1].islower():
            words = mention.text.split()
            least = min((surest[mention.entity.index, word] for word in words), default=0.0)
            mention.detection = max(mention.detection, least)


def _parts(text: str, mentions: list[tuple[Span, float]]) -> Iterator[tuple[int, list[tuple[Span, float]]]]:
    """Parts of a long document: where the text of each begins, and its mentions."""
    for k in range(0, len(mentions), MENTIONS_AT_A_TIME):
        part = mentions[k : k + MENTIONS_AT_A_TIME]
        yield max(0, part[0][0].start - MARGIN) if k else 0, part


def detection_features(
    solution: Solution,
    occurrences: Array,
    text: str,
    spans: Sequence[Span],
    link_probability: Sequence[float],
) -> dict[str, Array]:
    """What speaks for a mention and its answer: the evidence, and how names like it are used."""
    features = answer_features(solution, occurrences)
    features["link"] = log_odds(np.asarray(link_probability, np.float64))
    begins = np.asarray([not text[span.start].islower() for span in spans], np.float64)
    features["capital"] = begins
    features["part"] = _part_of_longer(text, spans)
    features["words"] = (
        np.log([1 + text.count(" ", span.start, span.end) for span in spans]) if spans else begins
    )
    features["inside"] = (
        np.asarray([_inside_sentence(text, span.start) for span in spans], np.float64) * begins
    )
    return features


def _part_of_longer(text: str, spans: Sequence[Span]) -> Array:
    """Whether a longer mention begins or ends with the words of this one: Clinton beside Bill Clinton."""
    surfaces = [text[span.start : span.end] for span in spans]
    unique = list(dict.fromkeys(surfaces))
    longer = dict(zip(unique, longer_mentions(unique), strict=True))
    return np.asarray([bool(longer[surface]) for surface in surfaces], np.float64)


def _inside_sentence(text: str, start: int) -> bool:
    """Whether a word follows another in its sentence, so that a capital letter means something."""
    before = text[max(0, start - 3) : start].rstrip(" \"'(“‘")
    return bool(before) and before[-1] not in ".!?:\n•*|"
