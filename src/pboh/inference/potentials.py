"""The one scoring function: unary and pairwise terms of Eq. (c2), under any settings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pboh.inference.belief_propagation import Couplings
from pboh.inference.bethe import Bethe
from pboh.inference.bethe_kernels import pair_couplings
from pboh.inference.overlay_terms import OverlayTerms
from pboh.inference.score_kernels import keep_best
from pboh.inference.settings import Settings
from pboh.inference.spans import Span
from pboh.inference.windows import Windows
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


class Potentials:
    """Computes the terms of the score for a document's candidates. Not shared between threads (scratch)."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings
        self._seen = np.zeros(model["word_background"].size, np.uint16)
        self._stop = np.sort(hash_words(sorted(stop_words(model.info.get("language") or "en"))))
        self._slot = np.zeros(model.info["totals"]["documents"], np.int32)
        self._row = WORD_THRESHOLDS.index(settings.min_word_count)
        self._bethe = Bethe.of(model, settings)
        self._added = OverlayTerms(model, settings) if model.overlays else None

    def windows(self, text: str, spans: list[Span], entity: Array | None = None) -> Windows:
        """Content words of the text by number, and every mention's ``window`` words to each side.

        ``entity`` are the candidates: those of overlays need the words in other numbers too.
        """
        model = self.model
        scanned = scan(text)
        starts, ends, words = number_words(
            *scanned, self._stop, model["word_hash"], model["word_buckets"], model["word_id"]
        )
        added: tuple[Array, ...] = ()
        if self._added and (entity is None or self._added.among(entity)):
            added = self._added.words(*scanned, self._stop)
        return Windows.around(spans, self.settings.window, words, starts, ends, added)

    def unary(self, entity: Array, prior: Array, size: Array, windows: Windows) -> Unary:
        """Local score of all candidates (Eq. local-all), cut to the best few."""
        zeta = self.settings.context_weight
        context = np.zeros(entity.shape)
        if zeta > 0.0:
            context = self.context(entity, size, windows) * self.emphasis(windows)[:, None]
        return Unary(*keep_best(entity, size, prior, context, zeta, self.settings.candidates))

    def emphasis(self, windows: Windows) -> Array:
        """Factor of every mention's context: words repeat each other, so few say nearly as much as many."""
        full = 2.0 * self.settings.window / np.maximum(windows.lengths, 1)
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
        return out

    def pairs(self, unary: Unary, linkable: int) -> Pairs:
        """Pair terms between all candidates of the document, each entity described once."""
        model, s = self.model, self.settings
        unique, inverse = np.unique(unary.entity, return_inverse=True)
        label = inverse.reshape(unary.entity.shape).astype(np.int32)
        weight = s.pair_weight(linkable)
        if weight == 0.0:
            return Pairs(label, Couplings.none(unique.size), 0.0)
        if s.learned:
            return self._learned(unique, label, linkable)
        own = unique if self._added is None else unique[unique < model.entities]
        start, other, count = cooccurrences(
            own, model["posting_offsets"], model["posting_document"],
            model["head_entity"], model["head_pairs"], self._slot,
        )  # fmt: skip
        couplings = pair_couplings(start, other, count, model["entity_marginal"][own], self._bethe, weight)
        if self._added and own.size < unique.size:
            couplings = self._added.couplings(couplings, unique, own.size, self._bethe, weight)
        return Pairs(label, Couplings(*couplings), weight * self._bethe.unseen)

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
