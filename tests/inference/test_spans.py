"""Spans are checked before anything is computed."""

import numpy as np
import pytest

from pboh.errors import SpanError
from pboh.inference.spans import Span, check_spans


def test_spans_keep_their_order_and_may_carry_an_entity():
    assert check_spans("one two", [(4, 7), (np.int64(0), 3, "Unity")]) == [Span(4, 7), Span(0, 3, "Unity")]


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ((3, 3), "mention 0 [3, 3) is empty"),
        ((5, 3), "is not inside the text (it has 7 characters)"),
        ((-1, 3), "is not inside the text"),
        ((0, 8), "is not inside the text"),
        ((0.0, 3), "not (start, end)"),
        (("0", "3"), "not (start, end)"),
        ((1,), "not (start, end)"),
        ((0, 3, 4), "not (start, end)"),
        ((0, 3, "a", "b"), "not (start, end)"),
        (None, "not (start, end)"),
    ],
)
def test_bad_spans_are_named(span, message):
    with pytest.raises(SpanError) as caught:
        check_spans("one two", [span])
    assert message in str(caught.value)


def test_overlap_is_an_error_unless_allowed():
    with pytest.raises(SpanError, match=r"mentions 0 \[0, 4\) and 1 \[3, 7\) overlap"):
        check_spans("one two", [(0, 4), (3, 7)])
    assert len(check_spans("one two", [(0, 4), (3, 7)], overlapping=True)) == 2
    assert len(check_spans("one two", [(0, 3), (3, 7)])) == 2
