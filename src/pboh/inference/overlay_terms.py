"""Terms of the score for entities that overlays add: the same formulas, from the overlays' own tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pboh.inference.bethe import Bethe
from pboh.inference.bethe_kernels import bethe_of_all
from pboh.inference.settings import Settings
from pboh.inference.windows import Windows
from pboh.model.store import Model
from pboh.model.word_kernels import context_scores, number_words
from pboh.text.hashing import Array


class OverlayTerms:
    """Scores the candidates that overlays brought. Not shared between threads (scratch memory)."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings
        self._seen = [np.zeros(overlay["word_background"].size, np.uint16) for overlay in model.overlays]

    def among(self, entity: Array) -> bool:
        """Whether any of these candidates comes from an overlay."""
        return bool((entity >= self.model.entities).any())

    def words(self, codes: Array, starts: Array, ends: Array, stop: Array) -> tuple[Array, ...]:
        """Content words of a text in the numbers of each overlay's vocabulary."""
        return tuple(
            number_words(codes, starts, ends, stop, o["word_hash"], o["word_buckets"], o["word_id"])[2]
            for o in self.model.overlays
        )

    def context(
        self, own: Callable[[Array, Array, Windows], Array], entity: Array, size: Array, windows: Windows
    ) -> Array:
        """Σ_w log p(w|e)/p(w): by ``own`` for the model's entities, from descriptions for the others."""
        s = self.settings
        # each pass sees some entity of its own in the place of one it does not know, and that term is dropped
        out = own(np.where(entity < self.model.entities, entity, 0).astype(entity.dtype), size, windows)
        options = np.asarray([s.xi, s.unmatched, s.clip, s.floor, 1.0], np.float64)
        w = windows
        for overlay, words, seen in zip(self.model.overlays, w.added, self._seen, strict=True):
            mine = (entity >= overlay.first) & (entity < overlay.first + overlay.size)
            if not mine.any():
                continue
            scores = np.zeros(entity.shape)
            context_scores(
                np.where(mine, entity - overlay.first, 0).astype(entity.dtype), size,
                words, w.first, w.left, w.right, w.last,
                overlay["context_offsets"], overlay["context_word"], overlay["context_count"],
                overlay["context_total"], overlay["context_total"], overlay["context_types"],
                overlay["word_background"], seen, options, scores,
            )  # fmt: skip
            out[mine] = scores[mine]
        return out

    def couplings(
        self, own: tuple[Array, Array, Array], entities: Array, since: int, bethe: Bethe, weight: float
    ) -> tuple[Array, Array, Array]:
        """Add to the couplings of the model's entities those of the labels from ``since`` on.

        The page of an entity of an overlay counts as one document, on which it and what it links stand
        together; N(e,e′) and c_e of the others are not touched by it.
        """
        overlays = self.model.overlays
        count = sum((o.together(entities, since) for o in overlays), np.zeros((entities.size,) * 2))
        marginal = np.asarray(sum(o.marginals(entities) for o in overlays), np.float64)
        marginal[:since] = np.maximum(marginal[:since], self.model["entity_marginal"][entities[:since]])
        new = np.arange(since, entities.size)
        count[new, new] = bethe.self_pair * marginal[new]
        count[:since, :since] = 0.0
        row, column = np.nonzero(count > bethe.delta)
        value = weight * bethe_of_all(count[row, column], marginal[row], marginal[column], bethe)
        return _merged(own, row, column, value.astype(np.float32), entities.size)


def _merged(
    own: tuple[Array, Array, Array], row: Array, column: Array, value: Array, size: int
) -> tuple[Array, Array, Array]:
    """Rows of both as one sparse matrix, columns ascending."""
    start, other, values = own
    rows = np.concatenate([np.repeat(np.arange(start.size - 1), np.diff(start)), row])
    columns = np.concatenate([other, column.astype(np.int32)])
    order = np.lexsort((columns, rows))
    offsets = np.searchsorted(rows[order], np.arange(size + 1)).astype(np.int64)
    return offsets, columns[order], np.concatenate([values, value])[order]
