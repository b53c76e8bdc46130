"""Nearest neighbours against all cosines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pboh.document import Entity
from pboh.errors import InputError
from pboh.linker import Linker
from pboh.model.similarity import nearest


@pytest.mark.parametrize("links", [0, 5])
def test_the_nearest_are_those_of_the_largest_cosines(linker, links):
    model = linker.model
    rows = model["vector_entity"].astype(float)
    length = np.linalg.norm(rows, axis=1)
    paris = linker.entity("Paris").index
    cosine = rows @ rows[paris] / np.maximum(length * length[paris], 1e-9)
    allowed = [
        e for e in range(model.entities)
        if e != paris and model["entity_occurrences"][e] >= links and cosine[e] > 0
    ]  # fmt: skip
    best = sorted(allowed, key=lambda e: (-round(cosine[e], 9), -int(model["entity_occurrences"][e]), e))[:7]
    found, value = nearest(model, paris, 7, links)
    assert found.tolist() == best and value == pytest.approx(cosine[best])
    told = linker.similar("paris", 7, links=links)
    assert [(entity.index, cosine) for entity, cosine in told] == list(zip(best, value.tolist(), strict=True))


def test_who_has_no_vector_is_like_nobody(linker):
    assert linker.similar(Entity("Added", linker.model.entities + 3)) == []
    model = replace(linker.model, arrays=linker.model.arrays | {"vector_entity": np.zeros((148, 4), np.int8)})
    assert Linker(model).similar("Paris") == []
    assert linker.similar("Paris", 0) == []


def test_unknown_entities_and_models_without_vectors_are_refused(linker):
    with pytest.raises(InputError, match="knows no entity 'Nobody'"):
        linker.similar("Nobody")
    without = {name: array for name, array in linker.model.arrays.items() if name != "vector_entity"}
    with pytest.raises(InputError, match="no vectors"):
        Linker(replace(linker.model, arrays=without)).similar("Paris")
