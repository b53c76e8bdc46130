"""The forms in which a name is compared: white space collapsed, or folded so that spellings meet."""

from __future__ import annotations

import unicodedata

_LETTERS = str.maketrans(
    {
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i",
        "-": " ", "–": " ", "—": " ", "‐": " ", "‑": " ", "_": " ", "/": " ",
        "&": " and ", ".": "", "'": "", "’": "", "‘": "", "`": "", "ʻ": "", '"': "", "“": "", "”": "",
        ",": " ", "!": "", "?": "", ":": " ", ";": " ", "·": " ",
    }
)  # fmt: skip


def squeeze(name: str) -> str:
    """A name with its white space collapsed: the form of the CASED layer."""
    return " ".join(name.split())


def fold(name: str) -> str:
    """Lower case without accents, punctuation and a leading article: the loosest form that is looked up."""
    if name.isascii():
        folded = name.lower()
        if folded.isalnum():  # there is nothing to fold in most words
            return folded
    else:
        folded = _without_marks(name)
    folded = squeeze(folded.translate(_LETTERS))
    if folded.startswith("the ") and len(folded) > 4:
        return folded[4:]
    return folded or squeeze(name.lower())


def _without_marks(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c)))
