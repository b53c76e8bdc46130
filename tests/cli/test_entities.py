"""The commands around one's own knowledge base: ids, overlays, restricted answers."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def model(world_model, tmp_path):
    return shutil.copytree(world_model, tmp_path / "model")


def write(path, *entries):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def test_entities_are_added_listed_used_and_removed(run, model, tmp_path):
    source = write(
        tmp_path / "mine.jsonl",
        {
            "title": "Zorblax Works",
            "names": ["Zorblax"],
            "id": "Q7",
            "links": ["Paris", "Nowhere"],
            "type": "organisation",
            "description": "maker of robots",
        },
        {"title": "Paris", "names": ["Lutetia"]},
    )
    code, out, err = run("entities", "add", source, "--model", model, "--json", tmp_path / "s.json")
    assert code == 0 and "the model knows no 'Nowhere'" in err
    figures = json.loads((tmp_path / "s.json").read_text())
    assert figures["entities"] == 1 and figures["known_before"] == 1 and figures["seconds"] > 0
    code, out, err = run("link", "Zorblax moved to Lutetia.", "--model", model, "--format", "json")
    assert [(m["entity"], m["id"]) for m in json.loads(out)["mentions"]] == [
        ("Zorblax Works", "Q7"),
        ("Paris", None),
    ]
    code, out, err = run("entities", "list", "--model", model, "--json", tmp_path / "o.json")
    assert out.splitlines()[0].startswith("name\tentities") and out.splitlines()[1].startswith("mine\t1\t1\t")
    assert json.loads((tmp_path / "o.json").read_text())[0]["name"] == "mine"
    listed = run("entities", "list", "mine", "--model", model)[1]
    assert listed == "title\tid\ttype\tdescription\nZorblax Works\tQ7\torganisation\tmaker of robots\n"
    code, out, err = run("info", "--model", model, "--verify")
    assert "mine (1 entities)" in out and "every checksum agrees" in out
    assert run("entities", "add", source, "--model", model)[0] == 1
    assert run("entities", "add", source, "--model", model, "--replace")[0] == 0
    assert run("entities", "remove", "mine", "--model", model)[0] == 0
    code, out, err = run("entities", "remove", "mine", "--model", model)
    assert code == 1 and "no overlay 'mine'" in err
    assert run("entities", "list", "mine", "--model", model)[0] == 1
    assert "Zorblax" not in run("link", "Zorblax moved to Lutetia.", "--model", model)[1]


def test_a_model_beside_another(run, model, tmp_path):
    source = write(tmp_path / "mine.jsonl", {"title": "Zorblax Works", "names": ["Zorblax"]})
    assert (
        run("entities", "add", source, "--model", model, "--out", tmp_path / "beside", "--name", "first")[0]
        == 0
    )
    assert run("info", "--model", tmp_path / "beside", "--json", tmp_path / "i.json")[0] == 0
    info = json.loads((tmp_path / "i.json").read_text())
    assert (info["borrows_from"], info["overlays"]) == (str(model), "first (1 entities)")
    assert "Zorblax Works" in run("link", "Zorblax moved.", "--model", tmp_path / "beside")[1]
    assert not (model / "overlays").exists()


def test_many_notes_do_not_flood_the_terminal(run, model, tmp_path):
    source = write(
        tmp_path / "mine.jsonl", {"title": "Zorblax", "links": [f"Nowhere {k}" for k in range(30)]}
    )
    err = run("entities", "add", source, "--model", model)[2]
    assert err.count("the model knows no") == 10 and "and 20 more like these" in err


def test_bad_lines_are_one_sentence(run, model, tmp_path):
    source = tmp_path / "mine.jsonl"
    source.write_text('{"title": "A"}\n{"title": "B", "names": [""]}\n' + "x\n" * 9)
    code, _, err = run("entities", "add", source, "--model", model)
    assert code == 1 and "line 2: a name is empty" in err and "and 5 more" in err and "--skip-bad" in err
    assert run("entities", "add", source, "--model", model, "--skip-bad")[0] == 0


def test_the_starter_is_meant_by_its_name(run, model, tmp_path, monkeypatch):
    monkeypatch.setattr("pboh.model.derived.STARTER", model)
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path / "mine.jsonl", {"title": "Zorblax"})
    code, _, err = run("entities", "add", source)
    assert code == 1 and "belongs to the installation" in err and "--out" in err
    assert run("entities", "add", source, "--out", tmp_path / "beside")[0] == 0
    assert json.loads((tmp_path / "beside/model.json").read_text())["base"]["model"] == "starter"
    assert "Zorblax" in run("link", "See Zorblax.", "--model", tmp_path / "beside")[1]
    assert "Paris" in run("link", "See Paris.", "--model", "starter")[1]
    assert "entities" in run("info")[1]


def test_only_restricts_answers(run, model, tmp_path):
    (tmp_path / "only.txt").write_text("\ufeffParis\n\nNo such thing\n")
    text = "Müller scored for Bayern in Paris."
    code, out, err = run(
        "link", text, "--model", model, "--only", tmp_path / "only.txt", "--format", "json", "--threshold", 0
    )
    assert [m["entity"] for m in json.loads(out)["mentions"]] == ["Paris"]
    assert "does not know 1 of 2 titles (No such thing)" in err
    line = {"text": text, "mentions": [{"start": 0, "end": 6}, {"start": 28, "end": 33}]}
    source = write(tmp_path / "documents.jsonl", line)
    _, out, _ = run("annotate", source, "--model", model, "--only", tmp_path / "only.txt")
    assert [m["entity"] for m in json.loads(out)["mentions"]] == [None, "Paris"]
    (tmp_path / "none.txt").write_text("No such thing\n")
    for file, message in (("none.txt", "knows none of its 1 titles"), ("missing.txt", "cannot be read")):
        code, _, err = run("link", text, "--model", model, "--only", tmp_path / file)
        assert code == 1 and message in err


def test_ids_are_added_and_removed(run, model, tmp_path):
    from pboh.model.store import open_model

    opened = open_model(model)
    entity = next(e for e in range(opened.entities) if opened.title(e) == "Paris")
    number = int(opened["entity_page"][entity])
    table = tmp_path / "page_props.sql"
    table.write_text(f"INSERT INTO `page_props` VALUES ({number},'wikibase_item','Q90',NULL);\n")
    assert run("entities", "ids", table, "--model", model, "--json", tmp_path / "ids.json")[0] == 0
    assert json.loads((tmp_path / "ids.json").read_text())["entities_with_an_id"] == 1
    _, out, _ = run("link", "They met in Paris.", "--model", model, "--format", "json")
    assert json.loads(out)["mentions"][0]["id"] == "Q90"
    assert run("entities", "ids", "--model", model)[0] == 1
    assert run("entities", "ids", "--model", model, "--remove")[0] == 0
    _, out, _ = run("link", "They met in Paris.", "--model", model, "--format", "json")
    assert json.loads(out)["mentions"][0]["id"] is None


def test_twins_are_listed(run, model, tmp_path):
    code, out, _ = run("entities", "twins", "--model", model, "--least", 0)
    assert code == 0 and out.startswith("title\ttwin\tlinks\tlinks of twin\tprobability\tcalled\tcalling")
    run("entities", "twins", "--model", model, "--least", 0, "--json", tmp_path / "t.json")
    rows = json.loads((tmp_path / "t.json").read_text())
    assert [row["title"] for row in rows] == [line.split("\t")[0] for line in out.splitlines()[1:]]
