"""From raw text to a linked document: detect, resolve together, then decide again which mentions to keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pboh.detection.detector import Detector, Spots
from pboh.document import Document, Mention
from pboh.inference.candidates import longer_mentions
from pboh.inference.engine import Engine
from pboh.inference.entities import EntitySet
from pboh.inference.part import SolvedPart
from pboh.inference.reliability import Reliability, answer_features, log_odds
from pboh.inference.solution import Solution
from pboh.inference.spans import Span, check_spans
from pboh.text.hashing import Array

MENTIONS_AT_A_TIME = 400
"""Longer documents are resolved part by part, so that time grows with their length, not its square."""
MARGIN = 4000  # code points of context to each side of a part

DEFAULT = Reliability(
    {"bias": -0.5, "link": 1.0, "posterior": 0.25, "coherence": 0.5, "capital": 0.5}, threshold=0.3
)
"""For models without a fitted decision."""


def decision_of(info: Mapping[str, Any]) -> Reliability:
    """What decides whether a found name is shown, and from which probability on."""
    return Reliability.of(info.get("detection")) or DEFAULT


def link(
    engine: Engine,
    detector: Detector,
    text: str,
    *,
    threshold: float | None = None,
    spans: Sequence[Sequence[Any]] = (),
    id: str | None = None,
    only: EntitySet | None = None,
    spots: Spots | None = None,
) -> Document:
    """See :meth:`pboh.linker.Linker.link`."""
    began = perf_counter()
    given = check_spans(text, spans)
    if spots is None:
        keep = None if only is None else partial(_meant, engine, text, only)
        spots = detector.detect(text, given, keep)
    places = [Span(start, end) for start, end in zip(spots.start.tolist(), spots.end.tolist(), strict=True)]
    both = sorted([*zip(places, spots.link.tolist(), strict=True), *((span, 1.0) for span in given)])
    timings = {"detection": perf_counter() - began}
    document = Document(text, [], id, timings=timings)
    decision = decision_of(engine.model.info)
    limit = decision.threshold if threshold is None else threshold
    sure = {(span.start, span.end) for span in given}
    for part, links in _parts(engine, text, both, only):
        solved = part.document(id)
        occurrences = engine.model["entity_occurrences"]
        features = detection_features(part.solution, occurrences, part.text, part.spans, links)
        for mention, certain in zip(solved, decision.probability(features).tolist(), strict=True):
            mention.detection = 1.0 if (mention.start, mention.end) in sure else certain
        _say_again(solved.mentions)
        document.mentions += [
            mention
            for mention in solved
            if (mention.start, mention.end) in sure
            or (mention.entity is not None and mention.detection >= limit)
        ]
        document.parts.append(part)
        document.rounds = max(document.rounds, solved.rounds)
        document.converged &= solved.converged
        for stage, seconds in solved.timings.items():
            timings[stage] = timings.get(stage, 0.0) + seconds
    return document


def _meant(engine: Engine, text: str, only: EntitySet, spots: Spots) -> Array:
    """Which names can mean an entity of a set: the others must not be in their way."""
    surfaces = [text[a:b] for a, b in zip(spots.start.tolist(), spots.end.tolist(), strict=True)]
    unique = list(dict.fromkeys(surfaces))
    meant: dict[str, bool] = {}
    for k in range(0, len(unique), MENTIONS_AT_A_TIME):
        names = unique[k : k + MENTIONS_AT_A_TIME]
        size = engine.candidates.find(names, only, alone=True)[2]
        meant |= zip(names, (size > 0).tolist(), strict=True)
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


def _parts(
    engine: Engine, text: str, mentions: list[tuple[Span, float]], only: EntitySet | None
) -> Iterator[tuple[SolvedPart, list[float]]]:
    """Parts of a long document, and the link probabilities of the names in each."""
    for k in range(0, len(mentions), MENTIONS_AT_A_TIME):
        spans, links = zip(*mentions[k : k + MENTIONS_AT_A_TIME], strict=True)
        first = max(0, spans[0].start - MARGIN) if k else 0
        inside = [Span(s.start - first, s.end - first, s.entity) for s in spans]
        yield SolvedPart(engine, text[first : spans[-1].end + MARGIN], inside, only, first), list(links)


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
