"""Plots are well-formed and stay inside their frames."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from pboh.evaluation import svg
from pboh.evaluation.breakdowns import Bin, Calibration

charts = svg.assets().get_template("charts.svg").module


@pytest.mark.parametrize(
    "picture",
    [
        charts.grouped_bars(
            ["a<b", "c" * 99], [svg.Series("s&t", [0.5, None], [(0.4, 0.6), None])], [0.7, None], "l", "m"
        ),
        charts.bin_bars([Bin("0", 3, 0.0, 0.0, 0.6), Bin("1,000+", 30_000, 1.0, 0.9, 1.0)], "<c>", "l"),
        charts.bin_bars([], "c", "l"),
        charts.calibration_plot(Calibration(((0.1, 0.2, 3), (0.9, 0.8, 30)), 0.1)),
        charts.calibration_plot(Calibration((), 0.0)),
        charts.histogram({1: 0, 2: 5}, "c", "l"),
        charts.histogram({}, "c", "l"),
        charts.effect_plot([svg.Effect("1", 0.0, 0.0, 0.0), svg.Effect("<2>", -1.5, -3.0, 0.2)], "1", "l"),
    ],
)
def test_pictures_are_well_formed_and_inside_their_frame(picture: str) -> None:
    root = ElementTree.fromstring(picture)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for node in root.iter("rect"):
        x, y, w, h = (float(node.attrib[name]) for name in ("x", "y", "width", "height"))
        assert x >= 0 and x + w <= width and y >= 0 and y + h <= height
        assert node.find("title") is not None
