"""Two trainings are compared file by file, but for what no two of them share."""

import json
import shutil

from benchmarks.memory import compared, trained

from pboh.model.store import MANIFEST, read_manifest
from pboh.model.writing import write_manifest


def test_what_differs_between_two_models(world_model, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for copy in (one, other):
        shutil.copytree(world_model, copy)
    info = read_manifest(other)
    write_manifest(other / MANIFEST, info | {"created": "another day"})
    same = compared(one, other)
    assert same["different"] == [MANIFEST] and same["model.json"] == []
    assert same["files"] == len(list(one.glob("*.*")))

    (other / "posting_document.npy").write_bytes(b"damaged")
    (other / "title_blob.npy").unlink()
    write_manifest(other / MANIFEST, info | {"language": "de"})
    different = compared(one, other)
    assert different["different"] == [MANIFEST, "posting_document.npy", "title_blob.npy"]
    assert different["model.json"] == ["language"]


def test_a_training_that_is_there_is_not_done_again(tmp_path):
    said = {"stages": {"extract": {"memory_megabytes": 1.0}}}
    (tmp_path / "training.json").write_text(json.dumps(said))
    assert trained(tmp_path, "1GB") == {**said, "watched": {}}
