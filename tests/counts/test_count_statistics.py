"""Every statistic against its brute-force twin, and the invariants of the model's distributions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from corpora import Page, random_pages, write_corpus
from twin import Counted, Twin, rows

from pboh.corpus.extract import extract
from pboh.counts import CountOptions, count


@pytest.fixture(params=[1, 2, 3])
def corpus(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", random_pages(request.param, 80))


def agree(corpus: Path, counts: Path, top: int = 64, min_word_count: int = 3) -> None:
    twin, counted = Twin(corpus), Counted(counts)
    totals = json.loads((counts / "counts.json").read_text())["totals"]
    documents, anchors = twin.documents(), twin.anchors()
    n_ep, distinct, marginals = twin.pair_facts()

    assert sorted(counted.title) == list(range(len(twin.title)))
    assert [counted.title[e] for e in sorted(counted.title)] == sorted(twin.title.values())
    occurrences: Counter[str] = Counter()
    for (_, entity), c in anchors.items():
        occurrences[entity] += c
    within = Counter(entity for document in documents for entity in document)
    for title, row in counted.entities.items():
        assert (row["occurrences"], row["documents"]) == (occurrences[title], within[title])
    assert {title: row["marginal"] for title, row in counted.entities.items()} == marginals
    assert [set(d) for d in counted.documents()] == [d for d in documents if d]
    assert counted.names() == twin.names(top)

    assert totals["documents"] == len(documents)
    assert totals["links"] == sum(anchors.values())
    assert totals["incidences"] == sum(map(len, documents))
    assert totals["pairs"] == n_ep == sum(marginals.values())
    assert totals["distinct_pairs"] == distinct

    around = twin.words("context_words")
    assert counted.words("word_entity") == {key: c for key, c in around.items() if c >= min_word_count}
    sums: dict[str, int] = {}
    for (entity, _), c in around.items():
        sums[entity] = sums.get(entity, 0) + c
    assert counted.word_totals() == sums
    assert counted.background == twin.background
    assert totals["word_tokens"] == sum(twin.background.values())


def test_every_statistic_equals_its_twin(corpus: Path, tmp_path: Path) -> None:
    count([corpus], tmp_path / "counts")
    agree(corpus, tmp_path / "counts")


def test_pruning_options(corpus: Path, tmp_path: Path) -> None:
    count([corpus], tmp_path / "counts", CountOptions(top=2, min_word_count=6))
    agree(corpus, tmp_path / "counts", top=2, min_word_count=6)


def test_single_corpus_keeps_its_numbers_and_orders(corpus: Path, tmp_path: Path) -> None:
    """Tables are sorted as documented, and one corpus counted alone keeps its entity and word numbers."""
    count([corpus], tmp_path / "counts")
    same = {row["entity"]: row["title"] for row in rows(corpus / "entities")}
    assert {row["entity"]: row["title"] for row in rows(tmp_path / "counts/entities")} == same
    assert rows(tmp_path / "counts/words") == rows(corpus / "words")
    keys = {
        "entities": ("entity",),
        "names": ("name", "entity", "source"),
        "incidences": ("entity", "document"),
        "word_entity": ("entity", "word"),
        "word_totals": ("entity",),
    }
    for table, columns in keys.items():
        found = [tuple(row[c] for c in columns) for row in rows(tmp_path / "counts" / table)]
        assert found == sorted(found) and len(found) == len(set(found))


def test_distributions_sum_to_one(corpus: Path, tmp_path: Path) -> None:
    """Σ p̃(e,e') = 1 over all ordered pairs (seen and unseen) and Σ_w p̃(w|e) = 1, from the tables alone."""
    count([corpus], tmp_path / "counts", CountOptions(min_word_count=1))
    counted = Counted(tmp_path / "counts")
    totals = json.loads((tmp_path / "counts/counts.json").read_text())["totals"]
    delta = xi = 0.5
    n_ep = totals["pairs"]
    p = {title: row["marginal"] / n_ep for title, row in counted.entities.items()}
    assert sum(p.values()) == pytest.approx(1, abs=1e-9)
    together: dict[tuple[str, str], int] = {}
    for document in counted.documents():
        for a in document:
            for b in document - {a}:
                together[a, b] = together.get((a, b), 0) + 1
    backoff = delta * totals["distinct_pairs"] / n_ep
    total = sum(max(together.get((a, b), 0) - delta, 0) / n_ep + backoff * p[a] * p[b] for a in p for b in p)
    assert total == pytest.approx(1, abs=1e-9)

    tokens = totals["word_tokens"]
    n_we = counted.words("word_entity")
    for entity, z in counted.word_totals().items():
        seen = {w: c for (e, w), c in n_we.items() if e == entity}
        assert sum(seen.values()) == z
        backoff = xi * len(seen) / z
        mass = sum(
            max(seen.get(w, 0) - xi, 0) / z + backoff * c / tokens for w, c in counted.background.items()
        )
        assert mass == pytest.approx(1, abs=1e-9)


def test_names_come_from_every_source(corpus: Path, tmp_path: Path) -> None:
    count([corpus], tmp_path / "all")
    assert {s for _, _, s in Counted(tmp_path / "all").names()} == {
        "anchor",
        "followed",
        "title",
        "redirect",
        "disambiguation",
    }


def test_min_name_count_drops_rare_links_only(tmp_path: Path) -> None:
    pages = [Page("A", links=[("x", "T"), ("X", "T"), ("y", "T"), ("U", "U")])]
    corpus = write_corpus(tmp_path / "corpus", pages)
    count([corpus], tmp_path / "counts", CountOptions(min_name_count=2))
    names = {(name, entity) for name, entity, _ in Counted(tmp_path / "counts").names()}
    assert ("x", "T") in names and ("X", "T") in names  # together two links in lower case
    assert ("y", "T") not in names
    assert ("U", "U") in names  # it is also a title


def test_shares_do_not_change_anything(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting in many small shares gives the same tables as counting at once."""
    monkeypatch.setattr("pboh.counts.pairs.BYTES_PER_INCIDENCE", 1 << 22)
    monkeypatch.setattr("pboh.counts.plan.BYTES_PER_WORD_ROW", 1 << 20)
    count([corpus], tmp_path / "counts", memory=1 << 30)
    assert len(list((tmp_path / "counts/steps/distinct_pairs").iterdir())) > 1
    assert len(list((tmp_path / "counts/sums/word_entity").iterdir())) > 1
    agree(corpus, tmp_path / "counts")


def test_an_empty_corpus_counts_to_nothing(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", [])
    totals = count([corpus], tmp_path / "counts")["totals"]
    assert set(totals.values()) == {0}


def test_real_wikitext_in_the_repository(tmp_path: Path) -> None:
    """The small dump that comes with the tests, extracted and counted, against the twins."""
    extract([Path(__file__).parent.parent / "data" / "world.xml"], tmp_path / "corpus", workers=1)
    count([tmp_path / "corpus"], tmp_path / "counts")
    agree(tmp_path / "corpus", tmp_path / "counts")


@pytest.mark.slow
@pytest.mark.shared
def test_real_pages(real_corpus: Path, tmp_path: Path) -> None:
    """2,020 real pages of Wikipedia against the twins."""
    count([real_corpus], tmp_path / "counts", memory=1 << 30)
    agree(real_corpus, tmp_path / "counts")
