"""The report is one self-contained, well-formed, escaped file."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pboh.errors import OutputError
from pboh.evaluation.datasets import Dataset
from pboh.evaluation.report import render_report, write_report
from pboh.evaluation.runner import evaluate
from pboh.evaluation.svg import assets
from pboh.evaluation.tables import Table

VOID = {"meta", "input", "br", "link", "img"}


class Balanced(HTMLParser):
    """Fails on a tag that is closed but not open, and remembers addresses and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href"}]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def embedded(page: str) -> dict:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match
    return json.loads(match[1])


@pytest.fixture
def evaluation(linker, small):
    named = Dataset("<img src=x onerror=alert(1)>", small.documents[:2])
    return evaluate(
        linker, [small, named], ["localmention", "pboh"], name="model <&>", errors=True, explain=9
    )


def test_one_self_contained_well_formed_file(evaluation, tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", evaluation, evaluation)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert all(address.startswith("#") and address[1:] in parser.ids for address in parser.addresses)
    assert len(parser.ids) == len(set(parser.ids))
    assert not re.search(
        r"@import|url\(|https?://(?!www\.w3\.org)", page.split('id="data"')[0].split("</style>")[0]
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]


def test_everything_is_escaped(evaluation) -> None:
    page = render_report(evaluation)
    for markup in ("<script>alert", "<img", "model <&>", '<b>"', "Texas & <co>"):
        assert markup not in page
    assert "&lt;img src=x" in page
    data = embedded(page)
    assert data["datasets"][1] == "<img src=x onerror=alert(1)>"
    assert data["errors"][0][1] == "one <b>"
    assert "<script>alert(1)</script>" in data["errors"][0][4]


def test_contents(evaluation) -> None:
    page = render_report(evaluation)
    assert "61.70 / 55.83" in page  # the paper's PBoH on KORE50 beside ours
    assert "TagMe 2" in page and "ours: PBoH" in page
    assert "NIL golds are dropped" in page
    for title in ("by ambiguity", "by popularity", "by n", "Calibration", "Rounds to convergence"):
        assert title in page
    assert "Two models" not in page
    data = embedded(page)
    assert len(data["errors"]) == 6
    right, wrong = data["errors"][0][-2:]
    assert (right["title"], wrong["title"]) == ("Paris Hilton", "Paris")


def test_one_system_without_errors_on_an_unknown_dataset(linker, small) -> None:
    page = render_report(evaluate(linker, [Dataset("mine", small.documents)], ["localmention"]))
    assert "The paper has no table with mine." in page
    assert "Components" not in page
    assert embedded(page)["errors"] == []


def test_only_nil_mentions(linker, small) -> None:
    page = render_report(evaluate(linker, [Dataset("empty", small.documents[2:])], ["pboh"]))
    assert "Where it is right" not in page


def test_unwritable(evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OutputError, match="no space"):
        write_report(tmp_path / "report.html", evaluation)
    assert list(tmp_path.iterdir()) == []


def test_tables_stress_and_escape() -> None:
    table = Table("t", ["Dataset", "x"], [["a<b", "1"], ["c", "2"]], note="n", ours={1}, strong={(0, 1)})
    shown = assets().get_template("parts.html").module.table(table)
    assert "a&lt;b" in shown and "<b>1</b>" in shown and 'class="ours new"' in shown and "class=n" in shown
