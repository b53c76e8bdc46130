"""Document, Mention, Candidate, Entity: the one vocabulary of everything that goes in and comes out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol


class Facts(NamedTuple):
    """What is known about an entity beside its title; None is what the model does not say."""

    type: str | None = None
    type_probability: float | None = None
    description: str | None = None


class FactSource(Protocol):
    """A model that is asked about an entity when something of it is shown."""

    def facts(self, entity: Entity) -> Facts:
        """What it knows about an entity."""

    def url(self, entity: Entity) -> str | None:
        """The address of an entity."""


class Told(NamedTuple):
    """A source that was told about one entity: facts that travel without a model."""

    known: Facts = Facts()
    address: str | None = None

    def facts(self, entity: Entity) -> Facts:
        """What was told."""
        return self.known

    def url(self, entity: Entity) -> str | None:
        """The address that was told."""
        return self.address


_NOTHING = Told()


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing a name can mean: its title in the knowledge base, its number in the model, an outside id.

    What else is known is read from the model when it is asked for.
    """

    title: str
    index: int
    id: str | None = None
    about: FactSource = field(default=_NOTHING, repr=False, compare=False)
    _facts: Facts | None = field(default=None, init=False, repr=False, compare=False)
    _url: str | None = field(default="", init=False, repr=False, compare=False)  # empty: not asked for yet

    def __str__(self) -> str:
        return self.title

    @property
    def facts(self) -> Facts:
        """Type, its probability, and description at once; read from the model only once."""
        facts = self._facts
        if facts is None:
            facts = self.about.facts(self)
            object.__setattr__(self, "_facts", facts)
        return facts

    @property
    def type(self) -> str | None:
        """One of :data:`pboh.formats.types.TYPES`; None in a model without types."""
        return self.facts.type

    @property
    def type_probability(self) -> float | None:
        """How probable that type is."""
        return self.facts.type_probability

    @property
    def description(self) -> str | None:
        """What it is, in a few words."""
        return self.facts.description

    @property
    def url(self) -> str | None:
        """Its article in the Wikipedia of the model's language; of one you added, its id if that is one."""
        url = self._url
        if url == "":
            url = self.about.url(self)
            object.__setattr__(self, "_url", url)
        return url

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as every output has them."""
        type, type_probability, description = self._facts or self.facts  # asked thousands of times a second
        return {
            "entity": self.title,
            "id": self.id,
            "type": type,
            "type_probability": type_probability,
            "description": description,
            "url": self._url or self.url,
        }


NO_ENTITY: dict[str, None] = dict.fromkeys(("entity", "id", *Facts._fields, "url"))
"""What :meth:`Entity.to_dict` has of an entity, of none."""


class Candidate(NamedTuple):
    """One possible answer for a mention and what speaks for it.

    ``prior`` is p(e|m); ``local`` the local score of Eq. (local-all); ``score`` the sum of its terms in
    Eq. (c2) given the answers of the other mentions. The probabilities of a mention's candidates and of its
    ``nil`` add up to one; they are calibrated if the model is, else sum-product marginals.
    """

    entity: Entity
    prior: float
    local: float
    score: float
    probability: float

    def to_dict(self, terms: bool = False) -> dict[str, Any]:
        """Plain values; ``terms`` adds the local score and the part of it that the context brings."""
        entity = self.entity
        type, _, description = entity._facts or entity.facts
        plain = {
            "entity": entity.title,
            "id": entity.id,
            "type": type,
            "description": description,
            "prior": self.prior,
            "score": self.score,
            "probability": self.probability,
        }
        if terms:
            plain |= {"local": self.local, "context": self.local - math.log(self.prior)}
        return plain


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
    topic: float = 0.0  # of the context: how well the entity's vector fits those of the words around

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the title of the entity, and its terms."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        words, neighbours = ([asdict(term) for term in terms] for terms in (self.words, self.neighbours))
        return {**plain, "entity": self.entity.title, "words": words, "neighbours": neighbours}

    def terms(self, most: int) -> list[tuple[str, str, float]]:
        """Kind, label and value of the terms of the score.

        Of words and of neighbours the ``most`` important ones are named; the rest of each is one term.
        """
        found = [("name", "the name alone", self.prior)]
        if self.coreference:
            found.append(("name", "a longer name in the text", self.coreference))
        found += _largest("word", self.words, most)
        if self.unmatched:
            found.append(("words", "words it was not seen with", self.unmatched))
        if self.topic:
            found.append(("words", "what the words are about", self.topic))
        return found + _largest("neighbour", self.neighbours, most)

    def _repr_html_(self) -> str:
        from pboh.formats.html import explanation_in_notebook  # noqa: PLC0415

        return explanation_in_notebook(self)


def _largest(kind: str, terms: tuple[Contribution, ...], most: int) -> list[tuple[str, str, float]]:
    ordered = sorted(terms, key=lambda term: -abs(term.value))
    rest = ordered[most:]
    others = [(f"{kind}s", f"{len(rest)} more {kind}s", sum(term.value for term in rest))] if rest else []
    return [*((kind, term.label, term.value) for term in ordered[:most]), *others]


class Part(Protocol):
    """A text whose mentions were resolved together: a whole document, or a part of a long one."""

    first: int  # where it begins in the text of the document

    @property
    def solution(self) -> Any:
        """Everything that was computed, as arrays: a :class:`pboh.inference.solution.Solution`."""

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate) of one of its mentions."""


@dataclass(slots=True)
class Mention:
    """A span of a document (code points) and the entity it was resolved to, if any.

    ``probability`` is that of its best candidate, the entity unless that was too improbable to be given;
    ``nil`` is the probability that the knowledge base has no entity for it. ``detection`` is the probability
    that a mention found in raw text is one and is answered rightly, be it with "no entity".
    """

    start: int
    end: int
    text: str
    entity: Entity | None = None
    probability: float = 0.0
    score: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    clamped: bool = False
    detection: float = 1.0  # 1 for a given span
    nil: float = 0.0
    part: Part | None = field(default=None, repr=False, compare=False)  # what it was resolved in
    row: int = field(default=0, repr=False, compare=False)  # its row in the arrays of ``part.solution``

    if not TYPE_CHECKING:  # a checker would take any name for an attribute

        def __getattr__(self, name: str) -> tuple[Candidate, ...]:
            """The candidates of a linked mention are made when they are asked for: a text has thousands."""
            if name != "candidates" or self.part is None:
                raise AttributeError(f"a mention has no {name!r}", name=name, obj=self)
            self.candidates = self.part.candidates(self.row)
            return self.candidates

    def explain(self, entity: Entity | None = None) -> Explanation | None:
        """Terms of the score of the answer (or of another candidate); None for an unlinked mention."""
        return self.part.explain(self.row, entity) if self.part else None

    def _repr_html_(self) -> str:
        from pboh.formats.html import mention_in_notebook  # noqa: PLC0415

        return mention_in_notebook(self)

    def to_dict(
        self, candidates: int | None = None, *, explain: bool = False, terms: bool = False
    ) -> dict[str, Any]:
        """Plain values, as every output has them: the first ``candidates`` (None: all) with their ``terms``.

        ``explain`` adds the explanation of the answer, None where there is no answer.
        """
        plain = {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            **(self.entity.to_dict() if self.entity else NO_ENTITY),
            "score": self.score,
            "probability": self.probability,
            "nil": self.nil,
            "detection": self.detection,
            "clamped": self.clamped,
            "candidates": [candidate.to_dict(terms) for candidate in self.candidates[:candidates]],
        }
        if explain:
            explanation = self.explain()
            plain["explanation"] = explanation.to_dict() if explanation else None
        return plain


@dataclass(slots=True)
class Document:
    """A text, its mentions in text order, and how the inference went."""

    text: str
    mentions: list[Mention]
    id: str | None = None
    rounds: int = 0
    converged: bool = True
    timings: dict[str, float] = field(default_factory=dict, repr=False, compare=False)
    parts: list[Part] = field(default_factory=list, repr=False, compare=False)  # what was resolved together

    def __iter__(self) -> Iterator[Mention]:
        return iter(self.mentions)

    def __len__(self) -> int:
        return len(self.mentions)

    def to_dict(
        self, candidates: int | None = None, *, explain: bool = False, terms: bool = False
    ) -> dict[str, Any]:
        """Plain values, as every output has them; see :meth:`Mention.to_dict` for the options."""
        return {
            "id": self.id,
            "mentions": [m.to_dict(candidates, explain=explain, terms=terms) for m in self.mentions],
            "rounds": self.rounds,
            "converged": self.converged,
        }

    def _repr_html_(self) -> str:
        from pboh.formats.html import document_in_notebook  # noqa: PLC0415

        return document_in_notebook(self)
