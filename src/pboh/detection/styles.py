"""Sentences rewritten as others write: in capitals, as a headline, in small letters, as a post, as a news
agency, in another language."""

from __future__ import annotations

from functools import cache

import numpy as np

from pboh.detection.chain_kernels import BEGIN, INSIDE, LAST, OUTSIDE, UNIT
from pboh.detection.token_kernels import S_LETTERS, S_SMALL
from pboh.detection.tokens import Tokens, sorts
from pboh.text.hashing import Array

_LONG = 3  # a headline does not capitalise words up to this length
_TAGGED = 0.4  # share of a post's names that are tags
_FORMS = ("Inc", "Corp", "Ltd", "Plc", "Co", "AG", "SA", "Group", "Holdings")


@cache
def _upper() -> Array:
    """The capital of every code point, where it is a single one."""
    table = np.arange(0x110000, dtype=np.int32)
    for code in range(0x20000):
        large = chr(code).upper()
        if len(large) == 1 and large.lower() == chr(code):
            table[code] = ord(large)
    return table


def restyle(codes: Array, cut: Tokens, where: Array, style: int) -> None:
    """Write the tokens ``where`` in capitals (0), in small letters (1) or as a headline (2), in place."""
    span = slice(cut.start[where[0]], cut.end[where[-1]])
    if style == 0:
        codes[span] = _upper()[codes[span]]
    elif style == 1:
        codes[span] = sorts()[1][codes[span]]
    else:
        long = where[(cut.shape[where] == S_SMALL) & (cut.end[where] - cut.start[where] > _LONG)]
        codes[cut.start[long]] = _upper()[codes[cut.start[long]]]


def foreign_letters(random: np.random.Generator) -> Array:
    """Another letter for every small one, vowels for vowels, so that words look like those of a language."""
    table = np.arange(0x110000, dtype=np.int32)
    for letters in ("aeiou", "bcdfghjklmnpqrstvwxyz"):
        codes = np.frombuffer(letters.encode("utf-32-le"), np.int32)
        table[codes] = random.permutation(codes)
    return table


def translate(codes: Array, cut: Tokens, label: Array, where: Array, letters: Array) -> None:
    """Write the words outside names, and small words inside them, in ``letters`` of another language."""
    for token in where[(cut.shape[where] == S_SMALL) | (label[where] == OUTSIDE)].tolist():
        if cut.shape[token] <= S_LETTERS:
            span = slice(cut.start[token], cut.end[token])
            codes[span] = letters[codes[span]]


def post(
    text: str, cut: Tokens, label: Array, where: Array, random: np.random.Generator
) -> tuple[str, Array]:
    """A sentence as people post it, with its labels: some names become #Hashtags or @handles."""
    pieces, labels, at = [], [], 0
    small = random.random() < 0.5
    while at < where.size:
        token = where[at]
        gap = " " if cut.gap[token] and at else ""
        stop = at
        if label[token] in (BEGIN, UNIT) and random.random() < _TAGGED:
            while label[where[stop]] not in (LAST, UNIT):
                stop += 1
            words = [k for k in where[at : stop + 1].tolist() if cut.shape[k] <= S_LETTERS]
            joined = "".join(text[cut.start[k] : cut.end[k]] for k in words)
            pieces.append(f"{gap}{random.choice(['#', '#', '@'])}{joined}")
            labels += [OUTSIDE, UNIT]
        else:
            word = text[cut.start[token] : cut.end[token]]
            pieces.append(gap + ("&" if word == "and" else word.lower() if small else word))
            labels.append(int(label[token]))
        at = stop + 1
    return "".join(pieces), np.asarray(labels, np.int8)


def incorporate(
    text: str, cut: Tokens, label: Array, where: Array, firms: frozenset[int], random: np.random.Generator
) -> tuple[str, Array]:
    """A sentence with its labels in which names that end with a token of ``firms`` get a legal form."""
    pieces: list[str] = []
    labels: list[int] = []
    for token in where.tolist():
        pieces.append((" " if cut.gap[token] and pieces else "") + text[cut.start[token] : cut.end[token]])
        labels.append(int(label[token]))
        if token in firms:
            pieces.append(" " + str(random.choice(_FORMS)))
            labels[-1:] = [BEGIN if label[token] == UNIT else INSIDE, LAST]
    return "".join(pieces), np.asarray(labels, np.int8)
