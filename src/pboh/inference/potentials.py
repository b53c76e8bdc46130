"""The one scoring function: unary and pairwise terms of Eq. (c2), under any settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pboh.inference.belief_propagation import Couplings
from pboh.inference.bethe import Bethe
from pboh.inference.score_kernels import bethe_of_all, keep_best, pair_couplings
from pboh.inference.settings import Settings
from pboh.inference.spans import Span
from pboh.model.overlays.opening import Overlay
from pboh.model.pair_kernels import Scratch, cooccurrences, learned_couplings
from pboh.model.store import Model
from pboh.model.tables import WORD_THRESHOLDS, offsets_of
from pboh.model.vector_kernels import kinships, topic_scores
from pboh.model.word_kernels import Contexts, context_scores, number_words
from pboh.text.hashing import Array, hash_words
from pboh.text.words import scan, stop_words


@dataclass(slots=True)
class Content:
    """The words of a text: all of them as :func:`pboh.text.words.scan` says, and where content words are."""

    text: str
    scanned: tuple[Array, Array, Array]
    words: Array  # numbers of content words in the model's vocabulary, −1 for others
    starts: Array
    ends: Array

    def follows(self, spans: Sequence[Span]) -> Array:
        """Whether the next content word begins one blank behind each span: *French shares*."""
        end = np.asarray([span.end for span in spans], np.int64)
        near = np.append(self.starts, -1)[np.searchsorted(self.starts, end)] == end + 1
        blank = np.asarray([self.text[k : k + 1] == " " for k in end.tolist()], bool)
        return np.asarray(near & blank)


@dataclass(slots=True)
class Windows:
    """Content words of a document and, per mention, the two runs of them that are its context.

    ``words`` are their numbers in the model's vocabulary, −1 for others; and if an overlay has candidates, in
    that of each overlay.
    """

    words: tuple[Array, ...]
    starts: Array
    ends: Array
    first: Array
    left: Array
    right: Array
    last: Array

    @classmethod
    def around(
        cls, spans: list[Span], window: int, words: tuple[Array, ...], starts: Array, ends: Array
    ) -> Windows:
        """Up to ``window`` words on each side of every span."""
        left = np.searchsorted(ends, [span.start for span in spans], side="right")
        right = np.searchsorted(starts, [span.end for span in spans], side="left")
        first, last = np.maximum(left - window, 0), np.minimum(right + window, starts.size)
        return cls(words, starts, ends, first, left, right, last)

    @property
    def lengths(self) -> Array:
        """Number of words around every mention."""
        return np.asarray((self.left - self.first) + (self.last - self.right))

    def places(self, i: int) -> Array:
        """Which words surround mention i."""
        return np.asarray(np.r_[self.first[i] : self.left[i], self.right[i] : self.last[i]])

    def alone(self, places: Array) -> Windows:
        """Every one of these words as a context of its own."""
        return replace(self, first=places, left=places + 1, right=places + 1, last=places + 1)

    def unmatched(self) -> Windows:
        """A context of one unknown word."""
        unknown = replace(self, words=tuple(np.asarray([-1]) for _ in self.words))
        return unknown.alone(np.zeros(1, np.int64))


@dataclass(slots=True)
class Unary:
    """Local terms of the kept candidates, one row per mention: log p(e|m) + ζ·context + topic = local."""

    entity: Array
    size: Array
    prior: Array
    context: Array
    topic: Array  # weight · cosine
    local: Array


@dataclass(slots=True)
class Pairs:
    """Pair terms: ``label[i, a]`` numbers the entity of candidate a of mention i within the document."""

    label: Array
    couplings: Couplings
    unseen: float  # what a pair never seen together contributes: weight·log(1−μ)


class _Context:
    """Scores the context of the entities that a model, or one of its overlays, brings (scratch memory)."""

    def __init__(
        self, source: Model | Overlay, statistics: tuple[Array, Array], s: Settings, least: int
    ) -> None:
        self.first = source.first if isinstance(source, Overlay) else 0
        self.last = self.first + source["context_total"].size
        self.vocabulary = source["word_hash"], source["word_buckets"], source["word_id"]
        rows = source["context_offsets"], source["context_word"], source["context_count"]
        background = source["word_background"]
        self._contexts = Contexts(*rows, source["context_total"], *statistics, background)
        self._seen = np.zeros(background.size, np.uint16)
        self._options = np.asarray([s.xi, s.unmatched, s.clip, s.floor, least], np.float64)

    def scores(self, entity: Array, size: Array, words: Array, runs: tuple[Array, ...]) -> Array:
        """Σ_w log p(w|e)/p(w) of entities by their number here."""
        out = np.zeros(entity.shape)
        context_scores(entity, size, words, runs, self._contexts, self._seen, self._options, out)
        return out


class Potentials:
    """Computes the terms of the score for a document's candidates. Not shared between threads (scratch)."""

    def __init__(self, model: Model, settings: Settings) -> None:
        self.model = model
        self.settings = settings
        self._stop = np.sort(hash_words(sorted(stop_words(model.info.get("language") or "en"))))
        documents = model.info["totals"]["documents"]
        self._scratch = Scratch.of(documents, model["head_entity"], model["posting_offsets"])
        self._bethe = Bethe.of(model, settings)
        k = WORD_THRESHOLDS.index(settings.min_word_count)
        statistics = model["context_mass"][k], model["context_types"][k]
        self._sources = [_Context(model, statistics, settings, settings.min_word_count)]
        for overlay in model.overlays:  # every word of a description counts
            statistics = overlay["context_total"], overlay["context_types"]
            self._sources.append(_Context(overlay, statistics, settings, 1))

    def content(self, text: str) -> Content:
        """The content words of a text, if the settings ask for any."""
        return self._read(text if self.settings.context_weight > 0.0 or self.settings.followed > 0.0 else "")

    def _read(self, text: str) -> Content:
        scanned = scan(text)
        starts, ends, words = number_words(*scanned, self._stop, *self._sources[0].vocabulary)
        return Content(text, scanned, words, starts, ends)

    def windows(self, content: Content, spans: list[Span], entity: Array | None = None) -> Windows:
        """Every mention's ``window`` content words to each side; none if context has no weight.

        ``entity`` are the candidates: those of overlays need the words in other numbers too.
        """
        content = content if self.settings.context_weight > 0.0 else self._read("")
        words = [content.words]
        if entity is None or self._added(entity):
            others = (source.vocabulary for source in self._sources[1:])
            words += [number_words(*content.scanned, self._stop, *known)[2] for known in others]
        return Windows.around(spans, self.settings.window, tuple(words), content.starts, content.ends)

    def _added(self, entity: Array) -> bool:
        """Whether any of these candidates comes from an overlay."""
        return len(self._sources) > 1 and bool((entity >= self.model.entities).any())

    def unary(self, entity: Array, prior: Array, size: Array, windows: Windows) -> Unary:
        """Local score of all candidates (Eq. local-all), cut to the best few."""
        zeta = self.settings.context_weight
        context = np.zeros(entity.shape)
        if zeta > 0.0:
            context = self.context(entity, size, windows) * self.emphasis(windows)[:, None]
        topic = self.topic(entity, size, windows)
        return Unary(*keep_best(entity, size, prior, context, topic, zeta, self.settings.candidates))

    def topic(self, entity: Array, size: Array, windows: Windows) -> Array:
        """Weight · cosine between the vectors of every candidate and of the words around its mention."""
        out, weight = np.zeros(entity.shape), self.settings.topic_weight
        if weight > 0.0 and "vector_entity" in self.model:
            runs = windows.first, windows.left, windows.right, windows.last
            words = tuple(self.model[f"vector_word{what}"] for what in ("_number", "", "_scale"))
            topic_scores(entity, size, windows.words[0], runs, self.model["vector_entity"], words, out)
        return weight * out

    def emphasis(self, windows: Windows) -> Array:
        """Factor of every mention's context: words repeat each other, so few say nearly as much as many."""
        full = 2.0 * self.settings.window / np.maximum(windows.lengths, 1)
        factor: Array = np.clip(full, 1.0, max(self.settings.few_words, 1.0))
        return factor

    def context(self, entity: Array, size: Array, windows: Windows) -> Array:
        """Σ_w log p(w|e)/p(w) over the context of every mention, for every candidate."""
        runs = windows.first, windows.left, windows.right, windows.last
        if not self._added(entity):
            return self._sources[0].scores(entity, size, windows.words[0], runs)
        out = np.zeros(entity.shape)
        for source, words in zip(self._sources, windows.words, strict=True):
            mine = (entity >= source.first) & (entity < source.last)
            # others are seen as some entity of this source, and that term is dropped
            local = np.where(mine, entity - source.first, 0).astype(entity.dtype)
            if mine.any():
                out[mine] = source.scores(local, size, words, runs)[mine]
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
        own = unique[unique < model.entities]
        start, other, count = cooccurrences(
            own, model["posting_offsets"], model["posting_document"],
            model["head_entity"], model["head_pairs"], self._scratch,
        )  # fmt: skip
        marginal, kin = model["entity_marginal"][own], self._kin(own)
        couplings = pair_couplings(start, other, count, marginal, self._bethe, weight, kin)
        if own.size < unique.size:
            couplings = _with_overlays(model, couplings, unique, own.size, self._bethe, weight)
        return Pairs(label, Couplings(*couplings), weight * self._bethe.unseen)

    def _kin(self, entities: Array) -> tuple[Array, Array, Array]:
        """log 1−μ(e,e′) − log 1−μ of pairs that are alike, as rows: kinship · (cosine − kinship_from)."""
        s = self.settings
        if s.kinship == 0.0 or "vector_entity" not in self.model:
            return Couplings.none(entities.size)
        start, other, cosine = kinships(entities, self.model["vector_entity"], s.kinship_from)
        return start, other, np.float32(s.kinship) * (cosine - np.float32(s.kinship_from))

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


def _with_overlays(
    model: Model, own: tuple[Array, Array, Array], entities: Array, since: int, bethe: Bethe, weight: float
) -> tuple[Array, Array, Array]:
    """Add to the couplings of the model's entities those of the labels from ``since`` on.

    The page of an entity of an overlay counts as one document, which has it and what it links
    together; N(e,e′) and c_e of the others are not touched by it.
    """
    overlays = model.overlays
    count = sum((o.together(entities, since) for o in overlays), np.zeros((entities.size,) * 2))
    marginal = np.asarray(sum(o.marginals(entities) for o in overlays), np.float64)
    marginal[:since] = np.maximum(marginal[:since], model["entity_marginal"][entities[:since]])
    new = np.arange(since, entities.size)
    count[new, new] = bethe.self_pair * marginal[new]
    count[:since, :since] = 0.0
    row, column = np.nonzero(count > bethe.delta)
    value = weight * bethe_of_all(count[row, column], marginal[row], marginal[column], bethe)
    start, other, values = own
    rows = np.concatenate([np.repeat(np.arange(start.size - 1), np.diff(start)), row])
    columns = np.concatenate([other, column.astype(np.int32)])
    order = np.lexsort((columns, rows))
    joined = np.concatenate([values, value.astype(np.float32)])[order]
    return offsets_of(rows[order], entities.size), columns[order], joined
