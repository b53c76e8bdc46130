"""Types and descriptions in a model: read by number, optional, and checked when a model is opened."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from pboh.errors import ModelError
from pboh.formats.types import TYPES
from pboh.model.store import open_model, read_manifest
from pboh.model.types import wanted_codes
from pboh.model.writing import changing, put_arrays
from pboh.text.hashing import string_blob


def changed(folder, arrays):
    with changing(folder):
        put_arrays(folder, read_manifest(folder), arrays)
    return folder


@pytest.fixture
def model(world_model, tmp_path):
    return shutil.copytree(world_model, tmp_path / "model")


def described(size):
    blob, offsets = string_blob(["" if k % 3 else f"Größe {k}" for k in range(size)])
    codes = np.arange(size, dtype=np.uint8) % len(TYPES)
    sure = np.full(size, 204, np.uint8)
    return {
        "entity_type": codes, "entity_type_sure": sure,
        "description_blob": blob, "description_offsets": offsets,
    }  # fmt: skip


def test_a_model_without_them_knows_nothing(world_model):
    opened = open_model(world_model)
    assert [opened.facts(3).type, opened.facts(3).type_probability, opened.facts(3).description] == [None] * 3


def test_types_and_descriptions_are_read_by_number(model):
    size = open_model(model).entities
    opened = open_model(changed(model, described(size)))
    for k in range(size):
        assert opened.facts(k).type == TYPES[k % len(TYPES)]
        assert opened.facts(k).type_probability == pytest.approx(0.8)
        assert opened.facts(k).description == (None if k % 3 else f"Größe {k}")
    wanted = wanted_codes(["person", "unknown"])[opened.type_codes(np.arange(size))]
    assert wanted.tolist() == [opened.facts(k).type in ("person", "unknown") for k in range(size)]
    assert opened.type_codes(np.asarray([-1, size, 1])).tolist() == [0, 0, 1]


def test_a_type_that_this_program_does_not_know_is_unknown(model):
    size = open_model(model).entities
    opened = open_model(changed(model, {"entity_type": np.full(size, 250, np.uint8)}))
    assert opened.facts(0).type == "unknown" and opened.facts(0).type_probability is None
    assert wanted_codes(["unknown"])[opened.type_codes(np.arange(size))].all()


@pytest.mark.parametrize(
    ("name", "change", "wrong"),
    [
        ("entity_type", lambda a: a[1:], "entity_type has"),
        ("entity_type", lambda a: a.astype(np.int32), "entity_type is"),
        ("entity_type_sure", lambda a: a[None], "entity_type_sure is 2"),
        ("description_offsets", lambda a: a[1:], "description_offsets has"),
        ("description_offsets", lambda a: a + 1, "does not fit"),
        ("description_blob", lambda a: a[:-1], "does not fit"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(model, name, change, wrong):
    arrays = described(open_model(model).entities)
    changed(model, arrays | {name: change(arrays[name])})
    with pytest.raises(ModelError, match=wrong):
        open_model(model)


def test_descriptions_need_both_arrays(model):
    arrays = described(open_model(model).entities)
    changed(model, {"description_blob": arrays["description_blob"]})
    with pytest.raises(ModelError, match="belong together"):
        open_model(model)


def test_damaged_text_and_offsets_stay_strings(model):
    arrays = described(open_model(model).entities)
    offsets = arrays["description_offsets"].copy()
    offsets[1:-1] = offsets[1:-1][::-1]
    blob = arrays["description_blob"] ^ np.uint8(0x80)
    opened = open_model(changed(model, arrays | {"description_offsets": offsets, "description_blob": blob}))
    assert all(isinstance(opened.facts(k).description, str | None) for k in range(opened.entities))
