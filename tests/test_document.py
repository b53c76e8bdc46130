"""Documents as plain values: complete, and the same in every output."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import pytest

from pboh.document import Candidate, Document, Entity, Facts, Mention, Told
from small_world import FOOTBALL, mark

FACTS = Told(Facts("place", 0.9, "capital of France"), "https://en.wikipedia.org/wiki/Paris")
ENTITY = Entity("Paris", 7, "Q90", FACTS)
MENTION = Mention(0, 5, "Paris", ENTITY, 0.9, -1.5, (Candidate(ENTITY, 0.5, -1.0, -1.5, 0.9),), False, 0.8)


def test_a_mention_as_plain_values():
    assert MENTION.to_dict() == {
        "start": 0, "end": 5, "text": "Paris", "entity": "Paris", "id": "Q90", "type": "place",
        "type_probability": 0.9, "description": "capital of France", "url": "https://en.wikipedia.org/wiki/Paris",
        "score": -1.5, "probability": 0.9, "nil": 0.0, "detection": 0.8, "clamped": False,
        "candidates": [
            {
                "entity": "Paris", "id": "Q90", "type": "place", "description": "capital of France",
                "prior": 0.5, "score": -1.5, "probability": 0.9,
            }
        ],
    }  # fmt: skip
    assert MENTION.to_dict(candidates=0)["candidates"] == []
    assert MENTION.to_dict(explain=True)["explanation"] is None, "it was not resolved by a linker"
    unlinked = Mention(0, 1, "x").to_dict()
    assert list(unlinked) == list(MENTION.to_dict())
    assert {unlinked[name] for name in ("entity", "id", "type", "description", "url")} == {None}


def test_an_entity_is_what_it_is_whatever_is_known_about_it():
    bare = Entity("Paris", 7, "Q90")
    assert bare == ENTITY and hash(bare) == hash(ENTITY) and "capital" not in repr(ENTITY)
    assert bare.to_dict() == {**ENTITY.to_dict(), **dict.fromkeys(Facts._fields), "url": None}


def test_terms_are_the_parts_of_the_local_score(linker):
    document = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Paris"))
    plain = document.to_dict(candidates=2, explain=True, terms=True)
    json.dumps(plain)
    assert {"id", "mentions", "rounds", "converged"} == set(plain)
    for mention, row in zip(document, plain["mentions"], strict=True):
        assert len(row["candidates"]) == 2
        why = mention.explain(mention.candidates[0].entity)
        assert row["candidates"][0]["context"] == pytest.approx(why.context)
        assert row["explanation"] == mention.explain().to_dict()


def test_a_document_is_its_mentions():
    document = Document("Paris", [MENTION], "one")
    assert list(document) == [MENTION] and len(document) == 1 and document.to_dict()["id"] == "one"


def test_candidates_are_there_however_one_comes_by_them(linker):
    """They are made when they are asked for, which nobody can tell."""

    def mention() -> Mention:
        return linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller")).mentions[0]

    known = mention().candidates
    assert known and isinstance(known, tuple)
    assert mention() == mention() and repr(known) in repr(mention())
    for copied in (
        pickle.loads(pickle.dumps(mention())),
        copy.copy(mention()),
        replace(mention(), part=None),
    ):
        assert copied.candidates == known
    assert not hasattr(mention(), "candidate")


def test_mentions_carry_their_span_and_candidates(linker):
    document = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller"))
    (mention,) = document.mentions
    assert (mention.start, mention.end, mention.text) == (0, 6, "Müller")
    assert mention.entity == mention.candidates[0].entity
    assert sum(c.probability for c in mention.candidates) == pytest.approx(1)
    assert mention.probability == max(c.probability for c in mention.candidates)
    assert {c.entity.title for c in mention.candidates} >= {"Herta Müller", "Gerd Müller", "Thomas Müller"}
