"""The few global weights of the score, fitted by pseudo-likelihood: convex, and a matter of seconds.

With every other mention at its gold entity, p(e | m_i, e_−i) ∝ exp(w · f_i(e)) is a logistic regression over
the terms f of Eq. (c2) and of the extensions; the inverse of the Hessian gives standard errors. An argmax
does not change when all weights are multiplied, so relative to the weight of log p(e|m) they are the values
grid search looks for: ζ, τ, the weight of own-page words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, GoldDocument, GoldMention
from pboh.files.progress import Report, silent
from pboh.inference.potentials import Potentials, Unary
from pboh.inference.reliability import links_of
from pboh.inference.score_kernels import conditional_scores
from pboh.inference.settings import Settings
from pboh.inference.spans import Span
from pboh.learning.logistic import Array, choice, maximise
from pboh.linker import Linker

FEATURES = ("prior", "context", "pairs", "same", "popularity", "coreference")
LOWEST_PRIOR = 1e-3  # p(e|m) of a candidate that only a longer mention brings
PENALTY = 1e-3  # of ‖w‖²


@dataclass(frozen=True, slots=True)
class Choices:
    """Mentions with a choice: rows ``offsets[i]:offsets[i + 1]`` are candidates, ``gold[i]`` the right row.

    ``unanswerable`` mentions (gold is not a candidate, or the only one) teach nothing and are not here.
    """

    matrix: Array
    offsets: Array
    gold: Array
    names: tuple[str, ...]
    unanswerable: int = 0

    def columns(self, names: Sequence[str]) -> Array:
        """The terms of some names."""
        unknown = set(names) - set(self.names)
        if unknown:
            raise InputError(f"unknown terms {sorted(unknown)}", todo=f"Choose from {', '.join(self.names)}")
        return self.matrix[:, [self.names.index(name) for name in names]]


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of some terms, with the standard errors of fitted ones."""

    names: tuple[str, ...]
    value: Array
    error: Array | None = None

    def settings(self) -> dict[str, float]:
        """The weights as settings of a model: relative to the weight of log p(e|m)."""
        w = dict(zip(self.names, self.value.tolist(), strict=True))
        if w.get("prior", 0.0) <= 0.0:
            return {}
        relative = {"zeta": w.get("context"), "tau": w.get("pairs")}
        return {name: max(value / w["prior"], 0.0) for name, value in relative.items() if value is not None}


def features(linker: Linker, documents: Iterable[GoldDocument], report: Report = silent) -> Choices:
    """Terms of the score of all candidates of gold documents, given the gold of the other mentions."""
    terms = _Terms(linker)
    matrices, sizes, golds, unanswerable = [], [], [], 0
    for done, document in enumerate(documents):
        report(done, None, "terms")
        matrix, size, gold = terms.document(document)
        learnable = (gold >= 0) & (size > 1)
        unanswerable += int((~learnable).sum())
        width = np.arange(matrix.shape[1])
        matrices.append(matrix[learnable][width < size[learnable][:, None]])
        sizes += size[learnable].tolist()
        golds += gold[learnable].tolist()
    if not sizes:
        raise InputError("no mention of the gold documents has a choice between candidates")
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Choices(
        np.concatenate(matrices), offsets, offsets[:-1] + np.asarray(golds), FEATURES, unanswerable
    )


class _Terms:
    """Computes the features through the same potentials that inference uses."""

    def __init__(self, linker: Linker) -> None:
        self.linker = linker.with_settings(system="pboh", coreference=linker.settings.coreference or 1.0)
        self.potentials = Potentials(linker.model, self.linker.settings.change(tau=1.0, self_pair=0.0))

    def document(self, document: GoldDocument) -> tuple[Array, Array, Array]:
        """Features (mention, candidate, feature), number of candidates, and the gold candidate or −1."""
        text, mentions = document.text, document.linked
        spans = [Span(m.start, m.end) for m in mentions]
        surfaces = [text[s.start : s.end] for s in spans]
        if not spans:
            return np.zeros((0, 1, len(FEATURES))), np.zeros(0, int), np.zeros(0, int)
        content = self.potentials.content(text)
        followed = content.follows(spans).tolist()
        entity, prior, size = self.linker.engine.candidates.find(surfaces, followed=followed)
        gold = self._gold(mentions, entity, size)
        log_p = np.log(np.maximum(prior, 1e-300))
        own = self._without_inheritance(surfaces, followed, entity)
        windows = self.potentials.windows(content, spans)
        emphasis = self.potentials.emphasis(windows)[:, None]
        out = np.zeros((*entity.shape, len(FEATURES)))
        out[..., 0], out[..., 5] = np.minimum(own, log_p), np.maximum(log_p - own, 0.0)
        out[..., 1] = emphasis * self.potentials.context(entity, size, windows)
        out[..., 2], out[..., 3] = self._neighbours(entity, prior, size, gold)
        out[..., 4] = np.log1p(links_of(self.linker.model["entity_occurrences"], entity))
        return out, size, gold

    def _gold(self, mentions: Sequence[GoldMention], entity: Array, size: Array) -> Array:
        out = np.full(len(mentions), -1)
        for i, mention in enumerate(mentions):
            known = self.linker.entity(mention.golds[0])
            row = entity[i, : size[i]].tolist()
            if known is not None and known.index in row:
                out[i] = row.index(known.index)
        return out

    def _without_inheritance(self, surfaces: list[str], followed: list[bool], entity: Array) -> Array:
        """log p(e|m) without the candidates of longer mentions, at least log 0.001."""
        found, prior, size = self.linker.engine.candidates.find(surfaces, alone=True, followed=followed)
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
        pairs = self.potentials.pairs(Unary(padded, size, prior, nothing, nothing, nothing), linkable)
        chosen = np.where(
            gold >= 0, np.take_along_axis(pairs.label, np.maximum(gold, 0)[:, None], 1)[:, 0], -1
        )
        everyone = np.arange(len(size)), len(size)
        support, _ = conditional_scores(
            nothing, pairs.label, size, chosen, *pairs.couplings, pairs.unseen, *everyone
        )
        times = np.bincount(chosen[chosen >= 0], minlength=int(pairs.label.max(initial=0)) + 1)
        same = times[pairs.label] - (pairs.label == chosen[:, None])
        return np.where(np.isfinite(support), support, 0.0), same * (2.0 / max(linkable - 1, 1))


def fit(choices: Choices, names: Sequence[str] = FEATURES, penalty: float = PENALTY) -> Weights:
    """Maximise Σ log p(gold) − penalty·‖w‖²; terms that are not named weigh nothing."""
    objective = choice(choices.columns(names), choices.offsets[:-1], choices.gold)
    w, curvature = maximise(objective, np.full(len(names), 2 * penalty + 1e-9))
    return Weights(tuple(names), w, np.sqrt(np.diag(np.linalg.inv(curvature))))


def judge(choices: Choices, weights: Weights) -> dict[str, float]:
    """Loss and accuracy per mention with a choice."""
    terms, starts = choices.columns(weights.names), choices.offsets[:-1]
    value, _, _ = choice(terms, starts, choices.gold)(weights.value)
    score = terms @ weights.value
    right = score[choices.gold] >= np.maximum.reduceat(score, starts)
    return {"loss": -value / choices.gold.size, "accuracy": float(right.mean())}


def usefulness(choices: Choices, weights: Weights) -> dict[str, float]:
    """Loss per mention when a term is left out and all others are fitted again, minus the full loss."""
    full, out = judge(choices, weights)["loss"], {}
    for name in weights.names:
        others = fit(choices, [other for other in weights.names if other != name])
        out[name] = judge(choices, others)["loss"] - full
    return out


def fit_settings(
    linker: Linker,
    validation: Sequence[Dataset],
    test: Sequence[Dataset] = (),
    names: Sequence[str] = (),
    report: Report = silent,
) -> tuple[Settings, dict[str, Any]]:
    """The linker's settings with fitted weights, and figures: errors, the worth of each term, test losses.

    Without ``names`` every term is weighed that differs between candidates.
    """
    began = perf_counter()
    choices = features(linker, [document for dataset in validation for document in dataset], report)
    ready = perf_counter()
    names = names or [name for name in FEATURES if np.ptp(choices.columns([name])) > 0.0]
    weights = fit(choices, names)
    worth = usefulness(choices, weights)
    figures: dict[str, Any] = {
        "documents": sum(map(len, validation)),
        "mentions_with_a_choice": int(choices.gold.size),
        "mentions_without": choices.unanswerable,
        "seconds_features": ready - began,
        "seconds_fitting": perf_counter() - ready,
    }
    assert weights.error is not None
    for name, value, error in zip(names, weights.value.tolist(), weights.error.tolist(), strict=True):
        figures[f"weight_{name}"] = f"{value:.4f} ± {error:.4f}, without it {worth[name]:+.4f} loss"
    found = weights.settings()
    figures |= {f"setting_{name}": value for name, value in found.items()}
    s = linker.settings
    current = (1.0, s.zeta, s.tau, 0.0, 0.0, float(s.coreference > 0))
    for dataset in test:
        unseen = features(linker, dataset, report)
        for label, one in (("fitted", weights), ("current", Weights(FEATURES, np.asarray(current)))):
            figures |= {f"{dataset.name}_{label}_{k}": value for k, value in judge(unseen, one).items()}
    return s.change(**found), figures
