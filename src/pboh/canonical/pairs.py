"""Which names are worth comparing: those that share a key, or more than half of their letter trigrams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pboh.canonical.forms import LONGEST, Form
from pboh.files.progress import Report
from pboh.model import fuzzy
from pboh.text.hashing import Array, hash_strings, string_blob

AT_A_TIME = 20_000  # names whose trigrams are compared between two reports
MOST_ALIKE = 16  # names compared with one because of their trigrams
MOST_SLIPS = 4  # bytes by which names differ in length, if they are slips of each other
CROWD = 64  # names that share a surname and an initial, or an acronym, and are still compared
Pair = tuple[int, int]


@lru_cache(maxsize=1 << 16)
def form(name: str) -> Form:
    """A name taken apart, remembered for a while."""
    return Form(name)


def plain_keys(one: Form) -> Iterator[str]:
    """Letters, with and without legal form, and words in any order."""
    if one.letters:
        yield one.letters
        yield "".join(one.core)
        if 2 <= len(one.core) <= 5:
            yield "~" + " ".join(sorted(one.core))


def initial_keys(one: Form) -> Iterator[str]:
    """The last word and the first letter."""
    one = one.turned or one
    if len(one.core) > 1 and one.given:
        yield f"{one.given[0][:1]} {one.core[-1]}"


def acronym_keys(one: Form) -> Iterator[str]:
    """Its letters, or the first letters of its words."""
    if one.acronym:
        yield one.acronym
    yield from sorted(one.first_letters)


def part_keys(one: Form) -> Iterator[str]:
    """The last word."""
    if one.core and one.capitalised:
        yield (one.turned or one).core[-1]


Keys = Callable[[Form], Iterable[str]]


def same_key(names: Sequence[str], nodes: Sequence[int], keys: Keys, report: Report) -> Iterator[list[int]]:
    """Runs of nodes (positions in ``nodes`` of rows) that share a key, in order of the keys' hashes."""
    hashes, owners = [], []
    for first in range(0, len(nodes), AT_A_TIME):
        report(first, len(nodes), "comparing names")
        texts, of = list[str](), list[int]()
        for node in range(first, min(first + AT_A_TIME, len(nodes))):
            name = names[nodes[node]]
            if len(name) <= LONGEST:
                found = [key for key in dict.fromkeys(keys(form(name))) if key]
                texts += found
                of += [node] * len(found)
        hashes.append(hash_strings(texts))
        owners.append(np.asarray(of, np.int64))
    if not hashes:
        return
    key, owner = np.concatenate(hashes), np.concatenate(owners)
    order = np.lexsort((owner, key))
    key, owner = key[order], owner[order]
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]]) if key.size else np.empty(0, np.int64)
    ends = np.r_[starts[1:], key.size]
    for at in np.flatnonzero(ends - starts > 1).tolist():
        yield owner[starts[at] : ends[at]].tolist()


def plain_pairs(names: Sequence[str], nodes: Sequence[int], report: Report) -> Iterator[Pair]:
    """Pairs that share a key of :func:`plain_keys`: with the first of its run, and with the one before."""
    for run in same_key(names, nodes, plain_keys, report):
        yield from ((run[0], node) for node in run[1:])
        yield from pairwise(run[1:])


def choosy_pairs(
    names: Sequence[str], nodes: Sequence[int], keys: Keys, short: Callable[[Form], bool], report: Report
) -> Iterator[Pair]:
    """Pairs of a ``short`` name and another one with the same key; crowds are left alone."""
    for run in same_key(names, nodes, keys, report):
        if len(run) <= CROWD:
            for a in run:
                if short(form(names[nodes[a]])):
                    yield from ((a, b) for b in run if a != b)


def trigram_pairs(
    names: Sequence[str], nodes: Sequence[int], asking: Array, report: Report
) -> Iterator[Pair]:
    """Pairs that may differ by slips of the pen: they share more than half of their trigrams, have as many
    words and nearly as many letters, and begin and end alike. One of them is among ``asking``."""
    if not len(asking):
        return
    blob, offsets = string_blob(_core(names[row]) for row in nodes)
    index, size = fuzzy.build_index(blob, offsets), np.diff(offsets.astype(np.int64))
    blanks = np.concatenate([[0], np.cumsum(blob == ord(" "), dtype=np.int32)])
    ends = np.concatenate([blob, [0]])  # names without letters have neither trigrams nor ends
    signs = np.stack(
        [ends[offsets[:-1]], ends[offsets[1:] - (size > 0)], blanks[offsets[1:]] - blanks[offsets[:-1]]]
    )
    for first in range(0, len(asking), AT_A_TIME):
        report(first, len(asking), "comparing spellings")
        some = asking[first : first + AT_A_TIME].astype(np.int64)
        left, right = fuzzy.alike(index, blob, offsets, some, MOST_ALIKE)
        near = (np.abs(size[left] - size[right]) <= MOST_SLIPS) & (signs[:, left] == signs[:, right]).all(
            axis=0
        )
        yield from zip(left[near].tolist(), right[near].tolist(), strict=True)


def _core(name: str) -> str:
    one = form(name[:LONGEST])
    return " ".join((one.turned or one).core)
