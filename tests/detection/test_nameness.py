"""Names and concepts are told apart by how their links are written."""

from __future__ import annotations

import numpy as np
import pytest

from pboh.detection.casing import CasingCounts
from pboh.detection.nameness import NAME, learn_nameness
from pboh.detection.nameness_kernels import count_looks
from pboh.detection.pages import Page
from pboh.detection.tokens import code_points, sorts


def look(text, anchor):
    counts = np.zeros((1, 2), np.int64)
    start = text.index(anchor)
    places = (np.asarray([value]) for value in (start, start + len(anchor), 0))
    count_looks(code_points(text), sorts()[0], *places, counts)
    return counts[0].tolist()


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
    share = learn_nameness([page] * 5, [titles[:3], titles[3:]], plain)
    assert (share[[0, 2, 3, 5]] >= NAME).all()
    assert share[1] < NAME
    assert share[4] < NAME
    assert learn_nameness([page] * 5, [["1996"] * 4], plain).tolist() == [0] * 4
