"""The JSON of `/v1`, typed and documented: what is checked on the way in and shown in `/docs`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pboh.service.address import Problem

Text = Annotated[str, Field(description="The document. Offsets count its code points.")]
Index = Annotated[int, Field(ge=0, le=2**31 - 1)]
Shown = Annotated[int, Field(ge=0, le=256, description="How many candidates to show per mention.")]
Threshold = Annotated[
    float | None, Field(ge=0, le=1, description="Leave out mentions whose ``detection`` is less.")
]
_EXAMPLE = "Jordan and Pippen won with the Bulls."
_SPANS: list[Any] = [{"start": 0, "end": 6}, {"start": 31, "end": 36}]


class Given(BaseModel):
    """What clients send: types are strict, unknown names are an error."""

    model_config = ConfigDict(strict=True, extra="forbid")


class GivenMention(Given):
    """A span of the text; ``entity`` clamps it to a title, and it then steers the rest."""

    start: Index = Field(description="First code point.")
    end: Index = Field(description="One behind the last code point.")
    entity: str | None = Field(None, description="A title the mention is known to mean.")


class LinkRequest(Given):
    """A text whose mentions are to be found and resolved."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": _EXAMPLE}]})

    text: Text
    threshold: Threshold = None
    candidates: Shown = 10


class DisambiguateRequest(Given):
    """A text with its mentions."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"text": _EXAMPLE, "mentions": _SPANS}]})

    text: Text
    mentions: list[GivenMention]
    overlapping: bool = Field(False, description="Whether mentions may overlap.")
    candidates: Shown = 10


class BatchDocument(Given):
    """One document of a batch; without ``mentions``, they are found."""

    id: str | None = None
    text: Text
    mentions: list[GivenMention] | None = None


class BatchRequest(Given):
    """Several documents, each resolved on its own."""

    documents: list[BatchDocument]
    overlapping: bool = False
    candidates: Shown = 10


class GraphRequest(Given):
    """A document whose factor graph is wanted; without ``mentions``, they are found."""

    text: Text
    mentions: list[GivenMention] | None = None
    overlapping: bool = True
    threshold: Threshold = None


class ExplainRequest(Given):
    """A document and the number of the mention to explain."""

    text: Text
    mentions: list[GivenMention]
    mention: Index = Field(description="Which of them, counted from 0.")
    overlapping: bool = True


class CandidateAnswer(BaseModel):
    """A possible entity of a mention."""

    entity: str
    id: str | None
    prior: float = Field(description="p(e|m): how often this name means this entity.")
    score: float | None = Field(description="Its score given all other answers (log).")
    probability: float


class MentionAnswer(BaseModel):
    """A mention and what it means; ``entity`` is null when it is left unlinked."""

    start: int
    end: int
    text: str
    entity: str | None
    id: str | None
    score: float | None
    probability: float
    clamped: bool
    detection: float = Field(description="How surely this is a mention worth its link; 1 for a given one.")
    candidates: list[CandidateAnswer]


class DocumentAnswer(BaseModel):
    """A resolved document."""

    id: str | None
    mentions: list[MentionAnswer]
    rounds: int = Field(description="Rounds of belief propagation.")
    converged: bool


class BatchAnswer(BaseModel):
    """Answers in the order of the request; a document that cannot be answered has an error instead."""

    documents: list[DocumentAnswer | Problem]


class GraphCandidate(CandidateAnswer):
    """A candidate with the local terms of its score."""

    local: float = Field(description="log p(e|m) + context: what speaks for it without neighbours.")
    context: float = Field(description="Part of ``local`` that comes from the words around the mention.")


class GraphMention(MentionAnswer):
    """A variable of the factor graph; ``answer`` is the place of its entity among the candidates."""

    answer: int | None
    candidates: list[GraphCandidate]  # type: ignore[assignment]


class GraphEdge(BaseModel):
    """A factor between candidate ``x`` of mention ``a`` and candidate ``y`` of mention ``b``."""

    a: int
    x: int
    b: int
    y: int
    value: float = Field(description="λ(e, e′) beyond what a pair never seen together gets.")


class GraphAnswer(BaseModel):
    """The factor graph of a document and how belief propagation went on it."""

    mentions: list[GraphMention]
    edges: list[GraphEdge] = Field(
        description="Between entities that were best in some round; strongest first."
    )
    unseen: float = Field(description="What a pair never seen together contributes.")
    rounds: list[list[list[float]]] = Field(
        description="Share of every candidate: [round][mention][candidate]."
    )
    converged: bool
    milliseconds: float


class Term(BaseModel):
    """One term of a score."""

    label: str
    value: float
    mention: int | None


class ExplanationAnswer(BaseModel):
    """The terms of a candidate's score; they add up to ``score``."""

    entity: str
    prior: float
    context: float
    words: list[Term]
    unmatched: float
    coreference: float
    neighbours: list[Term]
    score: float


class ExplainAnswer(BaseModel):
    """Explanations of all candidates of a mention, most probable first."""

    explanations: list[ExplanationAnswer]


class EntityAnswer(BaseModel):
    """What the model knows of an entity."""

    title: str
    id: str | None
    links: int = Field(description="Links of the corpus that lead to it.")
    documents: int = Field(description="Documents of the corpus that mention it.")


class SearchAnswer(BaseModel):
    """Entities a name may mean, likeliest first."""

    entities: list[EntityAnswer]


class InfoAnswer(BaseModel):
    """The program, the model it answers from, its settings and the limits of this server."""

    version: str
    language: str | None
    entities: int
    model: dict[str, Any]
    settings: dict[str, Any]
    threshold: float = Field(description="Found mentions with a lower ``detection`` are left out by default.")
    limits: dict[str, float]
