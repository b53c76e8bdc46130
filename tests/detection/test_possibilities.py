"""What may be a mention: names that overlap, spans that are given, hints, and who speaks."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.detection.cover_kernels import strongest_rivals
from pboh.detection.finder import Names
from pboh.detection.link import link
from pboh.detection.possibilities import check_hints, possibilities
from pboh.errors import SpanError
from pboh.inference.spans import Span

TEXT = "Paris Zorkmid met Bayern in Paris."
PARIS, ZORKMID, WHOLE, BAYERN = (0, 5), (6, 13), (0, 13), (18, 24)


class FakeFinder:
    """Finds the spans it was made with."""

    def __init__(self, **probability: float) -> None:
        self.spans = {globals()[name]: p for name, p in probability.items()}

    def find(self, text: str) -> Names:
        places = np.asarray(sorted(self.spans), np.int64).reshape(-1, 2)
        chance = np.asarray([self.spans[tuple(place)] for place in places.tolist()])
        nothing = np.zeros(len(places))
        return Names(places[:, 0], places[:, 1], chance, nothing, nothing, nothing > 0)


def spans(rows):
    return list(zip(rows.start.tolist(), rows.end.tolist(), strict=True))


@pytest.fixture
def finder():
    return FakeFinder(PARIS=0.2, ZORKMID=0.1, WHOLE=0.7, BAYERN=0.95)


def test_overlapping_names_share_a_place_and_one_of_them_speaks(counted, finder):
    rows = possibilities(TEXT, counted.detector, finder)
    assert spans(rows) == [PARIS, WHOLE, ZORKMID, BAYERN]
    assert rows.where.tolist() == [0, 0, 0, 1]
    assert rows.speaks.tolist() == [False, True, False, True]


def test_what_cannot_win_is_not_looked_at(counted):
    rows = possibilities(TEXT, counted.detector, FakeFinder(PARIS=0.1, ZORKMID=0.05, WHOLE=0.8, BAYERN=0.1))
    assert spans(rows) == [WHOLE, BAYERN]


def test_nothing_overlaps_a_given_span(counted, finder):
    rows = possibilities(TEXT, counted.detector, finder, given=[Span(0, 5, "Paris")])
    assert spans(rows) == [PARIS, ZORKMID, BAYERN]
    assert rows.given.tolist() == [True, False, False]
    assert rows.entity == {0: "Paris"}


def test_concepts_are_added_around_names(counted, finder):
    rows = possibilities(TEXT, counted.detector, finder, "all")
    assert (28, 33) in spans(rows)
    assert rows.name[spans(rows).index((28, 33))] == 0
    assert set(spans(possibilities(TEXT, counted.detector, finder))) < set(spans(rows))


def test_hints_are_evidence(counted, finder):
    plain = possibilities(TEXT, counted.detector, finder)
    hinted = possibilities(
        TEXT, counted.detector, finder, hints=[(*PARIS, 0.99), (*BAYERN, 0.01), (28, 33, 0.9)]
    )
    before, after = (dict(zip(spans(rows), rows.name.tolist(), strict=True)) for rows in (plain, hinted))
    assert after[PARIS] > 0.5 > before[PARIS]
    assert after[BAYERN] < before[BAYERN]
    assert after[WHOLE] == before[WHOLE]
    assert 0.01 < after[28, 33] < 0.9  # nobody else thinks so


@pytest.mark.parametrize(
    "hint", [(0, 5), (0, 5, 1.5), (0, 5, "PER"), (0, 5, 0.5, 1), (5, 5, 0.5), (0, 99, 0.5)]
)
def test_hints_that_cannot_be_are_refused(hint):
    with pytest.raises(SpanError):
        check_hints(TEXT, [hint])


def test_the_whole_of_an_unknown_name_blocks_links_inside_it(counted, finder):
    rows = possibilities(TEXT, counted.detector, finder)
    document = link(counted.engine.of_found, TEXT, rows, nil=True)
    found = {m.text: m for m in document}
    assert set(found) == {"Paris Zorkmid", "Bayern"}
    assert found["Paris Zorkmid"].entity is None
    assert found["Paris Zorkmid"].nil == 1 and 0.5 < found["Paris Zorkmid"].detection <= 1
    assert str(found["Bayern"].entity) == "FC Bayern Munich"
    assert [m.text for m in link(counted.engine.of_found, TEXT, rows)] == ["Bayern"]


def test_boundaries_follow_the_finder(counted):
    rows = possibilities(TEXT, counted.detector, FakeFinder(PARIS=0.9, ZORKMID=0.05, WHOLE=0.08))
    assert [m.text for m in link(counted.engine.of_found, TEXT, rows, threshold=0.1)] == ["Paris"]


@pytest.mark.parametrize("seed", range(5))
def test_the_strongest_rival_overlaps(seed):
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 30, 12))
    end, weight = start + rng.integers(1, 6, 12), rng.random(12)
    for i, found in enumerate(strongest_rivals(start, end, weight)):
        rivals = [weight[j] for j in range(12) if j != i and start[j] < end[i] and start[i] < end[j]]
        assert found == max(rivals, default=0)
