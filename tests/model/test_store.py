"""The model folder: opens whole or not at all, and says what is wrong with it."""

import json
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import CountsError, ModelError, OutputError
from pboh.model.build import BuildOptions, build_model
from pboh.model.names import Layer
from pboh.model.store import ARRAYS, open_model, verify
from pboh.model.writing import ModelWriter, changing


@pytest.fixture
def model(world_model, tmp_path):
    """A copy of the small world's model that a test may damage."""
    return shutil.copytree(world_model, tmp_path / "model")


def change(folder, **values):
    info = json.loads((folder / "model.json").read_text())
    info.pop("checksum", None)  # it was changed on purpose
    (folder / "model.json").write_text(json.dumps({**info, **values}))


def test_a_model_describes_itself(world_model):
    info = open_model(world_model).info
    assert info["format"] == "pboh-model"
    assert info["language"] == "en"
    assert info["totals"]["entities"] == open_model(world_model).entities
    assert info["options"]["build"]["entries_per_name"] == 64
    assert {"distinct_pairs", "pairs", "documents", "names"} <= set(info["totals"])
    verify(world_model)


def test_arrays_have_the_declared_types(world_model):
    model = open_model(world_model)
    for name, (dtype, dimensions) in ARRAYS.items():
        assert (model[name].dtype.str, model[name].ndim) == (dtype, dimensions), name


def test_mapped_arrays_never_reach_the_file(model):
    opened = open_model(model)
    before = (model / "word_background.npy").read_bytes()
    opened["word_background"][:] = 0
    del opened
    assert (model / "word_background.npy").read_bytes() == before
    verify(model)


def test_building_twice_gives_the_same_arrays(world_counts, world_model, tmp_path):
    build_model(world_counts, tmp_path / "again")
    one, two = open_model(world_model).info["arrays"], open_model(tmp_path / "again").info["arrays"]
    assert {k: v["sha256"] for k, v in one.items()} == {k: v["sha256"] for k, v in two.items()}


def test_missing_truncated_and_altered_files_are_named(model):
    path = model / "name_entity.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ModelError, match=r"name_entity\.npy: a file of the model has \d+ bytes instead of"):
        open_model(model)
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    for way in (open_model, verify):
        with pytest.raises(ModelError, match=r"name_entity\.npy: a file of the model was altered"):
            way(model)
    path.unlink()
    with pytest.raises(ModelError, match=r"name_entity\.npy: a file of the model is missing"):
        open_model(model)


def test_wrong_versions_and_other_folders_are_refused(model, tmp_path):
    change(model, version=99)
    with pytest.raises(ModelError, match="format version 99, this program reads version 1"):
        open_model(model)
    change(model, format="something")
    with pytest.raises(ModelError, match="not a pboh model"):
        open_model(model)
    (model / "model.json").write_text("{")
    with pytest.raises(ModelError, match="cannot be read"):
        open_model(model)
    with pytest.raises(ModelError, match="there is no model folder"):
        open_model(tmp_path / "nowhere")


def test_a_folder_that_is_not_ours_is_not_overwritten(world_counts, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="contains no model"):
        build_model(world_counts, tmp_path / "home")
    assert (tmp_path / "home" / "letter.txt").read_text() == "dear"
    with pytest.raises(CountsError, match="counts' description is missing"):
        build_model(tmp_path, tmp_path / "model")


def test_an_interrupted_build_leaves_the_old_model(model, world_counts, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ModelWriter, "finish", fail)
    with pytest.raises(KeyboardInterrupt):
        build_model(world_counts, model)
    verify(model)
    assert [path.name for path in model.parent.iterdir()] == ["model"]


def test_a_place_is_written_to_by_one_at_a_time(model, world_counts):
    with ModelWriter(model):
        with pytest.raises(OutputError, match="another process is writing here"):
            build_model(world_counts, model)
        with pytest.raises(OutputError, match="another process is writing here"), changing(model):
            pass
    with changing(model), pytest.raises(OutputError, match="another process is writing here"):
        build_model(world_counts, model)
    build_model(world_counts, model)


def test_what_a_killed_run_left_is_cleaned_up(model, world_counts):
    for left_over in (model.parent / ".model.tmp" / "model", model / ".entity_id.npy.tmp"):
        left_over.mkdir(parents=True)
        (left_over / "title_blob.npy").write_bytes(b"half")
    with changing(model):
        assert not list(model.glob(".*.tmp"))
    build_model(world_counts, model)
    assert [path.name for path in model.parent.iterdir()] == ["model"]
    verify(model)


@pytest.mark.parametrize("then", ["open", "write"])
def test_killed_between_the_two_renames_the_model_is_usable(model, world_counts, monkeypatch, then):
    real = Path.replace

    def killed(path, target):
        if target == model:
            raise KeyboardInterrupt
        return real(path, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", killed)
        build_model(world_counts, model)
    assert not model.exists()
    if then == "open":
        open_model(model)
        assert [path.name for path in model.parent.iterdir()] == ["model"]
    else:
        (model.parent / ".model.old" / "from the old one").touch()
        build_model(world_counts, model)
        assert not (model / "from the old one").exists()
    verify(model)
    assert [path.name for path in model.parent.iterdir()] == ["model"]


def test_a_full_disk_is_one_sentence(world_counts, tmp_path):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    code = "from pboh.cli import main; main()"
    command = [sys.executable, "-c", code, "build", str(world_counts), "--out", str(tmp_path / "model")]
    run = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    assert "no space is left on the disk" in run.stderr and "Traceback" not in run.stderr
    assert not list(tmp_path.iterdir())


def test_parts_of_a_model_can_be_left_out(world_counts, tmp_path):
    build_model(world_counts, tmp_path / "small", BuildOptions(fuzzy=False, derived_names=False))
    model = open_model(tmp_path / "small")
    assert "rescue_blob" not in model
    assert set(np.unique(model["name_layer"])) <= {*range(7), Layer.FOLLOWED}
