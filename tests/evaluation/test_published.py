"""The paper's figures are those of the paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pboh.evaluation import published


def test_names() -> None:
    assert published.paper_name("kore50-nif") == "KORE50"
    assert published.paper_name("dbpedia-spotlight-nif") == "DBpediaSpotlight"
    assert published.paper_name("AIDA-YAGO2-dataset#testb") == "AIDA/CoNLL-Test B"
    assert published.paper_name("AIDA-YAGO2-dataset") == "AIDA/CoNLL-Complete"
    assert published.paper_name("Reuters-128") == "N3-Reuters-128"
    assert published.paper_name("msnbc", cleaned=True) == "new MSNBC"
    assert published.paper_name("ACE04") == "ACE2004"
    assert published.paper_name("validation#150:1000") is None


def test_shape() -> None:
    assert len(published.GERBIL) == 11
    assert published.GERBIL["PBoH"]["N3-RSS-500"] == (71.24, 78.33)
    assert published.GERBIL["TagMe 2"]["ACE2004"] == (81.93, 89.09)
    known = {*published.GERBIL["PBoH"], *published.CLEANED["PBoH"]}
    assert {*published.PROPAGATION, *published.STATISTICS, *published.GRAPH} <= known


@pytest.mark.shared
def test_every_figure_is_the_papers(shared: Path) -> None:
    tex = (shared / "paper" / "pboh.tex").read_text()
    bodies = re.findall(r"\\begin\{table.*?\\label\{(.*?)\}", tex, re.DOTALL)
    starts = re.split(r"\\begin\{table\*?\}", tex)[1:]
    tables = dict(zip(bodies, starts, strict=True))

    def row(label: str, system: str) -> list[float]:
        name = re.compile(rf"(?<!\w){re.escape(system)}\s*\}}?\s*&(.*)", re.DOTALL)
        found = next(filter(None, map(name.search, tables[label].split("\\\\"))))
        return [float(figure) for figure in re.findall(r"\d+\.\d+", found[1].replace("0.6cm", ""))]

    for system, figures in published.GERBIL.items():
        assert row("gerbil", system) == [x for pair in figures.values() for x in pair]
    for label, table in (("AIDA:results", published.AIDA), ("ACE:results", published.CLEANED)):
        for system, figures in table.items():
            wanted = [x for pair in figures.values() for x in pair if x is not None]
            assert row(label, system.replace("&", r"\&")) == wanted
    names = ("LocalMention", "Unnorm", "Rescaled", "LocalContext", "PBoH")
    for system in names:
        assert row("Ta:incremental", system) == [
            x for p in published.ABLATION[system.lower()].values() for x in p
        ]
    for system, column in (("PBoH", 1), ("REL-RW", 2), ("mentions per doc", 0)):
        assert row("guo", system) == [figures[column] for figures in published.GRAPH.values()]
