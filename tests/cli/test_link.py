"""``pboh link``, ``calibrate`` and ``prune`` as a user types them, and the pages they write."""

from __future__ import annotations

import io
import json
import re
import shutil
from html.parser import HTMLParser

import pytest
import rdflib
from rich.console import Console
from typer.testing import CliRunner

import pboh.cli.link
import pboh.cli.model
import pboh.cli.tune
from pboh.cli import app
from pboh.document import Document, Entity, Mention
from pboh.errors import InputError, ModelError
from pboh.evaluation.datasets import read_dataset
from pboh.formats.html import to_html
from pboh.formats.nif import to_nif

TEXT = 'Müller <b>scored</b> & "won" for Bayern\nagainst Dortmund.'


def run(*arguments, **options):
    outcome = CliRunner().invoke(app, [str(a) for a in arguments], **options)
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return outcome


def test_a_table_of_plain_columns(world_model):
    lines = run("link", TEXT, "--model", world_model).stdout.splitlines()
    assert lines[0].split("\t") == [
        "start", "end", "probability", "detection", "mention", "entity", "id", "type", "description"
    ]  # fmt: skip
    assert "FC Bayern Munich" in {line.split("\t")[5] for line in lines[1:]}


def test_entities_say_what_they_are(typed_model, typed_linker):
    text = "Müller scored for Bayern against Dortmund. Paris watched."
    lines = run("link", text, "--model", typed_model, "--types", "place, organisation").stdout.splitlines()
    rows = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:]]
    assert {row["type"] for row in rows} <= {"place", "organisation"}
    [paris] = [row for row in rows if row["mention"] == "Paris"]
    assert (paris["entity"], paris["id"], paris["description"]) == ("Paris", "Q90", "capital of France")
    shown = Console(width=200, file=io.StringIO(), force_terminal=False)
    shown.print(pboh.cli.link._table(typed_linker.link(text)))
    assert "which is" in shown.file.getvalue() and "football club in Munich" in shown.file.getvalue()
    graph = rdflib.Graph().parse(
        data=run("link", text, "-m", typed_model, "-f", "nif").stdout, format="turtle"
    )
    classes = graph.objects(None, rdflib.URIRef("http://www.w3.org/2005/11/its/rdf#taClassRef"))
    assert rdflib.URIRef("http://dbpedia.org/ontology/Organisation") in set(classes)


def test_types_are_checked(world_model, typed_model):
    with pytest.raises(InputError, match=r"'city' is not a type of entities\. There are unknown, person"):
        run("link", TEXT, "--model", typed_model, "--types", "city")
    with pytest.raises(InputError, match="does not know the types of its entities"):
        run("link", TEXT, "--model", world_model, "--types", "place")


def test_text_comes_from_an_argument_a_file_or_standard_input(world_model, tmp_path):
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    shown = run("link", TEXT, "--model", world_model).stdout
    assert run("link", tmp_path / "a.txt", "--model", world_model).stdout == shown
    assert run("link", "-", "--model", world_model, input=TEXT).stdout == shown
    assert run("link", "--model", world_model, input=TEXT).stdout == shown
    with pytest.raises(InputError, match="no such file"):
        run("link", tmp_path / "b.txt", "--model", world_model)


def test_a_text_may_be_long_or_empty(world_model):
    assert run("link", "x" * 5000, "--model", world_model).exit_code == 0
    assert run("link", "-", "--model", world_model, input="").exit_code == 0


def test_json_has_mentions_with_candidates(world_model):
    document = json.loads(run("link", TEXT, "--model", world_model, "--format", "json").stdout)
    mention = next(m for m in document["mentions"] if m["text"] == "Bayern")
    assert mention["entity"] == "FC Bayern Munich"
    assert mention["candidates"]


def test_without_a_model_the_starter_is_wanted(monkeypatch, tmp_path):
    monkeypatch.setattr("pboh.model.derived.STARTER", tmp_path / "none")
    with pytest.raises(ModelError, match="starter"):
        run("link", "Paris")


def test_a_threshold_of_one_keeps_nothing(world_model):
    assert len(run("link", TEXT, "--model", world_model, "--threshold", "1").stdout.splitlines()) == 1


class Visible(HTMLParser):
    """Collects what a reader sees of the text, without what appears on hover."""

    def __init__(self):
        super().__init__()
        self.depth, self.hidden, self.inside, self.text = 0, None, False, ""
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.inside |= values.get("class") == "text"
        if tag in ("span", "div"):
            self.depth += 1
            if values.get("class") == "why":
                self.hidden = self.depth
        self.addresses += [values[k] for k in ("href", "src") if k in values]

    def handle_endtag(self, tag):
        if tag in ("span", "div"):
            if self.hidden == self.depth:
                self.hidden = None
            self.depth -= 1

    def handle_data(self, data):
        if self.inside and self.hidden is None:
            self.text += data


def test_the_page_shows_the_text_and_loads_nothing(linker):
    page = to_html(linker.link(TEXT), title="<script>")
    reader = Visible()
    reader.feed(page)
    assert reader.text.strip() == TEXT
    assert "<script" not in page
    assert "FC Bayern Munich" in page
    assert "words around" in page or "seen with" in page
    assert all(a.startswith("https://en.wikipedia.org/wiki/") for a in reader.addresses)
    assert not re.search(r"url\(|@import", page)


def test_pages_of_odd_documents():
    assert "0</b> mentions" in to_html(Document("", []))
    odd = Document(
        "a\ud800b", [Mention(0, 1, "a", Entity('"<&', 0)), Mention(0, 2, "a\ud800"), Mention(2, 3, "b")]
    )
    page = to_html(odd)
    page.encode()
    assert "&#34;&lt;&amp;" in page
    assert "no candidate" in page


def test_nif_is_read_back(linker, tmp_path):
    document = linker.link(TEXT + " 🙂 \\ Tbilisi")
    (tmp_path / "a.ttl").write_text(to_nif(document), encoding="utf-8")
    [read] = read_dataset(f"nif:{tmp_path / 'a.ttl'}").documents
    assert read.text == document.text
    assert [(m.start, m.end) for m in read.mentions] == [(m.start, m.end) for m in document]
    assert [m.gold for m in read.mentions] == [m.entity.title for m in document]


def test_files_are_written_whole(world_model, tmp_path):
    out = tmp_path / "page.html"
    run("link", TEXT, "--model", world_model, "--format", "html", "--out", out)
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


def test_prune_and_calibrate(world_model, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small, figures = tmp_path / "small", tmp_path / "figures.json"
    assert (
        run("prune", "--model", world_model, "--out", small, "--megabytes", "1", "--json", figures).exit_code
        == 0
    )
    assert json.loads(figures.read_text())["megabytes"] < 1
    text = "Zidane met Beckenbauer in Paris. Reus met Zidane."
    lines = []
    for k in range(9):
        title = "Zinedine Zidane" if k % 3 else "Tbilisi"
        mentions = [
            {"start": 0, "end": 6, "gold": title},
            {"start": 11, "end": 22, "gold": "Franz Beckenbauer"},
        ]
        lines.append(json.dumps({"id": str(k), "text": text + " " * k, "mentions": mentions}))
    (tmp_path / "gold.jsonl").write_text("\n".join(lines))
    fitted = tmp_path / "fitted.json"
    model = shutil.copytree(small, tmp_path / "copy")
    run("calibrate", "--model", model, "--validation", tmp_path / "gold.jsonl", "--json", fitted)
    assert set(json.loads(fitted.read_text())) == {"calibration", "detection"}
    info = json.loads((model / "model.json").read_text())
    assert info["calibration"]["weights"]
    assert info["settings"]["threshold"] > 0
