"""The one scoring function: unary and pairwise terms of Eq. (c2), under any settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from pboh.inference.added import Added
from pboh.inference.belief_propagation import Couplings
from pboh.inference.settings import Settings
from pboh.inference.spans import Span
from pboh.model.pair_kernels import cooccurrences, learned_couplings
from pboh.model.store import Model
from pboh.model.word_kernels import context_scores, number_words
from pboh.model.words import WORD_THRESHOLDS
from pboh.text.hashing import Array, hash_words
from pboh.text.words import scan, stop_words


@dataclass(slots=True)
class Unary:
    """Local terms of the kept candidates, one row per mention: log p(e|m) + ζ·context = local."""

    entity: Array
    size: Array
    prior: Array
    context: Array
    local: Array


@dataclass(slots=True)
class Pairs:
    """Pair terms: ``label[i, a]`` numbers the entity of candidate a of mention i within the document."""

    label: Array
    couplings: Couplings
    unseen: float  # what a pair never seen together contributes: weight·log(1−μ)


@dataclass(slots=True)
class Windows:
    """Content words of a document and, per mention, the two runs of them that are its context."""

    words: Array
    starts: Array
    ends: Array
    first: Array
    left: Array
    right: Array
    last: Array
    added: tuple[Array, ...] = ()  # the same words in the numbers of each overlay, if one has candidates


@njit(cache=True, nogil=True)
def pair_couplings(start, other, count, marginal, pairs, backoff, delta, self_pair, weight):  # type: ignore[no-untyped-def]
    """weight·(λ(e,e′) − λ(unseen)) of the pairs seen: log(max(N−δ,0)·N_ep/(c_e·c_e′) + (1−μ)) − log(1−μ).

    This is Eq. (lambda-bethe) with p̃(e,e′) smoothed and p(e) = c_e/N_ep. An entity never seen beside
    another has no p(e), so its pairs count as unseen. N(e,e) = self_pair·c_e.
    """
    u = marginal.size
    rows = np.zeros(u + 1, np.int64)
    columns = np.empty(other.size + u, np.int32)
    values = np.empty(other.size + u, np.float32)
    used = 0
    for i in range(u):
        diagonal = True
        for k in range(start[i], start[i + 1] + 1):
            last = k == start[i + 1]
            if diagonal and (last or other[k] > i):
                diagonal = False
                n = self_pair * marginal[i]
                if n > delta:
                    columns[used] = i
                    ratio = (n - delta) * pairs / (float(marginal[i]) * float(marginal[i]))
                    values[used] = weight * np.log1p(ratio / backoff)
                    used += 1
            if not last and count[k] > delta:
                j = other[k]
                columns[used] = j
                ratio = (count[k] - delta) * pairs / (float(marginal[i]) * float(marginal[j]))
                values[used] = weight * np.log1p(ratio / backoff)
                used += 1
        rows[i + 1] = used
    return rows, columns[:used], values[:used]


@njit(cache=True, nogil=True)
def conditional_scores(local, label, size, chosen, start, other, value, unseen):  # type: ignore[no-untyped-def]
    """Score of every candidate given the answers of all other mentions: local + Σ_{j≠i} λ(e, e_j*).

    ``unseen`` is weight·log(1−μ), paid once per neighbour; ``chosen[j]`` is the answer's label or −1.
    """
    times = np.zeros(start.size - 1, np.int64)
    linked = 0
    for j in range(chosen.size):
        if chosen[j] >= 0:
            times[chosen[j]] += 1
            linked += 1
    out = np.full(local.shape, -np.inf, np.float64)
    for i in range(label.shape[0]):
        for c in range(size[i]):
            u = label[i, c]
            total = local[i, c] + unseen * (linked - (1 if chosen[i] >= 0 else 0))
            for k in range(start[u], start[u + 1]):
                n = times[other[k]] - (1 if other[k] == chosen[i] else 0)
                if n > 0:
                    total += n * value[k]
            out[i, c] = total
    return out


@njit(cache=True, nogil=True)
def keep_best(
    entity: Array, size: Array, prior: Array, context: Array, zeta: float, keep: int
) -> tuple[Array, Array, Array, Array, Array]:
    """The ``keep`` candidates of every mention with the best local score (ties: better prior first)."""
    n = entity.shape[0]
    kept = np.zeros((n, keep), np.int32)
    kept_size = np.zeros(n, np.int32)
    kept_prior = np.zeros((n, keep), np.float64)
    kept_context = np.zeros((n, keep), np.float64)
    local = np.full((n, keep), -np.inf, np.float64)
    for i in range(n):
        for c in range(size[i]):
            score = np.log(prior[i, c]) + zeta * context[i, c]
            k = kept_size[i]
            while k > 0 and local[i, k - 1] < score:
                if k < keep:
                    local[i, k] = local[i, k - 1]
                    kept[i, k] = kept[i, k - 1]
                    kept_prior[i, k] = kept_prior[i, k - 1]
                    kept_context[i, k] = kept_context[i, k - 1]
                k -= 1
            if k < keep:
                local[i, k], kept[i, k] = score, entity[i, c]
                kept_prior[i, k], kept_context[i, k] = prior[i, c], context[i, c]
                kept_size[i] = min(kept_size[i] + 1, keep)
        for k in range(kept_size[i], keep):  # padding repeats the best, so that no other entity is looked at
            kept[i, k] = kept[i, 0]
    return kept, kept_size, kept_prior, kept_context, local


class Potentials:
    """Computes the terms of the score for a document's candidates. Not shared between threads (scratch)."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings
        self._seen = np.zeros(model["word_background"].size, np.uint16)
        self._stop = np.sort(hash_words(sorted(stop_words(model.info.get("language") or "en"))))
        self._slot = np.zeros(model.info["totals"]["documents"], np.int32)
        self._row = WORD_THRESHOLDS.index(settings.min_word_count)
        self._added = Added(model, settings) if model.overlays else None

    @property
    def backoff(self) -> float:
        """1−μ of the pair distribution: δ·D/N_ep sums to one; the authors' program has 1 − δ·D/N_ep."""
        totals = self.model.info["totals"]
        share = self.settings.delta * totals["distinct_pairs"] / max(totals["pairs"], 1)
        value = share if self.settings.backoff == "paper" else 1.0 - share
        return float(min(max(value, 1e-9), 1.0))

    def windows(self, text: str, spans: list[Span], entity: Array | None = None) -> Windows:
        """Content words of the text by number, and every mention's ``window`` words to each side.

        ``entity`` are the candidates: those of overlays need the words in other numbers too.
        """
        model, window = self.model, self.settings.window
        scanned = scan(text)
        starts, ends, words = number_words(
            *scanned, self._stop, model["word_hash"], model["word_buckets"], model["word_id"]
        )
        added: tuple[Array, ...] = ()
        if self._added and (entity is None or self._added.among(entity)):
            added = self._added.words(*scanned, self._stop)
        left = np.searchsorted(ends, [span.start for span in spans], side="right")
        right = np.searchsorted(starts, [span.end for span in spans], side="left")
        first, last = np.maximum(left - window, 0), np.minimum(right + window, words.size)
        return Windows(words, starts, ends, first, left, right, last, added)

    def unary(self, entity: Array, prior: Array, size: Array, windows: Windows) -> Unary:
        """Local score of all candidates (Eq. local-all), cut to the best few."""
        zeta = self.settings.context_weight
        context = np.zeros(entity.shape)
        if zeta > 0.0:
            context = self.context(entity, size, windows) * self.emphasis(windows)[:, None]
        return Unary(*keep_best(entity, size, prior, context, zeta, self.settings.candidates))

    def emphasis(self, windows: Windows) -> Array:
        """Factor of every mention's context: words repeat each other, so few say nearly as much as many."""
        words = (windows.left - windows.first) + (windows.last - windows.right)
        full = 2.0 * self.settings.window / np.maximum(words, 1)
        factor: Array = np.clip(full, 1.0, max(self.settings.few_words, 1.0))
        return factor

    def context(self, entity: Array, size: Array, windows: Windows) -> Array:
        """Σ_w log p(w|e)/p(w) over the context of every mention, for every candidate."""
        if self._added and self._added.among(entity):
            return self._added.context(self._context, entity, size, windows)
        return self._context(entity, size, windows)

    def _context(self, entity: Array, size: Array, windows: Windows) -> Array:
        s, model = self.settings, self.model
        out = np.zeros(entity.shape)
        options = np.asarray([s.xi, s.unmatched, s.clip, s.floor, s.min_word_count], np.float64)
        w = windows
        context_scores(
            entity, size, w.words, w.first, w.left, w.right, w.last,
            model["context_offsets"], model["context_word"], model["context_count"], model["context_total"],
            model["context_mass"][self._row], model["context_types"][self._row],
            model["word_background"], self._seen, options, out,
        )  # fmt: skip
        if s.own_words > 0.0 and "own_word" in model:
            own = np.zeros(entity.shape)
            options[4] = 1.0
            context_scores(
                entity, size, w.words, w.first, w.left, w.right, w.last,
                model["own_offsets"], model["own_word"], model["own_count"], model["own_total"],
                model["own_total"], model["own_types"],
                model["word_background"], self._seen, options, own,
            )  # fmt: skip
            out += s.own_words * own
        return out

    def pairs(self, unary: Unary, linkable: int) -> Pairs:
        """Pair terms between all candidates of the document, each entity described once."""
        model, s = self.model, self.settings
        unique, inverse = np.unique(unary.entity, return_inverse=True)
        label = inverse.reshape(unary.entity.shape).astype(np.int32)
        weight = s.pair_weight(linkable)
        if weight == 0.0:
            none = Couplings(
                np.zeros(unique.size + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32)
            )
            return Pairs(label, none, 0.0)
        if s.learned:
            return self._learned(unique, label, linkable)
        own = unique if self._added is None else unique[unique < model.entities]
        start, other, count = cooccurrences(
            own,
            model["posting_offsets"],
            model["posting_document"],
            model["head_entity"],
            model["head_pairs"],
            self._slot,
        )
        couplings = pair_couplings(
            start, other, count, model["entity_marginal"][own], float(model.info["totals"]["pairs"]),
            self.backoff, s.delta, s.self_pair, weight,
        )  # fmt: skip
        if self._added and own.size < unique.size:
            couplings = self._added.couplings(couplings, unique, own.size, self.backoff, weight)
        return Pairs(label, Couplings(*couplings), weight * float(np.log(self.backoff)))

    def _learned(self, unique: Array, label: Array, linkable: int) -> Pairs:
        """λ as learned by pseudo-likelihood; a pair without a parameter is 0, others may lie below it."""
        model = self.model
        rows = (model["learned_pair_offsets"], model["learned_pair_other"], model["learned_pair_value"])
        own = unique[unique < model.entities]
        table = np.zeros((unique.size, unique.size), np.float32)  # nothing was learned of overlays
        table[: own.size, : own.size] = learned_couplings(own, *rows)
        if model.info["learned"]["parameters"]["rescaled"]:
            table *= 2.0 / (linkable - 1)
        least = min(float(table.min(initial=0.0)), 0.0)
        return Pairs(label, Couplings.dense(table, least), least)
