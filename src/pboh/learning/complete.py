"""Complete gold: stretches of text in which every name is known, from annotated texts or silver sentences."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pboh.detection.casing import known_words
from pboh.detection.dictionary import Dictionary
from pboh.detection.pages import Page
from pboh.detection.silver import Explainer, mostly_linked
from pboh.text.hashing import Array

if TYPE_CHECKING:
    from pboh.evaluation.datasets.core import GoldDocument
    from pboh.linker import Linker

EXCERPT = 15_000
"""Characters of a page that are read."""


class Complete(NamedTuple):
    """A text, the stretches of it in which every name is known, and the entities each name may mean.

    A name has no entity if the model does not know what it means. The entities of
    ``unsure`` names were not annotated: they are named like the page itself, or like a link of it.
    """

    text: str
    stretches: Array  # start and end in code points, ascending
    names: dict[tuple[int, int], set[int]]
    unsure: frozenset[tuple[int, int]] = frozenset()

    def inside(self, start: Array, end: Array) -> Array:
        """Which spans are in a stretch."""
        at = np.searchsorted(self.stretches[:, 0], start, side="right") - 1
        return (at >= 0) & (end <= self.stretches[np.maximum(at, 0), 1]) if len(self.stretches) else at >= 0

    def alone(self, most: int) -> list[Complete]:
        """Some stretches, evenly spread, each as a text of its own: what short texts look like."""
        some = self.stretches[:: max(1, -(-len(self.stretches) // most))]
        return [self._part(begin, end) for begin, end in some.tolist()]

    def _part(self, begin: int, end: int) -> Complete:
        inside = {place for place in self.names if begin <= place[0] and place[1] <= end}
        moved = {(a, b): (a - begin, b - begin) for a, b in inside}
        names = {moved[place]: meant for place, meant in self.names.items() if place in inside}
        unsure = frozenset(moved[place] for place in self.unsure & inside)
        return Complete(self.text[begin:end], np.asarray([[0, end - begin]]), names, unsure)


def annotated(linker: Linker, document: GoldDocument) -> Complete:
    """A text with all its names."""
    names = {(m.start, m.end): known_entities(linker, m.golds) for m in document.mentions}
    return Complete(document.text, np.asarray([[0, len(document.text)]]), names)


class SilverPages:
    """Finds silver sentences in pages with links, by what a model's finder knows of words."""

    def __init__(self, linker: Linker) -> None:
        model = linker.model
        self._linker, self._told = linker, bool(model["finder_told"][0])
        nameness = np.append(model["entity_nameness"], np.uint8(255))  # what is not known is a name
        self._unknown = nameness.size - 1
        self._dictionary = Dictionary(model, model["entity_nameness"])
        known = partial(known_words, model["finder_words"])
        self._explainer = Explainer(known, nameness, self._told, self._dictionary)

    def read(self, document: GoldDocument) -> Complete:
        """The silver sentences of a page, whose title is its id, and their names."""
        text = document.text[:EXCERPT]
        text = text[: text.rfind("\n") + 1 or EXCERPT] if len(document.text) > EXCERPT else text
        links = [m for m in document.mentions if m.end <= len(text)]
        entities = [known_entities(self._linker, m.golds) for m in links]
        number = [min((e for e in found if e < self._unknown), default=self._unknown) for found in entities]
        start, end = (np.asarray([getattr(m, side) for m in links], np.int64) for side in ("start", "end"))
        page = Page(0, document.id, text, start, end, np.asarray(number, np.int64))
        codes, cut = page.tokens()
        nobody = np.empty(0, np.int64)
        likely = None if self._told else mostly_linked(self._dictionary, text, cut, nobody)
        _, sentence, chosen, names = self._explainer.silver(codes, cut, page, likely)
        firsts = np.searchsorted(sentence, chosen)
        lasts = np.searchsorted(sentence, chosen, side="right") - 1
        stretches = np.stack([cut.start[firsts], cut.end[lasts]], axis=1).astype(np.int64)
        entities += [set(), known_entities(self._linker, (document.id,))]  # at the places PART and OWN
        places = [(int(cut.start[a]), int(cut.end[b - 1])) for a, b, _ in names]
        sources = [source for _, _, source in names]
        meant = {place: entities[source] for place, source in zip(places, sources, strict=True)}
        unsure = (
            place
            for place, source in zip(places, sources, strict=True)
            if source < 0 or not links[source].start <= place[0] < links[source].end
        )
        return Complete(text, stretches, meant, frozenset(unsure))


def known_entities(linker: Linker, titles: tuple[str, ...]) -> set[int]:
    """Numbers of the entities of titles that the model knows."""
    found = (linker.entity(title) for title in titles)
    return {entity.index for entity in found if entity is not None}
