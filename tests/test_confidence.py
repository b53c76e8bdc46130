"""One honest confidence: every way out says the same number, and the alternatives add up to one."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest
from rich.console import Console
from starlette.testclient import TestClient
from typer.testing import CliRunner

from pboh.cli import app
from pboh.cli.link import LEAST_SHOWN, _table
from pboh.evaluation.breakdowns import calibration
from pboh.evaluation.datasets import read_dataset
from pboh.formats.html import to_html
from pboh.formats.nif import to_nif
from pboh.inference.reliability import Reliability
from pboh.linker import load
from pboh.service.app import create_app
from pboh.service.bounded import BoundedLinker
from pboh.service.options import Limits

TEXT = "Ray Charles sang about Georgia. Georgia borders Armenia, and Xqzzyvw is unknown."
SPANS = [(0, 11), (23, 30), (32, 39), (48, 55), (61, 68)]


@pytest.fixture(scope="module")
def starter():
    return load()


def test_candidates_and_unknown_add_up_to_one(starter):
    document = starter.disambiguate(TEXT, SPANS)
    for mention in (*document, *starter.link(TEXT, threshold=0.0)):
        assert sum(c.probability for c in mention.candidates) + mention.nil == pytest.approx(1)
        if mention.entity is not None:
            (answer,) = (c for c in mention.candidates if c.entity == mention.entity)
            assert answer.probability == mention.probability
            assert 0 < mention.nil < 1 - mention.probability + 1e-9
    assert (document.mentions[-1].candidates, document.mentions[-1].nil) == ((), 1.0)


def test_a_model_without_calibration_knows_of_nothing_unknown(starter):
    for mention in starter.with_settings(tau=0.9).disambiguate(TEXT, SPANS[:-1]):
        assert mention.nil == 0
        assert sum(c.probability for c in mention.candidates) == pytest.approx(1)


def test_a_clamped_mention_is_certain(starter):
    mention = starter.disambiguate(TEXT, [(23, 30, "Georgia (country)")]).mentions[0]
    assert (mention.probability, mention.nil, len(mention.candidates)) == (1, 0, 1)


def test_others_share_the_rest_in_proportion_to_their_marginals():
    marginals = np.asarray([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    shared = Reliability({}, others=0.5).shared_out(
        marginals, np.asarray([0, 0, -1]), np.asarray([0.6, 0.9, 0.0])
    )
    assert shared == pytest.approx(np.asarray([[0.6, 0.12, 0.08], [0.9, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert marginals[0, 0] == 0.5, "what it was given stays"


@pytest.mark.slow
@pytest.mark.shared
def test_probabilities_mean_what_they_say_on_unseen_pages(starter, shared):
    """Of answers, of all candidates, and of "not in the knowledge base".

    It was fitted on pages set aside from the dump. More names of these pages are known, so it is
    a little less sure than it could be.
    """
    said: dict[str, list[tuple[float, bool]]] = {"answers": [], "candidates": [], "nil": []}
    for document in read_dataset(f"{shared}/corpus/validation.jsonl.gz#150:300"):
        spans = [(gold.start, gold.end) for gold in document.linked]
        found = starter.disambiguate(document.text, spans, overlapping=True)
        for mention, gold in zip(found, document.linked, strict=True):
            known = {entity.index for title in gold.golds if (entity := starter.entity(title))}
            right = [c.entity.index in known for c in mention.candidates]
            if mention.entity is not None:
                said["answers"].append((mention.probability, mention.entity.index in known))
            if right:
                said["candidates"] += zip((c.probability for c in mention.candidates), right, strict=True)
                said["nil"].append((mention.nil, not any(right)))
    for name, pairs in said.items():
        probability, right = zip(*pairs, strict=True)
        error = calibration(np.asarray(probability), np.asarray(right, bool)).error
        assert error < (0.05 if name == "nil" else 0.03), f"{name}: {error:.4f}"


# -- every way out ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def linked(starter):
    return starter.link(TEXT).mentions


def run(*arguments):
    outcome = CliRunner().invoke(app, ["link", TEXT, *arguments])
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def numbers(mention):
    return mention.probability, mention.nil, mention.detection


def test_json_and_the_service(linked, starter_client):
    for document in (
        json.loads(run("--format", "json")),
        starter_client("/v1/link"),
        starter_client("/v1/graph"),
    ):
        assert [(m["probability"], m["nil"], m["detection"]) for m in document["mentions"]] == [
            pytest.approx(numbers(m)) for m in linked
        ]
        for row, mention in zip(document["mentions"], linked, strict=True):
            shown = {c["entity"]: c["probability"] for c in row["candidates"]}
            assert shown == pytest.approx({c.entity.title: c.probability for c in mention.candidates})


@pytest.fixture
def starter_client(starter):
    """Asks the service about the text."""
    bounded = BoundedLinker(lambda: starter, Limits())
    bounded.load()
    with TestClient(create_app(bounded)) as client:
        yield lambda address: client.post(address, json={"text": TEXT}).json()


def test_columns(linked):
    rows = [line.split("\t") for line in run().splitlines()[1:]]
    assert [row[2:4] for row in rows] == [[f"{m.probability:.3f}", f"{m.detection:.3f}"] for m in linked]


def test_the_table_on_a_terminal(linked, starter):
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(_table(starter.link(TEXT)))
    rows = [line for line in console.export_text().splitlines() if "%" in line]
    assert len(rows) == len(linked)
    for row, mention in zip(rows, linked, strict=True):
        shares = {c.probability for c in mention.candidates if c.entity != mention.entity} | {mention.nil}
        others = [f"{p:.0%}" for p in sorted(shares, reverse=True)[:2] if p >= LEAST_SHOWN]
        shown = [f"{mention.probability:.0%}", *others, f"{mention.detection:.0%}"]
        assert re.findall(r"\d+%", row) == shown


def test_pages_notebooks_and_nif(linked, starter):
    document = starter.link(TEXT)
    page, nif = to_html(document), to_nif(document)
    for mention in linked:
        for shown in (page, document._repr_html_(), mention._repr_html_()):
            assert f"{mention.probability:.0%} sure, worth a link: {mention.detection:.0%}" in shown
            assert f"{mention.nil:.1%}" in shown
        assert f'itsrdf:taConfidence "{mention.probability:.6f}"' in nif


def test_spacy(linked):
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("pboh", config={"candidates": 2})
    assert [numbers(ent._.pboh) for ent in pipeline(TEXT).ents] == [pytest.approx(numbers(m)) for m in linked]
