"""REL's API: `{"text", "spans": [[start, length], …]}` in, rows of seven values out."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from pboh.formats.identifiers import underscored
from pboh.service.address import JSON, Address
from pboh.service.call import Call
from pboh.service.protocols.v1_schemas import Index, Length, Text


class RelRequest(Struct, forbid_unknown_fields=True):
    """A text and, for disambiguation only, its spans as (start, length)."""

    text: Text
    spans: Annotated[list[tuple[Index, Length]], Meta(description="Empty: the mentions are found.")] = []
    tagger: Annotated[str | None, Meta(description="Accepted and ignored: there is one detector.")] = None


def rel(call: Call) -> Any:
    """Rows of start, length, mention, entity, confidence of both steps, and tag."""
    given = call.json(RelRequest)
    document = call.resolve(given.text, [(start, start + size) for start, size in given.spans] or None)
    return [
        (m.start, m.end - m.start, m.text, underscored(m.entity.title), m.probability, m.detection, "NULL")
        for m in document
        if m.entity is not None
    ]


ADDRESSES = [
    Address("POST", path, rel, "REL", takes={JSON: RelRequest}, gives={JSON: list[list[int | float | str]]})
    for path in ("/", "/rel")  # REL's own server answers at its root
]
