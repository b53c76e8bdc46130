"""One request as the protocols see it: what it asks for, and the linker that answers it within limits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from pboh.document import Document, Entity
from pboh.errors import PbohError
from pboh.files.writing import NOT_JSON
from pboh.formats.types import check_types
from pboh.linker import Linker
from pboh.service.bounded import BoundedLinker
from pboh.service.errors import RequestError, clean, status_of, too_many

NAMES_PER_MENTION = 5  # of the names a text holds, about every third turns out to be a mention
_FIELDS = 100
_ENCODER = msgspec.json.Encoder()
T = TypeVar("T")


class Call:
    """A request whose body has been read."""

    def __init__(self, request: Request, body: bytes, bounded: BoundedLinker) -> None:
        self.request, self.body, self.bounded = request, body, bounded
        self.limits = bounded.limits
        self.mentions = 0  # of all documents so far

    # -- documents --------------------------------------------------------------------------------

    def resolve(
        self,
        text: str,
        spans: Sequence[Sequence[Any]] | None = None,
        *,
        overlapping: bool = True,
        types: Sequence[str] | None = None,
        **options: Any,
    ) -> Document:
        """Resolve given mentions of a text; without any, find them first, with the ``options`` of linking."""
        limits = self.limits
        self.check_types(types)
        if spans is None:
            found = self.linker.find(text, mentions=options.get("mentions", "names"), types=types)
            if len(found) > NAMES_PER_MENTION * limits.mentions:
                raise too_many(len(found), "names", NAMES_PER_MENTION * limits.mentions)
            return self._noted(self.linker.link(text, found=found, types=types, **options))
        if len(spans) > limits.mentions:
            raise too_many(len(spans), "mentions", limits.mentions)
        longest = max((min(span[1], len(text)) - span[0] for span in spans), default=0)
        if longest > limits.mention_characters:
            raise too_many(longest, "characters in a mention", limits.mention_characters)
        return self._noted(self.linker.disambiguate(text, spans, overlapping=overlapping, types=types))

    def _noted(self, document: Document) -> Document:
        """Count and log what was computed; refuse to go on when all documents together are too many."""
        self.bounded.metrics.document(document)
        self.mentions += len(document)
        facts = self.request.state.facts
        unlinked = facts.get("unlinked", 0) + sum(mention.entity is None for mention in document)
        rounds = max(facts.get("rounds", 0), document.rounds)
        facts.update(mentions=self.mentions, unlinked=unlinked, rounds=rounds)
        self.check_total(self.mentions)
        return document

    def check_types(self, types: Sequence[str] | None) -> None:
        """Refuse types that do not exist, and every type where the model knows none."""
        if types is not None and not self.linker.model.has_types:
            what = "the model of this service does not know the types of its entities"
            raise RequestError(422, what, todo="Leave out types")
        check_types(types or ())

    def check_total(self, mentions: int) -> None:
        """Refuse more mentions than one request may have in all its documents."""
        if mentions > self.limits.total_mentions:
            raise too_many(mentions, "mentions in all documents", self.limits.total_mentions)

    # -- entities ---------------------------------------------------------------------------------

    @property
    def linker(self) -> Linker:
        """The linker, once it is there."""
        return self.bounded.linker

    def named(self, name: str) -> list[Entity]:
        """Entities a name may mean, most likely first, after the entity of exactly that title."""
        limit = self.limits.mention_characters
        if not 1 <= len(name) <= limit:
            raise RequestError(422, f"a name has 1 to {limit:,} characters, and this one has {len(name):,}")
        exact = self.linker.entity(name)
        [mention] = self.linker.disambiguate(name, [(0, len(name))])
        found = sorted(mention.candidates, key=lambda candidate: -candidate.prior)
        entities = ([] if exact is None else [exact]) + [candidate.entity for candidate in found]
        return list(dict.fromkeys(entities))

    def entity(self, title: str) -> Entity:
        """The entity of a title or redirect."""
        entity = self.linker.entity(title)
        if entity is None:
            raise RequestError(404, f"the model knows no entity {clean(title)!r}")
        return entity

    def links(self, entity: Entity) -> int:
        """How many links of the corpus lead to an entity: what Spotlight calls support."""
        return self.linker.model.links(entity.index)

    # -- what was sent ----------------------------------------------------------------------------

    def json(self, kind: type[T]) -> T:
        """The body as a value of that type."""
        if self._media_type()[0] != "application/json":
            raise RequestError(415, "this address reads application/json")
        try:
            return _decoded(self.body, kind)
        except msgspec.ValidationError as wrong:
            raise RequestError(422, _sentence(str(wrong))) from None
        except NOT_JSON:
            raise RequestError(422, "the body is not JSON") from None

    def text(self, *allowed: str) -> str:
        """The body as text, if it is of an allowed type (or of none) and UTF-8."""
        kind, charset = self._media_type()
        if kind and kind not in allowed:
            raise RequestError(415, f"this address reads {' or '.join(allowed)}, not {clean(kind)}")
        if charset not in ("", "utf-8", "utf8", "us-ascii"):
            raise RequestError(415, f"this address reads UTF-8, not {clean(charset)}")
        try:
            return self.body.decode()
        except UnicodeDecodeError as reason:
            raise RequestError(400, f"the body is not UTF-8 (byte {reason.start})") from None

    def fields(self) -> dict[str, str]:
        """Parameters of the address and of a form in the body; the last of equal names counts."""
        return self.parameters(self.text("application/x-www-form-urlencoded") if self.body else "")

    def parameters(self, form: str = "") -> dict[str, str]:
        """Parameters of the address, and of a form."""
        parts = [self.request.scope["query_string"].decode("ascii", "replace"), form]
        found: dict[str, str] = {}
        for part in parts:
            try:
                found.update(parse_qsl(part, keep_blank_values=True, errors="strict", max_num_fields=_FIELDS))
            except UnicodeDecodeError:
                raise RequestError(400, "the parameters are not UTF-8") from None
            except ValueError:
                raise RequestError(400, f"there are more than {_FIELDS} parameters") from None
        return found

    def accepted(self, *offered: str) -> str:
        """The offered media type the client likes best (the first one when it does not say)."""
        header = self.request.headers.get("accept", "*/*")
        best = max(offered, key=lambda offer: _liking(header, offer))
        if not _liking(header, best):
            raise RequestError(406, f"this address answers {' or '.join(offered)}, not {clean(header)}")
        return best

    def _media_type(self) -> tuple[str, str]:
        """Media type and charset of the body, in lower case."""
        kind, *parameters = self.request.headers.get("content-type", "").lower().split(";")
        named = dict(parameter.strip().partition("=")[::2] for parameter in parameters)
        return kind.strip(), named.get("charset", "").strip().strip('"')


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(_ENCODER.encode(value), status, headers, media_type="application/json")


def problem(error: PbohError) -> Response:
    """The answer a client gets for an error: its status and its sentence."""
    status = status_of(error)
    return json_response({"error": str(error)}, status, {"retry-after": "1"} if status == 503 else None)


def listed(given: dict[str, str], name: str) -> tuple[str, ...]:
    """The values of a parameter that lists them with commas between."""
    return tuple(dict.fromkeys(value.strip() for value in given.get(name, "").split(",") if value.strip()))


def choice(given: dict[str, str], name: str, *allowed: str) -> str:
    """A parameter with one of some values, the first if it is left out."""
    value = given.get(name) or allowed[0]
    if value not in allowed:
        raise RequestError(400, f"{name} is {clean(value)!r}, not {' or '.join(allowed)}")
    return value


def number(
    given: dict[str, str], name: str, default: float, low: float, high: float, *, whole: bool = False
) -> float:
    """A numeric parameter within bounds."""
    try:
        value = float(given[name] if given.get(name, "").strip() else default)
    except ValueError:
        raise RequestError(400, f"{name} is {clean(given[name])!r}, not a number") from None
    if not low <= value <= high:
        raise RequestError(400, f"{name} is {clean(given[name])}, not between {low:g} and {high:g}")
    if whole and not value.is_integer():
        raise RequestError(400, f"{name} is {clean(given[name])}, not a whole number")
    return value


def _decoded(body: bytes, kind: type[T]) -> T:
    """JSON as a value of that type; 1.0 is an integer too, as JSON Schema says."""
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as wrong:
        if "`int`, got `float`" not in str(wrong):
            raise
        return msgspec.convert(msgspec.json.Decoder(float_hook=_number).decode(body), kind)


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _sentence(wrong: str) -> str:
    """msgspec's complaint with the place in front: "mentions.0.start: expected `int`, got `str`"."""
    what, _, where = wrong.partition(" - at `$")
    place = where.rstrip("`").replace("[", ".").replace("]", "").lstrip(".")
    what = what[:1].lower() + clean(what[1:], 100)
    return f"{clean(place)}: {what}" if place else what


def _liking(header: str, offer: str) -> float:
    """The q-value of a media type in an Accept header; the most specific range decides."""
    found = {}
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        found[name] = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 0.0
    ranges = (offer, f"{offer.partition('/')[0]}/*", "*/*")
    return next((found[name] for name in ranges if name in found), 0.0)
