"""The few global weights of the score, fitted by the same pseudo-likelihood: convex, and a matter of seconds.

With every other mention at its gold entity, p(e | m_i, e_−i) ∝ exp(w · f_i(e)) is a logistic regression over
the terms f of Eq. (c2) and of the extensions. Its maximum is found by Newton's method; the inverse of the
Hessian gives standard errors. An argmax does not change when all weights are multiplied, so relative to the
weight of log p(e|m) they are the values grid search looks for: ζ, τ, the weight of own-page words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pboh.errors import InputError
from pboh.files.progress import Report, silent
from pboh.inference.potentials import Potentials, Unary, conditional_scores
from pboh.inference.reliability import links_of
from pboh.inference.spans import Span
from pboh.learning.kernels import Array
from pboh.linker import Linker

FEATURES = ("prior", "context", "pairs", "same", "popularity", "coreference", "own_words")
LOWEST_PRIOR = 1e-3  # p(e|m) of a candidate that only a longer mention brings


GoldSpan = tuple[int, int, str]
"""Start, end and title of a gold mention."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Mentions with a choice: rows ``offsets[i]:offsets[i + 1]`` are candidates, ``gold[i]`` the right row.

    ``document`` numbers the document of every mention. ``unanswerable`` mentions (gold is no candidate, or
    the only one) teach nothing about weights and are not here.
    """

    matrix: Array
    offsets: Array
    gold: Array
    document: Array
    names: tuple[str, ...]
    unanswerable: int

    def of(self, documents: Array) -> Choices:
        """The mentions of some documents."""
        keep = np.isin(self.document, documents)
        rows = np.repeat(keep, np.diff(self.offsets))
        offsets = np.concatenate(([0], np.cumsum(np.diff(self.offsets)[keep]))).astype(np.int64)
        gold = offsets[:-1] + (self.gold - self.offsets[:-1])[keep]
        return replace(
            self, matrix=self.matrix[rows], offsets=offsets, gold=gold, document=self.document[keep]
        )


@dataclass(frozen=True, slots=True)
class Weights:
    """Fitted weights with their standard errors, and how well they explain what they were fitted to."""

    names: tuple[str, ...]
    value: Array
    error: Array
    loss: float
    accuracy: float

    def settings(self) -> dict[str, float]:
        """The weights as settings of a model: relative to the weight of log p(e|m)."""
        w = dict(zip(self.names, self.value.tolist(), strict=True))
        if w.get("prior", 0.0) <= 0.0:
            return {}
        relative = {"zeta": w.get("context"), "tau": w.get("pairs")}
        out = {name: max(value / w["prior"], 0.0) for name, value in relative.items() if value is not None}
        if w.get("context", 0.0) > 0.0 and "own_words" in w:
            out["own_words"] = max(w["own_words"] / w["context"], 0.0)
        return out


def features(
    linker: Linker, documents: Iterable[tuple[str, Sequence[GoldSpan]]], report: Report = silent
) -> Choices:
    """Terms of the score of all candidates of gold documents, given the gold of the other mentions."""
    terms = _Terms(linker)
    matrices, sizes, golds, owners, unanswerable = [], [], [], [], 0
    for d, (text, mentions) in enumerate(documents):
        report(d, None, "features")
        matrix, size, gold = terms.document(text, mentions)
        learnable = (gold >= 0) & (size > 1)
        unanswerable += int((~learnable).sum())
        width = np.arange(matrix.shape[1])
        matrices.append(matrix[learnable][width < size[learnable][:, None]])
        sizes += size[learnable].tolist()
        golds += gold[learnable].tolist()
        owners += [d] * int(learnable.sum())
    if not sizes:
        raise InputError("no mention of the gold documents has a choice between candidates")
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    gold = offsets[:-1] + np.asarray(golds)
    return Choices(np.concatenate(matrices), offsets, gold, np.asarray(owners), FEATURES, unanswerable)


class _Terms:
    """Computes the features through the same potentials that inference uses."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker.with_settings(system="pboh", coreference=linker.settings.coreference or 1.0)
        self.alone = linker.with_settings(system="pboh", coreference=0.0)
        base = self.linker.settings.change(own_words=0.0, tau=1.0, self_pair=0.0)
        self.potentials = Potentials(linker.model, base)
        self.with_own = Potentials(linker.model, base.change(own_words=1.0))

    def document(self, text: str, mentions: Sequence[GoldSpan]) -> tuple[Array, Array, Array]:
        """Features (mention, candidate, feature), number of candidates, and the gold candidate or −1."""
        spans = [Span(start, end) for start, end, _ in mentions]
        surfaces = [text[s.start : s.end] for s in spans]
        if not spans:
            return np.zeros((0, 1, len(FEATURES))), np.zeros(0, int), np.zeros(0, int)
        entity, prior, size = self.linker.engine.candidates.find(surfaces)
        gold = self._gold(mentions, entity, size)
        log_p = np.log(np.maximum(prior, 1e-300))
        own = self._without_inheritance(surfaces, entity)
        windows = self.potentials.windows(text, spans)
        emphasis = self.potentials.emphasis(windows)[:, None]
        context = emphasis * self.potentials.context(entity, size, windows)
        out = np.zeros((*entity.shape, len(FEATURES)))
        out[..., 0], out[..., 5] = np.minimum(own, log_p), np.maximum(log_p - own, 0.0)
        out[..., 1] = context
        out[..., 2], out[..., 3] = self._neighbours(entity, prior, size, gold)
        out[..., 4] = np.log1p(links_of(self.linker.model["entity_occurrences"], entity))
        out[..., 6] = emphasis * self.with_own.context(entity, size, windows) - context
        return out, size, gold

    def _gold(self, mentions: Sequence[GoldSpan], entity: Array, size: Array) -> Array:
        out = np.full(len(mentions), -1)
        for i, (_, _, title) in enumerate(mentions):
            known = self.linker.entity(title)
            row = entity[i, : size[i]].tolist()
            if known is not None and known.index in row:
                out[i] = row.index(known.index)
        return out

    def _without_inheritance(self, surfaces: list[str], entity: Array) -> Array:
        """log p(e|m) without the candidates of longer mentions, at least log 0.001."""
        found, prior, size = self.alone.engine.candidates.find(surfaces)
        out = np.full(entity.shape, LOWEST_PRIOR)
        for i in range(len(surfaces)):
            known = dict(zip(found[i, : size[i]].tolist(), prior[i, : size[i]].tolist(), strict=True))
            out[i] = [max(known.get(e, 0.0), LOWEST_PRIOR) for e in entity[i].tolist()]
        return np.asarray(np.log(out))

    def _neighbours(self, entity: Array, prior: Array, size: Array, gold: Array) -> tuple[Array, Array]:
        """2/(n−1)·Σ_{j≠i} λ(e, e_j) without e = e_j, and 2/(n−1) times how many other mentions mean e."""
        padded = np.where(np.arange(entity.shape[1]) < size[:, None], entity, entity[:, :1])
        nothing = np.zeros(entity.shape)
        linkable = int((size > 0).sum())
        pairs = self.potentials.pairs(Unary(padded, size, prior, nothing, nothing), linkable)
        chosen = np.where(
            gold >= 0, np.take_along_axis(pairs.label, np.maximum(gold, 0)[:, None], 1)[:, 0], -1
        )
        support = conditional_scores(nothing, pairs.label, size, chosen, *pairs.couplings, pairs.unseen)
        times = np.bincount(chosen[chosen >= 0], minlength=int(pairs.label.max(initial=0)) + 1)
        same = times[pairs.label] - (pairs.label == chosen[:, None])
        return np.where(np.isfinite(support), support, 0.0), same * (2.0 / max(linkable - 1, 1))


def _objective(choices: Choices, columns: Array, w: Array) -> tuple[float, Array, Array, float]:
    """Σ log p(gold), its gradient, minus its Hessian, and the accuracy of the argmax."""
    matrix, starts = choices.matrix[:, columns], choices.offsets[:-1]
    sizes = np.diff(choices.offsets)
    score = matrix @ w
    top = np.maximum.reduceat(score, starts)
    weight = np.exp(score - np.repeat(top, sizes))
    total = np.add.reduceat(weight, starts)
    p = weight / np.repeat(total, sizes)
    mean = np.add.reduceat(matrix * p[:, None], starts)
    gradient = (matrix[choices.gold] - mean).sum(0)
    hessian = (matrix * p[:, None]).T @ matrix - mean.T @ mean
    value = float((score[choices.gold] - top - np.log(total)).sum())
    return value, gradient, hessian, float((score[choices.gold] >= top).mean())


def fit(
    choices: Choices, names: Sequence[str] = FEATURES, penalty: float = 1e-3, rounds: int = 50
) -> Weights:
    """Maximise Σ log p(gold) − penalty·‖w‖² by Newton's method with halved steps; others weigh nothing."""
    unknown = set(names) - set(choices.names)
    if unknown:
        raise InputError(f"unknown features {sorted(unknown)}", todo=f"Known are {', '.join(choices.names)}")
    columns = np.asarray([choices.names.index(name) for name in names])
    ridge = 2.0 * penalty * np.eye(columns.size)
    w = np.zeros(columns.size)
    value, gradient, hessian, accuracy = _objective(choices, columns, w)
    for _ in range(rounds):
        slope = gradient - ridge @ w
        step = np.linalg.solve(hessian + ridge + 1e-9 * np.eye(columns.size), slope)
        share = 1.0
        while share > 1e-6:
            tried = w + share * step
            result = _objective(choices, columns, tried)
            if result[0] - penalty * tried @ tried >= value - penalty * w @ w:
                break
            share /= 2.0
        else:
            break
        w = tried
        value, gradient, hessian, accuracy = result
        if share * float(slope @ step) < 1e-9 * max(abs(value), 1.0):
            break
    error = np.sqrt(np.diag(np.linalg.inv(hessian + ridge + 1e-9 * np.eye(columns.size))))
    return Weights(tuple(names), w, error, -value / choices.gold.size, accuracy)


def judge(choices: Choices, weights: Weights) -> dict[str, float]:
    """Loss and accuracy per mention with a choice, under weights fitted elsewhere."""
    columns = np.asarray([choices.names.index(name) for name in weights.names])
    value, _, _, accuracy = _objective(choices, columns, weights.value)
    return {"loss": -value / choices.gold.size, "accuracy": accuracy}


def fixed(names: Sequence[str], values: Sequence[float]) -> Weights:
    """Weights given by hand, such as the paper's, to be judged beside fitted ones."""
    value = np.asarray(values, np.float64)
    return Weights(tuple(names), value, np.zeros(value.size), float("nan"), float("nan"))


def usefulness(choices: Choices, weights: Weights) -> dict[str, float]:
    """Loss per mention when a feature is left out and all others are fitted again, minus the full loss."""
    out = {}
    for name in weights.names:
        others = [other for other in weights.names if other != name]
        out[name] = fit(choices, others).loss - weights.loss
    return out
