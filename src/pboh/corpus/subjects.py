"""What a page says it is about: a short description and a type, from its infobox, first sentence, categories.

All that differs from language to language is in ``subjects.toml``. Only the beginning and the end of a page
are looked at, and every pattern is linear: a page may hold anything.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import resources
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pboh.corpus.titles import unescape

LONGEST = 120
"""Characters of a description."""
LEAD = 6000
"""Bytes of a page's text, and of its wikitext, in which a definition or an infobox is looked for."""
_TAIL = 3000  # bytes of wikitext in which categories are looked for
_LINE = 700  # characters of a paragraph that are looked at
_SHORT = 16  # characters of a line that is no sentence
_NESTED = 4  # brackets in brackets
_BEFORE = 300  # characters before the verb that defines
_PHRASE, _CLAUSE = 300, 120  # characters of a definition in which a noun is looked for, and mostly found
_TEMPLATES = 8  # at the beginning of a page, one of which may be an infobox


class Subject(NamedTuple):
    """A description and a type, empty where there is none, and what told the type."""

    description: str = ""
    type: str = ""
    evidence: str = ""


NOTHING = Subject()


# -- the tables -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Language:
    """A table of ``subjects.toml``, compiled."""

    head: str
    ends: frozenset[str]
    articles: frozenset[str]
    definite: str
    indefinite: tuple[str, ...]
    abstract: frozenset[str]
    fillers: frozenset[str]
    degrees: frozenset[str]
    partitives: frozenset[str]
    of: str
    verbal: Callable[[str], bool]
    topics: tuple[str, ...]
    defines: re.Pattern[str]
    defines_bytes: re.Pattern[bytes]
    clause: re.Pattern[str]
    short_description: re.Pattern[bytes]
    category: re.Pattern[bytes]
    categories: tuple[tuple[str, str], ...]
    before_ends: re.Pattern[str]
    before_of: frozenset[str]
    nouns: Mapping[str, str]
    noun: Callable[[str], str]
    infobox_type: Callable[[bytes], str]


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(resources.files("pboh.corpus").joinpath("subjects.toml").read_text("utf-8"))


@cache
def language(code: str) -> Language:
    """The table of a language (a Wikipedia's code), or the one for languages that have none."""
    code = "en" if code.lower() == "simple" else code.lower()
    tables = _tables()
    given = {**tables["other"], **(tables.get(code) or tables.get(code.partition("-")[0]) or {})}
    nouns: dict[str, str] = {}
    for name, words in given["types"].items():
        for word in _words(words):
            nouns.setdefault(word, name)
    whole = {word: name for word, name in nouns.items() if "*" not in word}
    several = {_plural(word, given["plural"]): name for word, name in whole.items()} | whole
    parts = {word: name for word, name in nouns.items() if "*" in word}
    defines = _verbs(given["is"], spaced=given["head"] != "end")
    noun = _noun_finder(several, parts, given["head"] == "end")
    boxes = {word: name for name, words in given["infoboxes"].items() for word in _words(words)}
    prefixes = tuple(given["infobox"])
    return Language(
        head=given["head"],
        ends=frozenset(given["ends"]),
        articles=frozenset(given["articles"]),
        definite=given["definite"],
        indefinite=tuple(given["indefinite"]),
        abstract=frozenset(given["abstract"]),
        fillers=frozenset([*given["articles"], *given["fillers"]]),
        degrees=frozenset(given["degrees"]),
        partitives=frozenset(given["partitives"]),
        of=given["of"],
        verbal=_whole(given["verbal"] or "(?!)"),
        topics=tuple(f"{topic} " for topic in given["topics"]),
        defines=defines,
        defines_bytes=re.compile(defines.pattern.encode()),
        clause=_clauses(given["clauses"]),
        short_description=_template([*tables["other"]["short_description"], *given["short_description"]]),
        category=re.compile(rb"\[\[[^\[\]|\n:]{4,30}+:([^\[\]|\n]{1,200})"),
        categories=tuple((part, name) for name, parts in given["categories"].items() for part in parts),
        before_ends=re.compile(f" (?:{'|'.join(map(re.escape, given['ends'])) or '(?!)'}) .*"),
        before_of=frozenset(
            noun.partition(f" {given['of']} ")[0].rpartition(" ")[2]
            for noun in several
            if given["of"] and f" {given['of']} " in noun
        ),
        nouns=several,
        noun=noun,
        infobox_type=_infobox_types(prefixes, boxes, noun, whole if given["bare"] else {}),
    )


def _words(text: str) -> list[str]:
    return [word for part in text.split(",") if (word := " ".join(part.split()))]


def _whole(pattern: str) -> Callable[[str], bool]:
    """Whether a word is one that the pattern describes; most words come again."""
    match = re.compile(pattern).fullmatch
    return lru_cache(maxsize=1 << 14)(lambda word: match(word) is not None)


def _plural(word: str, ending: str) -> str:
    """Films, but cities and churches."""
    if ending == "s" and word.endswith(("y", "ch", "sh", "x")) and not word.endswith(("ay", "ey", "oy")):
        return f"{word[:-1]}ies" if word.endswith("y") else f"{word}es"
    return word + ending


def _verbs(verbs: Sequence[str], *, spaced: bool) -> re.Pattern[str]:
    some = "|".join(map(re.escape, sorted(verbs, key=len, reverse=True)))
    return re.compile(rf"[\s,;)](?:{some})(?=[\s,:])" if spaced and some else f"(?:{some})")


def _clauses(words: Sequence[str]) -> re.Pattern[str]:
    """Where a definition that is too long may end."""
    some = "|".join(map(re.escape, words)) or "(?!)"
    return re.compile(rf",? (?:{some})(?= )|[,;:、，；،](?= |[^\x00-\u02ff])| [–—-] ")


def _template(names: Iterable[str]) -> re.Pattern[bytes]:
    """``{{Short description|…}}`` under any of its names."""
    some = "|".join(re.escape(name).replace(r"\ ", "[ _]") for name in dict.fromkeys(names))
    return re.compile((r"\{\{\s*+(?i:" + some + r")\s*+[|:]\s*+(?:1\s*+=)?+([^{}|\n]{1,400}+)").encode())


def _noun_finder(whole: Mapping[str, str], parts: Mapping[str, str], unspaced: bool) -> Callable[[str], str]:
    """The type that a word says, by the whole word, its ending (``*ist``) or its beginning (``polit*``)."""
    endings = {word[1:]: name for word, name in parts.items() if word.startswith("*")}
    beginnings = {word[:-1]: name for word, name in parts.items() if word.endswith("*")}
    if unspaced:
        endings |= whole
    longest_first = sorted({len(word) for word in (*endings, *beginnings)}, reverse=True)
    least = longest_first[-1] if longest_first else 0
    tails, heads = {word[-least:] for word in endings}, {word[:least] for word in beginnings}

    @lru_cache(maxsize=1 << 17)
    def in_parts(word: str) -> str:
        possible = word[-least:] in tails or word[:least] in heads
        for length in longest_first if possible else ():
            if found := length <= len(word) and (
                endings.get(word[-length:]) or beginnings.get(word[:length])
            ):
                return found
        return ""

    return lambda word: whole.get(word) or ("" if " " in word else in_parts(word))


def _infobox_types(
    prefixes: tuple[str, ...], boxes: Mapping[str, str], noun: Callable[[str], str], bare: Mapping[str, str]
) -> Callable[[bytes], str]:
    """The type that a template's name says if it is an infobox; some are named by a noun alone (``bare``)."""

    @lru_cache(maxsize=1 << 14)
    def find(name: bytes) -> str:
        text = " ".join(name.decode(errors="ignore").replace("_", " ").replace(":", " ").lower().split())
        if text in boxes:
            return boxes[text]
        inside = next((text[len(p) :].strip() for p in prefixes if text.startswith(p)), None)
        if inside is None:
            return bare.get(text, "").replace("other", "")
        if inside in boxes:
            return boxes[inside]
        words = inside.split()
        several = (" ".join(words[k:]) for k in range(len(words)))
        return next((found for one in several if (found := noun(one))), "")

    return find


# -- reading a page ---------------------------------------------------------------------------------


def read_subject(title: str, wikitext: bytes, text: bytes, code: str) -> Subject:
    """What the page ``title`` is about; ``text`` is the beginning of its plain text."""
    table = language(code)
    begin = wikitext.find(b"{{", 0, LEAD)
    templates = wikitext[begin:LEAD] if begin >= 0 else b""
    short, box = _short_description(templates, table), _infobox(templates, table)
    side = title.lower().startswith(table.topics)
    # bands have the infobox of musical artists
    clear = bool(box) and box != "person" and not side
    if short and clear:
        return Subject(short, box, "infobox")
    found = _definition(text[:LEAD], title, table)
    description = short or shortened(found.phrase, table)
    if clear:
        return Subject(description, box, "infobox")
    sentence = _noun_of(found.phrase, table)
    if side and not (found.sure and sentence in ("organisation", "work", "product")):
        return Subject(description, "other", "title")
    if box and (box, sentence) != ("person", "organisation"):
        return Subject(description, box, "infobox")
    for evidence, told in _told(title, sentence, found, short, wikitext, table):
        if told:
            return Subject(description, told, evidence)
    return Subject(description) if description else NOTHING


def _told(
    title: str, sentence: str, found: _Definition, short: str, wikitext: bytes, table: Language
) -> Iterator[tuple[str, str]]:
    """The types that parts of a page without an infobox tell, those that are trusted most first."""
    better = _by_title(sentence, title, found, table)
    yield "sentence" if better == sentence else "title", better
    yield "sentence", _noun_of(short, table)
    if title.endswith(")"):
        yield "title", _qualified(title.rpartition("(")[2], table)
    yield "category", _category(wikitext[-_TAIL:], table)


def _by_title(said: str, title: str, found: _Definition, table: Language) -> str:
    """What the title makes of the type that a sentence says.

    *A vicar* is a kind of persons, and no person. *Fiji national football team* describes, so its noun counts
    even if the sentence says *member of the association*; and so do years and battles.
    """
    bare = title.partition(" (")[0].partition(",")[0]
    common = said not in ("product", "species") and _is_common(bare, found.subject, table)
    if " " not in bare or table.head != "last":
        return "other" if common and said else said
    if found.sure and said not in ("", "other") and bare.istitle() and not (common or bare[:4].isdigit()):
        return said  # a name: no word in it is small
    words = bare.split()
    head = table.before_ends.sub("", bare).split()
    if len(head) > 1 and words[-1][0].islower():
        head = words
    if not head:
        return said
    small, year = len(head) > 1 and head[-1][0].islower(), bare[:4].isdigit()
    if found.sure and not (small or year or common) and said not in ("", "other", "person"):
        return said
    hint = table.nouns.get(" ".join(head[-2:]).lower()) or table.noun(head[-1].lower())
    if common:
        thing = hint in ("product", "species")  # which any number of them is, too
        return said if said == "other" or (thing and not said) else hint if thing else "other"
    if hint == "event" and (said == "other" or year):
        return hint
    if said in ("product", "species") or (hint in ("", said) and said != "person"):
        return said
    if hint == "organisation" and (
        (said == "other" and found.sure) or (said == "event" and year and not small)
    ):
        return said
    if hint in ("event", "organisation") and (
        small or said in ("", "place") or not (found.sure or said == "work")
    ):
        return hint
    if said == "person":
        office = hint == said and len(head) < len(words) and found.subject.startswith(table.definite)
        return "other" if (small and hint == said) or office else hint if small and hint else said
    return hint if small and said in ("", "place") and not found.sure else said


def _is_common(bare: str, subject: str, table: Language) -> bool:
    """Whether a text calls it by a common noun: *a vicar*, *the wicket-keeper*."""
    small = bare[:1].lower() + bare[1:]
    if small == bare or bare.startswith(table.indefinite) or bare.partition(" ")[0].lower() in table.articles:
        return False
    if f" {small}" in subject:
        return True
    return bool(table.indefinite) and subject.startswith(
        tuple(f"{article}{bare}" for article in table.indefinite)
    )


def title_types(titles: pa.Array, code: str) -> tuple[pa.Array, pa.Array]:
    """The type that the qualifier of every title says, and the one that its noun hints at.

    Stardust (film) is a work, Lincoln Park sounds like a place; but Robert Plant is not a plant.
    """
    table = language(code)
    without = partial(pc.replace_substring_regex, replacement="")
    bare = without(pc.utf8_lower(titles), r"(?: \(|,).*")
    if table.ends:  # the noun is before them: Battle of Hastings
        bare = without(bare, f" (?:{'|'.join(map(re.escape, table.ends))}) .*")
    pairs = pc.replace_substring_regex(bare, "^.* ([^ ]+ [^ ]+)$", r"\1")
    phrases, said = (pa.array(given, pa.string()) for given in (table.nouns, table.nouns.values()))
    hints = pc.coalesce(said.take(pc.index_in(pairs, phrases)), _of_each(without(pairs, "^.* "), table.noun))
    qualifiers = pc.if_else(pc.ends_with(titles, ")"), titles, "")
    return _of_each(without(qualifiers, r"^.*\("), lambda inside: _qualified(inside, table)), hints


def _qualified(inside: str, table: Language) -> str:
    """What the words in brackets say, unless they are a name: Harbinger (DC Comics) is not a comic."""
    last = inside.partition(",")[0].removesuffix(")").rpartition(" ")[2]
    return "" if last.istitle() and table.ends else _noun_of(inside, table)


def _of_each(texts: pa.Array, said: Callable[[str], str]) -> pa.Array:
    """What is said of every text, asked once for equal ones."""
    found = texts.dictionary_encode()
    return pa.array([said(text) for text in found.dictionary.to_pylist()], pa.string()).take(found.indices)


_TEMPLATE = re.compile(rb"\{\{\s*+([^{}|\[<\n]{1,80})")


def _infobox(templates: bytes, table: Language) -> str:
    names = islice(_TEMPLATE.finditer(templates), _TEMPLATES)
    return next((found for name in names if (found := table.infobox_type(name[1]))), "")


def _category(tail: bytes, table: Language) -> str:
    """The type most of the categories say."""
    votes: dict[str, int] = {}
    for name in table.category.findall(tail):
        text = name.decode(errors="ignore").lower()
        if said := next((kind for part, kind in table.categories if part in text), ""):
            votes[said] = votes.get(said, 0) + 1
    return max(votes, key=lambda kind: votes[kind], default="")


def _short_description(templates: bytes, table: Language) -> str:
    found = table.short_description.search(templates)
    if not found:
        return ""
    text = unescape(found[1].decode(errors="ignore")).strip()
    return "" if text.lower() in ("none", "") else shortened(text, table)


# -- the definition ---------------------------------------------------------------------------------

# Every pattern begins with a letter of a set, which is what makes searching fast.
_INSIDE = {
    "(": re.compile(r"\([^()]*+\)"), "（": re.compile(r"（[^（）]*+）"),
    "[": re.compile(r"\[[^\[\]]*+\]"), "{": re.compile(r"\{[^{}]*+\}"), "<": re.compile(r"<[^<>]*+>"),
}  # fmt: skip
_PRONOUNCED = re.compile(r"/[^/\s][^/]{0,60}+/(?=[\s,;.])")
_NOISE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]++")
_STRAY = re.compile(r"[()（）\[\]{}<>|]")
_LOOSE = re.compile(r"[ ,](?=[,;]|\.(?!\w)|['’]s\b)")
_WORD = re.compile(r"[^\W_]++(?:['’.&-][^\W_]++)*+|[,;:]")
_STOP = re.compile(r"[.。！？।؟](?:(?<!\.)|(?=[\"”»']?+(?:\s|$)))")
_ABBREVIATIONS = frozenset(
    """
    st dr mr mrs ms jr sr prof gen col capt lt sgt rev hon gov sen rep mt ft no nos vol vs inc ltd co corp
    bros ca fl etc est approx dept univ assn op cf viz al tzv sog bzw geb gest рр св им ін ім тис млн см ст
    """.split()  # noqa: SIM905 - a list of words is read as one
)


class _Definition(NamedTuple):
    """The phrase that defines, what is before its verb, and whether that is all of the title's words."""

    phrase: str = ""
    subject: str = ""
    sure: bool = False


_NO_DEFINITION = _Definition()


def _definition(lead: bytes, title: str, table: Language) -> _Definition:
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
            return _Definition(phrase, before.strip(), missing <= (len(known) > 2))
        if spare is None and named:  # the first sentence may name it otherwise: "He was a Latvian politician"
            first, named = phrase.partition(" ")[0].lower(), False
            spare = _Definition(phrase, before.strip()) if first in table.fillers else _NO_DEFINITION
            if not _has_any(lead[at:].decode(errors="ignore"), known):
                break
    return spare or _NO_DEFINITION


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
    return f" {_squeezed(_PRONOUNCED.sub('', line) if '/' in line else line)}"


def _squeezed(text: str) -> str:
    """Control characters and directional marks gone, white space made single."""
    text = " ".join(text.split())
    return text if text.isprintable() else " ".join(_NOISE.sub(" ", text).split())


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
    return bool(table.noun(first) if verbal else _noun_of(phrase, table))


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


def _noun_of(phrase: str, table: Language) -> str:
    """The type that the noun of a defining phrase says."""
    if not phrase:
        return ""
    if table.head == "end":
        parts = _PARTS.split(phrase[:200])
        return next((found for part in parts if (found := table.noun(part.rstrip("。 である")[-12:]))), "")
    if table.head == "last":
        written = _WORD.findall(phrase[:_CLAUSE])
        words = [word.lower() for word in written]
        if len(phrase) > _CLAUSE and table.ends.isdisjoint(words):
            written = _WORD.findall(phrase[:_PHRASE])
            words = [word.lower() for word in written]
        return _last_noun(words, written, table)
    words = _WORD.findall(phrase[:_PHRASE])
    for word in map(str.lower, words[:12]):
        if found := table.noun(word):
            return found
    return ""


_PARTS = re.compile("[、，,・]")


def _last_noun(words: list[str], written: list[str], table: Language) -> str:
    """Of "social and political philosopher from …": philosopher; a person if any noun of several is one."""
    parts: list[list[str]] = [[]]
    otherwise, several, named = "", False, ""
    for here, word in enumerate(words):
        part = parts[-1]
        if word == table.of and part:
            for end in (4, 3, 2) if part[-1] in table.before_of else ():
                if said := table.nouns.get(" ".join(words[here - 1 : here + end])):
                    return said  # a prisoner of war camp
            if part[-1] in table.partitives:
                said = _noun(part, table)
                if said == "species":
                    return said
                if said == "person":  # a member of the genus
                    rest = _last_noun(words[here + 1 :], written[here + 1 :], table)
                    return rest if rest == "species" else said
                several = said == "organisation"
                parts, otherwise = [[]], "" if several else said
                following = next((one for one in written[here + 1 :] if one not in table.articles), "")
                named = said if following[:1].isupper() else ""
                continue
            following = next((one for one in written[here + 1 :] if one not in table.articles), "")
            if part[-1] in table.abstract and following[:1].islower():
                return "other"  # a state of inactivity
            break
        if (part or len(parts) > 1) and (word in table.ends or _is_verb(words[here : here + 4], part, table)):
            break
        if word in _BETWEEN:
            parts.append([])
        elif part and written[here][0].isupper() and _is_name(words, written, here, part, table):
            break
        elif not part and len(parts) > 1 and word in table.articles and _is_told(parts, table):
            break  # another phrase: a city, the seat of a bishop
        elif part or word not in table.fillers:
            part.append(word)
            if named and written[here][0].islower():
                named = ""
    if named not in ("", "other"):  # a body of the United States
        return named
    found = [(said, len(part)) for part in parts if part and (said := _noun(part, table))]
    if any(said == "person" for said, _ in found):
        return "organisation" if several else "person"  # a group of philosophers
    found = [one for one in found if one[0] != "other"] or found
    # "business, cultural and tourism city" is no business: a word alone may go with a noun further on
    return next((said for said, size in found if size > 1), found[-1][0] if found else otherwise)


def _is_told(parts: list[list[str]], table: Language) -> bool:
    return any(_noun(part, table) not in ("", "other") for part in parts)


def _is_name(words: list[str], written: list[str], here: int, part: list[str], table: Language) -> bool:
    """Whether a capital begins the name of what was said: the television show *Big Brother*."""
    before = written[here - 1]
    if len(part) < 2 or before in table.fillers or not before[0].islower():
        return False
    return not table.noun(words[here]) and _noun(part, table) == "work"


def _is_verb(words: list[str], before: list[str], table: Language) -> bool:
    """Whether a participle ends a phrase: a character *portrayed* by, but not motor *racing* driver."""
    if not table.verbal(words[0]):
        return False
    ended = len(words) < 2 or words[1] in table.ends or words[1] in table.articles or words[1] in _BETWEEN
    if (
        ended and len(before) > 1 and _noun(before, table) == "person"
    ):  # a cyclist *riding* for, and not an electoral riding
        return True
    if table.noun(words[0]) or table.noun(" ".join(words[:2])):
        return False
    if len(words) < 2 or _noun(before, table) == "person":  # scientist combining physics and philosophy
        return True
    if table.verbal(words[1]):
        return not any(_noun(words[1:end], table) for end in (3, 4))  # multitasking operating system
    return ended


_BETWEEN = frozenset([",", ";", ":", "and", "or"])


def _noun(words: list[str], table: Language) -> str:
    """What the last words of a part say, the longest phrase that is known first: region *spanning much*."""
    for length in (3, 2, 1):
        if len(words) >= length and (said := table.noun(" ".join(words[-length:]))):
            return said
    if words and (words[-1] in table.degrees or words[-1] in table.fillers):  # the author most famous for
        return _noun(words[:-1], table)
    verb = next((k for k, word in enumerate(words) if table.verbal(word)), 0)
    return _noun(words[:verb], table) if verb else ""


# -- cutting it short -------------------------------------------------------------------------------


def tidy(text: str) -> str:
    """A description that somebody wrote: one line, not too long, nothing in it but text."""
    return shortened(text, language("other"))


def shortened(phrase: str, table: Language) -> str:
    """A phrase of at most :data:`LONGEST` characters, cut where a clause ends, without stray marks."""
    text = _LOOSE.sub("", _squeezed(_STRAY.sub("", phrase[:_LINE]))).strip(" ,;:.–—-*#=_~")
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
