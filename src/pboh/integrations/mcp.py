"""Tools for language models: what the names of a text mean, offline, with a probability and a reason.

A server of the Model Context Protocol over standard input and output, or over HTTP. Answers are short,
because whoever reads them pays by the word.
"""

from __future__ import annotations

import inspect
import logging
import math
import threading
from typing import Annotated, Any

from pboh import __version__
from pboh.document import NO_ENTITY, Contribution, Entity, Mention
from pboh.errors import InputError, MissingExtraError, PbohError
from pboh.formats.types import TYPES
from pboh.linker import Linker
from pboh.service.options import listen

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
    from pydantic import BaseModel, Field, ValidationError
except ImportError:
    raise MissingExtraError.of("mcp (2.0 or newer)", "mcp") from None

log = logging.getLogger("pboh.mcp")
MAX_CHARACTERS = 20_000
MAX_NAMES = 200
MAX_REASONS = 25  # each costs about as much as linking the text
SHOWN = 5  # meanings of a name, words, neighbours

INSTRUCTIONS = """Says which entity (a Wikipedia title) each name in a text means, with a probability and a \
reason. All names of a text are decided together, so pass whole paragraphs, not single names. Nothing leaves \
this machine. A probability below 0.5 means: ask, or say that it is unclear. Use link_text for plain text, \
disambiguate if you know which names matter, look_up_entity to see what a single name can mean, and explain \
to see why."""


class Told(BaseModel):
    """What is told of an entity, so that whoever asked can check it."""

    entity: str | None = Field(description="Its title in the knowledge base (usually Wikipedia); null: none.")
    id: str | None = Field(default=None, description="Outside id such as a Wikidata item, if known.")
    type: str | None = Field(default=None, description="What it is, such as person or place, if known.")
    description: str | None = Field(default=None, description="What it is in a few words, if known.")


class Meaning(Told):
    """An entity that a name can mean."""

    probability: float = Field(description="How probable this meaning is here, 0 to 1.")


class Grounded(Meaning):
    """A name in the text and what it means; the entity is null if none is probable enough."""

    name: str = Field(description="The name as written.")
    start: int = Field(description="Where it begins, in characters.")
    end: int = Field(description="One behind its last character.")
    reason: str | None = Field(default=None, description="Why, in a few words, if reasons were asked for.")
    others: list[Meaning] = Field(default_factory=list, description="Next best meanings, best first.")


class GroundedText(BaseModel):
    """Names of a text, in their order."""

    mentions: list[Grounded]


class Known(Told):
    """What the knowledge base knows of a title or name: the entity of that title or redirect, if any."""

    url: str | None = Field(default=None, description="Its article.")
    links: int = Field(default=0, description="Links to it in the corpus: how prominent it is.")
    meanings: list[Meaning] = Field(
        description="What this can mean as a name; probabilities are those without any context."
    )


class Term(BaseModel):
    """One term of a score."""

    label: str
    value: float = Field(description="What it adds to the score (logarithm; negative speaks against).")


class Why(Told):
    """Why a name means an entity (null: it has no candidate): the sum of prior, context and neighbours."""

    name: str
    probability: float = Field(description="How probable it is, 0 to 1.")
    summary: str = Field(description="The reason in one sentence.")
    score: float | None = None
    prior: float | None = Field(default=None, description="From how often this name means this entity (log).")
    context: float | None = Field(default=None, description="From the words around the name.")
    words: list[Term] = Field(default_factory=list, description="Words that speak for it most.")
    neighbours: list[Term] = Field(
        default_factory=list, description="Other entities of the text, best first."
    )
    others: list[Meaning] = Field(default_factory=list, description="Next best meanings, best first.")


class Name(BaseModel):
    """A name in the text."""

    name: str = Field(description="Exactly as written in the text.")
    occurrence: int = Field(default=1, ge=1, description="Which of its occurrences, counted from 1.")
    entity: str | None = Field(
        default=None, description="Its entity's title if already known; helps the others."
    )


Text = Annotated[str, Field(description="The text, best with its context: a paragraph or an article.")]
Reasons = Annotated[bool, Field(description=f"Say why (the first {MAX_REASONS} names); slower.")]
Types = Annotated[
    list[str] | None, Field(description=f"Answer only with entities of these types: {', '.join(TYPES)}.")
]
Others = Annotated[int, Field(ge=0, le=10, description="How many next best meanings to show per name.")]


class Tools:
    """The tools, over one linker; their docstrings are what language models read."""

    def __init__(self, linker: Linker, max_characters: int = MAX_CHARACTERS) -> None:
        self._linker = linker
        self._most = max_characters

    def link_text(
        self,
        text: Text,
        reasons: Reasons = False,
        others: Others = 0,
        threshold: Annotated[
            float | None,
            Field(ge=0, le=1, description="Least confidence; lower finds more names. Default: the model's."),
        ] = None,
        types: Types = None,
    ) -> GroundedText:
        """Find the names of people, places, organisations … in a text and say which entity each one means."""
        document = self._linker.link(self._checked(text), threshold=threshold, types=types)
        return self._grounded(document.mentions, reasons, others)

    def disambiguate(
        self,
        text: Text,
        names: Annotated[list[str | Name], Field(description="Names exactly as written in the text.")],
        reasons: Reasons = False,
        others: Others = 0,
        types: Types = None,
    ) -> GroundedText:
        """Say which entity each of the given names means in a text; they are decided together.

        A name listed twice means its first two occurrences. Give {"name", "entity"} for a name whose
        meaning you know already: the others are then decided in its light.
        """
        self._checked(text)
        if len(names) > MAX_NAMES:
            raise InputError(f"there are {len(names)} names and the limit is {MAX_NAMES}", todo="Send fewer")
        spans = []
        seen: dict[str, int] = {}
        for given in names:
            name = Name(name=given) if isinstance(given, str) else given
            if isinstance(given, str):
                name.occurrence = seen[given] = seen.get(given, 0) + 1
            spans.append((*_find(text, name.name, name.occurrence), name.entity))
        document = self._linker.disambiguate(text, spans, overlapping=True, types=types)
        return self._grounded(document.mentions, reasons, others)

    def look_up_entity(
        self, title: Annotated[str, Field(description="A title, a redirect or any name.")]
    ) -> Known:
        """Look up an entity by title, and see what the same words can mean as a name (without context)."""
        title = " ".join(self._checked(title).split())
        if not title:
            raise InputError("the title is empty")
        entity = self._linker.entity(title)
        [mention] = self._linker.disambiguate(title, [(0, len(title))])
        links = self._linker.model.links(entity.index) if entity else 0
        address = entity.url if entity else None
        return Known(**_told(entity), url=address, links=links, meanings=_meanings(mention, None, 2 * SHOWN))

    def explain(
        self,
        text: Text,
        name: Annotated[str, Field(description="A name in the text, exactly as written.")],
        occurrence: Annotated[int, Field(ge=1, description="Which of its occurrences.")] = 1,
        entity: Annotated[
            str | None, Field(description="Explain this meaning instead of the most probable one.")
        ] = None,
    ) -> Why:
        """Explain why a name in a text means an entity: its usual meaning, words nearby, other entities."""
        start, end = _find(self._checked(text), name, occurrence)
        mention = self._linked(text, start, end)
        wanted = self._candidate(mention, entity)
        chosen = wanted or mention.entity or (mention.candidates[0].entity if mention.candidates else None)
        terms = mention.explain(chosen) if chosen else None
        if chosen is None or terms is None:
            nothing = "no entity of the knowledge base has a name like this"
            return Why(name=name, entity=None, probability=0.0, summary=nothing)
        return Why(
            name=name,
            **_told(chosen),
            probability=_short(next((c.probability for c in mention.candidates if c.entity == chosen), 0.0)),
            summary=_reason(mention, chosen),
            score=_short(terms.score),
            prior=_short(terms.prior + terms.coreference),
            context=_short(terms.context),
            words=_terms(terms.words),
            neighbours=_terms(terms.neighbours),
            others=_meanings(mention, chosen, SHOWN),
        )

    def _linked(self, text: str, start: int, end: int) -> Mention:
        """A name as link_text answers it; one that it does not find is given, and its neighbours found."""
        for given in ([], [(start, end)]):
            found = [m for m in self._linker.link(text, spans=given) if (m.start, m.end) == (start, end)]
            if found:
                break
        return found[0]

    def _candidate(self, mention: Mention, title: str | None) -> Entity | None:
        """The candidate of that title."""
        if title is None:
            return None
        known = self._linker.entity(title)
        if known is None:
            raise InputError(f"the knowledge base has no entity {title!r}", todo="Try look_up_entity")
        if all(candidate.entity.index != known.index for candidate in mention.candidates):
            raise InputError(f"{known.title!r} is not among the meanings of {mention.text!r}")
        return known

    def _grounded(self, mentions: list[Mention], reasons: bool, others: int) -> GroundedText:
        return GroundedText(
            mentions=[
                Grounded(
                    name=m.text,
                    start=m.start,
                    end=m.end,
                    **_told(m.entity),
                    probability=_short(m.probability),
                    reason=_reason(m, m.entity) if reasons and m.entity and k < MAX_REASONS else None,
                    others=_meanings(m, m.entity, others),
                )
                for k, m in enumerate(mentions)
            ]
        )

    def _checked(self, text: str) -> str:
        if len(text) > self._most:
            what = f"the text has {len(text):,} characters and the limit is {self._most:,}"
            raise InputError(what, todo="Send it in parts")
        return text


def _find(text: str, name: str, occurrence: int) -> tuple[int, int]:
    """Where a name occurs in a text, as a whole word if it does at all."""
    if not name.strip():
        raise InputError("a name is empty")
    places, at = [], text.find(name)
    while at >= 0:
        places.append((at, at + len(name)))
        at = text.find(name, at + len(name))
    found = [span for span in places if _is_whole(text, *span)] or places
    if len(found) < occurrence:
        times = "does not occur in the text" if not found else f"occurs only {len(found)} times in the text"
        raise InputError(f"the name {name!r} {times}", todo="Copy names exactly as they are written there")
    return found[occurrence - 1]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no letter or digit comes right before or after a span."""
    beside = text[max(0, start - 1) : start] + text[end : end + 1]
    return not any(character.isalnum() or character == "_" for character in beside)


def _short(value: float) -> float:
    return round(value, 3)


def _told(entity: Entity | None) -> dict[str, Any]:
    about = entity.to_dict() if entity else NO_ENTITY
    return {name: about[name] for name in Told.model_fields}


def _meanings(mention: Mention, but: Entity | None, most: int) -> list[Meaning]:
    """Candidates by probability, without one."""
    found = [c for c in mention.candidates if but is None or c.entity.index != but.index]
    return [Meaning(**_told(c.entity), probability=_short(c.probability)) for c in found[:most]]


def _terms(terms: tuple[Contribution, ...]) -> list[Term]:
    best: dict[str, float] = {}
    for term in terms:
        best[term.label] = max(term.value, best.get(term.label, -math.inf))
    return [Term(label=label, value=_short(value)) for label, value in list(best.items())[:SHOWN]]


def _reason(mention: Mention, entity: Entity) -> str:
    """A score in words: "93% of the uses of this name; words nearby: goal; other entities: Paris"."""
    terms = mention.explain(entity)
    if terms is None:
        return ""
    share = math.exp(min(0.0, terms.prior + terms.coreference))
    parts = [f"{share:.0%} of the uses of this name" if not mention.clamped else "given"]
    for label, found in (("words nearby", terms.words), ("other entities", terms.neighbours)):
        best = list(dict.fromkeys(term.label for term in found if term.value > 0))[:3]
        parts += [f"{label}: {', '.join(best)}"] if best else []
    return "; ".join(parts)


# -- the server -----------------------------------------------------------------------------------------


class _Server(MCPServer[Any]):
    """Whatever is wrong with a call goes to the model as one sentence; of defects it learns no more."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            reason = error.__cause__
            if reason is None:
                raise
            if isinstance(reason, ValidationError):
                wrong = reason.errors()[0]
                told = f"{name}: argument {'.'.join(map(str, wrong['loc'][:2]))}: {wrong['msg']}."
            elif isinstance(reason, PbohError):
                told = str(reason)
            else:
                log.error("%s failed", name, exc_info=reason)  # noqa: TRY400
                told = "this is a defect of the server, not of the arguments."
            raise ToolError(told) from None


def make_server(linker: Linker, max_characters: int = MAX_CHARACTERS) -> MCPServer[Any]:
    """A server with the tools, over a linker."""
    server = _Server(
        "pboh", title="Entity linking", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING"
    )
    tools = Tools(linker, max_characters)
    hints = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for tool in (tools.link_text, tools.disambiguate, tools.look_up_entity, tools.explain):
        told = inspect.getdoc(tool)
        server.add_tool(tool, description=told, annotations=hints, structured_output=True)
    return server


def serve(
    linker: Linker,
    transport: str = "stdio",
    host: str = "127.0.0.1",
    port: int = 8081,
    max_characters: int = MAX_CHARACTERS,
) -> None:
    """Answer until the client goes away (stdio) or the process is told to stop (http)."""
    server = make_server(linker, max_characters)
    threading.Thread(target=linker.link, args=("Ada met Bob.",), daemon=True).start()  # compiles kernels
    if transport == "stdio":
        server.run("stdio")
        return
    listen(host, port).close()  # a sentence now is better than a traceback later
    server.run("streamable-http", host=host, port=port, stateless_http=True, json_response=True)
