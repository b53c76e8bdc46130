"""From raw text to a linked document: what may be a mention is resolved, then chosen with the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pboh.detection.cover_kernels import best_cover
from pboh.detection.datelines import datelines
from pboh.detection.decision import Decision, longer_features, row_features, text_features
from pboh.detection.detector import Spots
from pboh.detection.possibilities import Mentions, Possibilities
from pboh.document import Document, Mention
from pboh.inference.candidates import longer_mentions
from pboh.inference.engine import Engine
from pboh.inference.entities import Restriction, TypedSet
from pboh.inference.neighbourhood import Neighbourhood
from pboh.inference.part import SolvedPart
from pboh.text.hashing import Array

REACH = 12
"""Mentions influence each other over this many places: a text means the same alone and in a longer one."""
PLACES_AT_A_TIME = 96
"""Longer documents are resolved part by part, each with the places around it that it can hear."""
PLACE = 0.5
"""Share of a name's links that go to places if it can be the place of a dateline."""
MARGIN = 1500  # code points of context to each side of a part


@dataclass(slots=True)
class Resolved:
    """The possibilities of a text with their evidence, and the parts they were resolved in."""

    text: str
    rows: Possibilities
    features: dict[str, Array]
    parts: list[tuple[SolvedPart, slice, int]]  # the rows that each answers, and the first one it has


def resolve(engine: Engine, text: str, rows: Possibilities, only: Restriction | None = None) -> Resolved:
    """Resolve all possibilities of a text."""
    surfaces = rows.surfaces(text)
    parts = list(_with_datelines(engine, text, rows, surfaces, only))
    once = {part: row_features(part.solution, engine.model) for part, _, _ in parts}
    solved = [once[part] for part, _, _ in parts]
    features = text_features(rows, text, surfaces)
    for name in solved[0] if solved else ():
        own = (f[name][mine.start - k : mine.stop - k] for f, (_, mine, k) in zip(solved, parts, strict=True))
        features[name] = np.concatenate(list(own))
    if solved:
        features |= longer_features(rows, surfaces, features["entity"])
        features["odd"] = features["nameness"] * (1 - features["capital"])  # a name in small letters
    return Resolved(text, rows, features, parts)


def _with_datelines(
    engine: Engine, text: str, rows: Possibilities, surfaces: list[str], only: Restriction | None
) -> Iterator[tuple[SolvedPart, slice, int]]:
    """Parts as below; but the places of a dateline are resolved as such, and say nothing to the report."""
    apart, speaks = [], rows.speaks.copy()
    known = engine.model.has_types and only is None
    for begin, end in datelines(text) if known else ():
        places = TypedSet(engine.model, ["place"])
        first, last = np.searchsorted(rows.start, [begin, end]).tolist()
        entity, prior, _ = engine.candidates.find(surfaces[first:last])
        fit = (prior * places.holds(entity)).sum(1) >= PLACE
        if fit[rows.speaks[first:last]].all() and rows.speaks[first:last].any():
            spans = rows.spans(first, last, begin)
            near = Neighbourhood(rows.where[first:last], REACH, rows.speaks[first:last])
            around = text[begin : end + MARGIN]
            apart.append((SolvedPart(engine, around, spans, places, begin, near), first, last))
            speaks[first:last] = False
    for part, mine, number in _parts(engine, text, replace(rows, speaks=speaks), surfaces, only):
        at = mine.start
        for own, first, last in apart:
            if mine.start <= first and last <= mine.stop:
                yield part, slice(at, first), number
                yield own, slice(first, last), first
                at = last
        yield part, slice(at, mine.stop), number


def _parts(
    engine: Engine, text: str, rows: Possibilities, surfaces: list[str], only: Restriction | None
) -> Iterator[tuple[SolvedPart, slice, int]]:
    """Parts of a document, the rows that each answers, and the number of its first row."""
    if not len(rows):
        return
    where = rows.where
    places = int(where[-1]) + 1
    whole = places <= PLACES_AT_A_TIME + 2 * REACH
    step = places if whole else PLACES_AT_A_TIME
    longer = {} if whole else _longer(surfaces)
    for k in range(0, places, step):
        mine = slice(*np.searchsorted(where, [k, k + step]).tolist())
        first, last = np.searchsorted(where, [k - REACH, k + step + REACH]).tolist()
        begin = 0 if whole else max(0, int(rows.start[first]) - MARGIN)
        end = len(text) if whole else int(rows.end[first:last].max()) + MARGIN
        spans = rows.spans(first, last, begin)
        near = Neighbourhood(where[first:last], REACH, rows.speaks[first:last])
        beside = {name for surface in surfaces[first:last] for name in longer.get(surface, ())}
        elsewhere = sorted(beside.difference(surfaces[first:last]))
        yield SolvedPart(engine, text[begin:end], spans, only, begin, near, elsewhere), mine, first


def _longer(surfaces: list[str]) -> dict[str, list[str]]:
    """The longer names of a document that begin or end with a name."""
    unique = list(dict.fromkeys(surfaces))
    return {
        unique[k]: [unique[i] for i in longer] for k, longer in enumerate(longer_mentions(unique)) if longer
    }


class Choice:
    """Which possibilities are mentions: those that do not overlap and are most probable together."""

    def __init__(
        self, resolved: Resolved, decision: Decision, mentions: Mentions, threshold: float | None
    ) -> None:
        rows, features = resolved.rows, resolved.features
        size, nothing = len(rows), np.zeros(len(rows))
        known = features["known"] > 0 if size else np.zeros(0, bool)
        self.name, self.link, self.right, worth = nothing, nothing.copy(), nothing, np.full(size, -1.0)
        limit = decision.answer.threshold if threshold is None else threshold
        if rows.found and size:
            found = rows.name > 0
            self.name = np.where(found, decision.name.probability(features), 0.0)
            self.right = np.where(known, decision.answer.probability(features), 0.0)
            self.link = self.name * self.right
            worth = np.where(found, self.name - decision.name.threshold, worth)
            answered = self.link >= limit
        if (mentions == "all" or not rows.found) and size:
            limit = decision.concept.threshold if threshold is None else threshold
            concept = np.where(known, decision.concept.probability(features), 0.0)
            concept = _say_again(resolved.rows.surfaces(resolved.text), features["entity"], concept)
            also = known & (concept >= limit)
            self.right = np.where(self.link >= concept, self.right, np.nan)  # the stronger one decides
            worth = np.maximum(worth, np.where(also, concept, -1.0))
            self.link = np.maximum(self.link, concept)
            answered = also | (answered if rows.found else False)
        if size:
            self.name[rows.given] = self.link[rows.given] = 1.0
            worth[rows.given] = 99.0
            order = np.lexsort((rows.start, rows.end))
            self.chosen = np.zeros(size, bool)
            self.chosen[order] = best_cover(rows.start[order], rows.end[order], worth[order])
            self.answered = self.chosen & (answered | rows.given)
        else:
            self.chosen = self.answered = np.zeros(0, bool)


def link(
    engine: Engine,
    text: str,
    rows: Possibilities,
    *,
    mentions: Mentions = "names",
    threshold: float | None = None,
    nil: bool = False,
    id: str | None = None,
    only: Restriction | None = None,
) -> Document:
    """See :meth:`pboh.linker.Linker.link`."""
    document = Document(text, [], id)
    resolved = resolve(engine, text, rows, only)
    choice = Choice(resolved, Decision.of(engine.model.info), mentions, threshold)
    shown = choice.chosen if nil else choice.answered
    for part, mine, first in resolved.parts:
        own = np.flatnonzero(shown[mine]) + mine.start
        part.right = choice.right[first : first + len(part.spans)] if rows.found else None
        for k, mention in zip(own.tolist(), part.mentions((own - first).tolist()), strict=True):
            _judge(mention, bool(choice.answered[k]), float(choice.name[k]), float(choice.link[k]))
            if nil or mention.entity is not None or rows.given[k]:
                document.mentions.append(mention)
        if part in document.parts:
            continue
        solution = part.solution
        document.parts.append(part)
        document.rounds = max(document.rounds, solution.beliefs.rounds)
        document.converged &= solution.beliefs.converged
        for stage, seconds in solution.timings.items():
            document.timings[stage] = document.timings.get(stage, 0.0) + seconds
    return document


def _judge(mention: Mention, answered: bool, name: float, link: float) -> None:
    """Enter how sure a mention is: a name with a right answer, or a name that nobody in the model has."""
    mention.detection = link
    if not answered:
        mention.entity, mention.detection = None, name * mention.nil


def meant(engine: Engine, text: str, only: Restriction, spots: Spots) -> Array:
    """Which names can mean an entity of a set: the others must not be in their way."""
    surfaces = [text[a:b] for a, b in zip(spots.start.tolist(), spots.end.tolist(), strict=True)]
    unique = list(dict.fromkeys(surfaces))
    known: dict[str, bool] = {}
    for k in range(0, len(unique), PLACES_AT_A_TIME):
        names = unique[k : k + PLACES_AT_A_TIME]
        size = engine.candidates.find(names, only, alone=True)[2]
        known |= zip(names, (size > 0).tolist(), strict=True)
    return np.asarray([known[surface] for surface in surfaces], bool)


def _say_again(surfaces: Sequence[str], entity: Array, sure: Array) -> Array:
    """A shorter name of an entity is as sure as the longer one that holds it: Obama beside Barack Obama.

    Wikipedia, which taught the decision, links a name once; readers expect every one to be linked.
    """
    surest: dict[tuple[int, str], float] = {}
    rows = list(zip(surfaces, entity.tolist(), sure.tolist(), strict=True))
    for surface, answer, value in rows:
        if answer >= 0:
            for word in surface.split():
                surest[answer, word] = max(surest.get((answer, word), 0.0), value)
    return np.asarray(
        [
            max(value, min((surest[answer, word] for word in surface.split()), default=0.0))
            if answer >= 0 and not surface[:1].islower()
            else value
            for surface, answer, value in rows
        ]
    )
