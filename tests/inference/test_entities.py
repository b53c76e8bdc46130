"""Entities are found by title; a set of them restricts answers, and nothing outside stands in the way."""

from __future__ import annotations

import pickle

import pytest

from pboh.errors import InputError
from pboh.inference.entities import EntitySet, TypedSet
from pboh.linker import load
from small_world import WHAT, mark, titles

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


# -- what entities are ------------------------------------------------------------------------------------


def test_entities_know_what_they_are(typed_linker):
    paris = typed_linker.entity("Paris")
    assert paris.to_dict() == {
        "entity": "Paris", "id": "Q90", "type": "place", "type_probability": 0.8,
        "description": "capital of France", "url": "https://en.wikipedia.org/wiki/Paris",
    }  # fmt: skip
    berlin = typed_linker.entity("Berlin")
    assert (berlin.type, berlin.type_probability, berlin.description) == ("unknown", 0.0, None)
    assert typed_linker.entity("Max Müller").description is None
    assert typed_linker.entity("Max Müller").url == "https://en.wikipedia.org/wiki/Max_M%C3%BCller"


def test_a_model_without_types_says_nothing(linker):
    entity = linker.entity("Paris")
    assert (entity.type, entity.type_probability, entity.description) == (None, None, None)
    assert entity.url == "https://en.wikipedia.org/wiki/Paris"


def test_what_they_are_survives_a_trip_to_another_process(typed_linker, typed_model):
    document = pickle.loads(pickle.dumps(typed_linker.disambiguate(TEXT, SPANS)))
    assert document.mentions[2].entity.description == "football club in Dortmund"
    assert len(pickle.dumps(typed_linker.entity("Paris"))) < 500 + len(str(typed_model))


def test_only_entities_of_the_types_are_answers(typed_linker):
    free = typed_linker.disambiguate(TEXT, SPANS)
    assert titles(free)[2:] == ["Borussia Dortmund", "Paris Saint-Germain FC"]
    document = typed_linker.disambiguate(TEXT, SPANS, types=["person", "place"])
    assert titles(document)[2:] == ["Dortmund", "Paris"] and document.mentions[1].candidates == ()
    for mention in document:
        assert {c.entity.type for c in mention.candidates} <= {"person", "place"}
        assert sum(c.prior for c in mention.candidates) == pytest.approx(1 if mention.candidates else 0)
        why = mention.explain()
        assert why is None or why.entity == mention.entity


def test_unknown_entities_are_out_unless_they_are_asked_for(typed_linker):
    text, spans = "Berlin and Paris", [(0, 6), (11, 16)]
    assert titles(typed_linker.disambiguate(text, spans, types=["place"])) == [None, "Paris"]
    assert titles(typed_linker.disambiguate(text, spans, types=["unknown"]))[0] == "Berlin"
    assert titles(typed_linker.disambiguate(text, spans, types=["place", "unknown"])) == ["Berlin", "Paris"]


def test_types_and_entities_restrict_together(typed_linker):
    some = ["Herta Müller", "Borussia Dortmund", "Paris"]
    document = typed_linker.disambiguate(TEXT, SPANS, entities=some, types=["person", "organisation"])
    assert titles(document) == ["Herta Müller", None, "Borussia Dortmund", None]
    assert document.mentions[0].candidates[0].prior == 1.0


def test_in_raw_text_a_name_keeps_its_other_meanings_as_rivals(typed_linker):
    text = "They watched the goal in Paris."
    [free] = [m for m in typed_linker.link(text, threshold=0.0) if m.text == "Paris"]
    true = {c.entity.title: c.prior for c in free.candidates}
    everything = typed_linker.with_settings(threshold=0.0)
    [mention] = [m for m in everything.link(text, threshold=0.0, types=["other"]) if m.text == "Paris"]
    assert titles([mention]) == ["Paris (mythology)"]
    assert mention.candidates[0].prior == pytest.approx(true["Paris (mythology)"], rel=1e-3)
    assert mention.probability <= mention.candidates[0].prior + 1e-6
    assert not [m for m in typed_linker.link(text, types=["other"]) if m.text == "Paris"]
    [given] = typed_linker.disambiguate(text, mark(text, "Paris"), types=["other"])
    assert given.candidates[0].prior == 1.0


def test_found_mentions_are_of_the_types(typed_linker):
    for types in (["person"], ["organisation", "place"]):
        document = typed_linker.link(TEXT, threshold=0.0, mentions="all", types=types)
        assert len(document)
        assert {WHAT[title][0] for title in titles(document)} <= set(types)
        found = typed_linker.find(TEXT, mentions="all", types=types)
        again = typed_linker.link(TEXT, threshold=0.0, mentions="all", types=types, found=found)
        assert titles(again) == titles(document)


def test_streams_are_restricted_too(typed_linker):
    for workers in (1, 2):
        [document] = typed_linker.pipe([(TEXT, SPANS)], workers=workers, types=["place"])
        assert titles(document) == [None, None, "Dortmund", "Paris"]
        assert document.mentions[2].explain().entity.title == "Dortmund"


def test_wrong_types_and_models_without_types_are_refused(linker, typed_linker):
    with pytest.raises(InputError, match=r"'city' is not a type of entities.*person, organisation, place"):
        typed_linker.link(TEXT, types=["place", "city"])
    with pytest.raises(InputError, match=r"does not know the types of its entities\. .+"):
        linker.link(TEXT, types=["place"])
    assert load(linker.model.folder).link(TEXT, types=None)


def test_a_typed_set_says_what_it_is(typed_linker):
    only = TypedSet(typed_linker.model, ["person"], typed_linker.only(["Paris"]))
    assert repr(only) == "<TypedSet of person among <EntitySet of 1 entities>>"
    assert repr(pickle.loads(pickle.dumps(only))) == repr(only)
