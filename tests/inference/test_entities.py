"""Entities are found by title; a set of them restricts answers, and nothing outside stands in the way."""

from __future__ import annotations

import pickle

import pytest

from pboh.inference.entities import EntitySet
from small_world import titles

TEXT = "Müller scored for Bayern before the striker of Dortmund was sent off; Paris watched the goal."
SPANS = [(0, 6), (18, 24), (47, 55), (70, 75)]


def test_entities_are_found_by_title_and_redirect(linker):
    assert linker.resolve("Apple_Inc.") == "Apple Inc."
    assert linker.resolve("apple Inc.") == "Apple Inc."
    assert linker.resolve("Air Jordan") == "Michael Jordan"  # a redirect to a redirect
    assert linker.resolve("gerd muller") == "Gerd Müller"
    assert linker.resolve("Nobody at all") is None


def test_only_entities_of_the_set_are_answers(linker):
    free = linker.disambiguate(TEXT, SPANS)
    allowed = ["Herta Müller", "Paris", "Borussia Dortmund"]
    document = linker.disambiguate(TEXT, SPANS, entities=allowed)
    assert titles(document) == ["Herta Müller", None, "Borussia Dortmund", "Paris"]
    assert titles(document) != titles(free)
    for mention in document:
        assert {c.entity.title for c in mention.candidates} <= set(allowed)
        assert sum(c.prior for c in mention.candidates) == pytest.approx(1 if mention.candidates else 0)
    assert document.mentions[1].candidates == () and document.mentions[1].explain() is None


def test_a_set_of_everything_changes_nothing(linker):
    everything = EntitySet(range(linker.model.entities))
    free, restricted = (linker.disambiguate(TEXT, SPANS, entities=e) for e in (None, everything))
    assert titles(free) == titles(restricted)
    for one, two in zip(free, restricted, strict=True):
        assert one.probability == pytest.approx(two.probability)
        assert [c.entity for c in one.candidates] == [c.entity for c in two.candidates]


def test_explanations_are_about_the_restricted_answer(linker):
    text = "Herta Müller wrote a novel. Müller won the prize in Paris."
    document = linker.disambiguate(
        text, [(0, 12), (28, 34), (52, 57)], entities=["Herta Müller", "Max Müller", "Paris"]
    )
    for mention in document:
        why = mention.explain()
        assert why.entity == mention.entity
        total = why.prior + why.context + why.coreference + sum(n.value for n in why.neighbours)
        assert total == pytest.approx(why.score, abs=1e-4)


def test_names_outside_do_not_stand_in_the_way_of_those_inside(linker):
    text = "They watched Paris Saint-Germain and walked along the river to the museum."
    assert "Paris Saint-Germain FC" in titles(linker.link(text, threshold=0.0))
    document = linker.link(text, threshold=0.0, entities=["Paris"])
    assert [(m.text, m.entity.title) for m in document][:1] == [("Paris", "Paris")]
    assert not linker.link(text, entities=["Mercury (planet)"]).mentions
    assert not linker.link(text, entities=[]).mentions


def test_a_set_is_prepared_once_and_travels(linker):
    only = linker.only(["Paris", "paris", linker.entity("Herta Müller"), "No such thing"])
    assert len(only) == 2 and only.unknown == ("No such thing",)
    assert repr(only) == "<EntitySet of 2 entities, 1 unknown titles>"
    expected = titles(linker.disambiguate(TEXT, SPANS, entities=only))
    assert expected == ["Herta Müller", None, None, "Paris"]
    copied = pickle.loads(pickle.dumps(only))
    for workers in (1, 2):
        piped = linker.pipe([(TEXT, SPANS)] * 2, workers=workers, entities=copied)
        assert [titles(document) for document in piped] == [expected] * 2


def test_clamped_mentions_stay(linker):
    document = linker.disambiguate(TEXT, [(0, 6, "Gerd Müller"), (70, 75)], entities=["Paris"])
    assert titles(document) == ["Gerd Müller", "Paris"]
