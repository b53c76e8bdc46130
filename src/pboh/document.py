"""Document, Mention, Candidate, Entity: the one vocabulary of everything that goes in and comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing a name can mean: its title in the knowledge base, its number in the model, an outside id."""

    title: str
    index: int
    id: str | None = None

    def __str__(self) -> str:
        return self.title


class Candidate(NamedTuple):
    """One possible answer for a mention and what speaks for it.

    ``prior`` is p(e|m); ``local`` the local score of Eq. (local-all); ``score`` the sum of its terms in
    Eq. (c2) given the answers of the other mentions; ``probability`` its sum-product marginal.
    """

    entity: Entity
    prior: float
    local: float
    score: float
    probability: float


@dataclass(frozen=True, slots=True)
class Contribution:
    """One term of the sum that was maximised: a word of the context or a neighbouring mention."""

    label: str
    value: float
    mention: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a candidate scores what it scores: the terms sum to ``score`` (tested)."""

    entity: Entity
    prior: float
    context: float
    words: tuple[Contribution, ...]
    unmatched: float
    coreference: float
    neighbours: tuple[Contribution, ...]
    score: float

    def _repr_html_(self) -> str:
        from pboh.formats.html import explanation_in_notebook  # noqa: PLC0415

        return explanation_in_notebook(self)


@dataclass(slots=True)
class Mention:
    """A span of a document (code points) and the entity it was resolved to, if any."""

    start: int
    end: int
    text: str
    entity: Entity | None = None
    probability: float = 0.0
    score: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    clamped: bool = False
    detection: float = 1.0  # how surely this is a mention linked to its entity; 1 for a given span
    _explain: Callable[[Entity | None], Explanation | None] | None = field(
        default=None, repr=False, compare=False
    )

    def explain(self, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate); None for an unlinked mention."""
        return self._explain(entity) if self._explain else None

    def _repr_html_(self) -> str:
        from pboh.formats.html import mention_in_notebook  # noqa: PLC0415

        return mention_in_notebook(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command line and the service print them."""
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "entity": self.entity.title if self.entity else None,
            "id": self.entity.id if self.entity else None,
            "score": self.score,
            "probability": self.probability,
            "candidates": [
                {"entity": c.entity.title, "prior": c.prior, "score": c.score, "probability": c.probability}
                for c in self.candidates
            ],
        }


@dataclass(slots=True)
class Document:
    """A text, its mentions in text order, and how the inference went."""

    text: str
    mentions: list[Mention]
    id: str | None = None
    rounds: int = 0
    converged: bool = True
    timings: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    def __iter__(self) -> Iterator[Mention]:
        return iter(self.mentions)

    def __len__(self) -> int:
        return len(self.mentions)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, one JSON line of ``pboh disambiguate``."""
        return {
            "id": self.id,
            "mentions": [mention.to_dict() for mention in self.mentions],
            "rounds": self.rounds,
            "converged": self.converged,
        }

    def _repr_html_(self) -> str:
        from pboh.formats.html import document_in_notebook  # noqa: PLC0415

        return document_in_notebook(self)
