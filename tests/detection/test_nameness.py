"""Names and concepts are told apart by how their links are written."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.detection.casing import CasingCounts
from pboh.detection.nameness import NAME, OFFICE, learn_nameness
from pboh.detection.nameness_kernels import count_looks
from pboh.detection.pages import Page
from pboh.detection.tokens import code_points, sorts, tokens
from pboh.formats.types import TYPES


def look(text, anchor):
    counts = np.zeros((1, 4), np.int64)
    start = text.index(anchor)
    places = (np.asarray([value]) for value in (start, start + len(anchor), 0))
    count_looks(code_points(text), sorts()[0], *places, np.zeros(1, bool), counts)
    return counts[0, :2].tolist()


@pytest.mark.parametrize(
    ("text", "anchor", "counted"),
    [
        ("he saw Paris", "Paris", [1, 1]),
        ("in spring, Paris", "Paris", [1, 1]),
        ("Paris is big", "Paris", [0, 0]),
        ("It ended. Trade grew", "Trade", [0, 0]),
        ("Free Trade Area", "Free Trade", [1, 1]),
        ("the free trade", "free trade", [0, 1]),
        ("iPhone sales", "iPhone", [1, 1]),
        ("in 1996", "1996", [0, 0]),
    ],
)
def test_how_a_link_is_written(text, anchor, counted):
    assert look(text, anchor) == counted


def test_entities_learn_from_their_links_and_titles():
    text = "we saw Paris and free trade and Zed Valley, then Paris and free trade and Bay Hill"
    anchors = ["Paris", "free trade", "Zed Valley", "Bay Hill"]
    titles = ["Paris", "Free trade", "Zed Valley", "Bay Hill", "Kind of sport", "Old Town Hall", "12 May"]
    links = [(text.index(anchor), text.index(anchor) + len(anchor), k) for k, anchor in enumerate(anchors)]
    page = Page(0, None, text, *(np.asarray(column) for column in zip(*links, strict=True)))
    plain = CasingCounts.of([])
    unknown = np.zeros(len(titles), np.uint8)
    share = learn_nameness([page] * 5, [titles[:3], titles[3:]], plain, unknown)
    assert (share[[0, 2, 3, 5]] >= NAME).all()
    assert share[1] < NAME
    assert share[4] < NAME
    assert learn_nameness([page] * 5, [["1996"] * 4], plain, unknown[:4]).tolist() == [0] * 4


def test_offices_stand_before_persons():
    text = "he met President Ann Lee and saw Paris and Ann Lee, then President Bo Kay of Paris"
    titles = ["President of Ruritania", "Ann Lee", "Bo Kay", "Paris", "President of Borduria", "Order of Zed"]
    sorts_of = ["other", "person", "person", "place", "other", "other"]
    links = [
        (text.index(anchor, after), text.index(anchor, after) + len(anchor), k)
        for anchor, after, k in [
            ("President", 0, 0), ("Ann Lee", 0, 1), ("Paris", 0, 3), ("Ann Lee", 40, 1), ("President", 40, 0),
            ("Bo Kay", 0, 2), ("Paris", 70, 3),
        ]
    ]  # fmt: skip
    page = Page(0, None, text, *(np.asarray(column) for column in zip(*links, strict=True)))
    words = tokens(code_points("a president or the President, and every president and president"))
    nothing = np.empty(0, np.int64)
    casing = CasingCounts.of([(words, nothing, nothing)])
    types = np.asarray([TYPES.index(name) for name in sorts_of], np.uint8)
    share = learn_nameness([page] * 3, [titles], casing, types)
    assert share[0] == OFFICE
    assert share[4] == OFFICE  # as all presidents
    assert (share[[1, 2, 3]] >= NAME).all()
    assert share[5] != OFFICE
    assert learn_nameness([page] * 3, [titles], casing, np.zeros(6, np.uint8))[0] >= NAME  # without types
