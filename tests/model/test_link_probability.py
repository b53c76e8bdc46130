"""Link probability: how often a name is a link where it stands in text, in any script."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pboh.linker import load
from pboh.model.link_probability import decode, encode
from pboh.text.hashing import look_up
from pboh.train import train


def test_codes_keep_small_probabilities_apart():
    probability = np.asarray([1e-5, 0.003, 0.02, 0.5, 1.0])
    assert decode(encode(probability)) == pytest.approx(probability, abs=4e-3)
    assert np.all(np.diff(encode(probability).astype(int)) > 0)


def page(title, text, *anchors):
    """One article; every anchor is linked where it occurs first."""
    links = [[text.index(a), text.index(a) + len(a), t] for a, t in anchors]
    return {"title": title, "text": text, "links": links}


@pytest.mark.parametrize(
    ("city", "person", "filler"),
    [("北京", "人", "他们在这里工作{}也在那里生活{}的城市。"), ("กรุงเทพ", "คน", "พวกเขา{}ทำงาน{}ที่นี่")],
)
def test_names_without_spaces_around_them_are_counted(tmp_path, city, person, filler):
    pages = [page(city, filler.format(city, person), (city, city))]
    pages += [page(f"{city}{k}", filler.format(person, person) + city, (city, city)) for k in range(9)]
    pages.append(page(person, filler.format(person, city), (person, person), (city, city)))
    lines = "\n".join(json.dumps(page) for page in pages)
    (tmp_path / "pages.jsonl").write_text(lines)
    train([tmp_path / "pages.jsonl"], tmp_path / "model", workers=1)
    linker = load(tmp_path / "model")
    places = look_up(linker.model["name_hash"], linker.model["name_buckets"], [city, person])
    often, seldom = decode(linker.model["name_link_written"][places])
    assert often > 0.9 and seldom < 0.1
