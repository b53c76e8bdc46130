"""A knowledge base of one's own on top of a model: found, harmless to the rest, removed without a trace."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from pboh.errors import InputError, ModelError, OutputError
from pboh.linker import Linker, load
from pboh.model.build import build_model
from pboh.model.derived import STARTER
from pboh.model.overlays import adding
from pboh.model.overlays.adding import add_entities, overlays, remove_entities
from pboh.model.overlays.entries import read_entries, short
from pboh.model.small.prune import prune_to
from pboh.model.store import open_model, read_manifest, verify
from pboh.model.writing import write_array, write_manifest
from small_world import with_types

REST = [
    "Müller scored for Bayern before the striker of Dortmund was sent off; Paris watched the goal.",
    "Jordan won six titles with the Bulls, and Larry Bird played for Boston.",
    "Beckenbauer captained Bayern Munich in the Bundesliga, and Zidane coached Real Madrid.",
    "Pippen left Chicago for the Lakers of Los Angeles; the NBA agreed.",
    "Yerevan, Baku and Tbilisi lie in the Caucasus, not far from the Black Sea. Moscow does not.",
    "Nobody is named here.",
    "",
]
KNOWN = ["Jordan", "Paris", "Georgia", "Apple", "Mercury", "Java", "Washington", "Bush", "Müller", "Bird"]


def syllables(rng: random.Random, count: int = 3) -> str:
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(count)).capitalize()


def invented(count: int = 50, seed: int = 5) -> list[dict]:
    """Invented entities; every fifth bears a name that the model knows. Each has words of its own."""
    rng = random.Random(seed)
    titles = [f"{syllables(rng)} {syllables(rng)} Works" for _ in range(count)]
    entries = []
    for k, title in enumerate(titles):
        names = (
            [title.split()[0] + str(k), KNOWN[k // 5 % len(KNOWN)]]
            if k % 5 == 0
            else [f"{syllables(rng)}{k}"]
        )
        entries.append(
            {
                "title": title,
                "names": names,
                "description": " ".join(syllables(rng, 4).lower() for _ in range(12)),
                "links": [titles[(k + 1) % count], "Paris"],
                "id": f"X{k}",
            }
        )
    return entries


def write(path: Path, entries: list[dict]) -> Path:
    path.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n")
    return path


def answers(linker: Linker, texts: list[str] = REST) -> list[dict]:
    return [linker.link(text, threshold=0.0).to_dict() for text in texts]


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def model(world_model, tmp_path):
    return shutil.copytree(world_model, tmp_path / "model")


@pytest.fixture
def kb(tmp_path):
    return write(tmp_path / "kb.jsonl", invented())


def check_invented(before: list[dict], base: Linker, linker: Linker, rest: list[str]) -> None:
    """All are found by their own names, and by shared ones where the text speaks of them."""
    assert answers(linker, rest) == before
    for entry in invented():
        for name in entry["names"]:
            words = entry["description"].split()
            text = f"We heard from {name} about {' '.join(words[:6])} and {' '.join(words[6:])}."
            (mention,) = linker.disambiguate(text, [(14, 14 + len(name))])
            assert (mention.entity.title, mention.entity.id) == (entry["title"], entry["id"])
            linked = {m.text: m.entity.title for m in linker.link(text)}
            assert linked.get(name) == entry["title"], (name, linked)
        if entry["names"][-1] in KNOWN:  # the other meaning stays the answer where nothing speaks for the new
            name = entry["names"][-1]
            (old,) = base.disambiguate(name, [(0, len(name))])
            (new,) = linker.disambiguate(name, [(0, len(name))])
            assert new.entity is None or new.entity == old.entity


def test_fifty_invented_entities_are_found_and_leave_no_trace(model, kb):
    untouched = [text for text in REST if not any(name in text for name in KNOWN)]
    assert len(untouched) == 5
    plain = load(model)
    everything, before, bytes_before = answers(plain), answers(plain, untouched), files(model)
    overlay, notes = add_entities(model, kb)
    assert overlay["entities"] == 50 and not notes
    check_invented(before, plain, load(model), untouched)
    verify(model)
    assert {
        name: data for name, data in files(model).items() if name in bytes_before and name != "model.json"
    } == {name: data for name, data in bytes_before.items() if name != "model.json"}
    remove_entities(model, "kb")
    assert files(model) == bytes_before
    assert answers(load(model)) == everything


@pytest.mark.slow
def test_fifty_invented_entities_on_the_starter(kb, tmp_path):
    if not (STARTER / "model.json").is_file():
        pytest.skip("this installation comes without a starter model")
    plain = load("starter")
    rest = [text for text in REST if not any(name in text for name in KNOWN)]
    everything, before, bytes_before = answers(plain), answers(plain, rest), files(STARTER)
    with pytest.raises(OutputError, match="belongs to the installation"):
        add_entities(STARTER, kb)
    add_entities(STARTER, kb, out=tmp_path / "mine")
    check_invented(before, plain, load(tmp_path / "mine"), rest)
    verify(tmp_path / "mine")
    remove_entities(tmp_path / "mine", "kb")
    assert answers(load(tmp_path / "mine")) == everything == answers(load("starter"))
    assert files(STARTER) == bytes_before


def test_documents_without_names_of_the_overlay_are_unchanged_to_the_last_bit(model, tmp_path):
    plain = load(model)
    before = answers(plain)
    add_entities(model, write(tmp_path / "kb.jsonl", [{"title": "Zorblax", "links": ["Paris"]}]))
    assert answers(load(model)) == before


def test_explanations_sum_to_the_score(model, tmp_path):
    entries = [
        {"title": "Zorblax Works", "names": ["Zorblax", "Paris"], "description": "widgets robots factory"},
        {
            "title": "Ada Zorn",
            "names": ["Müller"],
            "description": ["robots"],
            "links": ["Zorblax Works", "Paris"],
        },
    ]
    add_entities(model, write(tmp_path / "kb.jsonl", entries))
    text = "Müller built robots and widgets in the factory of Zorblax, then left Zorblax Works for Paris."
    spans = [(0, 6), (50, 57), (69, 82), (87, 92, "Paris")]
    for linker in (
        load(model),
        load(model, system="unnorm"),
        load(model, paper=True),
    ):
        document = linker.disambiguate(text, spans)
        for mention in document:
            for candidate in mention.candidates:
                why = mention.explain(candidate.entity)
                total = why.prior + why.context + why.coreference + sum(n.value for n in why.neighbours)
                assert total == pytest.approx(why.score, abs=1e-4)
                words = why.topic + sum(w.value for w in why.words)
                assert why.context == pytest.approx(why.unmatched + words)
    linker = load(model)
    (first, *_) = linker.disambiguate(text, spans)
    assert first.entity.title == "Ada Zorn"
    why = first.explain()
    assert "robots" in [w.label for w in why.words]
    assert {n.label for n in why.neighbours if n.value > 0} >= {"Zorblax Works", "Paris"}


@pytest.mark.parametrize("system", ["learned", "learnedcontext"])
def test_learned_parameters_know_nothing_of_overlays(model, tmp_path, system):
    from pboh.learning.pseudo_likelihood.learn import attach

    opened = open_model(model)
    paris, bayern = (load(model).entity(title).index for title in ("Paris", "FC Bayern Munich"))
    rows = sorted([(paris, bayern), (bayern, paris)])
    arrays = {
        "learned_count": opened["name_count"],
        "learned_pair_offsets": np.searchsorted([a for a, _ in rows], np.arange(opened.entities + 1)),
        "learned_pair_other": np.asarray([b for _, b in rows], np.uint32),
        "learned_pair_value": np.full(2, 2.0, np.float32),
    }
    attach(model, arrays, {"parameters": {"rescaled": False}})
    add_entities(model, write(tmp_path / "kb.jsonl", [{"title": "Zorblax", "links": ["Paris"]}]))
    document = load(model, system=system).disambiguate(
        "Zorblax met Bayern in Paris.", [(0, 7), (12, 18, "FC Bayern Munich"), (22, 27, "Paris")]
    )
    assert document.mentions[0].entity.title == "Zorblax"
    values = {n.label: n.value for n in document.mentions[1].explain().neighbours}
    assert values == pytest.approx({"Paris": 2.0, "Zorblax": 0.0})


def test_what_is_known_already_gets_the_names(model, tmp_path):
    entries = [{"title": "Paris", "names": ["Lutetia Parisiorum"], "description": "left aside"}]
    overlay, _ = add_entities(model, write(tmp_path / "kb.jsonl", entries))
    assert (overlay["entities"], overlay["known_before"]) == (0, 1)
    linker = load(model)
    (mention,) = linker.link("They met in Lutetia Parisiorum again.")
    assert (mention.text, mention.entity.title) == ("Lutetia Parisiorum", "Paris")
    assert mention.entity.index < linker.model.entities


def test_own_entities_say_what_they_are(model, tmp_path):
    entries = [
        {"title": "Zorblax", "type": "organisation", "description": "maker of  widgets"},
        {"title": "Ada Quux", "id": "https://example.org/ada", "description": ["engineer", "robots"]},
    ]
    source = tmp_path / "own.jsonl"
    source.write_text("\n".join(map(json.dumps, entries)))
    with_types(model)
    add_entities(model, source)
    verify(model)
    linker = load(model)
    zorblax, ada = linker.entity("Zorblax"), linker.entity("Ada Quux")
    assert zorblax.facts == ("organisation", 1.0, "maker of widgets") and zorblax.url is None
    assert ada.facts == ("unknown", 0.0, None) and ada.url == "https://example.org/ada"
    text = "Zorblax hired Ada Quux in Dortmund."
    for types, expected in (
        (["organisation"], ["Zorblax", "Borussia Dortmund"]),
        (["organisation", "unknown"], ["Zorblax", "Ada Quux", "Borussia Dortmund"]),
    ):
        spans = [(0, 7), (14, 22), (26, 34)]
        answers = [m.entity.title for m in linker.disambiguate(text, spans, types=types) if m.entity]
        assert answers == expected


def test_types_of_an_overlay_are_enough_to_restrict_by_them(model, tmp_path):
    source = tmp_path / "own.jsonl"
    source.write_text(json.dumps({"title": "Zorblax", "type": "product", "description": "a drink"}))
    add_entities(model, source)
    linker = load(model)
    assert linker.entity("Paris").type is None and linker.entity("Zorblax").type == "product"
    document = linker.disambiguate("Zorblax Paris", [(0, 7), (8, 13)], types=["product"])
    assert [m.entity and m.entity.title for m in document] == ["Zorblax", None]
    source.write_text(json.dumps({"title": "Blorp", "description": "a drink"}))
    add_entities(model, source, "more")
    assert load(model).entity("Blorp").facts == (None, None, "a drink")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("a drink", "a drink"),
        ("A drink.\n\tIt is blue.", "A drink. It is blue."),
        ("A drink of the U.S. army. It is blue" + " and blue" * 20, "A drink of the U.S. army."),
        ("青い飲み物。" + "青" * 200, "青い飲み物。"),
        ("word " * 40, "word " * 22 + "word…"),
        ("x" * 300, "x" * 119 + "…"),
    ],
)
def test_the_beginning_of_a_description_is_shown(text, shown):
    assert short(text) == shown and len(shown) <= 120


def test_titles_are_known_like_others(model, tmp_path):
    entries = [{"title": "Zorblax_Works (company)", "id": 7}, {"title": "UK", "names": ["Ukk"]}]
    add_entities(model, write(tmp_path / "kb.jsonl", entries))
    linker = load(model)
    entity = linker.entity("zorblax Works  (company)")
    assert (entity.title, entity.id) == ("Zorblax Works (company)", "7")
    assert linker.entity("UK").title == "UK"  # even if it is a redirect of the model
    assert linker.model.links(entity.index) == linker.model.documents(entity.index) == 0
    (mention,) = linker.disambiguate(
        "See Zorblax works.", [(4, 17)]
    )  # a title goes without its qualifier too
    assert mention.entity == entity
    clamped = linker.disambiguate("See it.", [(4, 6, "Zorblax Works (company)")])
    assert clamped.mentions[0].entity == entity


def test_overlays_stack_and_go_one_by_one(model, tmp_path):
    add_entities(model, write(tmp_path / "a.jsonl", [{"title": "Alphaco", "names": ["Alfa"]}]))
    one = answers(load(model), ["Alfa met Paris.", "Betty met Alfa and Alpha Two."])
    second = [
        {"title": "Betaco", "names": ["Betty"], "links": ["Alphaco"]},
        {"title": "Alphaco", "names": ["Alpha Two"]},
    ]
    overlay, notes = add_entities(model, write(tmp_path / "b.jsonl", second))
    assert not notes and overlay["links"] == 1 and overlay["known_before"] == 1
    both = load(model)
    document = both.link("Betty met Alfa and Alpha Two.")
    assert [m.entity.title for m in document] == ["Betaco", "Alphaco", "Alphaco"]
    assert {n.label: n.value > 0 for n in document.mentions[0].explain().neighbours} == {"Alphaco": True}
    assert [o["name"] for o in overlays(model)] == ["a", "b"]
    with pytest.raises(InputError, match="already has an overlay 'b'"):
        add_entities(model, tmp_path / "b.jsonl")
    remove_entities(model, "a")  # what b said of its entities goes with them
    left = load(model)
    assert left.entity("Alphaco") is None
    assert [m.entity.title for m in left.link("Betty met Alfa and Alpha Two.")] == ["Betaco"]
    add_entities(model, tmp_path / "a.jsonl")
    assert [o["name"] for o in overlays(model)] == ["b", "a"]
    remove_entities(model, "b")
    assert answers(load(model), ["Alfa met Paris.", "Betty met Alfa and Alpha Two."]) == one


def test_an_overlay_can_be_replaced(model, tmp_path):
    add_entities(model, write(tmp_path / "a.jsonl", [{"title": "Alphaco"}]))
    add_entities(model, write(tmp_path / "b.jsonl", [{"title": "Betaco", "links": ["Alphaco"]}]))
    add_entities(
        model, write(tmp_path / "a.jsonl", [{"title": "Gammaco"}, {"title": "Alphaco"}]), replace=True
    )
    linker = load(model)
    assert [linker.entity(t).title for t in ("Alphaco", "Betaco", "Gammaco")] == [
        "Alphaco",
        "Betaco",
        "Gammaco",
    ]
    page = linker.model.overlays[0]["page_entity"]
    assert linker.model.entities in page  # the new Alphaco lies above: b no longer links it
    assert page.size == 1
    verify(model)


def test_a_folder_that_borrows_leaves_the_model_alone(model, kb, tmp_path):
    before, plain = files(model), answers(load(model))
    add_entities(model, kb, out=tmp_path / "mine")
    assert files(model) == before
    mine = load(tmp_path / "mine")
    assert mine.entity(invented()[0]["title"]) and mine.settings == load(model).settings
    add_entities(model, write(tmp_path / "b.jsonl", [{"title": "Betaco"}]), out=tmp_path / "mine")
    add_entities(
        tmp_path / "mine",
        write(tmp_path / "c.jsonl", [{"title": "Gammaco", "links": ["Betaco"]}]),
        out=tmp_path / "more",
    )
    more = load(tmp_path / "more")
    assert [o.name for o in more.model.overlays] == ["kb", "b", "c"]
    assert [more.entity(t).title for t in ("Betaco", "Gammaco")] == ["Betaco", "Gammaco"]
    verify(tmp_path / "more")
    with pytest.raises(InputError, match=r"no overlay 'b' of its own.*belongs to .*mine"):
        remove_entities(tmp_path / "more", "b")
    for name in ("kb", "b"):
        remove_entities(tmp_path / "mine", name)
    assert answers(load(tmp_path / "mine")) == plain
    path = next((model).glob("word_id.npy"))
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelError, match="altered"):
        verify(tmp_path / "more")


def test_borrowing_from_a_model_that_changed_is_refused(model, kb, tmp_path, world_counts):
    add_entities(model, kb, out=tmp_path / "mine")
    info, titles = read_manifest(model), np.load(model / "title_blob.npy")
    titles[0] ^= 1
    info["arrays"]["title_blob"] = write_array(model / "title_blob.npy", titles)
    write_manifest(model / "model.json", info)
    with pytest.raises(ModelError, match="is another model now"):
        open_model(tmp_path / "mine")
    with pytest.raises(OutputError, match="contains another model"):
        add_entities(model, kb, out=tmp_path / "mine")
    shutil.rmtree(model)
    with pytest.raises(ModelError, match="no model folder"):
        open_model(tmp_path / "mine")


def test_a_model_with_overlays_is_not_overwritten(model, kb, tmp_path, world_counts):
    add_entities(model, kb)
    with pytest.raises(OutputError, match="which a new one would lose"):
        build_model(world_counts, model)
    with pytest.raises(InputError, match="entities were added"):
        prune_to(open_model(model), load(model).settings.record(), tmp_path / "small", 1.0)
    verify(model)


def test_adding_twice_at_once_never_loses_one(model, kb, tmp_path, monkeypatch):
    """While the first is at work, the second says so; nothing is reported as done that is not."""
    real = adding.compile_entries

    def slow(*arguments):
        with pytest.raises(OutputError, match="another process is writing here"):
            add_entities(model, kb, "second")
        return real(*arguments)

    monkeypatch.setattr(adding, "compile_entries", slow)
    add_entities(model, kb, "first")
    monkeypatch.undo()
    add_entities(model, kb, "second")
    assert [overlay["name"] for overlay in overlays(model)] == ["first", "second"]
    assert not (tmp_path / ".model.tmp").exists()


def test_damage_is_found(model, kb):
    add_entities(model, kb)
    path = model / "overlays/kb/name_odds.npy"
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ModelError, match=r"name_odds\.npy: a file of the model was altered"):
        verify(model)
    path.unlink()
    with pytest.raises(ModelError, match=r"name_odds\.npy: a file of the model is missing"):
        open_model(model)
    remove_entities(model, "kb")
    verify(model)


def test_linkers_with_overlays_travel_to_other_processes(model, kb):
    add_entities(model, kb)
    linker = load(model)
    entry = invented()[1]
    name = entry["names"][0]
    documents = [(f"{name} met Paris.", [(0, len(name))])] * 3
    assert pickle.loads(pickle.dumps(linker)).entity(entry["title"]).id == entry["id"]
    for workers in (1, 2):
        assert [d.mentions[0].entity.id for d in linker.pipe(documents, workers=workers)] == [entry["id"]] * 3


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"title": "A", "names": ["B"', "line 2: .*truncated"),
        ('{"names": ["B"]}', "line 2: .*title"),
        ('{"title": " "}', "line 2: the title is empty"),
        ('{"title": "A", "names": ["", "x"]}', "line 2: a name is empty"),
        ('{"title": "A", "name": ["x"]}', "line 2: .*unknown field `name`"),
        ('{"title": "A", "names": "x"}', "line 2: Expected `array`"),
        ('{"title": "A", "prior": 1.0}', "line 2: prior is 1, not between 0 and 1"),
        ('{"title": "A", "link": -1}', "line 2: link is -1"),
        ('{"title": "A", "links": ["_"]}', "line 2: a link is empty"),
        ('{"title": "A", "id": ""}', "line 2: the id is empty"),
        ('{"title": "A", "type": "city"}', "line 2: 'city' is not a type of entities. There are unknown, "),
        ('{"title": "_Good  One"}', "line 2: the title 'Good One' is already in line 1"),
        ("[1]", "line 2: Expected `object`"),
        ('{"title": "\\ud800"}', "line 2: "),
    ],
)
def test_bad_lines_are_named_and_nothing_is_written(model, tmp_path, line, message):
    source = tmp_path / "kb.jsonl"
    source.write_text('{"title": "Good One"}\n' + line + "\n\n")
    before = files(model)
    with pytest.raises(InputError, match=message):
        add_entities(model, source)
    assert files(model) == before
    overlay, notes = add_entities(model, source, skip_bad=True)
    assert overlay["entities"] == 1 and len(notes) == 1


def test_wrong_files_and_names_are_refused(model, tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl: there is no such file"):
        add_entities(model, tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match="the file has no entities"):
        add_entities(model, tmp_path / "empty.jsonl")
    with pytest.raises(InputError, match="is not a valid name for an overlay"):
        add_entities(model, tmp_path / "empty.jsonl", "../up")
    with pytest.raises(InputError, match="has no overlay 'kb'"):
        remove_entities(model, "kb")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("x")
    with pytest.raises(OutputError, match="not empty"):
        add_entities(model, write(tmp_path / "kb.jsonl", [{"title": "A"}]), out=tmp_path / "full")


def test_links_that_lead_nowhere_are_reported(model, tmp_path):
    entries = [
        {"title": "A1", "links": ["Nowhere", "Paris", "a1", "B1"]},
        {"title": "B1", "links": ["Nowhere"]},
    ]
    overlay, notes = add_entities(model, write(tmp_path / "kb.jsonl", entries))
    assert (overlay["links"], overlay["unknown_links"]) == (2, 2)
    assert notes == ["the model knows no 'Nowhere', which is linked"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_model_that_cannot_be_written_to_says_so(model, kb):
    model.chmod(0o500)
    with pytest.raises(OutputError, match="permission denied"):
        add_entities(model, kb)


def test_pair_counts_are_those_of_the_pages(model, tmp_path):
    """N(e,e′) and c_e against a slow count over the sets of every page."""
    rng = random.Random(3)
    titles = [f"Thing {k}" for k in range(30)]
    base = load(model)
    known = [base.model.title(e) for e in range(40)]
    entries = [{"title": t, "links": rng.sample(titles + known, 6)} for t in titles]
    add_entities(model, write(tmp_path / "kb.jsonl", entries))
    opened = load(model).model
    (overlay,) = opened.overlays
    number = {opened.title(e): e for e in [*range(40), *range(overlay.first, overlay.first + 30)]}
    pages = [{number[entry["title"]], *(number[t] for t in entry["links"])} for entry in entries]
    asked = np.asarray(sorted(rng.sample(sorted(number.values()), 35)))
    since = int((asked < opened.entities).sum())
    counts, marginals = overlay.together(asked, since), overlay.marginals(asked)
    for i, e in enumerate(asked.tolist()):
        assert marginals[i] == sum(len(page) - 1 for page in pages if e in page)
        for j, other in enumerate(asked.tolist()):
            if i != j and max(i, j) >= since:
                assert counts[i, j] == sum(e in page and other in page for page in pages)


def test_entries_are_read_as_people_write_them(tmp_path):
    source = tmp_path / "kb.jsonl"
    source.write_bytes(
        b'\xef\xbb\xbf{"title": "A_b", "names": [" x  y "], "description": ["one", "two"]}\r\n'
    )
    (entry,), bad = read_entries(source)
    assert (entry.title, entry.names, bad) == ("A b", ["x y"], [])
