"""Groups of names: what is merged, what is not, why, and that no row is ever lost."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.canonical import Groups
from pboh.canonical.documents import tasks
from pboh.canonical.resolve import Answers, Resolver
from pboh.errors import InputError
from pboh.formats.types import TYPES

DUET = (
    "Freddie Mercury sang with Kate Bush on stage. Mercury wrote the song for Queen, and critics praised it."
)


def sets(groups: Groups) -> set[frozenset[str]]:
    return {frozenset(group.names) for group in groups if len(group) > 1}


def whole(groups, names):
    """Every row is in one group, in order, with a reason and a probability."""
    rows = [(member.row, member.name) for group in groups for member in group.members]
    assert sorted(rows) == list(enumerate(names))
    for group in groups:
        assert group.probability == min(member.probability for member in group.members)
        assert all(member.reason and "{other" not in member.reason for member in group.members)
        assert [groups.of(member.row) for member in group.members] == [group] * len(group)
    assert [member.row for member in groups.members()] == list(range(len(names)))
    return groups


@pytest.fixture
def group(linker):
    def grouped(names, *more, **options):
        return whole(linker.canonical(names, *more, **options), names)

    return grouped


# -- names of known entities -----------------------------------------------------------------------------


def test_names_that_mean_one_entity_are_one_group(group):
    groups = group(["Bayern", "NASA", "FC Bayern Munich", "Borussia Dortmund"])
    assert sets(groups) == {frozenset(("Bayern", "FC Bayern Munich"))}
    assert groups[0].label == "FC Bayern Munich" == groups[0].entity.title
    assert "means FC Bayern Munich" in groups[0].members[0].reason
    assert len(groups) == 3 and groups[-1] == groups[2] == groups[0:3][2]


def test_a_context_decides_what_a_name_means(group):
    contexts = ["A probe of NASA photographed craters on Mercury near the Sun.", DUET]
    groups = group(["Mercury", "Mercury", "Freddie Mercury", "Queen"], [*contexts, DUET, DUET])
    assert [groups.of(row).label for row in range(3)] == ["Mercury (planet)", *["Freddie Mercury"] * 2]


def test_neighbours_decide_what_a_name_means(group):
    names = ["Mercury", "NASA", "Sun", "Venus", "Mercury", "Queen", "Kate Bush"]
    groups = group(names, edges=[(0, 1), (0, 2), (0, 3), (4, 5), (4, 6)])
    assert groups.of(0).label == "Mercury (planet)"
    assert groups.of(4).label == "Freddie Mercury"


def test_an_ambiguous_name_is_left_alone_if_its_neighbours_do_not_decide(linker, group):
    names = ["Georgia", "Savannah", "Georgia", "Paris"]
    groups = group(names, edges=[(0, 1), (2, 3)], threshold=0.999)
    assert len(groups) == 4
    assert all("too uncertain" in groups.of(row).members[0].reason for row in (0, 2))


def test_types_speak_for_entities_of_that_type(typed_linker):
    names, types = ["Dortmund", "Dortmund", "Jordan"], ["GPE", "Organization", "country"]
    groups = whole(typed_linker.canonical(names, types=types), names)
    assert [group.label for group in groups] == ["Dortmund", "Borussia Dortmund", "Jordan"]
    assert [group.type for group in groups] == ["place", "organisation", "place"]


def test_a_type_makes_what_fits_more_probable_and_what_does_not_less(typed_linker):
    def probability(kind):
        (group,) = typed_linker.canonical(["Jordan"], types=[kind], threshold=0)
        return group.entity.title, group.members[0].probability

    title, alone = probability(None)
    assert probability("misc") == (title, alone)
    (fits,) = [kind for kind in ("place", "person") if typed_linker.engine.entities.find(title).type == kind]
    assert probability(fits)[0] == title
    assert alone < probability(fits)[1] < 1


def test_a_wrong_type_is_outvoted_by_a_sure_answer(typed_linker):
    answers = np.asarray([[0.97, 0.01], [0.97, 0.01], [0.6, 0.3]])
    place, person = (typed_linker.resolve(title) for title in ("Jordan", "Freddie Mercury"))
    entity = np.asarray([[typed_linker.engine.entities.find(title).index for title in (place, person)]] * 3)
    given = np.asarray([TYPES.index(name) for name in ("place", "organisation", "person")], np.uint8)
    found = Resolver(typed_linker.engine)._of_types(entity, answers, given)
    assert found[0, 0] > 0.99
    assert 0.97 > found[1, 0] > 0.9
    assert found[2].argmax() == 1
    assert (found.sum(axis=1) <= 1).all()


# -- names of no known entity ----------------------------------------------------------------------------


def test_unknown_names_are_grouped_by_form(group):
    names = [
        "Zorblax Inc.", "Zorblax", "ZORBLAX", "Quibble, Jane", "Jane Quibble", "J. Quibble",
        "Zorblaxian Quantum Labs", "ZQL", "Marlena Quartzheim", "Marlena Quarzheim", "Xyzzy",
    ]  # fmt: skip
    assert sets(group(names)) == {
        frozenset(("Zorblax Inc.", "Zorblax", "ZORBLAX")),
        frozenset(("Quibble, Jane", "Jane Quibble", "J. Quibble")),
        frozenset(("Zorblaxian Quantum Labs", "ZQL")),
        frozenset(("Marlena Quartzheim", "Marlena Quarzheim")),
    }


def test_nothing_is_merged_below_the_threshold(group):
    names = ["Zorblax Inc.", "Zorblax", "Marlena Quartzheim", "Marlena Quarzheim"]
    assert sets(group(names, threshold=0.75)) == {frozenset(names[:2])}
    assert sets(group(names, threshold=0.95)) == set()
    for threshold in (0.3, 0.7, 0.9):
        for one in group(names, threshold=threshold):
            assert one.probability >= threshold or len(one) == 1


def test_a_short_name_that_fits_several_is_left_alone(group):
    assert sets(group(["J. Quibble", "Jane Quibble", "John Quibble"])) == set()
    assert sets(group(["ZQL", "Zorblaxian Quantum Labs", "Zany Quibble Lovers"])) == set()


def test_shared_neighbours_decide_between_several(group):
    names = ["J. Quibble", "Jane Quibble", "John Quibble", "Zorblax", "Wobbleton"]
    edges = [(0, 3), (1, 3), (2, 4)]
    groups = group(names, edges=edges)
    assert sets(groups) == {frozenset(("J. Quibble", "Jane Quibble"))}
    assert "1 shared neighbour" in groups.of(1).members[0].reason + groups.of(1).members[1].reason


def test_the_last_name_of_a_person_needs_a_shared_neighbour(group):
    names, types = ["Quibble", "Jane Quibble", "Zorblax", "Wobbleton"], ["person", "PER", None, None]
    edges = [(0, 2), (1, 2), (0, 3), (1, 3)]
    assert sets(group(names, types=types, edges=edges)) == {frozenset(("Quibble", "Jane Quibble"))}
    assert sets(group(names, types=types, edges=edges[:1])) == set()
    assert sets(group(names, edges=edges)) == set()


def test_things_of_different_kinds_are_not_merged(group):
    names = ["Zorblax", "ZORBLAX", "zorblax"]
    assert sets(group(names, types=["company", "person", "ORG"])) == {frozenset(("Zorblax", "zorblax"))}
    assert len(group(names, types=["company", None, "misc"])) == 1
    assert len(group(["Zorblax", "Zorblax"], types=["gene", "protein"])) == 2


def test_unlike_names_are_not_chained(group):
    """Each name differs from the next by one letter, the last from the first by four."""
    chain = ["Quartzheimer", "Quartzheymer", "Quarczheymer", "Quarczheymar", "Quorczheymar"]
    groups = group(chain)
    assert len(groups) > 1
    for one in groups:
        assert len(one.names) <= 3


def test_names_that_joined_an_entity_by_form_attract_no_others(group):
    """Each looks like the one before, only the first like the entity's name."""
    names = [
        "Borussia Dortmund",
        "Borussia Dortmund Ltd.",
        "Borussia Dortmund Limited Group",
        "Borusia Dortmund",
    ]
    groups = group(names)
    assert groups[0].entity.title == "Borussia Dortmund"
    assert len(groups) == 1


def test_the_label_is_the_most_frequent_name(group):
    (one,) = group(["Zorblax Inc.", "Zorblax", "Zorblax"])
    assert one.label == "Zorblax" and one.entity is None and one.id is None
    assert one.names == ("Zorblax Inc.", "Zorblax")


def test_a_type_is_the_one_most_names_have(group):
    (one,) = group(["Zorblax Inc.", "Zorblax", "Zorblax"], types=["company", "Organization", "company"])
    assert one.type == "company"
    assert one.to_dict()["members"][1] == {
        "row": 1, "name": "Zorblax", "probability": 0.8,
        "reason": "'Zorblax Inc.' but for its legal form or title",
    }  # fmt: skip


# -- bad input -------------------------------------------------------------------------------------------


def test_empty_names_stay_alone(group):
    groups = group(["", "  ", "\n", "Paris"])
    assert len(groups) == 4
    assert len(group([])) == 0


def test_one_name_many_times_is_looked_up_once(linker, monkeypatch):
    asked = []
    solve = Resolver.__call__
    monkeypatch.setattr(Resolver, "__call__", lambda self, batch: asked.append(batch) or solve(self, batch))
    groups = linker.canonical(["Dortmund"] * 100_000 + ["Zorblax"] * 100_000)
    assert [len(one) for one in groups] == [100_000, 100_000]
    assert sum(len(task.rows) for batch in asked for task in batch) == 2


def test_rows_that_nothing_distinguishes_are_together_at_any_threshold(group):
    names = ["Zorblax", "Zorblax", "Georgia", "Georgia", ""]
    assert [len(one) for one in group(names, threshold=1.0)] == [2, 2, 1]
    assert len(group(names, ["a", "b", "c", "d", ""], threshold=1.0)) == 5


def test_groups_can_be_pickled(group):
    groups = group(["Georgia", "Savannah", "Zorblax"], edges=[(0, 1)], threshold=0.999)
    again = pickle.loads(pickle.dumps(groups))
    assert list(again) == list(groups) and repr(again) == repr(groups)


def test_long_names_and_mixed_languages(group):
    names = [
        "x" * 10_000,
        "x" * 10_000,
        "x" * 9_999,
        "パリ",
        "パリ市",
        "Париж",
        "ПАРИЖ",
        "باريس",
        "Straße",
        "STRASSE",
    ]
    groups = group(names)
    assert sets(groups) == {
        frozenset(("Париж", "ПАРИЖ")), frozenset(("Straße", "STRASSE")), frozenset(("x" * 10_000,)),
    }  # fmt: skip


def test_cycles_loops_and_repeated_edges(group):
    names = ["Zorblax", "Quibble", "Wobbleton"]
    groups = group(names, edges=[(0, 1), (1, 2), (2, 0), (0, 0), (1, 0), (0, 1)])
    assert len(groups) == 3


@pytest.mark.parametrize(
    ("names", "options", "what"),
    [
        ("IBM", {}, "the names are one string"),
        (["IBM", 5], {}, "name 1 is 5, not a string"),
        (["IBM", None], {}, "name 1 is None"),
        (["IBM"], {"contexts": []}, "there are 0 contexts and 1 names"),
        (["IBM"], {"types": [3]}, "type 0 is 3"),
        (["IBM"], {"threshold": 1.5}, "the threshold is 1.5"),
        (["IBM"], {"threshold": float("nan")}, "the threshold is nan"),
        (["IBM"], {"edges": [(0, 1)]}, "edge 0 ends at row 1"),
    ],
)
def test_other_input_is_one_sentence(linker, names, options, what):
    with pytest.raises(InputError, match=what):
        linker.canonical(names, **options)


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from(["Paris", "Bayern", "Zorblax Inc.", "ZORBLAX"])),
        max_size=12,
    ),
    st.data(),
)
def test_any_names_and_edges(linker, names, data):
    rows = st.integers(0, max(0, len(names) - 1))
    edges = data.draw(st.lists(st.tuples(rows, rows))) if names else []
    whole(linker.canonical(names, edges=edges), names)
    whole(linker.canonical(names), names)


# -- the same answers whatever the way -------------------------------------------------------------------


def test_names_looked_up_together_answer_as_if_alone(linker):
    names = ["Bayern", "Clinton", "Paris", "Bill Clinton", "Mercury", "Georgia", "Zorblax"]
    (task,) = tasks(names, [], [], None, range(len(names)))
    ((_, entities, probabilities),) = Resolver(linker.engine)([task])
    for name, entity, probability in zip(names, entities, probabilities, strict=True):
        (mention,) = linker.with_settings(threshold=0.0).disambiguate(name, [(0, len(name))])
        assert (mention.entity.index if mention.entity else -1) == entity
        assert mention.probability == pytest.approx(probability)


@pytest.mark.slow
def test_workers_change_nothing(linker):
    names = [
        f"{name} {k % 7}" if k % 3 else name for k in range(600) for name in ("Paris", "Bayern", "Zorblax")
    ]
    edges = [(k, (k * 7 + 1) % len(names)) for k in range(len(names))]
    one, two = (linker.canonical(names, edges=edges, workers=workers) for workers in (1, 2))
    assert list(one) == list(two)


def test_well_known_entities_need_more():
    model = {"entity_occurrences": np.asarray([50, 50_000])}
    answers = Answers(np.asarray([0, 1, 1, -1]), np.asarray([0.6, 0.6, 0.9, 0.0]))
    assert answers.sure(model, 0.6).tolist() == [True, False, True, False]
    assert answers.sure(model, 0.0).tolist() == [True, True, True, False]
    assert answers.sure(model, 1.0).tolist() == [False] * 4
