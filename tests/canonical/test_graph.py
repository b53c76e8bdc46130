"""What the adapters share: one key per group, and fields put together."""

from __future__ import annotations

from pboh.canonical.graph import Merged, by_key, facts, joined, united


def test_groups_have_different_keys(linker):
    names, types = ["Zorblax", "Zorblax", "Zorblax (2)"], ["gene", "protein", "river"]
    merged = Merged.of(linker.canonical(names, types=types))
    assert [merged.key(row) for row in range(3)] == ["Zorblax", "Zorblax (2)", "Zorblax (2) (2)"]


def test_facts_are_what_is_known(linker, typed_linker):
    (unknown,) = linker.canonical(["Zorblax"])
    assert facts(unknown) == {"names": ["Zorblax"], "probability": 1.0}
    (known,) = typed_linker.canonical(["FC Bayern Munich"])
    assert facts(known)["description"] == "football club in Munich"
    assert facts(known)["wikipedia"].endswith("/wiki/FC_Bayern_Munich")


def test_fields():
    assert united([["a", "b"], None, ["b", "c"]]) == ["a", "b", "c"]
    assert joined(["x<SEP>y", None, "y<SEP>z", ""], "<SEP>") == "x<SEP>y<SEP>z"
    records = [{"k": 1}, {"k": None}, {"k": 2}, {"k": 1}]
    assert by_key(records, lambda r: r["k"]) == [[{"k": 1}, {"k": 1}], [{"k": 2}]]
