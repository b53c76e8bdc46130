"""Names are found where they stand, and of overlapping ones the best are kept."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.detection.cover_kernels import best_cover
from pboh.detection.detector import Detector
from pboh.model.store import open_model

TEXT = "Müller scored twice for Bayern against Dortmund. GERD MULLER never saw Tbilisi, capital of Georgia."


def test_link_probability_is_counted_in_running_text(counted, world_corpus):
    model = counted.model
    assert "name_filter" in model
    detector = Detector(model)
    spots, tokens = detector.all("Borussia Dortmund", 0.0)
    assert detector.counted
    assert len(spots) == len(tokens) >= 2
    assert (0, 17) in set(zip(spots.start.tolist(), spots.end.tolist(), strict=True))
    assert ((spots.link > 0) & (spots.link <= 1)).all()


def test_a_model_without_a_filter_finds_the_same(counted):
    whole = Detector(counted.model).detect(TEXT)
    arrays = {k: v for k, v in counted.model.arrays.items() if k != "name_filter"}
    bare = Detector(type(counted.model)(counted.model.folder, counted.model.info, arrays)).detect(TEXT)
    assert [c.tolist() for c in whole] == [c.tolist() for c in bare]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6), st.floats(0.01, 1)), max_size=9))
def test_the_cover_is_the_best_of_all(spans):
    spans = sorted((s, s + n, w) for s, n, w in spans)
    spans.sort(key=lambda x: x[1])
    start, end, weight = (
        (np.asarray(c, float) for c in zip(*spans, strict=True)) if spans else [np.zeros(0)] * 3
    )
    taken = best_cover(start.astype(np.int64), end.astype(np.int64), weight)
    chosen = sorted((spans[k] for k in np.flatnonzero(taken)), key=lambda x: x[0])
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(chosen))

    def best(k, free):
        if k == len(spans):
            return 0.0
        s, e, w = spans[k]
        skip = best(k + 1, free)
        return max(skip, w + best(k + 1, e)) if s >= free else skip

    spans_by_start = sorted(spans)
    spans[:] = spans_by_start
    assert sum(w for *_, w in chosen) == pytest.approx(best(0, 0))


def test_the_filter_survives_the_disk(counted):
    again = open_model(counted.model.folder)
    assert again["name_filter"].dtype == np.uint8
    assert again["name_link_written"].size == again["name_hash"].size == again["name_link_folded"].size


def test_names_found_before_need_not_be_found_again(counted):
    found = counted.find(TEXT)
    assert counted.link(TEXT, found=found).to_dict() == counted.link(TEXT).to_dict()
