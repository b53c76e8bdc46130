"""Types and descriptions on their way from pages to a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pboh.corpus.extract import extract
from pboh.counts.count import count
from pboh.errors import CorpusError
from pboh.files.progress import silent
from pboh.formats.types import TYPES
from pboh.model.build import build_model
from pboh.model.store import open_model
from pboh.model.subjects import RIGHT, _weighed

LINES = [
    {
        "title": "Ada Vale",
        "text": "Ada Vale is a German singer. She lives in Ulm.",
        "links": [[42, 45, "Ulm"]],
    },
    {"title": "Ulm", "text": "Ulm. Old.", "links": [], "description": "Town on the  Danube", "type": "place"},
    {"title": "Night", "text": "Night is dark. Stardust is shown.", "links": [[15, 23, "Stardust (film)"]]},
    {"title": "Empty", "text": "", "links": []},
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("subjects")
    (folder / "pages.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES), "utf-8")
    extract([folder / "pages.jsonl"], folder / "corpus", workers=1)
    count([folder / "corpus"], folder / "counts")
    build_model(folder / "counts", folder / "model")
    return folder


def told(folder):
    model = open_model(folder)
    titles = [model.title(e) for e in range(model.entities)]
    return {title: (model.facts(e).type, model.facts(e).description) for e, title in enumerate(titles)}


def test_pages_and_titles_tell_types_and_descriptions(folders):
    assert told(folders / "model") == {
        "Ada Vale": ("person", "German singer"),
        "Ulm": ("place", "Town on the Danube"),
        "Night": ("unknown", None),
        "Empty": ("unknown", None),
        "Stardust (film)": ("work", None),
    }
    assert open_model(folders / "model")["entity_type_sure"].dtype == np.uint8


def test_counts_that_are_added_to_keep_what_is_known(folders, tmp_path):
    line = {"title": "Ulm", "text": "Ulm is a song by Ada.", "links": [], "description": "Other"}
    (tmp_path / "more.jsonl").write_text(json.dumps(line), "utf-8")
    extract([tmp_path / "more.jsonl"], tmp_path / "corpus", workers=1)
    count([folders / "counts", tmp_path / "corpus"], tmp_path / "counts")
    build_model(tmp_path / "counts", tmp_path / "model")
    assert told(tmp_path / "model")["Ulm"] == ("place", "Town on the Danube")
    assert told(tmp_path / "model")["Ada Vale"] == ("person", "German singer")


def test_counts_without_subjects_make_a_model_without_types(folders, tmp_path):
    manifest = json.loads((folders / "corpus" / "corpus.json").read_text("utf-8"))
    del manifest["statistics"]["subjects"]
    old = tmp_path / "corpus"
    old.mkdir()
    for path in (folders / "corpus").iterdir():
        if path.is_dir() and path.name != "subjects":
            (old / path.name).symlink_to(path)
    (old / "corpus.json").write_text(json.dumps(manifest), "utf-8")
    count([old], tmp_path / "counts")
    build_model(tmp_path / "counts", tmp_path / "model")
    assert "entity_type" not in open_model(tmp_path / "model")


def test_a_line_with_a_type_that_there_is_not_is_refused(tmp_path):
    (tmp_path / "pages.jsonl").write_text('{"title": "A", "text": "A", "type": "animal"}', "utf-8")
    with pytest.raises(CorpusError, match="animal"):
        extract([tmp_path / "pages.jsonl"], tmp_path / "corpus", workers=1)


class Counts:
    """A classifier that says of every entity what it is told to say."""

    def __init__(self, probabilities: dict[str, float]) -> None:
        rest = (1 - sum(probabilities.values())) / (len(TYPES) - 1 - len(probabilities))
        self.row = np.asarray([0.0, *(probabilities.get(name, rest) for name in TYPES[1:])])

    def learn(self, report):
        pass

    def tell(self, entities, report):
        yield entities, np.tile(self.row, (entities.size, 1))


@pytest.mark.parametrize(("said", "evidence", "counted", "expected"), [
    ("person", "sentence", {"place": 0.6}, "person"),
    ("other", "sentence", {"place": 0.99}, "place"),
    ("other", "sentence", {"place": 0.97}, "unknown"),
    ("person", "text", {"place": 0.995}, "place"),
    ("person", "given", {"place": 0.999}, "person"),
    ("", "", {"place": 0.6}, "place"),
    ("", "", {"place": 0.4, "work": 0.4}, "unknown"),
    ("", "paged", {"place": 0.75}, "unknown"),
    ("", "paged", {"place": 0.85}, "place"),
    ("person", "sentence", {"place": 0.97}, "unknown"),
])  # fmt: skip
def test_what_a_page_says_is_weighed_with_what_is_counted(said, evidence, counted, expected):
    codes = np.asarray([TYPES.index(said or "unknown")], np.uint8)
    right = np.asarray([RIGHT.get(evidence, 0)], np.float32)
    best, sure = _weighed(codes, right, np.asarray([evidence != ""]), Counts(counted), silent)
    assert TYPES[best[0]] == expected
    assert 0 < sure[0] <= 1


def test_the_probability_is_that_of_bayes_rule():
    codes, right = np.asarray([TYPES.index("other")], np.uint8), np.asarray([0.9], np.float32)
    _, sure = _weighed(codes, right, right > 0, Counts({"other": 0.3, "place": 0.7}), silent)
    assert sure[0] == pytest.approx(0.3 * 0.9 / (0.3 * 0.9 + 0.7 * 0.1 * 0.5), abs=1e-6)
