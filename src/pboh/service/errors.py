"""What a client is told when a request cannot be answered: a status and one sentence."""

from __future__ import annotations

from pboh.errors import InputError, PbohError


class RequestError(PbohError):
    """A request that cannot be answered; ``status`` is its HTTP status."""

    def __init__(self, status: int, what: str, *, where: str | None = None, todo: str | None = None) -> None:
        super().__init__(what, where=where, todo=todo)
        self.status = status


def too_many(count: int, things: str, limit: int) -> RequestError:
    """More of something than a limit allows."""
    what = f"there are {count:,} {things} and the limit is {limit:,}"
    return RequestError(413, what, todo="Send it in parts")


def status_of(error: PbohError) -> int:
    """The HTTP status that tells a client whose fault an error is."""
    if isinstance(error, RequestError):
        return error.status
    return 422 if isinstance(error, InputError) else 500


def clean(text: str, length: int = 60) -> str:
    """What a client wrote, short and printable enough for a sentence."""
    shown = "".join(c if c.isprintable() else "?" for c in text[:length])
    return f"{shown}…" if len(text) > length else shown
