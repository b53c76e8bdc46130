"""Hostile inputs made of fragments, and whether work on them takes time in proportion to their size."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product

from pboh.errors import PbohError

SIZES = (5_000, 100_000, 4_000_000)
KEPT = 40, 4  # cases that go on to the next size: the slowest, and those that grew most
GROWTH = 6.0  # of the time per byte from one size to the next; a quadratic one grows twentyfold

Case = tuple[str, str]
Work = Callable[[str], object]


def worst_cases(fragments: Sequence[str], beginnings: Sequence[str], drawn: int) -> Iterator[Case]:
    """A beginning and what is repeated behind it: fragments, their pairs, and some drawn at random."""
    chance = random.Random(11)
    yield from product(beginnings, fragments)
    yield from (("", one + other) for one, other in product(fragments, fragments))
    for _ in range(drawn):
        beginning = chance.choice(beginnings) + "".join(chance.choices(fragments, k=chance.randrange(3)))
        yield beginning, "".join(chance.choices(fragments, k=chance.randrange(2, 6)))


def seconds_per_byte(work: Work, case: Case, size: int, times: int = 1) -> float:
    beginning, repeated = case
    text = beginning + repeated * (size // len(repeated.encode("utf-8", "surrogatepass")))
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        with suppress(PbohError):
            work(text)
        best = min(best, time.process_time() - start)
    return best / size


def assert_linear(work: Work, cases: Sequence[Case], sizes: Sequence[int] = SIZES) -> None:
    """The time per byte stays what it is: all cases are tried in small, the worst of each round in larger."""
    seconds_per_byte(work, cases[0], 1000)  # loads what is compiled
    found = {case: seconds_per_byte(work, case, sizes[0]) for case in cases}
    worst = sorted(found, key=found.__getitem__)[-KEPT[0] :]
    for size, larger, kept in zip(sizes, sizes[1:], (*KEPT[1:], 0), strict=False):
        growth = {case: growth_of(work, case, size, larger) for case in worst}
        suspects = [case for case in worst if growth[case] > GROWTH]
        again = {case: growth_of(work, case, size, larger, 3) for case in suspects}
        assert all(ratio < GROWTH for ratio in again.values()), again
        worst = sorted(worst, key=growth.__getitem__)[-kept:] + worst[-kept:]


def growth_of(work: Work, case: Case, size: int, larger: int, times: int = 1) -> float:
    before = seconds_per_byte(work, case, size, times + 1)
    return seconds_per_byte(work, case, larger, times) / max(before, 1e-9)
