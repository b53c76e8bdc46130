"""Damaged models: whatever happens to their files, they answer as before or say what is wrong."""

from __future__ import annotations

import json
import random
import resource
import shutil
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import ModelError, OutputError
from pboh.inference.settings import Settings
from pboh.linker import Linker, load
from pboh.model import store
from pboh.model.build import build_model
from pboh.model.overlays.adding import add_entities, overlays
from pboh.model.small.prune import prune_to
from pboh.model.store import open_model, read_manifest, verify
from pboh.model.writing import changing, put_arrays, write_manifest
from small_world import FOOTBALL

pytestmark = pytest.mark.slow

TEXT = f"{FOOTBALL} Zorblax met Müler in Pariss."
DAMAGES = 150  # of every kind of model


@pytest.fixture(scope="module")
def models(world_model, tmp_path_factory):
    """A model, the same with an overlay, and one that is stored compressed."""
    folder = tmp_path_factory.mktemp("hostile")
    shutil.copytree(world_model, folder / "world")
    plain = shutil.copytree(world_model, folder / "plain")
    entities = folder / "entities.jsonl"
    entities.write_text(json.dumps({"title": "Zorblax", "links": ["Paris"], "description": "goal striker"}))
    add_entities(plain, entities)
    linker = load(world_model)
    prune_to(linker.model, linker.settings.record(), folder / "small", 1.0)
    return folder


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Some bits or bytes are others, are gone, or stand twice."""
    at, other = rng.randrange(len(data)), bytearray(data)
    kind = rng.randrange(6)
    if kind <= 1:
        other[at] ^= 1 << rng.randrange(8)
    elif kind == 2:
        length = min(rng.choice((1, 4, 8, 512)), len(data) - at)
        other[at : at + length] = rng.choice((b"\0", b"\xff", b"\x7f")) * length
    elif kind == 3:
        length = min(8, len(data) - at)
        other[at : at + length] = rng.randbytes(length)
    elif kind == 4:
        del other[at:]
    else:
        other[at:at] = data[at : at + 64]
    return bytes(other)


def answers(folder: Path) -> list[dict]:
    model = open_model(folder)
    linker = Linker(model, Settings.stored(model.info))
    return [linker.link(TEXT, threshold=0.0).to_dict(explain=True)]


def trials(folder: Path, cache: str, seeds: range) -> list[str]:
    """Damage one file at a time, in a process of its own: a crash of it is a failure of the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", cache)
        before = answers(folder)
        return [trial(folder, Path(cache), before, seed) for seed in seeds]


def trial(folder: Path, cache: Path, before: list[dict], seed: int) -> str:
    rng = random.Random(seed)
    files = sorted(path for place in (folder, cache) for path in place.rglob("*") if path.is_file())
    path = rng.choice([*files, *[folder / "model.json"] * (len(files) // 4)])
    data = path.read_bytes()
    path.write_bytes(damaged(data, rng))
    if path.suffix == ".zst":
        shutil.rmtree(cache, ignore_errors=True)  # else what was unpacked before is read
    try:
        if answers(folder) != before:
            return f"{path.name}, {seed}: another answer"
        return ""
    except ModelError as reason:
        return "" if str(path.name) in str(reason) else f"{path.name}, {seed}: {reason}"
    except Exception as reason:
        return f"{path.name}, {seed}: {reason!r}"
    finally:
        path.write_bytes(data)


@pytest.mark.parametrize("kind", ["plain", "small"])
def test_no_damage_crashes_a_process_or_changes_an_answer(models, tmp_path, kind):
    workers = 2
    shares = [range(k, DAMAGES, workers) for k in range(workers)]
    copies = [shutil.copytree(models / kind, tmp_path / f"{kind}{k}") for k in range(workers)]
    caches = [str(tmp_path / f"cache{k}") for k in range(workers)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        found = list(pool.map(trials, copies, caches, shares))
    assert [problem for share in found for problem in share if problem] == []


def test_every_bit_of_the_description_matters(models, monkeypatch):
    """Without its checksum too, a description that has another shape is refused in one sentence."""
    folder = models / "plain"
    whole = (folder / "model.json").read_bytes()
    before = read_manifest(folder)
    rng = random.Random(3)
    try:
        for _ in range(500):
            at, bit = rng.randrange(len(whole)), 1 << rng.randrange(8)
            (folder / "model.json").write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            with suppress(ModelError):
                assert {key: value for key, value in read_manifest(folder).items() if key in before} == before
        for key in ("arrays", "totals"):
            (folder / "model.json").write_text(json.dumps({k: v for k, v in before.items() if k != key}))
            with pytest.raises(ModelError, match=f"description is damaged .*`{key}`"):
                open_model(folder)
        overlay = {**before["overlays"][0], "arrays": {"name_hash": {"bytes": 3}}}
        (folder / "model.json").write_text(json.dumps({**before, "overlays": [overlay]}))
        with pytest.raises(ModelError, match=r"description is damaged .*sha256"):
            open_model(folder)
    finally:
        (folder / "model.json").write_bytes(whole)


def test_large_models_are_checked_once_for_every_state_of_their_files(models, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(store, "SMALL", 0)
    folder, checked = shutil.copytree(models / "plain", tmp_path / "model"), []
    real = store.checksum
    monkeypatch.setattr(store, "checksum", lambda path: checked.append(path.name) or real(path))
    before = answers(folder)
    assert len(checked) == len(list(folder.rglob("*.npy")))
    checked.clear()
    assert answers(folder) == before and not checked
    verify(folder)
    assert len(checked) == len(list(folder.rglob("*.npy"))), "asked to, it reads everything"
    path = folder / "posting_offsets.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    for _ in range(2):
        with pytest.raises(ModelError, match=r"posting_offsets\.npy: a file of the model was altered"):
            open_model(folder)
    path.write_bytes(data)
    assert answers(folder) == before
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing/can/be/made/here")
    checked.clear()
    for _ in range(2):
        assert answers(folder) == before
    assert len(checked) == 2 * len(list(folder.rglob("*.npy"))), "without a place to remember, every time"


def test_a_description_changed_on_purpose_goes_without_its_checksum(models, tmp_path):
    folder = shutil.copytree(models / "plain", tmp_path / "model")
    info = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**info, "note": "mine"}))
    with pytest.raises(ModelError, match=r"model\.json: .* altered .* remove its checksum"):
        verify(folder)
    del info["checksum"]
    (folder / "model.json").write_text(json.dumps({**info, "note": "mine"}))
    assert open_model(folder).info["note"] == "mine"
    write_manifest(folder / "model.json", read_manifest(folder))
    assert json.loads((folder / "model.json").read_text())["checksum"]
    verify(folder)


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Every file ends at ``size`` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("size", [0, 100, 1000, 4000])
def test_a_full_disk_changes_nothing_and_is_one_sentence(models, world_counts, tmp_path, size):
    folder = shutil.copytree(models / "plain", tmp_path / "model")
    entities, linker = models / "entities.jsonl", load(folder.parent / "model")
    plain = shutil.copytree(models / "world", tmp_path / "plain")
    before = files(tmp_path)
    for change in (
        lambda: build_model(world_counts, plain),
        lambda: build_model(world_counts, tmp_path / "new"),
        lambda: add_entities(folder, entities, "more"),
        lambda: add_entities(folder, entities, replace=True),
        lambda: add_entities(folder, entities, "more", out=tmp_path / "beside"),
        lambda: put_ids(folder),
        lambda: prune_to(load(plain).model, linker.settings.record(), tmp_path / "small", 1.0),
    ):
        with full_disk(size), pytest.raises(OutputError, match="no space is left on the disk"):
            change()
        assert files(tmp_path) == before
    verify(folder)


def put_ids(folder: Path) -> None:
    info = read_manifest(folder)
    with changing(folder):
        put_arrays(folder, info, {"entity_id": np.arange(info["totals"]["entities"] * 64, dtype=np.uint32)})


def added(folder: Path, source: Path, name: str) -> bool:
    try:
        add_entities(folder, source, name)
    except OutputError:
        return False
    return True


def test_what_several_processes_add_at_once_is_all_there(models, tmp_path):
    folder = shutil.copytree(models / "world", tmp_path / "model")
    names = [f"k{k}" for k in range(16)]
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:
        done = list(pool.map(partial(added, folder, models / "entities.jsonl"), names))
    assert any(done)
    assert {o["name"] for o in overlays(folder)} == {n for n, k in zip(names, done, strict=True) if k}
    verify(folder)
    assert not list(folder.rglob(".*"))
