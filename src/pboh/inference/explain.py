"""Why an answer was chosen: the terms of the sum that was maximised, by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pboh.document import Contribution, Entity, Explanation
from pboh.inference.candidates import EntitySet
from pboh.inference.potentials import Potentials, Windows
from pboh.inference.spans import Span

if TYPE_CHECKING:
    from pboh.linker import Linker, Solution


def explain(
    linker: Linker,
    text: str,
    spans: list[Span],
    i: int,
    entity: Entity | None,
    only: EntitySet | None = None,
) -> Explanation | None:
    """Terms of the score of mention i's answer, or of another of its candidates.

    score = log p(e|m) + ζ·Σ_w log p(w|e)/p(w) + Σ_{j≠i} λ(e, e_j), Eq. (c2) with all other answers fixed.
    """
    solution = linker.solve(text, spans, only=only)
    row = solution.unary.entity[i, : solution.unary.size[i]].tolist()
    if entity is None:
        choice = int(solution.answer[i])
        if choice < 0:
            return None
    elif entity.index in row:
        choice = row.index(entity.index)
    else:
        return None
    found = linker._entity(row[choice])
    potentials = linker._potentials
    context = linker.settings.context_weight * float(solution.unary.context[i, choice])
    words = _words(linker, potentials, text, solution.windows, i, found.index)
    own = float(np.log(solution.unary.prior[i, choice]))
    inherited = _inherited(linker, text, spans[i], found.index, own, only)
    return Explanation(
        entity=found,
        prior=own - inherited,
        context=context,
        words=words,
        unmatched=context - sum(w.value for w in words),
        coreference=inherited,
        neighbours=_neighbours(linker, spans, text, solution, i, choice),
        score=float(solution.scores[i, choice]),
    )


def _words(
    linker: Linker, potentials: Potentials, text: str, windows: Windows, i: int, entity: int
) -> tuple[Contribution, ...]:
    """What every word of the context contributes beyond an unmatched one, largest first."""
    if linker.settings.context_weight == 0.0:
        return ()
    zeta = linker.settings.context_weight * float(potentials.emphasis(windows)[i])
    places = [*range(windows.first[i], windows.left[i]), *range(windows.right[i], windows.last[i])]
    single = np.asarray([[entity]], np.int32)
    one = np.ones(1, np.int32)
    totals: dict[str, float] = {}
    none = np.asarray([-1])
    nothing = _word_alone(replace(windows, words=none, added=tuple(none for _ in windows.added)), 0)
    unmatched = potentials.context(single, one, nothing)[0, 0]
    for k in places:
        value = float(potentials.context(single, one, _word_alone(windows, k))[0, 0] - unmatched)
        if value != 0.0:
            word = text[windows.starts[k] : windows.ends[k]].lower()
            totals[word] = totals.get(word, 0.0) + zeta * value
    return tuple(Contribution(w, v) for w, v in sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def _word_alone(windows: Windows, k: int) -> Windows:
    """A context of one word."""
    first, after = np.asarray([k]), np.asarray([k + 1])
    return replace(windows, first=first, left=after, right=after, last=after)


def _inherited(
    linker: Linker, text: str, span: Span, entity: int, log_prior: float, only: EntitySet | None
) -> float:
    """log p(e|m) with candidates of longer mentions minus without them (at most to a floor of 0.001)."""
    if linker.settings.coreference == 0.0 or span.entity is not None:
        return 0.0
    alone = linker.with_settings(coreference=0.0)
    found, prior, size = alone._candidates.find([text[span.start : span.end]], only)
    row = found[0, : size[0]].tolist()
    without = float(prior[0, row.index(entity)]) if entity in row else 0.0
    return log_prior - float(np.log(max(without, 1e-3)))


def _neighbours(
    linker: Linker, spans: list[Span], text: str, solution: Solution, i: int, choice: int
) -> tuple[Contribution, ...]:
    """λ(e, e_j) with the answer of every other linked mention, largest first."""
    pairs = solution.pairs
    if linker.settings.pair_weight(2) == 0.0:
        return ()
    start, other, value = pairs.couplings
    u = int(pairs.label[i, choice])
    row = dict(
        zip(other[start[u] : start[u + 1]].tolist(), value[start[u] : start[u + 1]].tolist(), strict=True)
    )
    terms = []
    for j, answer in enumerate(solution.answer.tolist()):
        if j == i or answer < 0:
            continue
        title = linker.model.title(int(solution.unary.entity[j, answer]))
        terms.append(Contribution(title, pairs.unseen + row.get(int(pairs.label[j, answer]), 0.0), j))
    return tuple(sorted(terms, key=lambda term: (-term.value, term.mention)))
