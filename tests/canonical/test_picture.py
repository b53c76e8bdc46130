"""The picture of a graph: every node and edge is on it, inside its frame."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from pboh.canonical.picture import to_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("size", [0, 1, 2, 40])
def test_everything_is_on_the_picture(linker, size):
    names = ["Bayern", "FC Bayern Munich", *(f"Zorblax <{k}> & co {k * 'x'}" for k in range(size))][:size]
    edges = [(k, (k * 7 + 3) % size, "likes & hates") for k in range(size)]
    groups = linker.canonical(names)
    root = ET.fromstring(to_svg(groups, edges, width=600, height=400))
    circles = root.findall(f".//{SVG}circle")
    assert len(circles) == len(groups)
    assert {one.get("class") for one in circles} == {"k", "u"} if size > 2 else True
    assert len(root.findall(f"{SVG}line")) == len(
        {(groups.number[a], groups.number[b]) for a, b, _ in edges if groups.number[a] != groups.number[b]}
    )
    for one in circles:
        assert 0 < int(one.get("cx")) < 600 and 0 < int(one.get("cy")) < 400
    assert len({(one.get("cx"), one.get("cy")) for one in circles}) == len(circles)
    assert to_svg(groups, edges) == to_svg(groups, edges)
