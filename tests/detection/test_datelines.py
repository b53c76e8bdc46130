"""Datelines are told from headlines, and their places are resolved as places."""

from __future__ import annotations

import pytest

from pboh.detection.datelines import datelines
from pboh.linker import load


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("MILAN - Juventus won.", ["MILAN"]),
        ("BUENOS AIRES, March 3 (Reuters) - Argentina", ["BUENOS AIRES"]),
        ("SARAJEVO, Bosnia (AP) -- Troops", ["SARAJEVO, Bosnia"]),
        ("Results\nLONDON 2003-11-08\nArsenal 2", ["LONDON"]),
        ("CAPE CANAVERAL, Fla. (UPI) - Space", ["CAPE CANAVERAL, Fla."]),
        ("SÃO PAULO — Santos", ["SÃO PAULO"]),
        ("Milan - Juventus 1-2", []),
        ("MILAN BEAT JUVENTUS", []),
        ("He wrote from LONDON - again.", []),
        ("", []),
    ],
)
def test_places_of_datelines(text, places):
    assert [text[a:b] for a, b in datelines(text)] == places


def test_a_dateline_is_a_place_whatever_the_report_is_about():
    report = "Juventus moved to the top of Serie A on Sunday with a 3-1 win over Udinese."
    document = load().link(f"MILAN - {report}")
    assert str(document.mentions[0].entity) == "Milan"
    assert [m.start for m in document] == sorted({m.start for m in document})
    assert [m.explain() is not None for m in document] == [True] * len(document)
    assert [(m.text, m.entity) for m in document.mentions[1:]] == [
        (m.text, m.entity) for m in load().link(report)
    ]
