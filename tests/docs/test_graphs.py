"""The graphs on the pages are those that the pages draw."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ET

import pytest
from doc_blocks import ROOT

from pboh.model.derived import STARTER

SVG = "{http://www.w3.org/2000/svg}"


def make_graphs():
    spec = importlib.util.spec_from_file_location("make_graphs", ROOT / "docs" / "make_graphs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(picture):
    """Labels, names and kinds of edges; places may differ by what another machine rounds otherwise."""
    root = ET.fromstring(picture)
    return [one.text for one in root.iter() if one.tag in (f"{SVG}text", f"{SVG}title")]


@pytest.mark.slow
@pytest.mark.skipif(not (STARTER / "model.json").is_file(), reason="this checkout has no starter model")
@pytest.mark.parametrize("page", make_graphs().PAGES)
def test_pictures_are_up_to_date(page):
    committed = (ROOT / "docs" / "images" / f"{page}.svg").read_text("utf-8")
    assert shown(committed) == shown(make_graphs().drawn(page)), "run python docs/make_outputs.py"
    assert len(committed) < 20_000
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text("utf-8")
    assert re.search(rf"!\[[^]]+\]\(\.\./images/{page}\.svg\)", text)
