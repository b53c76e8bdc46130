"""Which of the possibilities are names, and which answers are right: fitted functions of the evidence.

Three functions of the kind :class:`pboh.inference.reliability.Reliability`: ``name`` says how probably a
span is a name, whether an entity is known or not; ``answer`` how probably the answer is right if it is one;
and ``concept`` how probably a name of the dictionary would be a link in an encyclopaedia, whatever it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pboh.detection.cover_kernels import strongest_rivals
from pboh.detection.possibilities import Possibilities
from pboh.detection.token_kernels import SMALL
from pboh.detection.tokens import code_points, sorts
from pboh.formats.types import TYPES
from pboh.inference.candidates import longer_mentions
from pboh.inference.reliability import Reliability, answer_features, log_odds
from pboh.inference.solution import Solution
from pboh.model.store import Model
from pboh.text.hashing import Array

ANSWER = ("posterior", "prior", "context", "coherence", "popularity")
NAME = (
    "name",
    "again",
    "known",
    "prior",
    "coherence",
    "same",
    "other",
    "words",
    "capital",
    "inside",
    "touched",
    "abstract",
)
NAMED = (*ANSWER, "topic", "agreement", "same", "other", "abstract", "nameness", "words", "link")
MENTION = ("link", "capital", "words", "inside", "part", "odd")
CONCEPT = (*ANSWER, *MENTION)

_SKIPPED, _ENDS = 1, 2  # characters that are passed over before a word, and that end what comes before it
_MARKS = np.zeros(0x3000, np.uint8)
_MARKS[code_points(" \"'(“‘")], _MARKS[code_points(".!?:\n•*|")] = _SKIPPED, _ENDS

ABSTRACT = TYPES.index("other")
"""The type of languages, offices, awards, and whatever is not a thing of the world."""
DEFAULT_CONCEPT = Reliability(
    {"bias": -0.5, "link": 1.0, "posterior": 0.25, "coherence": 0.5, "capital": 0.5}, threshold=0.3
)
DEFAULT_NAME = Reliability({"bias": -0.5, "name": 1.0, "again": 2.0, "known": 0.5}, threshold=0.5)
DEFAULT_ANSWER = Reliability({"bias": 0.5, "posterior": 0.4, "prior": 0.4}, threshold=0.4)


class Decision(NamedTuple):
    """What is decided by. The threshold of ``answer`` is one of both: of a name with a right answer."""

    name: Reliability
    answer: Reliability
    concept: Reliability

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> Decision:
        """The decision stored in a ``model.json``; what was not fitted has a default."""
        names = info.get("names") or {}
        name, answer = (Reliability.of(names.get(part)) for part in ("name", "answer"))
        concept = Reliability.of(info.get("detection")) or DEFAULT_CONCEPT
        return cls(name or DEFAULT_NAME, answer or DEFAULT_ANSWER, concept)

    def threshold(self, names: bool) -> float:
        """The confidence that found mentions need by default: names, or whatever the dictionary has."""
        return self.answer.threshold if names else self.concept.threshold


def row_features(solution: Solution, model: Model) -> dict[str, Array]:
    """What speaks for the answers of a solved part, one number each; and ``entity``, the answers."""
    features = answer_features(solution, model["entity_occurrences"])
    known = solution.answer >= 0
    answer = np.take_along_axis(solution.unary.entity, np.maximum(solution.answer, 0)[:, None], 1)[:, 0]
    features["entity"] = np.where(known, answer, -1)
    features["known"] = known.astype(np.float64)
    features["nameness"] = _nameness(model, answer, known)
    types = model.type_codes(answer) if model.has_types else np.zeros(answer.size)
    features["abstract"] = (known & (types == ABSTRACT)).astype(np.float64)
    return features


def _nameness(model: Model, answer: Array, known: Array) -> Array:
    """How often links to the answers are written as names; ½ where it is not known."""
    table = model.arrays.get("entity_nameness")
    if table is None:
        return np.full(answer.size, 0.5)
    own = known & (answer < table.size)
    share = table[np.where(own, answer, 0)] / 255.0
    return np.where(own, share, np.where(known, 1.0, 0.5))


def text_features(rows: Possibilities, text: str, surfaces: Sequence[str]) -> dict[str, Array]:
    """What the text says of every possibility."""
    codes = code_points(text)
    capital = (sorts()[0][codes[rows.start]] != SMALL).astype(np.float64)
    return {
        "name": log_odds(np.clip(rows.name, 1e-3, 1 - 1e-3)),
        # it helps where the sentence tells little; and what is inside another name may be a name elsewhere
        "again": rows.again
        * (1 - rows.name)
        * (1 - strongest_rivals(rows.start, rows.end, np.ascontiguousarray(rows.name))),
        "link": log_odds(np.clip(rows.link, 1e-3, 1)),
        "capital": capital,
        "words": np.log([1 + surface.count(" ") for surface in surfaces]) if surfaces else capital,
        "inside": _inside_sentence(codes, rows.start) * capital,
        "touched": rows.touched.astype(np.float64),
    }


def longer_features(rows: Possibilities, surfaces: Sequence[str], entity: Array) -> dict[str, Array]:
    """Whether a longer mention begins or ends with the words of this one, and has its answer or another.

    Clinton beside Bill Clinton. Longer mentions are those that speak elsewhere; ``part`` is either.
    """
    number = {surface: k for k, surface in enumerate(dict.fromkeys(surfaces))}
    names, where, answers = [number[s] for s in surfaces], rows.where.tolist(), entity.tolist()
    longer = longer_mentions(list(number))
    speaking: list[list[tuple[int, int]]] = [[] for _ in number]
    for k in np.flatnonzero(rows.speaks).tolist():
        speaking[names[k]].append((where[k], answers[k]))
    same, part = np.zeros(len(rows)), np.zeros(len(rows))
    for k, name in enumerate(names):
        if longer[name]:
            places = (place for i in longer[name] for place in speaking[i])
            elsewhere = {answer for place, answer in places if place != where[k]}
            part[k] = bool(elsewhere)
            same[k] = answers[k] >= 0 and answers[k] in elsewhere
    return {"same": same, "other": part - same, "part": part}


def _inside_sentence(codes: Array, start: Array) -> Array:
    """Whether a word follows another in its sentence, so that a capital letter means something."""
    inside, open_ = np.zeros(start.size, bool), start > 0
    for back in (1, 2, 3):
        before = _MARKS[np.minimum(codes[np.maximum(start - back, 0)], _MARKS.size - 1)]
        told = open_ & (before != _SKIPPED)
        inside |= told & (before != _ENDS)
        open_ &= ~told & (start > back)
    return inside
