"""A generated model is one that opens, with the shape that it says, and answers the texts made for it."""

import numpy as np
import pytest
from benchmarks.generated_model import Sizes, documents, generate

from pboh.linker import load
from pboh.model.store import open_model, verify

pytestmark = pytest.mark.slow

SCALE = 0.0005


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated") / "model"
    generate(folder, SCALE)
    return folder


def test_lists_ascend_within_the_corpus(folder):
    model, sizes = open_model(folder), Sizes(SCALE)
    assert model.entities == sizes.entities
    for values, offsets, end in (
        (model["posting_document"], model["posting_offsets"], sizes.documents),
        (model["context_word"], model["context_offsets"], sizes.words),
    ):
        inside = np.ones(values.size - 1, bool)
        inside[offsets[1:-1] - 1] = False  # between two lists
        assert (np.diff(values.astype(np.int64))[inside] > 0).all()
        assert values.max() < end


def test_has_the_proportions_of_a_whole_wikipedia(folder):
    model = open_model(folder)
    lists = np.diff(model["posting_offsets"])
    assert 0.8 < lists.sum() / (160e6 * SCALE) < 1.25
    assert lists.max() == 1e6 * SCALE
    assert (np.diff(lists) <= 0).all()  # entities are numbered by their frequency
    assert model["head_entity"].size > 10
    names = np.diff(model["name_offsets"].astype(np.int64))
    assert names.max() >= 64


def test_every_mention_is_known(folder):
    verify(folder)
    linker = load(folder)
    for text, spans in documents(SCALE, 5):
        document = linker.disambiguate(text, spans)
        assert len(document.mentions) == 20
        assert all(mention.candidates for mention in document.mentions)


def test_is_the_same_every_time(folder, tmp_path):
    generate(tmp_path / "again", SCALE)
    sums = [open_model(one).info["arrays"] for one in (folder, tmp_path / "again")]
    assert sums[0] == sums[1]
