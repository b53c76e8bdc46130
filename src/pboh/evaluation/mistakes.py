"""What a system got wrong, each in its sentence, with what spoke for the right and the wrong candidate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pboh.document import Candidate, Document, Mention
from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention
from pboh.evaluation.metrics import Answer, AnsweredDocument, Judgement, Resolve, is_right

if TYPE_CHECKING:
    from pboh.linker import Linker

ErrorKind = Literal["unknown", "missed", "withheld", "confused"]
KINDS: dict[ErrorKind, str] = {
    "unknown": "the right entity is not in the model",
    "missed": "the right entity was not a candidate",
    "withheld": "no answer was given",
    "confused": "another candidate won",
}
_SENTENCE_END = re.compile(r"[.!?…]['\")\]]*\s+|\n+")
_REACH = 240
_SHOWN = 8


class WrongMention(NamedTuple):
    """A mention whose answer is not the gold; explanations are None when there is nothing to explain."""

    dataset: str
    document: str
    before: str
    mention: str
    after: str
    gold: str
    answer: str | None
    kind: ErrorKind
    probability: float
    right: dict[str, Any] | None = None
    wrong: dict[str, Any] | None = None


def find_errors(
    linker: Linker,
    dataset: Dataset,
    judgement: Judgement,
    answers: Sequence[AnsweredDocument],
    resolve: Resolve,
    explain: int,
) -> list[WrongMention]:
    """Every wrong mention of a dataset; ``explain`` of them, spread evenly, are explained."""
    total = int((~judgement.correct).sum())
    columns = (judgement.correct, judgement.known, judgement.candidate)
    flags = zip(*(column.tolist() for column in columns), strict=True)
    found: list[WrongMention] = []
    for document, answered in zip(dataset, answers, strict=True):
        resolved: dict[tuple[int, int], Mention] = {}
        for mention, answer in zip(document.linked, answered.answers, strict=True):
            correct, known, candidate = next(flags)
            if correct:
                continue
            pair: Sequence[dict[str, Any] | None] = ()
            if _is_chosen(len(found), total, explain) and answer.candidates:
                resolved = resolved or by_span(linker, document)[0]
                pair = _explained(resolved[mention.start, mention.end], mention, resolve)
            before, after = sentence_around(document.text, mention.start, mention.end)
            place = (dataset.name, document.id, before, mention.text, after, " or ".join(mention.golds))
            kind = _kind(known, candidate, answer)
            found.append(WrongMention(*place, answer.entity, kind, round(answer.probability, 4), *pair))
    return found


def by_span(linker: Linker, document: GoldDocument) -> tuple[dict[tuple[int, int], Mention], Document]:
    """The resolved non-NIL mentions of a gold document, found by their spans."""
    spans = [(mention.start, mention.end) for mention in document.linked]
    answered = linker.disambiguate(document.text, spans, id=document.id, overlapping=True)
    return {(mention.start, mention.end): mention for mention in answered.mentions}, answered


def _is_chosen(number: int, total: int, wanted: int) -> bool:
    """Whether this one is among ``wanted`` out of ``total``, spread evenly."""
    return number * wanted // max(total, 1) != (number - 1) * wanted // max(total, 1) or wanted >= total


def _kind(known: bool, candidate: bool, answer: Answer) -> ErrorKind:
    if not known:
        return "unknown"
    if not candidate:
        return "missed"
    return "withheld" if answer.entity is None else "confused"


def sentence_around(text: str, start: int, end: int) -> tuple[str, str]:
    """The rest of the sentence on both sides of a span, cut to a readable length."""
    left = text[max(0, start - _REACH) : start]
    boundary = max((match.end() for match in _SENTENCE_END.finditer(left)), default=None)
    before = left[boundary:] if boundary is not None else ("…" if start > _REACH else "") + left
    right = text[end : end + _REACH]
    match = _SENTENCE_END.search(right)
    after = right[: match.end()].rstrip() if match else right + ("…" if end + _REACH < len(text) else "")
    return before, after


def _explained(mention: Mention, gold: GoldMention, resolve: Resolve) -> list[dict[str, Any] | None]:
    """The terms of the right candidate (if it is one) and of the one that won."""
    right = next((c for c in mention.candidates if is_right([c.entity.title], gold, resolve)), None)
    winner = mention.entity or (mention.candidates[0].entity if mention.candidates else None)
    wrong = next((c for c in mention.candidates if c.entity == winner), None)
    return [_terms(mention, candidate) for candidate in (right, wrong)]


def _terms(mention: Mention, candidate: Candidate | None) -> dict[str, Any] | None:
    """What speaks for a candidate, as plain values that add up to its score."""
    explanation = mention.explain(candidate.entity) if candidate else None
    if candidate is None or explanation is None:
        return None
    return {
        "title": candidate.entity.title,
        "probability": round(candidate.probability, 4),
        "score": round(explanation.score, 3),
        "terms": [[kind, label, round(value, 3)] for kind, label, value in explanation.terms(_SHOWN)],
    }
