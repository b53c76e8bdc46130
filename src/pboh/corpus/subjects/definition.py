"""The first sentence of a page that defines its title, and the phrase by which it does.

Only the beginning of a page is looked at, and every pattern is linear: a page may hold anything.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pboh.corpus.subjects.description import squeezed
from pboh.corpus.subjects.language import Language
from pboh.corpus.subjects.nouns import noun_of

_LINE = 450  # characters of a paragraph that are looked at
_SHORT = 16  # characters of a line that is no sentence
_NESTED = 4  # brackets in brackets
_BEFORE = 300  # characters before the verb that defines
_ASIDE = 60  # characters of what is said before the subject: in geometry, …
_APPOSED = 90  # characters before a phrase between commas

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
    """The phrase that defines, what is before its verb, and whether that is all of the title's words.

    ``name`` is what the text calls it where it says more than the title does, or something else.
    """

    phrase: str = ""
    subject: str = ""
    sure: bool = False
    name: str = ""


NO_DEFINITION = Definition()


def definition(lead: bytes, title: str, table: Language) -> Definition:
    """The words by which the first sentence that defines the title does so: behind its verb, to its end.

    A sentence that names something else defines it only as the first one, and as *a* or *the* something; or
    if nothing in the text names the title.
    """
    bare, spare, at = title.partition(" (")[0].lower(), None, 0
    named = table.head in ("last", "any")  # a line counts without a word of the title
    unread = table.head == "last"
    known = [bare[:2]] if table.head == "end" else _WORDS.findall(bare)[:8] or [bare]
    while at <= len(lead) and (verb := table.defines_bytes.search(lead, at)):
        start = max(lead.rfind(b"\n", at, verb.end()) + 1, at)
        end = lead.find(b"\n", start)
        end = end if end >= 0 else len(lead)
        line, at = lead[start:end][: 4 * _LINE].decode(errors="ignore")[:_LINE], end + 1
        if len(line) < _SHORT:
            continue
        if not _has_any(line, known):
            if unread and not _is_named(lead, known):
                return _unnamed(line, table)
            if not named:
                continue
        unread = False
        before, phrase = _defining(_without_asides(line), table)
        if not phrase:
            continue
        subject = _plain_letters(before)
        missing = sum([word not in subject for word in known])
        if not subject or missing < len(known):
            return Definition(phrase, before.strip(), missing <= (len(known) > 2))
        if spare is None and named:  # the first sentence may name it otherwise: "He was a Latvian politician"
            first, named = phrase.partition(" ")[0].lower(), False
            spare = Definition(phrase, before.strip()) if first in table.fillers else NO_DEFINITION
            if not _has_any(lead[at:].decode(errors="ignore"), known):
                break
    return spare if spare and spare.phrase else _undefined(lead, title, table)


def _is_named(lead: bytes, known: list[str]) -> bool:
    """Whether at least half of the title's words are somewhere in the text."""
    if all(map(str.isascii, known)):  # letters of other scripts are slow to make small
        small = lead.lower()
        return 2 * sum(word.encode() in small for word in known) >= len(known)
    text = _plain_letters(lead.decode(errors="ignore"))
    return 2 * sum(word in text for word in known) >= len(known)


def _unnamed(line: str, table: Language) -> Definition:
    """What the first sentence defines, whatever its name: that of the page is not in the text."""
    line = _without_asides(line)
    sentence = f" {_sentence(line, 0).strip()}"
    before, phrase = _defining(sentence, table)
    name = (before if phrase else sentence).strip()
    while "," in name[:_ASIDE] and (name[0].isdigit() or name.partition(" ")[0].lower() in table.ends):
        name = name.partition(",")[2].strip()  # in geometry, the …
    first, _, rest = name.partition(" ")
    if first.lower() in table.articles and (name.startswith(table.definite) or rest[:1].islower()):
        name = rest[:1].upper() + rest[1:]
    if phrase:
        return Definition(phrase, before.strip(), sure=True, name=name)
    phrase = _apposed(sentence, table)
    if not phrase:
        before, later = _defining(line, table)
        if before.strip().lower() in table.ends:  # he was a …
            phrase = later
    return Definition(phrase, "", sure=False, name=_head(name, table, several=True))


def _undefined(lead: bytes, title: str, table: Language) -> Definition:
    """What a text says of a title that it does not define by a verb: a noun behind it, or between commas."""
    bare, at = title.partition(" (")[0], -1
    while table.head == "last" and (at := lead.find(bare.encode(), at + 1)) >= 0:
        end = lead.find(b"\n", at)
        line = _without_asides(lead[at : end if end >= 0 else len(lead)].decode(errors="ignore")[:_LINE])
        if len(line) > len(bare) + 2 * _SHORT:
            sentence = _sentence(line, 0)
            name = f"{bare} {_head(sentence[len(bare) + 1 :], table, several=False)}".strip()
            return Definition(_apposed(sentence, table), name=name if len(name) > len(bare) else "")
    return NO_DEFINITION


def _apposed(sentence: str, table: Language) -> str:
    """What is between commas behind the name: the Privacy Act, *a law of 1974*, says."""
    for article in table.indefinite:
        name, comma, phrase = sentence.partition(f", {article.lower()}")
        if comma and len(name) < _APPOSED:
            return phrase
    return ""


def _head(text: str, table: Language, *, several: bool) -> str:
    """The name that begins a sentence, to its last noun in small letters: *Vale railway station* serves.

    What may be ``several`` things may as well be a verb: Ulm *covers*.
    """
    words, taken, behind = text.split(maxsplit=12)[:12], 0, False
    for k, word in enumerate(words):
        plain = word.strip(",;:").lower()
        small = word[:1].islower()
        if plain == table.of and k and not behind:
            behind = True
        elif small and plain not in table.articles and (behind or not _is_noun(plain, table, several)):
            break
        elif plain not in table.articles:
            taken = k + 1
        if plain != word.lower() or not plain[:1].isalnum():
            break
    return " ".join(words[:taken]).rstrip(",;:")


def _is_noun(word: str, table: Language, several: bool) -> bool:
    if word in table.ends or not table.noun(word):
        return False
    return several or not (word.endswith(table.plural) and table.noun(word.removesuffix(table.plural)))


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
        depth = _NESTED
        while opening in line and depth:
            line, depth = inside.sub("", line), depth - 1
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
    if first in table.articles or not table.articles:
        return True
    if first in table.fillers:
        following = phrase.split(maxsplit=2)[1:2]
        return not following or following[0].lower() not in table.ends or bool(noun_of(phrase, table))
    verbal = first in table.ends or table.verbal(first)
    return bool(table.noun(first) if verbal else noun_of(phrase, table))


def _sentence(text: str, start: int) -> str:
    """From ``start`` to the end of the sentence."""
    for stop in _STOP.finditer(text, start):
        said = text[start : stop.start()]
        if stop[0] != ".":
            return said
        said = said.rstrip(".")
        word = said.rpartition(" ")[2].rpartition(".")[2]
        short = (len(word) == 1 and word.isalpha()) or word.lower() in _ABBREVIATIONS
        if not short and not (word.isdigit() and len(word) < 3):
            return said
    return text[start:]
