"""REL's API: `{"text", "spans": [[start, length], …]}` in, rows of seven values out."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from pboh.document import Entity, Mention
from pboh.formats.identifiers import underscored
from pboh.formats.types import BY_NAME
from pboh.service.address import JSON, Address
from pboh.service.call import Call
from pboh.service.protocols.v1_schemas import Find, Index, Length, Text, Types


class RelRequest(Struct, forbid_unknown_fields=True):
    """A text and, for disambiguation only, its spans as (start, length)."""

    text: Text
    spans: Annotated[list[tuple[Index, Length]], Meta(description="Empty: the mentions are found.")] = []
    find: Find = "names"
    types: Types | None = None
    tagger: Annotated[str | None, Meta(description="Accepted and ignored: there is one detector.")] = None


def rel(call: Call) -> Any:
    """Rows of start, length, mention, entity, confidence of both steps, and tag."""
    given = call.json(RelRequest)
    spans = [(start, start + size) for start, size in given.spans] or None
    document = call.resolve(given.text, spans, mentions=given.find, types=given.types)
    return [_row(mention, mention.entity) for mention in document if mention.entity is not None]


def _row(mention: Mention, entity: Entity) -> tuple[Any, ...]:
    place, kind = (mention.start, mention.end - mention.start, mention.text), entity.type
    tag = BY_NAME[kind].conll if kind not in (None, "unknown") else "NULL"  # PER, ORG, LOC or MISC
    return *place, underscored(entity.title), mention.probability, mention.detection, tag


ADDRESSES = [
    Address("POST", path, rel, "REL", takes={JSON: RelRequest}, gives={JSON: list[list[int | float | str]]})
    for path in ("/", "/rel")  # REL's own server answers at its root
]
