"""The JSON of `/v1`, typed and documented: what is checked on the way in and shown in `/docs`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from pboh.document import Contribution
from pboh.formats.types import TYPES
from pboh.service.address import REFERENCE

Text = Annotated[str, Meta(description="The document. Offsets count its code points.")]
Index = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Length = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Shown = Annotated[int, Meta(ge=0, le=256, description="How many candidates to show per mention.")]
Share = Annotated[float, Meta(ge=0, le=1, description="Leave out mentions whose ``detection`` is less.")]
Find = Annotated[Literal["names", "all"], Meta(description="What is found: names, or concepts too.")]
Type = Annotated[str, Meta(extra_json_schema={"enum": list(TYPES)})]
Types = Annotated[list[Type], Meta(min_length=1, description="The only types that answers may have.")]
Nil = Annotated[bool, Meta(description="Whether names without a known entity are found too.")]


class GivenMention(Struct, forbid_unknown_fields=True, gc=False):
    """A span of the text; ``entity`` clamps it to a title, and it then steers the rest."""

    start: Annotated[Index, Meta(description="First code point.")]
    end: Annotated[Length, Meta(description="One behind the last code point.")]
    entity: Annotated[str | None, Meta(description="A title the mention is known to mean.")] = None


class LinkRequest(Struct, forbid_unknown_fields=True):
    """A text whose mentions are to be found and resolved."""

    text: Text
    find: Find = "names"
    nil: Nil = False
    threshold: Share | None = None
    types: Types | None = None
    candidates: Shown = 10


class DisambiguateRequest(Struct, forbid_unknown_fields=True):
    """A text with its mentions."""

    text: Text
    mentions: list[GivenMention]
    overlapping: Annotated[bool, Meta(description="Whether mentions may overlap.")] = False
    types: Types | None = None
    candidates: Shown = 10


class BatchDocument(Struct, forbid_unknown_fields=True):
    """One document of a batch; without ``mentions``, they are found."""

    text: Text
    mentions: list[GivenMention] | None = None
    id: str | None = None


class BatchRequest(Struct, forbid_unknown_fields=True):
    """Several documents, each resolved on its own."""

    documents: list[BatchDocument]
    find: Find = "names"
    nil: Nil = False
    overlapping: bool = False
    types: Types | None = None
    candidates: Shown = 10


class GraphRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """A document whose factor graph is wanted; without ``mentions``, they are found."""

    text: Text
    mentions: list[GivenMention] | None = None
    overlapping: bool = True
    find: Find = "names"
    threshold: Share | None = None
    types: Types | None = None


class ExplainRequest(GraphRequest, kw_only=True):
    """A document and the number of the mention to explain; without ``mentions``, they are found.

    With the same options, what is explained is what ``link``, ``graph`` or ``disambiguate`` answered.
    """

    mention: Annotated[Index, Meta(description="Which of them, counted from 0.")]


KnownType = Annotated[str | None, Meta(description="What it is; null: the model does not say.")]
Description = Annotated[str | None, Meta(description="What it is, in a few words.")]
Url = Annotated[str | None, Meta(description="Its article.")]


class CandidateAnswer(Struct):
    """A possible entity of a mention."""

    entity: str
    id: str | None
    type: KnownType
    description: Description
    prior: Annotated[float, Meta(description="p(e|m): how often this name means this entity.")]
    score: Annotated[float | None, Meta(description="Its score given all other answers (log).")]
    probability: Annotated[float, Meta(description="All candidates and ``nil`` add up to one.")]


class MentionAnswer(Struct):
    """A mention and what it means; ``entity`` is null when it is left unlinked."""

    start: int
    end: int
    text: str
    entity: str | None
    id: str | None
    type: KnownType
    type_probability: float | None
    description: Description
    url: Url
    score: float | None
    probability: Annotated[float, Meta(description="Of the best candidate, which ``entity`` is.")]
    nil: Annotated[float, Meta(description="That the knowledge base has no entity for it.")]
    clamped: bool
    detection: Annotated[float, Meta(description="How surely this is a mention; 1 for a given one.")]
    candidates: list[CandidateAnswer]


class DocumentAnswer(Struct):
    """A resolved document."""

    id: str | None
    mentions: list[MentionAnswer]
    rounds: Annotated[int, Meta(description="Rounds of belief propagation.")]
    converged: bool


# Answers in the order of the request; a document that cannot be answered has an error instead.
BATCH_ANSWER = {
    "type": "object",
    "properties": {
        "documents": {
            "type": "array",
            "items": {"anyOf": [{"$ref": REFERENCE.format(name=n)} for n in ("DocumentAnswer", "Problem")]},
        }
    },
    "required": ["documents"],
}


class GraphCandidate(CandidateAnswer):
    """A candidate with the local terms of its score."""

    local: Annotated[float, Meta(description="log p(e|m) + context: what speaks for it without neighbours.")]
    context: Annotated[float, Meta(description="The part of ``local`` that the words around bring.")]


class GraphMention(MentionAnswer):
    """A variable of the factor graph; ``answer`` is the place of its entity among the candidates."""

    answer: int | None
    candidates: list[GraphCandidate]  # type: ignore[assignment]


class GraphEdge(Struct):
    """A factor between candidate ``x`` of mention ``a`` and candidate ``y`` of mention ``b``."""

    a: int
    x: int
    b: int
    y: int
    value: Annotated[float, Meta(description="λ(e, e′) beyond what a pair never seen together gets.")]


class GraphAnswer(Struct):
    """The factor graph of a document and how belief propagation went on it."""

    mentions: list[GraphMention]
    edges: Annotated[list[GraphEdge], Meta(description="Between the best of all rounds; strongest first.")]
    unseen: Annotated[float, Meta(description="What a pair never seen together contributes.")]
    rounds: Annotated[list[list[list[float]]], Meta(description="Shares: [round][mention][candidate].")]
    converged: bool
    milliseconds: float


class ExplanationAnswer(Struct):
    """The terms of a candidate's score; they add up to ``score``."""

    entity: str
    prior: float
    context: float
    words: list[Contribution]
    unmatched: float
    coreference: float
    neighbours: list[Contribution]
    score: float
    topic: Annotated[float, Meta(description="What the vectors of entity and words add; part of context.")]
    url: Url


class ExplainAnswer(Struct):
    """Explanations of all candidates of a mention, most probable first."""

    explanations: list[ExplanationAnswer]


class EntityAnswer(Struct):
    """What the model knows of an entity."""

    title: str
    id: str | None
    type: KnownType
    type_probability: float | None
    description: Description
    url: Url
    links: Annotated[int, Meta(description="Links of the corpus that lead to it.")]
    documents: Annotated[int, Meta(description="Documents of the corpus that mention it.")]


class SearchAnswer(Struct):
    """Entities a name may mean, likeliest first."""

    entities: list[EntityAnswer]


class SimilarEntity(EntityAnswer):
    """An entity like another one."""

    similarity: Annotated[float, Meta(description="Cosine of the two vectors.")]


class SimilarAnswer(Struct):
    """Entities like another one, nearest first."""

    entities: list[SimilarEntity]


class InfoAnswer(Struct):
    """The program, the model it answers from, its settings and the limits of this server."""

    version: str
    language: str | None
    entities: int
    model: dict[str, Any]
    types: Annotated[list[str], Meta(description="Types that answers can be restricted to; may be none.")]
    settings: dict[str, Any]
    threshold: Annotated[float, Meta(description="The ``detection`` that found mentions need by default.")]
    limits: dict[str, float]
