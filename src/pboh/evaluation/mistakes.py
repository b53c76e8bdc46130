"""What a system got wrong, each in its sentence, with what spoke for the right and the wrong candidate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pboh.document import Contribution, Mention
from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention
from pboh.evaluation.metrics import Answer, AnsweredDocument, Judgement, Resolve

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


@dataclass(frozen=True, slots=True)
class WrongMention:
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
    flags = iter(
        zip(judgement.correct.tolist(), judgement.known.tolist(), judgement.candidate.tolist(), strict=True)
    )
    found: list[WrongMention] = []
    for document, answered in zip(dataset, answers, strict=True):
        resolved: dict[tuple[int, int], Mention] | None = None
        for mention, answer in zip(document.linked, answered.answers, strict=True):
            correct, known, candidate = next(flags)
            if correct:
                continue
            kind = _kind(known, candidate, answer)
            pair: tuple[dict[str, Any] | None, dict[str, Any] | None] = None, None
            if _is_chosen(len(found), total, explain) and answer.candidates:
                resolved = resolved if resolved is not None else _resolved(linker, document)
                pair = _explained(resolved[mention.start, mention.end], mention, resolve)
            found.append(_wrong(dataset.name, document, mention, answer, kind, pair))
    return found


def _is_chosen(number: int, total: int, wanted: int) -> bool:
    """Whether this one is among ``wanted`` out of ``total``, spread evenly."""
    return number * wanted // max(total, 1) != (number - 1) * wanted // max(total, 1) or wanted >= total


def _kind(known: bool, candidate: bool, answer: Answer) -> ErrorKind:
    if not known:
        return "unknown"
    if not candidate:
        return "missed"
    return "withheld" if answer.entity is None else "confused"


def _wrong(
    dataset: str,
    document: GoldDocument,
    mention: GoldMention,
    answer: Answer,
    kind: ErrorKind,
    pair: tuple[dict[str, Any] | None, dict[str, Any] | None],
) -> WrongMention:
    before, after = sentence_around(document.text, mention.start, mention.end)
    return WrongMention(
        dataset,
        document.id,
        before,
        mention.text,
        after,
        " or ".join(mention.golds),
        answer.entity,
        kind,
        round(answer.probability, 4),
        *pair,
    )


def sentence_around(text: str, start: int, end: int) -> tuple[str, str]:
    """The rest of the sentence on both sides of a span, cut to a readable length."""
    left = text[max(0, start - _REACH) : start]
    boundary = max((match.end() for match in _SENTENCE_END.finditer(left)), default=None)
    before = left[boundary:] if boundary is not None else ("…" if start > _REACH else "") + left
    right = text[end : end + _REACH]
    match = _SENTENCE_END.search(right)
    after = right[: match.end()].rstrip() if match else right + ("…" if end + _REACH < len(text) else "")
    return before, after


def _resolved(linker: Linker, document: GoldDocument) -> dict[tuple[int, int], Mention]:
    spans = [(mention.start, mention.end) for mention in document.linked]
    answered = linker.disambiguate(document.text, spans, overlapping=True)
    return {(mention.start, mention.end): mention for mention in answered.mentions}


def _explained(
    mention: Mention, gold: GoldMention, resolve: Resolve
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The terms of the right candidate (if it is one) and of the one that won."""
    golds = {resolve(title) for title in gold.golds}
    right = next((candidate for candidate in mention.candidates if candidate.entity.title in golds), None)
    winner = mention.entity or (mention.candidates[0].entity if mention.candidates else None)
    wrong = next((candidate for candidate in mention.candidates if candidate.entity == winner), None)
    found: list[dict[str, Any] | None] = []
    for candidate in (right, wrong):
        explanation = mention.explain(candidate.entity) if candidate else None
        if candidate is None or explanation is None:
            found.append(None)
            continue
        terms = [
            ["name", "p(entity | name)", explanation.prior],
            *([["name", "longer mention", explanation.coreference]] if explanation.coreference else []),
            *_largest("word", explanation.words),
            *([["word", "words never seen with it", explanation.unmatched]] if explanation.unmatched else []),
            *_largest("neighbour", explanation.neighbours),
        ]
        found.append(
            {
                "title": candidate.entity.title,
                "probability": round(candidate.probability, 4),
                "score": round(explanation.score, 3),
                "terms": [[group, label, round(value, 3)] for group, label, value in terms],
            }
        )
    return found[0], found[1]


def _largest(group: str, terms: Sequence[Contribution]) -> list[list[Any]]:
    """The terms that matter most, the others as one sum, so that all still add up to the score."""
    ordered = sorted(terms, key=lambda term: -abs(term.value))
    shown = [[group, term.label, term.value] for term in ordered[:_SHOWN]]
    rest = ordered[_SHOWN:]
    others = [[group, f"{len(rest)} more", sum(term.value for term in rest)]] if rest else []
    return [*shown, *others]
