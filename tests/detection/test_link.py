"""Raw text in, linked entities out, on the small world and on text nobody should have to handle."""

from __future__ import annotations

import itertools
import random
import unicodedata

import numpy as np
import pytest

from pboh.detection.link import PLACES_AT_A_TIME, _say_again
from pboh.errors import SpanError

TEXT = (
    "Müller scored twice for Bayern against Dortmund in the Bundesliga, and Paris watched.\n\n"
    "GERD MULLER never saw Tbilisi, the capital of Georgia, nor Yerevan, the capital of Armenia."
)


def answers(document):
    return {mention.text: str(mention.entity) for mention in document}


def test_names_are_found_and_resolved_together(either):
    found = answers(either.link(TEXT))
    assert found["Bayern"] == "FC Bayern Munich"
    assert found["Dortmund"] == "Borussia Dortmund"
    assert found["GERD MULLER"] == "Gerd Müller"
    assert found["Georgia"] == "Georgia (country)"
    assert not {"the", "in", "and", "capital", "of"} & set(found)


def test_every_mention_is_where_it_says(either):
    document = either.link(TEXT, threshold=0)
    assert document.mentions
    ends = 0
    for mention in document:
        assert TEXT[mention.start : mention.end] == mention.text
        assert mention.start >= ends
        assert 0 <= mention.detection <= 1
        assert 0 <= mention.probability <= 1
        ends = mention.end


def test_a_higher_threshold_keeps_fewer(either):
    kept = [{(m.start, m.end) for m in either.link(TEXT, threshold=t)} for t in (0, 0.3, 0.6, 0.9, 1.0)]
    assert all(more >= fewer for more, fewer in itertools.pairwise(kept))
    assert len(kept[0]) > len(kept[-1])


def test_spans_from_elsewhere_are_kept_and_worked_around(counted):
    start = TEXT.index("for Bayern")
    nonsense = TEXT.index("scored twice")
    spans = [(start, start + 10), (nonsense, nonsense + 12)]
    document = counted.link(TEXT, spans=spans)
    found = [(m.start, m.end) for m in document]
    assert set(spans) <= set(found)
    assert found == sorted(found)
    assert "Bayern" not in answers(document)
    assert "Dortmund" in answers(document)
    with pytest.raises(SpanError):
        counted.link(TEXT, spans=[(5, 5)])


def test_a_clamped_span_steers_the_rest(counted):
    text = "Müller was there, and so was Paris."
    at = text.index("Paris")
    first = counted.link(text, spans=[(at, at + 5, "Paris Saint-Germain FC")])
    assert answers(first)["Paris"] == "Paris Saint-Germain FC"
    assert "footballer" in text or answers(first)["Müller"] in ("Gerd Müller", "Thomas Müller")


def test_a_shorter_name_is_as_sure_as_the_longer_one():
    surfaces = ["Barack Obama", "Obama", "Obama", "president Obama", "Nobody"]
    entity, sure = np.asarray([1, 1, 2, 1, -1]), np.asarray([0.9, 0.1, 0.1, 0.1, 0.2])
    assert _say_again(surfaces, entity, sure).tolist() == [0.9, 0.9, 0.1, 0.1, 0.2]


def test_found_mentions_explain_themselves(counted):
    for mention in counted.link(TEXT):
        why = mention.explain()
        assert why.entity == mention.entity
        assert why.score == pytest.approx(mention.score)


# -- text nobody should have to handle ---------------------------------------------------------------


def check(linker, text):
    document = linker.link(text)
    for mention in document:
        assert text[mention.start : mention.end] == mention.text
    return document


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n\n", ".", "\0", "\ud800", "🙂", "\u0301", "Paris", "x" * 5000]
)
def test_tiny_and_odd_texts(either, text):
    check(either, text)


def test_binary_junk(either):
    junk = random.Random(3).randbytes(200_000)
    check(either, junk.decode("latin-1"))
    check(either, junk.decode("utf-8", "replace"))
    check(either, junk.decode("utf-8", "surrogateescape"))


def test_right_to_left_text_and_names_between(either):
    text = "قال Bayern إن مولر سجل هدفين ضد Dortmund في باريس. \u200fשלום Georgia!"
    assert {"Bayern", "Dortmund"} <= set(answers(check(either, text)))


def test_scripts_without_spaces(either):
    text = "昨天Bayern在慕尼黑对阵Dortmund,比分是二比一。ในวันนั้น Paris ชนะ"
    assert {"Bayern", "Dortmund"} <= set(answers(check(either, text)))


def test_emoji_and_combining_marks_do_not_move_offsets(either):
    text = "👩🏽‍🚀👨‍👩‍👧 Müller 🇩🇪 scored for Bayern ⚽️ against Dortmund\u0301 and Dortmund"
    found = check(either, text)
    assert "Müller" in answers(found)
    apart = check(either, unicodedata.normalize("NFD", text))
    assert "Mu\u0308ller" in answers(apart)


def test_repetitions_stay_linear_and_complete(either):
    times = 4 * PLACES_AT_A_TIME + 3
    document = check(either, "Bayern " * times)
    assert len(document) == times
    assert {str(m.entity) for m in document} == {"FC Bayern Munich"}


@pytest.mark.slow
def test_a_hundred_thousand_repetitions(counted):
    text = "Bayern " * 100_000
    document = counted.link(text)
    assert len(document) == 100_000
    assert document.mentions[-1].end == len(text) - 1


@pytest.mark.slow
def test_ten_megabytes(counted):
    filler = " nothing else happened that day, so we all went home and waited for the next one," * 25
    text = f"{TEXT}{filler}\n" * 4_700
    assert len(text) > 10_000_000
    document = counted.link(text)
    assert len(document) > 20_000
    last = document.mentions[-1]
    assert text[last.start : last.end] == last.text
    assert last.start > len(text) - 5_000
