"""Name forms, names derived from titles, and the layered table they end up in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.model.names import FEW, Layer, NameCollector, derived_names, strip_title
from pboh.text.folding import fold, squeeze
from pboh.text.hashing import hash_strings, look_up


@pytest.mark.parametrize(
    ("name", "folded"),
    [
        ("Müller", "muller"),
        ("U.S.", "us"),
        ("The Beatles", "beatles"),
        ("The", "the"),
        ("AT&T", "at and t"),
        ("Jean-Luc  Godard", "jean luc godard"),
        ("Łódź", "lodz"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("Ελλάς", "ελλασ"),
        ("?", "?"),  # nothing left: stays itself
    ],
)
def test_folding(name, folded):
    assert fold(name) == folded


@given(st.text(max_size=20))
def test_folding_is_stable_and_never_fails(name):
    assert squeeze(fold(name)) == fold(name)


def test_titles_lose_their_qualifier():
    assert strip_title("Paris (mythology)") == "Paris"
    assert strip_title("Paris, Texas") == "Paris"
    assert strip_title("Paris") == "Paris"


def test_names_derived_from_titles():
    names = set(derived_names("Bill Clinton"))
    assert {(Layer.LAST, "Clinton"), (Layer.FIRST, "Bill"), (Layer.ACRONYM, "BC")} <= names
    assert (Layer.LAST, "King") in derived_names("Martin Luther King Jr.")
    assert (Layer.PREFIX, "Real Madrid") in derived_names("Real Madrid C.F.")
    assert derived_names("Tree") == []
    assert not any(layer == Layer.LAST for layer, _ in derived_names("List of sovereign states"))


def table(cap=64):
    collector = NameCollector()
    names = ["Apple", "apple", "Apple", "apple"]
    collector.add_anchors(names, np.asarray([1, 0, 0, 1]), np.asarray([10, 5, 2, 1]))
    collector.add_titles(["Apple (fruit)", "Apple Inc."], np.asarray([0, 1]))
    return collector.table(np.asarray([7, 11]), cap)


def entries(arrays, name):
    at = int(look_up(arrays["name_hash"], arrays["name_buckets"], [name])[0])
    rows = slice(arrays["name_offsets"][at], arrays["name_offsets"][at + 1]) if at >= 0 else slice(0, 0)
    columns = (arrays[c][rows].tolist() for c in ("name_layer", "name_entity", "name_count"))
    return list(zip(*columns, strict=True))


def test_case_variants_are_kept_apart_and_summed():
    arrays = table()
    assert entries(arrays, "Apple") == [(Layer.CASED, 1, 10), (Layer.CASED, 0, 2)]
    lower = [e for e in entries(arrays, "apple") if e[0] == Layer.LOWER]
    assert lower == [(Layer.LOWER, 1, 11), (Layer.LOWER, 0, 7)]
    assert (Layer.STRIPPED, 0, 1) in entries(arrays, "apple")
    assert entries(arrays, "unknown") == []


def test_factors_say_how_much_oftener_a_word_follows_the_links_of_an_entity():
    """p(followed|m,e) / p(followed|m), with a few links more that are followed as often as all are."""
    links = {("French", 0): (80, 8), ("french", 0): (20, 2), ("French", 1): (60, 45), ("Paris", 2): (9, 3)}
    collector = NameCollector()
    names, entities = [name for name, _ in links], np.asarray([entity for _, entity in links])
    counts, followed = np.asarray([*links.values()]).T
    collector.add_anchors(names, entities, counts)
    for column, whole in ((counts, True), (followed, False)):
        collector.add_followed(names, entities, column, links=whole)
    arrays = collector.table(np.zeros(3), 64)
    share = (10 + 45) / 160
    expected = {0: (10 + FEW * share) / (100 + FEW) / share, 1: (45 + FEW * share) / (60 + FEW) / share}
    found = [row for row in entries(arrays, "french") if row[0] > Layer.FOLDED]
    assert {e: factor for _, e, factor in found} == pytest.approx(expected)
    assert {layer for layer, *_ in found} == {Layer.FOLLOWED}
    assert not [row for row in entries(arrays, "paris") if row[0] == Layer.FOLLOWED]  # it means one thing


def test_only_the_best_entities_of_a_name_are_kept():
    assert entries(table(cap=1), "Apple") == [(Layer.CASED, 1, 10)]


def test_table_does_not_depend_on_the_order_of_its_input():
    rng = np.random.default_rng(1)
    names = [f"n{i}" for i in rng.integers(0, 20, 200)]
    entities, counts = rng.integers(0, 30, 200), rng.integers(1, 9, 200)
    tables = []
    for order in (np.arange(200), rng.permutation(200)):
        collector = NameCollector()
        collector.add_anchors([names[i] for i in order], entities[order], counts[order])
        tables.append(collector.table(np.zeros(30), 5))
    assert all(np.array_equal(tables[0][k], tables[1][k]) for k in tables[0])
    assert np.array_equal(tables[0]["name_hash"], np.unique(hash_strings(names)))
