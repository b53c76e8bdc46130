"""REL's rows: the shape its clients expect, with given spans and without."""

import pytest
from served import TEXT, spans_of


@pytest.mark.parametrize("path", ["/", "/rel"])
def test_rel_with_spans(client, linker, path):
    spans = [[start, end - start] for start, end in spans_of()]
    rows = client.post(path, json={"text": TEXT, "spans": spans}).json()
    expected = linker.disambiguate(TEXT, spans_of())
    assert [row[:4] for row in rows] == [
        [m.start, m.end - m.start, m.text, m.entity.title.replace(" ", "_")] for m in expected if m.entity
    ]
    assert all(len(row) == 7 and 0 <= row[4] <= 1 for row in rows)


def test_rel_without_spans_links_everything(client, linker):
    rows = client.post("/rel", json={"text": TEXT, "spans": [], "tagger": "ner-fast"}).json()
    assert [row[0] for row in rows] == [m.start for m in linker.link(TEXT) if m.entity]


def test_rel_has_tags_and_takes_types(client, linker):
    rows = client.post("/rel", json={"text": TEXT}).json()
    tags = {"person": "PER", "organisation": "ORG", "place": "LOC", "unknown": "NULL"}
    assert [row[6] for row in rows] == [tags.get(m.entity.type, "MISC") for m in linker.link(TEXT)]
    assert {"ORG", "NULL"} <= {row[6] for row in rows}
    rows = client.post("/rel", json={"text": TEXT, "types": ["organisation"]}).json()
    assert rows and {row[6] for row in rows} == {"ORG"}
    wrong = client.post("/rel", json={"text": TEXT, "types": ["ORG"]})
    assert wrong.status_code == 422 and "'ORG' is not a type" in wrong.json()["error"]
    every = client.post("/rel", json={"text": TEXT, "find": "all"}).json()
    assert [row[0] for row in every] == [m.start for m in linker.link(TEXT, mentions="all") if m.entity]


@pytest.mark.parametrize("spans", [[[0]], [[0, 1, 2]], [["0", 1]], [[0, 999]], [[-1, 2]], [[0, 0]], "x", [5]])
def test_rel_refuses_spans_that_make_no_sense(client, spans):
    response = client.post("/rel", json={"text": TEXT, "spans": spans})
    assert response.status_code == 422 and response.json()["error"].endswith(".")
