"""The first sentence of a page that defines its title, and the phrase by which it does.

Only the beginning of a page is looked at, and every pattern is linear: a page may hold anything.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pboh.corpus.subjects.description import squeezed
from pboh.corpus.subjects.language import Language
from pboh.corpus.subjects.nouns import noun_of

_LINE = 700  # characters of a paragraph that are looked at
_SHORT = 16  # characters of a line that is no sentence
_NESTED = 4  # brackets in brackets
_BEFORE = 300  # characters before the verb that defines

# Every pattern begins with a letter of a set, which is what makes searching fast.
_INSIDE = {
    "(": re.compile(r"\([^()]*+\)"), "（": re.compile(r"（[^（）]*+）"),
    "[": re.compile(r"\[[^\[\]]*+\]"), "{": re.compile(r"\{[^{}]*+\}"), "<": re.compile(r"<[^<>]*+>"),
}  # fmt: skip
_PRONOUNCED = re.compile(r"/[^/\s][^/]{0,60}+/(?=[\s,;.])")
_STOP = re.compile(r"[.。！？।؟](?:(?<!\.)|(?=[\"”»']?+(?:\s|$)))")
_ABBREVIATIONS = frozenset(
    """
    st dr mr mrs ms jr sr prof gen col capt lt sgt rev hon gov sen rep mt ft no nos vol vs inc ltd co corp
    bros ca fl etc est approx dept univ assn op cf viz al tzv sog bzw geb gest рр св им ін ім тис млн см ст
    """.split()  # noqa: SIM905 - a list of words is read as one
)


class Definition(NamedTuple):
    """The phrase that defines, what is before its verb, and whether that is all of the title's words."""

    phrase: str = ""
    subject: str = ""
    sure: bool = False


NO_DEFINITION = Definition()


def definition(lead: bytes, title: str, table: Language) -> Definition:
    """The words by which the first sentence that defines the title does so: behind its verb, to its end.

    A sentence that names something else defines it only as the first one, and as *a* or *the* something.
    """
    bare, spare, at = title.partition(" (")[0].lower(), None, 0
    named = table.head in ("last", "any")  # a line counts without a word of the title
    known = [bare[:2]] if table.head == "end" else _WORDS.findall(bare)[:8] or [bare]
    while at <= len(lead) and (verb := table.defines_bytes.search(lead, at)):
        start = max(lead.rfind(b"\n", at, verb.end()) + 1, at)
        end = lead.find(b"\n", start)
        at = (end if end >= 0 else len(lead)) + 1
        line = lead[start : min(at - 1, start + 4 * _LINE)].decode(errors="ignore")[:_LINE]
        if len(line) < _SHORT or not (named or _has_any(line, known)):
            continue
        before, phrase = _defining(_without_asides(line), table)
        if not phrase:
            continue
        subject = _plain_letters(before)
        if not subject or _has_any(subject, known):
            missing = sum(word not in subject for word in known)
            return Definition(phrase, before.strip(), missing <= (len(known) > 2))
        if spare is None and named:  # the first sentence may name it otherwise: "He was a Latvian politician"
            first, named = phrase.partition(" ")[0].lower(), False
            spare = Definition(phrase, before.strip()) if first in table.fillers else NO_DEFINITION
            if not _has_any(lead[at:].decode(errors="ignore"), known):
                break
    return spare or NO_DEFINITION


_WORDS = re.compile(r"\w{3,}")


def _has_any(text: str, words: list[str]) -> bool:
    text = _plain_letters(text)
    for word in words:  # noqa: SIM110 - any() would cost as much again
        if word in text:
            return True
    return False


def _plain_letters(text: str) -> str:
    """Small letters, without the mark of stress."""
    return (text if text.isascii() else text.replace("\u0301", "")).lower()


def _without_asides(line: str) -> str:
    """A line without what is in brackets, and without pronunciations."""
    for opening, inside in _INSIDE.items():
        for _ in range(_NESTED):
            if opening not in line:
                break
            line = inside.sub("", line)
    return f" {squeezed(_PRONOUNCED.sub('', line) if '/' in line else line)}"


def _defining(plain: str, table: Language) -> tuple[str, str]:
    """What is before the verb that defines in its sentence, and the phrase behind it; nothing without one."""
    if table.head == "any":
        return "", _sentence(plain, 0)
    for verb in table.defines.finditer(plain, 0, _BEFORE):
        phrase = _sentence(plain, verb.end()).strip(" ,;:–—-")
        if phrase and _defines(phrase, table):
            return _last_sentence(plain[: verb.start()]), phrase
    return "", ""


def _last_sentence(text: str) -> str:
    """What follows the last full stop that is none of an abbreviation: "Sgt. Pepper", "John F. Kennedy"."""
    stop = text.rfind(". ")
    while stop > 0 and len(text[:stop].rpartition(" ")[2]) < 4:
        stop = text.rfind(". ", 0, stop)
    return text[stop + 2 :] if stop > 0 else text


def _defines(phrase: str, table: Language) -> bool:
    """Whether what follows a verb says what something is, and not how: an article or a noun we know."""
    first = phrase.partition(" ")[0].lower()
    if first in table.fillers or not table.articles:
        return True
    verbal = first in table.ends or table.verbal(first)
    return bool(table.noun(first) if verbal else noun_of(phrase, table))


def _sentence(text: str, start: int) -> str:
    """From ``start`` to the end of the sentence."""
    for stop in _STOP.finditer(text, start):
        said = text[start : stop.start()]
        if stop[0] != ".":
            return said
        said = said.rstrip(".")
        word = said[max(said.rfind(" "), said.rfind(".")) + 1 :]
        short = (len(word) == 1 and word.isalpha()) or word.lower() in _ABBREVIATIONS
        if not short and not (word.isdigit() and len(word) < 3):
            return said
    return text[start:]
