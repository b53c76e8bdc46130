"""Reading requests and writing answers: strict text, form fields, media types, JSON."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from fastapi import Request, Response

from pboh.errors import PbohError
from pboh.service.errors import NotAcceptableError, ServiceError, WrongTypeError, status_of

_FIELDS = 100
_FORM = "application/x-www-form-urlencoded"
_ENCODER = msgspec.json.Encoder()


def json_response(value: Any, status: int = 200) -> Response:
    """JSON, encoded once and not validated again."""
    return Response(_ENCODER.encode(value), status, media_type="application/json")


def problem(error: PbohError) -> Response:
    """The answer a client gets for an error: its status and its sentence."""
    status = status_of(error)
    response = json_response({"error": str(error)}, status)
    if status == 503:
        response.headers["retry-after"] = "1"
    return response


def media_type(request: Request) -> tuple[str, str | None]:
    """Media type and charset of the body, in lower case."""
    kind, *parameters = request.headers.get("content-type", "").split(";")
    charset = None
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip('"').lower()
    return kind.strip().lower(), charset


async def text_body(request: Request, allowed: tuple[str, ...]) -> str:
    """The body as text, if it is of an allowed type (or of none) and UTF-8."""
    kind, charset = media_type(request)
    if kind and kind not in allowed:
        raise WrongTypeError(f"this address reads {' or '.join(allowed)}, not {clean(kind)}")
    if charset not in (None, "utf-8", "utf8", "us-ascii"):
        raise WrongTypeError(f"this address reads UTF-8, not {clean(charset or '')}")
    try:
        return (await request.body()).decode()
    except UnicodeDecodeError as reason:
        raise ServiceError(f"the body is not UTF-8 (byte {reason.start})") from None


async def fields(request: Request) -> dict[str, str]:
    """Parameters of the address and, for a POST, of the form in the body; the last of equal names counts."""
    parts = [request.scope["query_string"].decode("ascii", "replace")]
    if request.method == "POST" and await request.body():
        parts.append(await text_body(request, (_FORM,)))
    found: dict[str, str] = {}
    for part in parts:
        try:
            found.update(parse_qsl(part, keep_blank_values=True, errors="strict", max_num_fields=_FIELDS))
        except UnicodeDecodeError:
            raise ServiceError("the parameters are not UTF-8") from None
        except ValueError:
            raise ServiceError(f"there are more than {_FIELDS} parameters") from None
    return found


def number(given: dict[str, str], name: str, default: float, low: float, high: float) -> float:
    """A numeric parameter within bounds."""
    try:
        value = float(given[name]) if given.get(name, "").strip() else default
    except ValueError:
        raise ServiceError(f"{name} is {clean(given[name])!r}, not a number") from None
    if not low <= value <= high:
        raise ServiceError(f"{name} is {clean(given[name])}, not between {low:g} and {high:g}")
    return value


def accepted(request: Request, offered: tuple[str, ...]) -> str:
    """The offered media type the client likes best (the first one when it does not say)."""
    header = request.headers.get("accept", "*/*")
    best, liking = None, 0.0
    for offer in offered:
        weight = _liking(header, offer)
        if weight > 0 and (best is None or weight > liking + 1e-9):
            best, liking = offer, weight
    if best is None:
        raise NotAcceptableError(f"this address answers {' or '.join(offered)}, not {clean(header)}")
    return best


def _liking(header: str, offer: str) -> float:
    """The q-value of a media type in an Accept header; the most specific range decides."""
    kind = offer.partition("/")[0]
    found = {}
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        found[name] = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 0.0
    for name in (offer, f"{kind}/*", "*/*"):
        if name in found:
            return found[name]
    return 0.0


def clean(text: str, length: int = 60) -> str:
    """What a client wrote, short and printable enough to stand in a sentence."""
    shown = "".join(c if c.isprintable() else "?" for c in text[:length])
    return f"{shown}…" if len(text) > length else shown
