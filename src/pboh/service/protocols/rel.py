"""REL's API: `{"text", "spans": [[start, length], …]}` in, rows of seven values out."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from pboh.formats.identifiers import underscored
from pboh.service.address import JSON, Address
from pboh.service.bounded import BoundedLinker
from pboh.service.call import Call, json_response
from pboh.service.protocols.v1_schemas import Index, Text


class RelRequest(Struct, forbid_unknown_fields=True):
    """A text and, for disambiguation only, its spans as (start, length)."""

    text: Text
    spans: Annotated[list[tuple[Index, Index]], Meta(description="Empty: the mentions are found.")] = []
    tagger: Annotated[str | None, Meta(description="Accepted and ignored: there is one detector.")] = None


def rel(bounded: BoundedLinker, call: Call) -> Response:
    """Rows of start, length, mention, entity, confidence of both steps, and tag."""
    given = call.json(RelRequest)
    if given.spans:
        document = bounded.disambiguate(given.text, [(start, start + size) for start, size in given.spans])
    else:
        document = bounded.link(given.text)
    call.note(document)
    return json_response(
        [
            [
                m.start,
                m.end - m.start,
                m.text,
                underscored(m.entity.title),
                m.probability,
                m.detection,
                "NULL",
            ]
            for m in document
            if m.entity is not None
        ]
    )


ADDRESSES = [
    Address("POST", path, rel, "REL", takes={JSON: RelRequest}, gives={JSON: list[list[int | float | str]]})
    for path in ("/", "/rel")  # REL's own server answers at its root
]
