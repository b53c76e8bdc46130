"""Spans people pass in: checked once, with an error that names the one that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import index
from typing import Any, NamedTuple

from pboh.errors import SpanError


class Span(NamedTuple):
    """A mention's place in the text (code points) and, if it is known already, its entity's title."""

    start: int
    end: int
    entity: str | None = None


def check_spans(text: str, spans: Iterable[Sequence[Any]], overlapping: bool = False) -> list[Span]:
    """Spans as :class:`Span`, in the order given; raises :class:`SpanError` for the first that cannot be."""
    checked = [_check(text, i, span) for i, span in enumerate(spans)]
    if not overlapping:
        order = sorted(range(len(checked)), key=lambda i: checked[i][:2])
        for a, b in pairwise(order):
            if checked[b].start < checked[a].end:
                what = f"mentions {a} {_show(checked[a])} and {b} {_show(checked[b])} overlap"
                raise SpanError(what, todo="Pass overlapping=True if that is meant")
    return checked


def _check(text: str, i: int, span: Sequence[Any]) -> Span:
    try:
        start, end, *rest = span
        start, end = index(start), index(end)
    except (TypeError, ValueError):
        raise SpanError(f"mention {i} is {span!r}, not (start, end) or (start, end, title)") from None
    if len(rest) > 1 or (rest and not isinstance(rest[0], str | None)):
        raise SpanError(f"mention {i} is {span!r}, not (start, end) or (start, end, title)")
    if not 0 <= start < end <= len(text):
        why = "is empty" if start == end else "is not inside the text"
        raise SpanError(f"mention {i} [{start}, {end}) {why} (it has {len(text)} characters)")
    return Span(start, end, rest[0] if rest else None)


def _show(span: Span) -> str:
    return f"[{span.start}, {span.end})"
