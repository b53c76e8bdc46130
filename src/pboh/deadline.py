"""Work that can be ended: whoever waits says until when, and long computations ask between their steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from pboh.errors import PbohError

_is_over: ContextVar[Callable[[], bool] | None] = ContextVar("is_over", default=None)


class OvertimeError(PbohError):
    """A computation was ended because its time was over, or because nobody waits for it any more."""


@contextmanager
def deadline(seconds: float, ended: Callable[[], bool] = lambda: False) -> Iterator[None]:
    """Let the work of this thread take so long, and less if ``ended`` says so.

    It ends at its next :func:`checkpoint`, with an :class:`OvertimeError`.
    """
    last = monotonic() + seconds
    token = _is_over.set(lambda: monotonic() > last or ended())
    try:
        yield
    finally:
        _is_over.reset(token)


def checkpoint() -> None:
    """A place where long work may be ended; costs a tenth of a microsecond."""
    is_over = _is_over.get()
    if is_over is not None and is_over():
        raise OvertimeError("this computation took too long", todo="Send less at a time")
