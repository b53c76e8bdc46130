"""REL's API: `{"text", "spans": [[start, length], …]}` in, rows of seven values out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from pboh.document import Document
from pboh.formats.identifiers import underscored
from pboh.service.api import PROBLEMS, note
from pboh.service.engine import Engine
from pboh.service.schemas import Given, Index, Text
from pboh.service.wire import json_response


class RelRequest(Given):
    """A text and, for disambiguation only, its spans as (start, length)."""

    text: Text
    spans: list[Annotated[list[Index], Field(min_length=2, max_length=2)]] = Field(
        default=[], description="Empty: the mentions are found."
    )
    tagger: str | None = Field(None, description="Accepted and ignored: there is one detector.")


Row = list[int | float | str]


def router(engine: Engine) -> APIRouter:
    """POST `/` as REL's own server, and the same at `/rel`."""
    api = APIRouter(tags=["REL"], responses=PROBLEMS)

    async def answer(request: Request, given: RelRequest) -> Response:
        """Rows of start, length, mention, entity, confidence of both steps, and tag."""
        document = await engine.run(_resolve, engine, given)
        note(request, document)
        return json_response(rows(document))

    api.post("/", response_model=list[Row], name="rel_root")(answer)
    api.post("/rel", response_model=list[Row], name="rel")(answer)
    return api


def _resolve(engine: Engine, given: RelRequest) -> Document:
    if not given.spans:
        return engine.link(given.text)
    spans = [(start, start + length) for start, length in given.spans]
    return engine.disambiguate(given.text, spans, overlapping=True)


def rows(document: Document) -> list[list[Any]]:
    """The linked mentions as REL writes them."""
    return [
        [m.start, m.end - m.start, m.text, underscored(m.entity.title), m.probability, m.detection, "NULL"]
        for m in document
        if m.entity is not None
    ]
