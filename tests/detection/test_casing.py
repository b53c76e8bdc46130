"""What the corpus says about the case of words."""

from __future__ import annotations

import numpy as np

from pboh.detection.casing import ABBREVIATION, LEVEL, MOSTLY_CAPITAL, MOSTLY_SMALL, CasingCounts, covered
from pboh.detection.casing_kernels import look_up_words
from pboh.detection.tokens import code_points, tokens

TEXT = "They saw Paris in the rain. The rain, as Mr. Smith said, was in Paris. Rain fell on Mr. Smith."


def counts(text=TEXT, times=8):
    cut = tokens(code_points(text))
    empty = np.empty(0, np.int64)
    return CasingCounts.of([(cut, empty, empty)] * times, batch=40)


def known(casing, *words):
    hashes = np.concatenate([tokens(code_points(word)).word for word in words])
    out = np.zeros(hashes.size, np.uint8)
    look_up_words(hashes, casing.table(), out)
    return out


def test_words_have_a_level():
    paris, rain, the, unknown = (known(counts(), "paris", "rain", "the", "zebra") & LEVEL).tolist()
    assert paris >= MOSTLY_CAPITAL
    assert 0 < rain <= MOSTLY_SMALL
    assert 0 < the <= MOSTLY_SMALL
    assert unknown == 0


def test_abbreviations_come_before_full_stops():
    mister, paris = known(counts(), "mr", "rain").tolist()
    assert mister & ABBREVIATION
    assert not paris & ABBREVIATION


def test_batches_do_not_matter():
    whole = counts()
    cut = tokens(code_points(TEXT))
    empty = np.empty(0, np.int64)
    once = CasingCounts.of([(cut, empty, empty)] * 8)
    for one, other in zip(whole, once, strict=True):
        assert (one == other).all()


def test_words_that_pages_do_not_link_are_plain():
    text = "it was late in the year in May or on a cold Monday when the young Ann came back to old Bonn again"
    cut = tokens(code_points(text))
    word = {text: number for number, text in enumerate(text.split())}
    first = np.asarray([word["Ann"], word["Bonn"]])
    casing = CasingCounts.of([(cut, first, first + 1)] * 50)
    plain = set(casing.word[casing.plain()].tolist())
    assert int(cut.word[word["Monday"]]) in plain
    assert int(cut.word[word["Ann"]]) not in plain
    assert casing.told()


def test_where_nouns_are_capitalised_case_tells_nothing():
    assert not counts("der Mann sah den Hund, als die Frau mit dem Kind in den Wald kam").told()
    assert not counts("彼は東京に行く。").told()


def test_covered():
    assert covered(5, np.asarray([1, 3]), np.asarray([3, 4])).tolist() == [False, True, True, True, False]
