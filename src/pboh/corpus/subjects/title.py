"""What a title says by itself, and what it makes of the type that a sentence says."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pboh.corpus.subjects.definition import Definition
from pboh.corpus.subjects.language import Language, language
from pboh.corpus.subjects.nouns import noun_of

_PARTICLE = re.compile(r"\w{1,3}[ -][^\W\d_a-z]")  # Al-Farabi, De Gaulle


class _Noun(NamedTuple):
    """The noun of a title of several words: the type it says, and how it is written there."""

    hint: str
    small: bool  # Zong massacre
    dated: bool  # 2013 Cannes Film Festival
    followed: bool  # Leader of the House


def by_title(said: str, title: str, found: Definition, table: Language) -> str:
    """What the title makes of the type that a sentence says.

    *A vicar* is a kind of persons, and no person. *Fiji national football team* describes, so its noun counts
    even if the sentence says *member of the association*; and so do years and battles.
    """
    bare = title.partition(" (")[0].partition(",")[0].partition(" – ")[0]
    common = said not in ("product", "species") and _is_common(bare, found.subject, table)
    if (
        said in ("", "organisation")
        and bare.lower() not in table.nouns
        and table.noun(bare.lower()) == "species"
    ):
        return "species"  # Validae
    if " " not in bare or table.head != "last":
        return "other" if common and said else said
    named = bare.istitle() and not (common or bare[:4].isdigit())  # no word in it is small
    if found.sure and named and said not in ("", "other", "place"):
        return said
    noun = _noun_of_title(bare, table)
    if noun is None:
        return said
    if common:
        return _common(said, noun.hint, bare, table)
    if found.sure and said == "place" and noun.hint == "event":  # the Cold War was a state
        return "event"
    if found.sure and named and said == "place":
        return said
    if found.sure and not (noun.small or noun.dated) and said not in ("", "other", "person"):
        return said
    if said == "person" and noun.hint not in ("event", "organisation"):
        return _person(noun, office=noun.followed and found.subject.startswith(table.definite))
    return _hinted(said, noun, sure=found.sure)


def _noun_of_title(bare: str, table: Language) -> _Noun | None:
    words = bare.split()
    if not words:
        return None
    end = next((k for k in range(1, len(words) - 1) if words[k] in table.ends), len(words))
    head = words if end > 1 and words[-1][0].islower() else words[:end]
    hint = table.nouns.get(" ".join(head[-2:]).lower()) or table.noun(head[-1].lower())
    small = len(head) > 1 and head[-1][0].islower()
    return _Noun(hint, small, bare[:4].isdigit() and not bare[:5].isdigit(), len(head) < len(words))


def _common(said: str, hint: str, bare: str, table: Language) -> str:
    """The type of what is called by a common noun: mostly a kind of things."""
    if not bare[1:].islower() and "event" in (hint, said):  # the murder of Ada Vale
        return "event"
    if said == "place" and bare.partition(f" {table.of} ")[2][:1].isupper():  # the city wall of Ulm
        return said
    thing = hint in ("product", "species")  # which any number of them is, too
    return hint if thing and said in ("", "work", "place", "organisation", "event") else "other"


def _person(noun: _Noun, *, office: bool) -> str:
    """What a sentence about a person is about: a person, an office, or a thing in small letters."""
    if office and noun.hint == "person":
        return "other"
    if not (noun.small and noun.hint) or (noun.hint == "person" and noun.followed):
        return "person"
    return "other" if noun.hint == "person" else noun.hint


def _hinted(said: str, noun: _Noun, *, sure: bool) -> str:
    """Whether the noun of the title counts, or what the sentence says."""
    hint = noun.hint
    if hint == "person" and noun.small and not said:  # a record producer oversees
        return "other"
    if hint == "event" and (said == "other" or noun.dated or (said == "person" and noun.followed)):
        return hint
    if noun.dated and not (said or hint):
        return "event"  # the 1997 Kentucky Derby
    if said in ("product", "species") or hint in ("", said):
        return said
    body = (said == "other" and sure) or (said == "event" and noun.dated and not noun.small)
    if hint == "organisation" and body:
        return said
    if hint in ("event", "organisation"):
        counts = noun.small or said in ("", "place") or not (sure or said == "work")
    else:
        counts = noun.small and said in ("", "place") and not sure
    return hint if counts else said


def by_form(title: str, table: Language) -> str:
    """The type that the form of a title says: *Ulm at the 1960 Olympics*, *HMS Vale*."""
    return "event" if table.occasion.search(title) else table.firsts.get(title.partition(" ")[0], "")


def title_types(titles: pa.Array, code: str) -> tuple[pa.Array, pa.Array]:
    """The type that the form of every title says, and the one that its noun hints at.

    Stardust (film) is a work, Lincoln Park sounds like a place; but Robert Plant is not a plant.
    """
    table = language(code)
    without = partial(pc.replace_substring_regex, replacement="")
    bare = without(pc.utf8_lower(titles), r"(?: \(|,| – ).*")
    if table.ends:  # the noun is before them: Battle of Hastings
        bare = without(bare, f" (?:{'|'.join(map(re.escape, table.ends))}) .*")
    last = without(bare, "^.* ")
    ends = pa.array({noun.rpartition(" ")[2] for noun in table.nouns if " " in noun}, pa.string())
    pairs = pc.if_else(pc.is_in(last, ends), bare, last)  # most titles end in no phrase
    pairs = pc.replace_substring_regex(pairs, "^.* ([^ ]+ [^ ]+)$", r"\1")
    nouns, said = (pa.array(given, pa.string()) for given in (table.nouns, table.nouns.values()))
    whole = (said.take(pc.index_in(words, nouns)) for words in (pairs, last))
    partly = pc.if_else(pc.match_substring_regex(last, table.partly), last, "")
    hints = pc.coalesce(*whole, _of_each(partly, table.noun))
    qualifiers = without(pc.if_else(pc.ends_with(titles, ")"), titles, ""), r"^.*\(")
    said = _of_each(qualifiers, lambda inside: qualified(inside, table) or None)
    other = pc.if_else(pc.match_substring_regex(titles, table.side), "other", None)
    event = pc.if_else(pc.match_substring_regex(titles, table.occasion.pattern), "event", None)
    firsts, told = (pa.array(given, pa.string()) for given in (table.firsts, table.firsts.values()))
    first = told.take(pc.index_in(without(titles, " .*"), firsts))
    return pc.coalesce(said, other, event, first, ""), hints


def qualified(inside: str, table: Language) -> str:
    """What the words in brackets say, unless they are a name: Harbinger (DC Comics) is not a comic."""
    last = inside.partition(",")[0].removesuffix(")").rpartition(" ")[2]
    return "" if last.istitle() and table.ends else noun_of(inside, table)


def _of_each(texts: pa.Array, said: Callable[[str], str | None]) -> pa.Array:
    """What is said of every text, asked once for equal ones."""
    found = texts.dictionary_encode()
    return pa.array([said(text) for text in found.dictionary.to_pylist()], pa.string()).take(found.indices)


def _is_common(bare: str, subject: str, table: Language) -> bool:
    """Whether a text calls it by a common noun: *a vicar*, *the wicket-keeper*."""
    if len(subject) <= len(bare):  # there is no article
        return False
    small = bare[:1].lower() + bare[1:]
    several = table.indefinite and subject in (f"{bare}s", f"The {bare}s")
    if several and not (" " in bare and bare.istitle()):  # forwards, but not the Sears Homes
        return True
    if small == bare or bare.startswith(table.indefinite) or bare.partition(" ")[0].lower() in table.articles:
        return False
    if f" {bare.lower()}" in subject or (f" {small}" in subject and not _PARTICLE.match(bare)):
        return True
    if not subject.startswith(table.indefinite):
        return False
    return any(subject.startswith(f"{article}{bare}") for article in table.indefinite)
