"""Training of the name finder from a corpus: how words are written, silver sentences, weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq

from pboh.detection.casing import CasingCounts
from pboh.detection.chain_kernels import LABELS, train_epoch
from pboh.detection.dictionary import Dictionary
from pboh.detection.feature_kernels import FEATURES
from pboh.detection.finder import read
from pboh.detection.nameness import learn_nameness
from pboh.detection.pages import Page, read_pages, sample_pages
from pboh.detection.silver import Explainer, mostly_linked
from pboh.detection.styles import foreign_letters, incorporate, post, restyle, translate
from pboh.detection.token_kernels import SHAPES
from pboh.detection.tokens import Tokens, code_points, tokens
from pboh.files.progress import Report, silent
from pboh.formats.types import TYPES
from pboh.model.names import Layer, strip_title
from pboh.model.overlays.opening import find_titles
from pboh.model.store import Model
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import Array, look_up

EXCERPT = 15_000
"""Characters of a page that are read."""
LEAST_SENTENCES = 200
"""A finder trained on fewer sentences would know less than the dictionary."""
_SEED = 88172645463325252
_TITLES = 1 << 17  # titles held at a time
_ORGANISATION = TYPES.index("organisation")
_STEP = 1 << 17  # tokens by which examples grow: 18 MB


@dataclass(frozen=True, slots=True)
class FinderOptions:
    """How a finder is trained."""

    sentences: int = 90_000
    per_page: int = 12
    nameless: float = 0.25  # share of sentences without a name
    styled: float = 0.5  # share of sentences also learned in capitals, in small letters or as a headline
    posts: float = 0.06  # share of sentences also learned as posts
    firms: float = 0.2  # share of sentences with an organisation also learned with legal forms
    foreign: float = 0.1  # share of sentences also learned as if they were in another language
    unknown: float = 0.25  # share of a page's names that it is read without, as if nobody knew them
    rows: int = 1 << 19  # of weights; a power of two
    epochs: int = 3
    rate: float = 0.05
    decay: float = 1e-4
    dropout: float = 0.4  # share of a token's features left out in training
    casing_text: int = 80_000_000  # characters read to learn the case of words
    nameness_text: int = 1_000_000_000  # characters read to learn how links are written


class Examples(NamedTuple):
    """Features, shapes and labels of the tokens of sentences, and where each sentence begins."""

    features: Array
    shape: Array
    label: Array
    bounds: Array


class ExampleBuffer:
    """Collects examples in arrays that grow in place by small steps, so that little more is held."""

    def __init__(self) -> None:
        self._features: Array = np.empty((_STEP, FEATURES), np.uint32)
        self._shape: Array = np.empty(_STEP, np.uint8)
        self._label: Array = np.empty(_STEP, np.int8)
        self._sizes: list[Array] = [np.zeros(1, np.int64)]
        self._filled = 0

    def add(self, features: Array, shape: Array, label: Array, sizes: Array) -> None:
        """Add tokens, and the sizes of their sentences."""
        end = self._filled + shape.size
        for column, values in ((self._features, features), (self._shape, shape), (self._label, label)):
            if end > len(column):
                column.resize((end + _STEP, *column.shape[1:]), refcheck=False)
            column[self._filled : end] = values
        self._sizes.append(sizes)
        self._filled = end

    def examples(self) -> Examples:
        """What was added."""
        features, shape, label = (c[: self._filled] for c in (self._features, self._shape, self._label))
        return Examples(features, shape, label, np.cumsum(np.concatenate(self._sizes)))


def train_finder(
    corpus: Path, model: Model, options: FinderOptions | None = None, report: Report = silent
) -> dict[str, Array]:
    """The arrays of a finder for a model and the corpus it was built from; none if that is too small."""
    options = options or FinderOptions()
    report(0, 1, "casing")
    casing = learn_casing(read_pages(corpus, options.casing_text, EXCERPT))
    report(0.2, 1, "names and concepts")
    number = np.concatenate([find_titles(model, batch) for batch in read_titles(corpus)])
    types = model.arrays["entity_type"][number] if "entity_type" in model else np.zeros(number.size, np.uint8)
    types = np.where(number >= 0, types, 0).astype(np.uint8)
    pages = read_pages(corpus, options.nameness_text)
    nameness = learn_nameness(pages, read_titles(corpus), casing, types)
    in_model = np.full(model.entities, 255, np.uint8)  # what the corpus does not have is a name
    in_model[number[number >= 0]] = nameness[number >= 0]
    report(0.4, 1, "silver sentences")
    teacher = Teacher(model, casing, nameness, in_model, types == _ORGANISATION, options)
    words = {"finder_words": casing.table(), "finder_told": np.asarray([casing.told()])}
    del casing, nameness, types, number
    examples = teacher.examples(sample_pages(corpus, EXCERPT), partial(report_share, report))
    if examples.bounds.size <= LEAST_SENTENCES:
        return {}
    report(0.9, 1, "weights")
    return words | {"entity_nameness": in_model} | fit(examples, options)


def report_share(report: Report, share: float) -> None:
    """Say how many of the silver sentences are there."""
    report(0.4 + 0.5 * share, 1, "silver sentences")


def read_titles(corpus: Path) -> Iterator[list[str]]:
    """The titles of all entities by number, a batch at a time."""
    for file in sorted((corpus / "entities").glob("*.parquet")):
        for batch in pq.ParquetFile(file).iter_batches(_TITLES, columns=["title"]):
            yield batch.column("title").to_pylist()


def learn_casing(pages: Iterable[Page]) -> CasingCounts:
    """How the corpus writes its words."""
    explainer = Explainer(None, None)

    def counted() -> Iterator[tuple[Tokens, Array, Array]]:
        for page in pages:
            _, cut = page.tokens()
            first, last, name = explainer.links(cut, page, explainer.known(cut))
            yield cut, first[name], last[name]

    return CasingCounts.of(counted())


class Teacher:
    """Makes examples from pages.

    The dictionary lacks some names while a page is read: those that only this page links, its title, and
    others by chance. In a new text there are unknown people, too, whose last name is known.
    """

    def __init__(
        self, model: Model, casing: CasingCounts, nameness: Array, in_model: Array, firm: Array,
        options: FinderOptions,
    ) -> None:  # fmt: skip
        self._dictionary = Dictionary(model, in_model)
        self._words = casing.table()
        self._told = casing.told()
        self._explainer = Explainer(casing.look_up(), nameness, self._told, self._dictionary)
        self._options, self._random = options, np.random.default_rng(_SEED)
        self._model, self._firm = model, firm  # which entities are organisations

    def examples(self, pages: Iterable[Page], report: partial[None] | None = None) -> Examples:
        """Sentences of pages, as many as the options say."""
        buffer = ExampleBuffer()
        taken, most = 0, self._options.sentences
        for page in pages:
            taken += self._page(page, buffer)
            if report is not None:
                report(min(taken / most, 1.0))
            if taken >= most:
                break
        return buffer.examples()

    def _page(self, page: Page, buffer: ExampleBuffer) -> int:
        """Add the examples of one page; returns how many sentences were chosen."""
        codes, cut = page.tokens()
        only_here, hidden = self._hidden(page)
        likely = None if self._told else mostly_linked(self._dictionary, page.text, cut, only_here)
        label, sentence, silver, names = self._explainer.silver(codes, cut, page, likely)
        chosen = self._choose(label, sentence, silver)
        if not chosen.size:
            return 0
        buffer.add(*self._read(page.text, codes, cut, label, sentence, chosen, hidden))
        if not self._told:
            return int(chosen.size)
        some, letters = self._some(chosen, self._options.styled), foreign_letters(self._random)

        def written(codes: Array) -> tuple[str, Array, Tokens]:
            return codes.tobytes().decode("utf-32-le", "surrogatepass"), codes, tokens(codes)

        if some.size:
            styled = codes.copy()
            for number in some.tolist():
                restyle(styled, cut, np.flatnonzero(sentence == number), int(self._random.integers(3)))
            buffer.add(*self._read(*written(styled), label, sentence, some, hidden))
        some = self._some(chosen, self._options.foreign)
        if some.size:
            foreign = codes.copy()
            for number in some.tolist():
                translate(foreign, cut, label, np.flatnonzero(sentence == number), letters)
            buffer.add(*self._read(*written(foreign), label, sentence, some, hidden))
        firms = frozenset(b - 1 for _, b, link in names if link >= 0 and self._firm[page.entity[link]])
        of_firms = np.intersect1d(chosen, sentence[list(firms)])
        for number in self._some(of_firms, self._options.firms).tolist():
            where = np.flatnonzero(sentence == number)
            self._alone(buffer, hidden, *incorporate(page.text, cut, label, where, firms, self._random))
        for number in self._some(chosen, self._options.posts).tolist():
            where = np.flatnonzero(sentence == number)
            self._alone(buffer, hidden, *post(page.text, cut, label, where, self._random))
        return int(chosen.size)

    def _alone(self, buffer: ExampleBuffer, hidden: tuple[Array, Array], text: str, label: Array) -> None:
        """Add a sentence that was written anew, unless that joined or cut its words."""
        codes = code_points(text)
        cut, one = tokens(codes), np.zeros(label.size, np.int32)
        if cut.start.size == label.size:
            buffer.add(*self._read(text, codes, cut, label, one, one[:1], hidden))

    def _some(self, chosen: Array, share: float) -> Array:
        return chosen[self._random.random(chosen.size) < share]

    def _choose(self, label: Array, sentence: Array, silver: Array) -> Array:
        """Some silver sentences of a page, with a certain share of those without a name."""
        share = self._options.nameless
        named = np.unique(sentence[label > 0])
        others = self._random.permutation(np.setdiff1d(silver, named))
        named = self._random.permutation(np.intersect1d(silver, named))
        named = named[: int(self._options.per_page * (1 - share))]
        return np.union1d(named, others[: max(1, round(named.size * share / (1 - share)))])

    def _hidden(self, page: Page) -> tuple[Array, tuple[Array, Array]]:
        """Keys of names that no other page links, as written; and of all hidden names, written and folded."""
        anchors = [page.text[a:b] for a, b in zip(page.start.tolist(), page.end.tolist(), strict=True)]
        chosen = self._random.random(len(anchors)) < self._options.unknown
        others = [anchor for anchor, hidden in zip(anchors, chosen.tolist(), strict=True) if hidden]
        others += [strip_title(page.title)] if page.title else []
        table = self._model["name_hash"], self._model["name_buckets"]
        only_here, hidden = [], []
        for layer, form in ((Layer.CASED, squeeze), (Layer.FOLDED, fold)):
            keys = look_up(*table, [form(name) for name in (*anchors, *others)])
            key, times = np.unique(keys[: len(anchors)], return_counts=True)
            only_here.append(key[(key >= 0) & (self._links(np.maximum(key, 0), layer) <= times)])
            more = keys[len(anchors) :]
            hidden.append(np.union1d(only_here[-1], more[more >= 0]))
        return only_here[0], (hidden[0], hidden[1])

    def _links(self, keys: Array, layer: Layer) -> Array:
        """How many links have each of some names."""
        rows = self._model["name_offsets"][np.stack([keys, keys + 1])].astype(np.int64)
        sizes = rows[1] - rows[0]
        owner = np.repeat(np.arange(keys.size), sizes)
        entry = np.arange(owner.size) + np.repeat(rows[0] - np.cumsum(sizes) + sizes, sizes)
        mine = self._model["name_layer"][entry] == layer
        return np.bincount(owner[mine], self._model["name_count"][entry[mine]], keys.size)

    def _read(
        self, text: str, codes: Array, cut: Tokens, label: Array, sentence: Array, chosen: Array,
        hidden: tuple[Array, Array],
    ) -> tuple[Array, Array, Array, Array]:  # fmt: skip
        """Features, shapes and labels of the chosen sentences' tokens, and the sentences' sizes."""
        found = self._dictionary.find(text)
        written, folded = (np.isin(found.key, keys) for keys in hidden)
        found = found.without(np.where(found.folded > 0, folded, written))
        seen = read(codes, cut, self._words, found, self._options.rows)
        keep = np.isin(sentence, chosen)
        size = np.bincount(sentence[keep])
        return seen.features[keep], cut.shape[keep], label[keep], size[size > 0]


def fit(examples: Examples, options: FinderOptions) -> dict[str, Array]:
    """The weights that make the examples most likely, by AdaGrad with dropout; always the same."""
    weights = np.zeros((options.rows, LABELS - 1), np.float32)
    steps = np.zeros((SHAPES, LABELS, LABELS))
    squares = np.zeros_like(weights), np.zeros_like(steps)
    random = np.random.default_rng(_SEED)
    for epoch in range(options.epochs):
        order = random.permutation(examples.bounds.size - 1)
        rates = options.rate, np.float32(options.decay), options.dropout
        train_epoch(*examples, order, weights, steps, *squares, *rates, _SEED + epoch)
    weights *= np.float32(1 - options.dropout)
    return {"finder_weights": weights.astype(np.float16), "finder_steps": steps.astype(np.float32)}
