"""What two spellings of a name have in common: letters, legal form, order, initials, acronym, slips."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from pboh.text.folding import fold, squeeze

LONGEST = 500  # characters of a name that is compared with others by its form
LEGAL = frozenset((
    "ab", "ag", "aktiengesellschaft", "aps", "asa", "bhd", "bv", "co", "company", "corp", "corporation",
    "doo", "gesellschaft", "gmbh", "group", "holding", "holdings", "inc", "incorporated", "kft", "kg",
    "kgaa", "kk", "limited", "llc", "llp", "lp", "ltd", "ltda", "mbh", "nv", "ooo", "oy", "oyj", "pjsc",
    "plc", "pte", "pty", "sa", "sarl", "sas", "se", "sl", "spa", "sro", "srl", "zrt",
))  # fmt: skip
HONORIFICS = frozenset((
    "dame", "dr", "hon", "miss", "mr", "mrs", "ms", "mx", "prof", "professor", "rev", "sir",
))  # fmt: skip
SMALL_WORDS = frozenset((
    "a", "an", "and", "at", "by", "de", "del", "der", "des", "di", "du", "for", "in", "la", "le", "of",
    "on", "or", "the", "to", "und", "van", "von", "y",
))  # fmt: skip
_WORDS = re.compile(r"\w+\.?")
_NUMERAL = re.compile(r"[IVX]|[IVXLCDM]{2,}")
_DOTTED = re.compile(r"(?:[^\W\d_]\.){2,}")
_LEAST_LETTERS, _LONG = 5, 9  # of a word in which a slip of the pen is believed, and of one with two


class Reason(IntEnum):
    """Why a name is in its group."""

    ALONE = 0
    FIRST = 1
    ENTITY = 2
    UNSURE = 3
    SAME = 4
    SPELLING = 5
    LEGAL = 6
    ORDER = 7
    INITIALS = 8
    ACRONYM = 9
    TYPO = 10
    SHORT = 11


WORDS = {
    Reason.ALONE: "no other name is like it",
    Reason.FIRST: "the others are like it",
    Reason.ENTITY: "means {entity}",
    Reason.UNSURE: "may mean {guess}, but that is too uncertain",
    Reason.SAME: "written like {other}",
    Reason.SPELLING: "{other} but for case, accents, blanks or punctuation",
    Reason.LEGAL: "{other} but for its legal form or title",
    Reason.ORDER: "{other} in another order",
    Reason.INITIALS: "{other} with initials",
    Reason.ACRONYM: "one is the acronym of the other: {other}",
    Reason.TYPO: "{other} but for a letter or two",
    Reason.SHORT: "a part of {other}",
}
"""What is said of each; ``other`` is the name it was merged with."""

PROBABILITY = {
    Reason.SAME: 0.78,
    Reason.SPELLING: 0.75,
    Reason.LEGAL: 0.80,
    Reason.ORDER: 0.85,
    Reason.INITIALS: 0.75,
    Reason.ACRONYM: 0.90,
    Reason.TYPO: 0.72,
    Reason.SHORT: 0.50,
}
"""How often names that are alike in this way mean the same, if the knowledge base knows neither."""
CHOOSY = frozenset((Reason.INITIALS, Reason.ACRONYM, Reason.SHORT))
"""Reasons that often hold between one name and several others: only a single or the best one counts."""


class Form:
    """A name taken apart; what is only sometimes asked for is worked out when it is."""

    def __init__(self, name: str) -> None:
        self.name = squeeze(name)
        self.folded = fold(self.name[:LONGEST])
        self.tokens = tuple(self.folded.split())

    @cached_property
    def core(self) -> tuple[str, ...]:
        """Its words without titles of persons at the front and legal forms at the end."""
        first, last = 0, len(self.tokens)
        while first < last - 1 and self.tokens[first] in HONORIFICS:
            first += 1
        while last > first + 1 and (self.tokens[last - 1] in LEGAL or self.tokens[last - 1] == "and"):
            last -= 1
        return self.tokens[first:last]

    @cached_property
    def turned(self) -> Form | None:
        """The name of a person in the usual order, if it is written with the last name first."""
        last, comma, first = self.name.partition(", ")
        if not comma or "," in first or len(first.split()) > 3 or len(last.split()) > 3:
            return None
        turned = Form(f"{first} {last}")
        return None if len(turned.core) < len(turned.tokens) else turned

    @cached_property
    def letters(self) -> str:
        """Its letters without blanks."""
        return "".join(self.tokens)

    @cached_property
    def numerals(self) -> tuple[str, ...]:
        """Numbers and Roman numerals among its words: names that differ in them differ."""
        words = _WORDS.findall(self.name)
        return tuple(w for w in words if any(map(str.isdigit, w)) or _NUMERAL.fullmatch(w))

    @cached_property
    def acronym(self) -> str | None:
        """Its letters if it is written like an acronym: IBM, I.B.M."""
        plain = self.name.replace(".", "").replace(" ", "" if "." in self.name else " ")
        return plain.casefold() if plain.isalpha() and plain.isupper() and 3 <= len(plain) <= 8 else None

    @cached_property
    def first_letters(self) -> frozenset[str]:
        """Acronyms it may have: of all its words, and without small ones."""
        if self.acronym or not 3 <= len(self.tokens) <= 12 or not self.capitalised:
            return frozenset()
        runs = (self.tokens, self.core)
        large = ([token for token in run if token not in SMALL_WORDS] for run in runs)
        return frozenset("".join(token[0] for token in run) for run in (*runs, *large) if len(run) > 2)

    @cached_property
    def capitalised(self) -> bool:
        """Whether all of its words but small ones begin with a capital letter."""
        return all(
            word[0].isupper() or word in SMALL_WORDS for word in self.name.split() if word[0].isalpha()
        )

    @cached_property
    def given(self) -> tuple[str, ...]:
        """The words before the last one, with initials taken apart: J.R.R. is three words."""
        apart: list[str] = []
        for word in self.name.replace(",", " ").split():
            letters = fold(word)
            apart += letters if _DOTTED.fullmatch(word) else [letters]
        kept = [word for word in apart if word]
        while len(kept) > 1 and kept[0] in HONORIFICS:
            kept = kept[1:]
        return tuple(kept[:-1])

    @cached_property
    def has_initial(self) -> bool:
        """Whether a word before the last one is a single letter."""
        return len(self.tokens) > 1 and any(len(word) == 1 and word.isalpha() for word in self.given)


class Likeness(NamedTuple):
    """In which way two names are alike, and how often such names mean the same."""

    reason: Reason
    probability: float


def alike(a: Form, b: Form) -> Likeness | None:
    """The best reason to take two names for the same, judged by their letters alone."""
    reason = _reason(a, b)
    if reason is None and (a.turned or b.turned):
        reason = _reason(a.turned or a, b.turned or b)
        reason = Reason.ORDER if reason in (Reason.SAME, Reason.SPELLING) else reason
    return Likeness(reason, PROBABILITY[reason]) if reason else None


def _reason(a: Form, b: Form) -> Reason | None:
    if a.name == b.name:
        return Reason.SAME
    if not a.core or not b.core or max(len(a.name), len(b.name)) > LONGEST:
        return None
    if a.letters == b.letters:
        return Reason.SPELLING
    if a.numerals != b.numerals:
        return None
    if a.core == b.core:
        return Reason.LEGAL
    if _reordered(a, b):
        return Reason.ORDER
    if _abbreviated(a, b):
        return Reason.INITIALS
    if (a.acronym or "-") in b.first_letters or (b.acronym or "-") in a.first_letters:
        return Reason.ACRONYM
    if _misspelt(a.core, b.core):
        return Reason.TYPO
    return None


def _reordered(a: Form, b: Form) -> bool:
    """Whether the same words are in another order, with the last one at the front of either."""
    if len(a.core) != len(b.core) or not 2 <= len(a.core) <= 5 or {*a.core, *b.core} & SMALL_WORDS:
        return False
    return a.core in ((b.core[-1], *b.core[:-1]), (*b.core[1:], b.core[0]))


def _abbreviated(a: Form, b: Form) -> bool:
    """Whether both end with the same word and initials of one are those of the other: J. Smith."""
    if not (a.has_initial or b.has_initial) or a.core[-1] != b.core[-1] or len(a.core[-1]) < 3:
        return False
    short, long = sorted((a.given, b.given), key=len)
    if not short or not long:
        return False
    pairs = list(zip(short, long, strict=False))
    return all(
        x == y or (1 in (len(x), len(y)) and x[0] == y[0] and x.isalpha() and y.isalpha()) for x, y in pairs
    ) and (len(short) == len(long) or all(len(x) == 1 for x in short))


def _misspelt(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether words differ by one letter, long ones by two, and begin alike."""
    if len(a) != len(b):
        return False
    differ = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
    return len(differ) <= 2 and all(_slip(x, y) for x, y in differ)


def _slip(a: str, b: str) -> bool:
    """Whether a word may be a slip of the pen of another."""
    shorter = min(len(a), len(b))
    if shorter < _LEAST_LETTERS or a[0] != b[0] or a[-1] != b[-1]:  # endings are inflections
        return False
    return distance(a, b, 2 if shorter >= _LONG else 1) is not None


def distance(a: str, b: str, most: int) -> int | None:
    """Letters to add, drop, replace or swap with their neighbour; None for more than ``most``."""
    if abs(len(a) - len(b)) > most:
        return None
    first = 0
    while first < min(len(a), len(b)) and a[first] == b[first]:
        first += 1
    last = 0
    while last < min(len(a), len(b)) - first and a[-1 - last] == b[-1 - last]:
        last += 1
    a, b = a[first : len(a) - last], b[first : len(b) - last]
    before, row = list[int](), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
            if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2]:
                row[j] = min(row[j], above[j - 2] + 1)
        if min(row) > most:
            return None
    return row[-1] if row[-1] <= most else None


def is_part(short: Form, long: Form) -> bool:
    """Whether a name is the last word of a longer one: Clinton, Bill Clinton."""
    if len(short.core) != 1 or not 1 < len(long.core) < 5 or not (short.capitalised and long.capitalised):
        return False
    return len(short.core[0]) > 2 and short.core[0] == (long.turned or long).core[-1]
