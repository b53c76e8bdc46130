"""Explanations: their terms add up to the score that was maximised."""

from __future__ import annotations

import re

import pytest

from pboh.inference.spans import Span
from pboh.linker import load
from small_world import FOOTBALL, WRITERS, mark


@pytest.mark.parametrize("paper", [False, True])
def test_terms_of_an_explanation_sum_to_the_score(world_model, paper):
    linker = load(world_model, paper=paper)
    for text in (FOOTBALL, WRITERS, "Herta Müller met Müller."):
        document = linker.disambiguate(
            text,
            [(0, 12), (17, 23)] if "met" in text else mark(text, "Müller", "Bayern", "Hemingway", "Paris"),
        )
        for mention in document:
            for entity in (None, *(c.entity for c in mention.candidates)):
                why = mention.explain(entity)
                terms = why.prior + why.context + why.coreference + sum(n.value for n in why.neighbours)
                assert terms == pytest.approx(why.score, abs=1e-5)
                words = sum(w.value for w in why.words) + why.unmatched + why.topic
                assert why.context == pytest.approx(words, abs=1e-5)
                assert sum(value for _, _, value in why.terms(3)) == pytest.approx(why.score, abs=1e-5)
            assert mention.explain().score == pytest.approx(mention.score)


@pytest.mark.parametrize("followed", [0.8, 3.0])
def test_terms_sum_to_the_score_where_a_word_follows_a_name(world_model, followed):
    """What follows a name changes what it means, before candidates are inherited: the prior has all of it."""
    text = "Max Müller taught. Müller scored for Bayern."
    spans = [(0, 10), (19, 25), (37, 43)]
    priors = []
    for linker in (load(world_model, followed=followed), load(world_model, followed=0.0)):
        document = linker.disambiguate(text, spans)
        for mention in document:
            for candidate in mention.candidates:
                why = mention.explain(candidate.entity)
                terms = why.prior + why.context + why.coreference + sum(n.value for n in why.neighbours)
                assert terms == pytest.approx(why.score, abs=1e-5)
                assert terms == pytest.approx(candidate.score, abs=1e-5)
        second = document.mentions[1]
        priors.append({c.entity.title: second.explain(c.entity).prior for c in second.candidates})
    common = priors[0].keys() & priors[1].keys()
    assert len(common) > 1 and any(abs(priors[0][e] - priors[1][e]) > 0.01 for e in common)


def test_words_are_what_the_score_loses_without_them(linker):
    """Replacing a word by one of the same length that nobody knows takes exactly its term away."""
    span = mark(FOOTBALL, "Müller")[0]
    (mention,) = linker.disambiguate(FOOTBALL, [span])
    why = mention.explain()
    assert why.words and why.words == tuple(sorted(why.words, key=lambda word: (-word.value, word.label)))
    for word in why.words:
        other = re.sub(rf"(?i)\b{word.label}\b", "q" * len(word.label), FOOTBALL)
        (changed,) = linker.disambiguate(other, [span])
        less = changed.explain(mention.entity)
        assert less.context - less.topic == pytest.approx(why.context - why.topic - word.value, abs=1e-9)


def test_coreference_is_what_a_longer_name_adds(linker):
    text = "Max Müller taught. Müller wrote about goals."
    mention = linker.disambiguate(text, [(0, 10), (19, 25)]).mentions[1]
    alone = linker.with_settings(coreference=0.0).disambiguate(text, [(19, 25)]).mentions[0]
    for candidate in mention.candidates:
        why = mention.explain(candidate.entity)
        shares = {c.entity: alone.explain(c.entity).prior for c in alone.candidates}
        if candidate.entity in shares:
            assert why.prior == pytest.approx(shares[candidate.entity])
    inherited = next(c.entity for c in mention.candidates if c.entity.title == "Max Müller")
    assert mention.explain(inherited).coreference > 0


def test_an_entity_that_is_no_candidate_has_no_explanation(linker):
    (mention,) = linker.disambiguate(FOOTBALL, [(0, 6)])
    assert mention.explain(linker.entity("Mercury (planet)")) is None


def test_plain_values_of_an_explanation(linker):
    document = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Bayern"))
    plain = document.mentions[0].explain().to_dict()
    assert plain["entity"] == document.mentions[0].entity.title
    assert [word["label"] for word in plain["words"]]
    assert plain["neighbours"][0]["label"] == "FC Bayern Munich" and plain["neighbours"][0]["mention"] == 1


def test_neighbours_of_a_part_are_those_resolved_with_it(linker):
    spans = [Span(*span) for span in mark(WRITERS, "Müller", "Hemingway", "Paris")]
    document = linker.disambiguate(WRITERS, spans)
    for i, mention in enumerate(document):
        assert {term.mention for term in mention.explain().neighbours} == {0, 1, 2} - {i}
