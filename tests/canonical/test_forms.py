"""Names that are alike, and names that only look so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.canonical.forms import PROBABILITY, WORDS, Form, Reason, alike, distance, is_part


def reason(a, b):
    found = alike(Form(a), Form(b))
    return found.reason if found else None


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("Zorblax", "Zorblax", Reason.SAME),
        ("ZORBLAX  labs", "Zorblax Labs", Reason.SPELLING),
        ("Café Zürich", "Cafe Zurich", Reason.SPELLING),
        ("Data Base", "Database", Reason.SPELLING),
        ("The Zorblax", "Zorblax", Reason.SPELLING),
        ("I.B.M.", "IBM", Reason.SPELLING),
        ("Zorblax Inc.", "Zorblax", Reason.LEGAL),
        ("Zorblax GmbH & Co. KG", "Zorblax AG", Reason.LEGAL),
        ("Dr. Jane Quibble", "Jane Quibble", Reason.LEGAL),
        ("Quibble, Jane", "Jane Quibble", Reason.ORDER),
        ("Quibble Jane", "Jane Quibble", Reason.ORDER),
        ("J. Quibble", "Jane Quibble", Reason.INITIALS),
        ("J.R.R. Quibble", "John Ronald Reuel Quibble", Reason.INITIALS),
        ("Quibble, J.", "Jane Quibble", Reason.INITIALS),
        ("ZQL", "Zorblax Quantum Labs", Reason.ACRONYM),
        ("Z.Q.L.", "Zorblax Quantum Labs", Reason.ACRONYM),
        ("ZQC", "Zorblax Quantum Company", Reason.ACRONYM),
        ("BOZ", "Bank of Zorblax", Reason.ACRONYM),
        ("Marlena Quartzheim", "Marlena Quarzheim", Reason.TYPO),
        ("Zorblaxian Federation", "Zorlbaxian Federation", Reason.TYPO),
    ],
)
def test_alike(a, b, why):
    assert reason(a, b) == reason(b, a) == why


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("North Zorbland", "South Zorbland"),
        ("World War I", "World War II"),
        ("I Corps", "IV Corps"),
        ("1 March", "12 March"),
        ("Windows 95", "Windows 98"),
        ("Iran", "Iraq"),
        ("Norman", "Normans"),  # an ending is an inflection
        ("Rolling Stone", "Rolling Stones"),
        ("Austria", "Austrian"),
        ("Jane Quibble", "Mary Quibble"),
        ("M. Quibble", "Jane Quibble"),
        ("Jane Quibble", "Jane Wobble"),
        ("oil palm tree", "tree palm oil"),
        ("ABC", "Zorblax Quantum Labs"),
        ("ps", "plenary session"),
        ("Zorblax", ""),
        ("Bank of Zorblax", "Zorblax of Bank"),
        ("x" * 600, "x" * 599),
    ],
)
def test_unlike(a, b):
    assert reason(a, b) is reason(b, a) is None


def test_parts():
    assert is_part(Form("Quibble"), Form("Jane Quibble"))
    assert is_part(Form("Quibble"), Form("Quibble, Jane"))
    assert not is_part(Form("Jane"), Form("Jane Quibble"))
    assert not is_part(Form("quibble"), Form("a quibble"))


def slow_distance(a, b):
    """Letters to add, drop, replace or swap, by the definition."""
    if not a or not b:
        return len(a) + len(b)
    best = min(
        slow_distance(a[1:], b) + 1,
        slow_distance(a, b[1:]) + 1,
        slow_distance(a[1:], b[1:]) + (a[0] != b[0]),
    )
    if len(a) > 1 and len(b) > 1 and a[:2] == b[1::-1]:
        best = min(best, slow_distance(a[2:], b[2:]) + 1)
    return best


@given(st.text("abc", max_size=6), st.text("abc", max_size=6), st.integers(0, 3))
def test_distance(a, b, most):
    exact = slow_distance(a, b)
    assert distance(a, b, most) == (exact if exact <= most else None)


@given(st.text(), st.text())
def test_any_names_can_be_compared_and_the_order_does_not_matter(a, b):
    assert reason(a, b) == reason(b, a)
    if Form(a).letters:
        assert reason(a, a) == Reason.SAME


def test_every_reason_has_words_and_every_likeness_a_probability():
    assert set(WORDS) == set(Reason)
    assert set(PROBABILITY) == set(Reason) - {Reason.ALONE, Reason.FIRST, Reason.ENTITY, Reason.UNSURE}
