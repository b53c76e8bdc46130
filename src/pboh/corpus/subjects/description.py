"""Short descriptions: a phrase made one clean line of at most :data:`LONGEST` characters."""

from __future__ import annotations

import re

from pboh.corpus.subjects.language import Language, language

LONGEST = 120
"""Characters of a description."""
_LINE = 300  # characters of a phrase that are looked at
_NOISE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]++")
_STRAY = re.compile(r"[()（）\[\]{}<>|]")
_LOOSE = re.compile(r"[ ,](?=[,;]|\.(?!\w)|['’]s\b)")


def tidy(text: str) -> str:
    """A description that somebody wrote: one line, not too long, nothing in it but text."""
    return shortened(text, language("other"))


def shortened(phrase: str, table: Language) -> str:
    """A phrase of at most :data:`LONGEST` characters, cut where a clause ends, without stray marks."""
    text = _LOOSE.sub("", squeezed(_STRAY.sub("", phrase[:_LINE]))).strip(" ,;:.–—-*#=_~")
    first, blank, rest = text.partition(" ")
    while blank and first.lower() in table.articles:
        text = rest.lstrip(" ,")
        first, blank, rest = text.partition(" ")
    text = _cut(text, table) if len(text) > LONGEST else text
    if text.count('"') % 2:
        text = text.replace('"', "").strip()
    return text[:1].upper() + text[1:] if text[1:2].islower() or text[1:2] in " -" else text


def _cut(text: str, table: Language) -> str:
    ends = [found.start() for found in table.clause.finditer(text, 0, LONGEST)]
    for least in (60, 30):
        if far := [end for end in ends if least <= end]:
            return text[: far[-1]].rstrip(" ,;:–—-")
    blank = text.rfind(" ", 30, LONGEST - 1)
    return text[: blank if blank > 0 else LONGEST - 1].rstrip(" ,;:–—-") + "…"


def squeezed(text: str) -> str:
    """Control characters and directional marks gone, white space made single."""
    if not text.isprintable():  # white space that is no blank is not printable either
        text = " ".join(text.split())
        return text if text.isprintable() else " ".join(_NOISE.sub(" ", text).split())
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")
