"""Small models: what is packed comes out again, and answers stay what they were where they can."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.errors import InputError, ModelError, OutputError
from pboh.files.writing import folder_size
from pboh.inference.settings import DEFAULT, Settings
from pboh.linker import Linker, load
from pboh.model import store
from pboh.model.names import Layer, strip_title
from pboh.model.small.columns import differences, exponentials, logarithms, sums
from pboh.model.small.compressed import FINDER, pack, title_forms, unpack
from pboh.model.small.prune import PruneOptions, _smaller_filter, prune, prune_to
from pboh.text.folding import fold
from pboh.text.hashing import hash_strings

TEXT = "Müller scored twice for Bayern against Dortmund, and Paris Saint-Germain watched in Tbilisi, Georgia."


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def small(linker, tmp_path) -> Path:
    prune_to(linker.model, linker.settings.record(), tmp_path / "small", 1.0)
    return tmp_path / "small"


def test_a_small_model_answers_like_the_large_one(linker, small):
    shrunk = load(small)
    assert folder_size(small) < folder_size(linker.model.folder) / 4
    large, little = linker.link(TEXT), shrunk.link(TEXT)
    assert {m.text: m.entity.title for m in little} == {m.text: m.entity.title for m in large}
    for one, other in zip(large, little, strict=True):
        prior = {c.entity.title: c.prior for c in other.candidates}
        assert all(prior[c.entity.title] == pytest.approx(c.prior, abs=0.02) for c in one.candidates[:3])
    assert shrunk.model.entities == linker.model.entities
    assert [shrunk.model.title(e) for e in range(20)] == [linker.model.title(e) for e in range(20)]
    for title in ("Apple_Inc.", "Air Jordan", "gerd muller"):
        assert shrunk.resolve(title) == linker.resolve(title)


def test_a_parcel_is_unpacked_once_and_mapped_afterwards(small, tmp_path, monkeypatch):
    first = store.open_model(small)
    monkeypatch.setattr("pboh.model.small.compressed.unpack", lambda *_: pytest.fail("unpacked again"))
    again = store.open_model(small)
    assert again.folder == first.folder == small
    assert [d.name for d in (tmp_path / "cache/pboh/models").iterdir()]
    for name, array in first.arrays.items():
        assert np.array_equal(array, again[name]), name


def test_without_a_place_to_write_it_stays_in_memory(small, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load(small).link(TEXT).mentions


def test_damage_is_noticed(small):
    store.verify(small)
    path = small / "postings.zst"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pytest.raises(ModelError, match="altered"):
        store.verify(small)
    path.unlink()
    for cached in (small.parent / "cache").rglob("model.json"):
        cached.unlink()
    with pytest.raises(ModelError, match="is missing"):
        store.open_model(small)


def test_it_says_what_it_is_and_keeps_no_folders(small):
    info = json.loads((small / "model.json").read_text())
    assert "CC BY-SA" in info["licence"]
    assert "pboh train" in info["note"]
    assert "folder" not in json.dumps(info["corpus"])
    assert info["options"]["prune"]["context_rows"] > 0


def rows_of(arrays, key):
    rows = slice(*arrays["name_offsets"][key : key + 2].tolist())
    cased = (arrays["name_layer"][rows] == Layer.CASED).tolist()
    who = zip(arrays["name_entity"][rows].tolist(), cased, strict=True)
    return dict(zip(who, arrays["name_count"][rows].tolist(), strict=True))


VECTORS = ("vector_entity", "vector_word", "vector_word_scale")


def cosines(some, others):
    """Cosine of every row with the other's."""
    length = np.linalg.norm(some, axis=1) * np.linalg.norm(others, axis=1)
    return (some * others).sum(1) / np.maximum(length, 1e-9)


def test_what_is_packed_comes_out_again(linker, tmp_path):
    rng = np.random.default_rng(0)
    finder = {name: rng.integers(0, 256, 800, np.uint8) for name in FINDER}
    shaped = {name: finder[name].view(kind).reshape(-1, *row) for name, (kind, _, row) in FINDER.items()}
    shaped["finder_told"] = np.asarray([True])
    model = replace(linker.model, arrays={**linker.model.arrays, **shaped})
    arrays, settings = prune(model, linker.settings.layers, PruneOptions())
    (tmp_path / "columns").mkdir()
    columns = pack(model, arrays, tmp_path / "columns")
    out = unpack(tmp_path / "columns", {"parcel": columns})
    assert set(store.ARRAYS) <= set(out)
    for key in range(len(arrays["name_offsets"]) - 1):  # values that are nearly equal may change places
        assert rows_of(out, key) == pytest.approx(rows_of(arrays, key), rel=0.06)
    for name, array in arrays.items():
        assert out[name].dtype == array.dtype, name
        if name == "word_background":
            assert out[name] == pytest.approx(array, rel=0.06), name
        elif name not in ("name_layer", "name_entity", "name_count", *VECTORS):
            assert np.array_equal(out[name], array, equal_nan=array.dtype.kind == "f"), name
    assert np.array_equal(out["vector_word_number"], arrays["vector_word_number"])
    for name in ("vector_entity", "vector_word"):
        assert np.array_equal(out[name].any(1), arrays[name].any(1))
        alike = cosines(out[name].astype(float), arrays[name].astype(float))
        assert alike[arrays[name].any(1)].mean() > 0.7  # a byte for eight numbers, of a book of a few pages
    lengths = [
        np.linalg.norm(a["vector_word"] * a["vector_word_scale"][:, None], axis=1) for a in (out, arrays)
    ]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.06)
    without = {name: array for name, array in out.items() if name not in FINDER}
    shrunk = store.Model(model.folder, {**model.info, "settings": settings}, without)
    document = Linker(shrunk, Settings.stored(shrunk.info)).link(TEXT)
    assert {m.text for m in document} >= {"Bayern", "Dortmund"}


def test_what_is_looked_at_together_changes_nothing(linker, monkeypatch):
    """Names and words a few rows at a time, and the best of the words so far instead of all."""
    options = PruneOptions(context_rows=500)
    expected, _ = prune(linker.model, linker.settings.layers, options)
    monkeypatch.setattr("pboh.model.small.prune.ROWS_AT_A_TIME", 100)
    found, _ = prune(linker.model, linker.settings.layers, options)
    assert set(found) == set(expected)
    for name, array in expected.items():
        assert found[name].dtype == array.dtype, name
        assert np.array_equal(found[name], array, equal_nan=array.dtype.kind == "f"), name


def test_types_stay_and_descriptions_of_what_is_linked_most(typed_linker, tmp_path):
    model = typed_linker.model
    settings = typed_linker.settings.record()

    def pruned(name: str, **options: float):
        prune_to(model, settings, tmp_path / name, 1.0, **options)
        return store.open_model(tmp_path / name)

    small = pruned("all")
    described = []
    for e in range(model.entities):
        assert small.facts(e)[::2] == model.facts(e)[::2]  # type and description
        assert abs(int(small["entity_type_sure"][e]) - int(model["entity_type_sure"][e])) <= 16
        described += [e] * bool(model.facts(e).description)
    assert pruned("none", descriptions=0).facts(described[0]).description is None
    few = pruned("few", descriptions=6e-5)
    kept = [e for e in described if few.facts(e).description]
    assert 0 < len(kept) < len(described)
    assert min(map(model.links, kept)) >= max(model.links(e) for e in described if e not in kept)


def test_a_small_model_keeps_the_words_that_counted(linker, tmp_path):
    for least in (2, 3):
        used = linker.settings.change(min_word_count=least)
        prune_to(linker.model, used.record(), tmp_path / f"{least}", 1.0)
        shrunk = load(tmp_path / f"{least}")
        assert shrunk.settings.min_word_count == shrunk.model["context_count"].min() == least


def test_a_small_model_keeps_settings_but_for_the_threshold(linker, tmp_path):
    fitted = {"settings": linker.settings.change(tau=0.7, threshold=0.9).record()}
    model = replace(linker.model, info=linker.model.info | fitted)
    prune_to(model, fitted["settings"], tmp_path / "small", 1.0)
    settings = load(tmp_path / "small").settings
    assert (settings.tau, settings.threshold) == (0.7, DEFAULT.threshold)


def test_a_budget_is_kept_or_refused(linker, tmp_path):
    sizes = []
    for megabytes in (0.4, 0.25):
        prune_to(linker.model, linker.settings.record(), tmp_path / "small", megabytes)
        sizes.append(folder_size(tmp_path / "small"))
        assert sizes[-1] <= megabytes * 1e6
    with pytest.raises(InputError, match="too few"):
        prune_to(linker.model, linker.settings.record(), tmp_path / "tiny", 0.05)
    assert not list(tmp_path.glob(".*tmp"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(OutputError):
        prune_to(linker.model, linker.settings.record(), tmp_path / "mine", 1)
    assert (tmp_path / "mine" / "thesis.txt").exists()


TITLES = [
    "Paris",
    "The Beatles",
    "The The",
    "The The & the Others",
    "the&Co",
    "Paris (mythology)",
    "Paris, Texas",
    "AC/DC",
    "Gerd Müller",
    "O'Neill",
    "北京",
]


def test_names_are_made_from_titles_as_the_builder_makes_them():
    forms = title_forms(np.frombuffer("\n".join(TITLES).encode(), np.uint8))
    assert forms[0].tolist() == hash_strings([fold(t) for t in TITLES]).tolist()
    assert forms[1].tolist() == hash_strings([fold(strip_title(t)) for t in TITLES]).tolist()
    last = [strip_title(t).split()[-1] for t in TITLES]
    assert forms[2].tolist() == hash_strings([fold(t) for t in last]).tolist()


@given(st.lists(st.lists(st.integers(0, 1 << 40))))
def test_differences_of_lists_and_back(lists):
    values = np.asarray([v for one in lists for v in sorted(one)], np.uint64)
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)[:-1]
    assert np.array_equal(sums(differences(values, starts), starts), values)


@given(st.lists(st.floats(0.005, 1e7)))
def test_logarithms_are_right_to_some_percent(values):
    array = np.asarray(values)
    assert exponentials(logarithms(array)) == pytest.approx(array, rel=0.055)
    assert exponentials(logarithms(np.zeros(2))).tolist() == [0, 0]


@given(st.lists(st.integers(0, 3), min_size=64, max_size=64))
def test_a_smaller_filter_forgets_nothing(slots):
    bits = np.asarray(
        [sum(s << (2 * k) for k, s in enumerate(slots[i : i + 4])) for i in range(0, 64, 4)], np.uint8
    )
    half = _smaller_filter(bits, 32)
    found = [(int(half[i // 4]) >> (2 * (i % 4))) & 3 for i in range(32)]
    assert found == [slots[2 * i] | slots[2 * i + 1] for i in range(32)]
