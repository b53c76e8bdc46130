"""Why an answer was chosen: the terms of the sum that was maximised, by name."""

from __future__ import annotations

import numpy as np

from pboh.deadline import checkpoint
from pboh.document import Contribution, Entity, Explanation
from pboh.inference.engine import Engine
from pboh.inference.potentials import Windows
from pboh.inference.solution import Solution
from pboh.text.hashing import Array

LEAST_SHARE = 1e-3  # p(e|m) that a candidate inherited from a longer mention is taken to have without it


def explain(engine: Engine, solution: Solution, i: int, entity: Entity | None = None) -> Explanation | None:
    """Terms of the score of mention i's answer, or of another of its candidates.

    score = log p(e|m) + ζ·Σ_w log p(w|e)/p(w) + topic·cos(e, words) + Σ_{j≠i} λ(e, e_j), Eq. (c2) with all
    other answers fixed.
    """
    row = solution.unary.entity[i, : solution.unary.size[i]].tolist()
    choice = int(solution.answer[i])
    if entity is not None:
        choice = row.index(entity.index) if entity.index in row else -1
    if choice < 0:
        return None
    matched = engine.settings.context_weight * float(solution.unary.context[i, choice])
    topic = float(solution.unary.topic[i, choice])
    words = _words(engine, solution, i, row[choice])
    prior = float(np.log(solution.unary.prior[i, choice]))
    inherited = _inherited(engine, solution, i, row[choice], prior)
    return Explanation(
        entity=engine.entities[row[choice]],
        prior=prior - inherited,
        context=matched + topic,
        words=words,
        unmatched=matched - sum(w.value for w in words),
        coreference=inherited,
        neighbours=_neighbours(engine, solution, i, choice),
        score=float(solution.scores[i, choice]),
        topic=topic,
    )


def _words(engine: Engine, solution: Solution, i: int, entity: int) -> tuple[Contribution, ...]:
    """What every word of the context contributes beyond an unmatched one, largest first."""
    checkpoint()
    windows, potentials = solution.windows, engine.potentials
    if engine.settings.context_weight == 0.0:
        return ()
    zeta = engine.settings.context_weight * float(potentials.emphasis(windows)[i])
    places = windows.places(i)

    def scores(contexts: Windows) -> Array:
        single = np.full((contexts.first.size, 1), entity, np.int32)
        return potentials.context(single, np.ones(len(single), np.int32), contexts)[:, 0]

    values = scores(windows.alone(places)) - scores(windows.unmatched())
    totals: dict[str, float] = {}
    for k, value in zip(places.tolist(), values.tolist(), strict=True):
        if value != 0.0:
            word = solution.text[windows.starts[k] : windows.ends[k]].lower()
            totals[word] = totals.get(word, 0.0) + zeta * value
    return tuple(Contribution(w, v) for w, v in sorted(totals.items(), key=lambda item: (-item[1], item[0])))


def _inherited(engine: Engine, solution: Solution, i: int, entity: int, log_prior: float) -> float:
    """log p(e|m) with candidates of longer mentions minus without them (at most to a floor)."""
    span = solution.spans[i]
    if engine.settings.coreference == 0.0 or span.entity is not None:
        return 0.0
    surface, followed = solution.text[span.start : span.end], [solution.followed[i]]
    found, prior, size = engine.candidates.find([surface], solution.only, followed=followed)
    row = found[0, : size[0]].tolist()
    without = float(prior[0, row.index(entity)]) if entity in row else 0.0
    return log_prior - float(np.log(max(without, LEAST_SHARE)))


def _neighbours(engine: Engine, solution: Solution, i: int, choice: int) -> tuple[Contribution, ...]:
    """λ(e, e_j) with the answer of every other linked mention, largest first."""
    if engine.settings.pair_weight(2) == 0.0:
        return ()
    pairs = solution.pairs
    start, other, value = pairs.couplings
    seen = slice(*start[pairs.label[i, choice] :][:2])
    row = dict(zip(other[seen].tolist(), value[seen].tolist(), strict=True))
    terms = []
    for j in solution.near.of(i).tolist():
        answer = int(solution.answer[j])
        if answer < 0:
            continue
        title = engine.entities[int(solution.unary.entity[j, answer])].title
        terms.append(Contribution(title, pairs.unseen + row.get(int(pairs.label[j, answer]), 0.0), j))
    return tuple(sorted(terms, key=lambda term: (-term.value, term.mention)))
