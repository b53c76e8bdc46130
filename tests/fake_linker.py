"""A linker small enough to know every answer by heart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pboh.document import Candidate, Contribution, Document, Entity, Explanation, Mention

NAMES: dict[str, list[tuple[str, float]]] = {
    "Paris": [("Paris", 0.9), ("Paris Hilton", 0.1)],
    "Texas": [("Texas", 1.0)],
    "Jordan": [("Jordan", 0.7), ("Michael Jordan", 0.3)],
    "Nowhere": [],
}
TITLES = ["Jordan", "Michael Jordan", "Paris", "Paris Hilton", "Texas", "United States"]
REDIRECTS = {"USA": "United States"}


@dataclass
class FakeSettings:
    system: str


class FakeModel:
    """What is known of a model beside its names."""

    def __init__(self) -> None:
        self.info: dict[str, Any] = {}

    def links(self, entity: int) -> int:
        return [70, 30, 900, 10, 1200, 50][entity]


class FakeLinker:
    """Answers with the most frequent candidate, except "pboh", which takes the second one of Jordan."""

    def __init__(self, system: str = "pboh") -> None:
        self.settings = FakeSettings(system)
        self.model = FakeModel()
        self.asked: list[tuple[str, list[tuple[int, int]]]] = []

    def with_settings(self, **changes: Any) -> FakeLinker:
        made = FakeLinker(**changes)
        made.asked = self.asked
        return made

    def entity(self, title: str) -> Entity | None:
        title = REDIRECTS.get(title, title)
        return Entity(title, TITLES.index(title)) if title in TITLES else None

    def resolve(self, title: str) -> str | None:
        entity = self.entity(title)
        return entity.title if entity else None

    def disambiguate(
        self, text: str, spans: Iterable[Sequence[Any]], *, id: str | None = None, overlapping: bool = False
    ) -> Document:
        assert overlapping
        spans = [(span[0], span[1]) for span in spans]
        self.asked.append((text, spans))
        mentions = [self._mention(start, end, text[start:end]) for start, end in spans]
        return Document(text, mentions, id, rounds=len(spans), converged=True, timings={"pairs": 0.001})

    def _mention(self, start: int, end: int, surface: str) -> Mention:
        found = [
            Candidate(Entity(title, TITLES.index(title)), prior, 0.0, 0.0, prior)
            for title, prior in NAMES.get(surface, [])
        ]
        best = found[-1] if surface == "Jordan" and self.settings.system == "pboh" else (found or [None])[0]
        mention = Mention(start, end, surface, candidates=tuple(found))
        if best is not None:
            mention.entity, mention.probability = best.entity, best.probability
        mention.part = FakePart(mention.entity)
        return mention


class FakePart:
    """Explains an entity with made-up terms."""

    first, solution = 0, None

    def __init__(self, answer: Entity | None) -> None:
        self.answer = answer

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        return explanation(entity or self.answer)


def explanation(entity: Entity | None) -> Explanation | None:
    if entity is None:
        return None
    words = tuple(Contribution(f"word{i}", 0.5 - 0.1 * i) for i in range(12))
    neighbours = (Contribution("Texas & <co>", 1.25, 1), Contribution("Paris", -0.5, 0))
    total = -0.25 + sum(word.value for word in words) - 1.0 + 0.75
    return Explanation(entity, -0.25, -1.0, words, -1.0, 0.0, neighbours, total)
