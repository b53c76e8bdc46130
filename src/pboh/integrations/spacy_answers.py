"""Answers kept in a spaCy document: what ``Span._.pboh`` and ``Doc._.pboh_document`` are, as plain values.

What needs numba is imported when it is used; see :mod:`pboh.integrations.spacy`.
"""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from spacy.tokens import Doc, Span

from pboh.document import Candidate, Document, Entity, Explanation, Facts, Mention, Told
from pboh.errors import ModelError

if TYPE_CHECKING:
    from pboh.inference.entities import EntitySet
    from pboh.linker import Linker

Run = dict[str, Any]
"""What an answer came from: model, settings, and whether mentions were detected; plain values."""


def open_linker(model: str | None, settings: dict[str, Any]) -> "Linker":
    """A linker with some settings changed; models are opened once per process."""
    from pboh.linker import load  # noqa: PLC0415

    try:
        return load(model, **settings)
    except ModelError as reason:
        if model is None or Path(model).is_dir():
            raise
        todo = (
            "A saved pipeline names its model and does not contain it. Put it there, or say where it is"
            ': spacy.load(PIPELINE, config={"components": {"pboh": {"model": FOLDER}}})'
        )
        raise ModelError(reason.what, where=reason.where, todo=todo) from None


def key(start: int, end: int, name: str = "pboh") -> tuple[str, str, int, int]:
    """Where spaCy keeps the data of spans itself: it moves along with ``as_doc`` and ``from_docs``."""
    return "._.", name, start, end


def data_of(doc: Doc) -> dict[Any, Any]:
    """The user data of a document."""
    return doc.user_data  # spaCy declares its keys as strings, and uses tuples


def places(doc: Doc, name: str = "pboh") -> Iterator[tuple[int, int]]:
    """Where there are answers, or what else is kept under that name."""
    for key in data_of(doc):
        if isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", name):
            yield key[2], key[3]


def forget(doc: Doc) -> None:
    """Remove the answers of an earlier run."""
    for name in ("pboh", "pboh_run"):
        for place in list(places(doc, name)):
            del data_of(doc)[key(*place, name)]


def _row(entity: Entity) -> list[Any]:
    return [entity.title, entity.index, entity.id, *entity.facts, entity.url]


def _entity(row: list[Any]) -> Entity:
    title, index, id, *facts, url = row
    return Entity(title, index, id, Told(Facts(*facts), url))


def link(
    linker: "Linker",
    text: str,
    given: dict[tuple[int, int], str | None],
    run: Run,
    only: "EntitySet | None",
) -> Document:
    """Link a text as a run says: around the given spans, or nothing but these."""
    spans = [(start, end, title) for (start, end), title in given.items()]
    if run["detect"]:
        options = {"threshold": run["threshold"], "mentions": run.get("mentions", "names")}
        return linker.link(
            text, spans=spans, hints=run["hints"], entities=only, types=run["types"], **options
        )
    return linker.disambiguate(text, spans, entities=only, types=run["types"])


def plain(mention: Mention, given: bool, candidates: int) -> dict[str, Any]:
    """A mention as values that ``Doc.to_bytes`` and ``DocBin`` can store."""
    return {
        "entity": _row(mention.entity) if mention.entity else None,
        "probability": mention.probability,
        "nil": mention.nil,
        "score": mention.score,
        "detection": mention.detection,
        "clamped": mention.clamped,
        "candidates": [
            [*_row(c.entity), c.prior, c.local, c.score, c.probability]
            for c in mention.candidates[:candidates]
        ],
        "given": given,
    }


def mention_of(span: Span) -> Mention | None:
    """What ``Span._.pboh`` is: the mention with entity, probability, candidates and ``explain()``."""
    start, end = span.start_char, span.end_char
    data = data_of(span.doc).get(key(start, end))
    if data is None:
        return None
    return Mention(
        start, end, span.text,
        _entity(data["entity"]) if data["entity"] else None,
        data["probability"], data["score"],
        tuple(Candidate(_entity(row[:-4]), *row[-4:]) for row in data["candidates"]),
        data["clamped"], data["detection"],
        data["nil"], _LinkAgain(span.doc, start, end),
    )  # fmt: skip


def document_of(doc: Doc) -> Document:
    """What ``Doc._.pboh_document`` is: the linked entities of a document, as pboh's own."""
    spans = (doc.char_span(start, end) for start, end in sorted(places(doc)))
    mentions = (mention_of(span) for span in spans if span is not None)
    return Document(doc.text, [mention for mention in mentions if mention is not None])


class _LinkAgain:
    """Links the text again, as it was linked, to explain a mention; only the curious pay for it."""

    first = 0

    def __init__(self, doc: Doc, start: int, end: int) -> None:
        self.doc, self.start, self.end = doc, start, end

    @property
    def mention(self) -> Mention | None:
        """The mention as the linker returned it."""
        doc, start, end = self.doc, self.start, self.end
        whole = next(((a, b) for a, b in places(doc, "pboh_run") if a <= start and end <= b), None)
        if whole is None:
            return None
        run = data_of(doc)[key(*whole, "pboh_run")]
        text = doc.text
        first, last = max(whole[0], 0), min(whole[1], len(text))  # the document may be a part of that one
        given = {}
        for place in places(doc):
            data = data_of(doc)[key(*place)]
            if data["given"] and first <= place[0] and place[1] <= last:
                given[place[0] - first, place[1] - first] = data["entity"][0] if data["clamped"] else None
        shift = whole[0] - first
        hints = [[a + shift, b + shift, score] for a, b, score in run["hints"]]
        run = {**run, "hints": [hint for hint in hints if hint[0] >= 0 and hint[1] <= last - first]}
        linker = open_linker(run["model"], run["settings"])
        only = None if run["entities"] is None else linker.only(run["entities"])
        again = link(linker, text[first:last], given, run, only)
        # detected names may have been moved to token boundaries
        return next((m for m in again if m.start < end - first and start - first < m.end), None)

    @property
    def solution(self) -> Any:
        """Everything computed for the text."""
        mention = self.mention
        return mention.part.solution if mention and mention.part else None

    def explain(self, row: int, entity: Entity | None = None) -> Explanation | None:
        """Terms of the mention's score."""
        mention = self.mention
        return mention.explain(entity) if mention else None


def displacy_ents(doc: Doc, kb_url: str | None = None) -> dict[str, Any]:
    """Linked entities for ``displacy.render(…, style="ent", manual=True)``.

    ``kb_url`` is the address of an entity, ``{}`` its ``kb_id_``; without it entities have their own, the
    article in the Wikipedia of the model's language. Titles are escaped; displaCy's own option
    ``kb_url_template`` puts them into the page as they are, quotation marks and all.
    """
    ents = []
    for ent in doc.ents:
        mention = mention_of(ent)
        linked = mention.entity if mention else None
        address = (linked.url or "") if linked else ""
        if linked and kb_url is not None:
            address = kb_url.format(quote(ent.kb_id_.replace(" ", "_"), safe="/:(),"))
        ents.append(
            {
                "start": ent.start_char, "end": ent.end_char, "label": ent.label_,
                "kb_id": escape(ent.kb_id_) if linked else "", "kb_url": escape(address),
            }
        )  # fmt: skip
    return {"text": doc.text, "ents": ents, "title": None}
