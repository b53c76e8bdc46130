"""The whole path on the small world: names are resolved together and explain themselves."""

from __future__ import annotations

import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pytest

from pboh.errors import InputError, SpanError
from pboh.inference.settings import PAPER, Settings, parse_changes
from pboh.inference.spans import Span
from pboh.linker import Linker, load

FOOTBALL = "Müller scored for Bayern before the striker of Dortmund was sent off; Paris watched the goal."
WRITERS = "Müller won the prize for her novel, and so did Hemingway, who wrote of Paris."


def mark(text: str, *names: str) -> list[tuple[int, int]]:
    """Spans of all occurrences of names."""
    return sorted(m.span() for name in names for m in re.finditer(re.escape(name), text))


def titles(document) -> list[str | None]:
    return [mention.entity.title if mention.entity else None for mention in document]


def test_context_and_coherence_decide_between_namesakes(linker):
    football = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Bayern", "Dortmund"))
    assert titles(football)[0] in ("Thomas Müller", "Gerd Müller")
    assert titles(football)[1:] == ["FC Bayern Munich", "Borussia Dortmund"]
    writers = linker.disambiguate(WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris"))
    assert titles(writers)[0] in ("Herta Müller", "Max Müller")
    assert titles(writers)[1:] == ["Ernest Hemingway", "Paris"]


def test_mentions_carry_their_span_and_candidates(linker):
    document = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller"))
    (mention,) = document.mentions
    assert (mention.start, mention.end, mention.text) == (0, 6, "Müller")
    assert mention.entity == mention.candidates[0].entity
    assert sum(c.probability for c in mention.candidates) == pytest.approx(1)
    assert mention.probability == max(c.probability for c in mention.candidates)
    assert {c.entity.title for c in mention.candidates} >= {"Herta Müller", "Gerd Müller", "Thomas Müller"}


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
                assert why.context == pytest.approx(sum(w.value for w in why.words) + why.unmatched, abs=1e-5)
            assert mention.explain().score == pytest.approx(mention.score)


def test_answers_maximise_the_joint_score_of_the_paper(world_model):
    """Brute force over all assignments of Eq. (c2), from the terms that explanations report."""
    linker = load(world_model, paper=True, candidates=4)
    text, spans = WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris")
    solution = linker.engine.solve(text, [Span(*s) for s in spans])
    unary, pairs = solution.unary, solution.pairs
    start, other, value = pairs.couplings
    lam = np.full((start.size - 1,) * 2, pairs.unseen)
    for u in range(start.size - 1):
        lam[u, other[start[u] : start[u + 1]]] += value[start[u] : start[u + 1]]

    def joint(choice):
        labels = [pairs.label[i, a] for i, a in enumerate(choice)]
        pair_sum = sum(lam[labels[i], labels[j]] for i in range(3) for j in range(i))
        return sum(unary.local[i, a] for i, a in enumerate(choice)) + pair_sum

    best = max(product(*(range(k) for k in unary.size)), key=joint)
    assert solution.answer.tolist() == list(best)
    assert solution.beliefs.converged


def test_a_clamped_mention_is_certain_and_steers_the_rest(linker):
    text = "Mercury and Venus were there."
    free = titles(linker.disambiguate(text, mark(text, "Mercury", "Venus")))
    assert free == ["Mercury (planet)", "Venus"]
    clamped = linker.disambiguate(text, [(0, 7), (12, 17, "Queen (band)")])
    assert clamped.mentions[1].clamped
    assert clamped.mentions[1].entity.title == "Queen (band)"
    assert clamped.mentions[1].probability == 1
    assert (
        clamped.mentions[0].probability
        != linker.disambiguate(text, [(0, 7), (12, 17)]).mentions[0].probability
    )
    with pytest.raises(InputError, match="does not know"):
        linker.disambiguate(text, [(0, 7, "Nobody at all")])


def test_nothing_one_thing_and_unknown_names(linker):
    assert linker.disambiguate("", []).mentions == []
    assert linker.disambiguate("Nothing here.", []).rounds == 0
    text = "Paris met Xqzzyvw."
    document = linker.disambiguate(text, mark(text, "Paris", "Xqzzyvw"))
    assert document.mentions[0].entity is not None
    unknown = document.mentions[1]
    assert (unknown.entity, unknown.candidates, unknown.probability) == (None, (), 0.0)
    assert unknown.explain() is None


def test_a_misspelt_name_is_rescued_by_its_trigrams(linker):
    text = "Hemmingway wrote."  # 6 of 9 trigrams shared: a distance of 1/3
    for distance, title in ((0.5, "Ernest Hemingway"), (0.3, None)):
        strict = linker.with_settings(fuzzy_distance=distance)
        assert titles(strict.disambiguate(text, [(0, 10)])) == [title]
    assert titles(linker.with_settings(fuzzy=False).disambiguate(text, [(0, 10)])) == [None]


def test_a_surname_inherits_from_the_full_name_before_it(linker):
    text = "Max Müller taught. Müller wrote about goals."
    document = linker.disambiguate(text, [(0, 10), (19, 25)])
    alone = linker.with_settings(coreference=0.0).disambiguate(text, [(0, 10), (19, 25)])
    inherited = {c.entity.title: c.prior for c in document.mentions[1].candidates}
    without = {c.entity.title: c.prior for c in alone.mentions[1].candidates}
    assert inherited["Max Müller"] > without.get("Max Müller", 0)


@pytest.mark.parametrize("name", ["BAYERN", "bayern", "Bayern", "BaYeRn"])
def test_case_is_a_hint_not_a_condition(linker, name):
    assert titles(linker.disambiguate(f"{name} scored a goal.", [(0, 6)])) == ["FC Bayern Munich"]


def test_the_name_as_written_counts_more_than_other_cases(linker):
    fruit = linker.disambiguate("an apple", [(3, 8)]).mentions[0]
    company = linker.disambiguate("an Apple", [(3, 8)]).mentions[0]
    share = {m.text: {c.entity.title: c.prior for c in m.candidates} for m in (fruit, company)}
    assert share["apple"]["Apple"] > share["Apple"]["Apple"]
    assert share["Apple"]["Apple Inc."] > share["apple"].get("Apple Inc.", 0)


def test_offsets_count_code_points(linker):
    text = "😀 𝔘𝔫𝔦 Müller scored."
    (mention,) = linker.disambiguate(text, mark(text, "Müller"))
    assert text[mention.start : mention.end] == mention.text == "Müller"


def test_results_do_not_depend_on_batch_thread_or_process(linker):
    documents = [
        (FOOTBALL, mark(FOOTBALL, "Müller", "Bayern", "Paris")),
        (WRITERS, mark(WRITERS, "Müller")),
    ] * 5
    expected = [linker.disambiguate(*d).to_dict() for d in documents]
    assert [d.to_dict() for d in linker.pipe(documents)] == expected
    assert [d.to_dict() for d in linker.pipe(documents, workers=2, batch=3)] == expected
    with ThreadPoolExecutor(4) as threads:
        assert [d.to_dict() for d in threads.map(lambda d: linker.disambiguate(*d), documents)] == expected
    again = pickle.loads(pickle.dumps(linker))
    assert [again.disambiguate(*d).to_dict() for d in documents] == expected


def test_documents_survive_a_process_boundary_with_their_explanations(linker):
    document = pickle.loads(pickle.dumps(linker.disambiguate(WRITERS, mark(WRITERS, "Müller"))))
    mention = document.mentions[0]
    assert mention.explain().entity == mention.entity


def test_a_thousand_mentions_fit(linker):
    sentence = "Müller scored for Bayern in Paris and Georgia won. "
    text = sentence * 250
    document = linker.disambiguate(text, mark(text, "Müller", "Bayern", "Paris", "Georgia"))
    assert len(document) == 1000
    assert all(mention.entity for mention in document)


def test_entities_are_found_by_title_and_redirect(linker):
    assert linker.resolve("Apple_Inc.") == "Apple Inc."
    assert linker.resolve("apple Inc.") == "Apple Inc."
    assert linker.resolve("Air Jordan") == "Michael Jordan"  # a redirect to a redirect
    assert linker.resolve("gerd muller") == "Gerd Müller"
    assert linker.resolve("Nobody at all") is None


@pytest.mark.parametrize("system", ["localmention", "localcontext", "unnorm", "rescaled", "pboh"])
def test_the_five_systems_are_settings_of_one_score(world_model, system):
    linker = load(world_model, paper=True, system=system)
    document = linker.disambiguate(WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris"))
    assert all(mention.entity for mention in document)
    why = document.mentions[0].explain()
    assert (why.context == 0) == (system in ("localmention", "unnorm", "rescaled"))
    assert (why.neighbours == ()) == (system in ("localmention", "localcontext"))


def test_local_mention_takes_the_most_frequent_entity(world_model):
    linker = load(world_model, paper=True, system="localmention")
    document = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Paris"))
    for mention in document:
        assert mention.entity == max(mention.candidates, key=lambda c: c.prior).entity


def test_pair_weights_are_those_of_the_paper():
    weights = {
        s: PAPER.change(system=s).pair_weight(5) for s in ("unnorm", "rescaled", "pboh", "localcontext")
    }
    assert weights == {"unnorm": 1.0, "rescaled": 0.5, "pboh": 0.25, "localcontext": 0.0}
    assert PAPER.pair_weight(1) == 0


def test_settings_change_without_rebuilding(linker):
    strong = linker.with_settings(tau=0.9, layers={"last": 0.5})
    assert strong.settings.tau == 0.9
    assert strong.settings.layers["cased"] == linker.settings.layers["cased"]
    assert isinstance(strong, Linker)
    with pytest.raises(InputError, match="unknown settings"):
        linker.with_settings(gamma=1)
    with pytest.raises(InputError, match="unknown name layers"):
        linker.with_settings(layers={"middle": 1})
    with pytest.raises(InputError, match="unknown system"):
        Settings(system="neural")


def test_settings_can_be_written_as_text():
    changes = parse_changes(["tau=0.7", "fuzzy=false", "layers.last=0", "candidates=5"])
    assert changes == {"tau": 0.7, "fuzzy": False, "layers": {"last": 0.0}, "candidates": 5}
    for wrong in ("tau", "gamma=1", "tau=many", "layers=1", "fuzzy=perhaps"):
        with pytest.raises(InputError):
            parse_changes([wrong])


def test_overlap_is_refused_unless_allowed(linker):
    with pytest.raises(SpanError, match="overlap"):
        linker.disambiguate(FOOTBALL, [(0, 6), (3, 13)])
    assert len(linker.disambiguate(FOOTBALL, [(0, 6), (3, 13)], overlapping=True)) == 2


def test_it_says_so_when_kernels_are_compiled_and_only_then(caplog):
    from numba import njit

    from pboh.warmup import say_if_compiling

    with say_if_compiling(after=0.0):
        time.sleep(0.1)
    assert not caplog.records, "a slow machine compiles nothing"
    with say_if_compiling(after=0.0):
        njit(lambda x: x + 1)(1)
        time.sleep(0.1)
    assert "compiling kernels" in caplog.text
