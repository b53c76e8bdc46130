"""``pboh evaluate`` as typed: rows, report, comparisons, ablations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pboh.cli
import pboh.linker
from fake_linker import FakeLinker
from pboh.errors import InputError
from typed import run

TESTS = Path(__file__).parents[1]
DATA = TESTS / "evaluation" / "data"
WORLD = TESTS / "data" / "world.xml"
PAGES = TESTS / "data" / "world.jsonl"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """A dataset the fake linker has answers for."""
    text = "Paris is not in Texas, said Jordan."
    mentions = [(0, 5, "Paris Hilton"), (16, 21, "Texas"), (28, 34, "Michael Jordan")]
    lines = [
        {"id": "d", "text": text, "mentions": [{"start": s, "end": e, "gold": g} for s, e, g in mentions]}
    ]
    file = tmp_path / "kore50.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@pytest.fixture
def fake_model(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, dict]]:
    """Every model is the fake linker; remembers how it was loaded."""
    loaded, linker = [], FakeLinker()

    def load(path: Path, *, paper: bool = False, **settings: object):
        loaded.append((Path(path).name, paper, settings))
        made = linker.with_settings(system="pboh")
        made.model.info = {"wiki": "testwiki", "totals": {"entities": 6}}
        made.with_settings = linker.with_settings
        return made

    monkeypatch.setattr(pboh.linker, "load", load)
    return loaded


def test_rows_and_report(fake_model, gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows_file, page = tmp_path / "rows.json", tmp_path / "report.html"
    arguments = ["evaluate", "--model", "m", gold, "--systems", "all", "--json", rows_file, "--report", page]
    assert run(*arguments) == 0
    rows = json.loads(rows_file.read_text())
    assert [row["system"] for row in rows] == ["localmention", "localcontext", "unnorm", "rescaled", "pboh"]
    last = rows[-1]
    assert last["micro"] == pytest.approx({"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3})
    keys = "dataset documents mentions macro gold_in_kb gold_in_candidates accuracy_given_candidate"
    assert {*keys.split(), "ms_per_document", "rounds", "converged"} <= set(last)
    out = capsys.readouterr().out
    assert "Results" in out and "66.67" in out and "ours: PBoH" in out
    assert "NIL golds are dropped" in out and "Paired tests between systems" in out
    assert "Loopy belief propagation statistics" in out and "Entities in the graph" in out
    assert "Paris Hilton" in page.read_text()
    assert fake_model == [("m", False, {})]


def test_compare_with_the_papers_settings(fake_model, gold: Path, tmp_path: Path, capsys) -> None:
    rows_file = tmp_path / "rows.json"
    assert (
        run("evaluate", "-m", "m", gold, "--compare", "paper", "--set", "tau=0.7", "--json", rows_file) == 0
    )
    assert fake_model == [("m", False, {"tau": 0.7}), ("m", True, {})]
    assert [row["model"] for row in json.loads(rows_file.read_text())] == ["m", "paper"]
    out = capsys.readouterr().out
    assert "m beside paper" in out and "Paired tests between models" in out


def test_compare_with_other_settings(fake_model, gold: Path, tmp_path: Path) -> None:
    rows_file, other = tmp_path / "rows.json", "topic=0,layers.last=0"
    assert run("evaluate", "-m", "m", gold, "--set", "tau=0.7", "--compare", other, "--json", rows_file) == 0
    changed = {"tau": 0.7, "topic": 0.0, "layers": {"last": 0.0}}
    assert fake_model == [("m", False, {"tau": 0.7}), ("m", False, changed)]
    assert [row["model"] for row in json.loads(rows_file.read_text())] == ["m", other]


def test_compare_two_models_as_in_the_paper(fake_model, gold: Path) -> None:
    assert run("evaluate", "-m", "one", gold, "--paper", "--compare", "two") == 0
    assert [(name, paper) for name, paper, _ in fake_model] == [("one", True), ("two", True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.ttl"], "there is no such dataset"),
        ([DATA / "small.jsonl", "--systems", "pboh,best"], "unknown system 'best'"),
        ([DATA / "small.jsonl", "--set", "tua=1"], "tua"),
        ([DATA / "small.jsonl", "--topics", "3"], "--topics goes with --ablate"),
    ],
)
def test_mistakes_are_one_sentence(fake_model, arguments: list, message: str, capsys) -> None:
    assert run("evaluate", "-m", "m", *arguments) == 1
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_missing_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("evaluate", "-m", tmp_path / "nothing", DATA / "small.jsonl") == 1
    assert "error:" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("evaluate", "--help") == 0
    out = capsys.readouterr().out
    assert "aida:" in out and "--report" in out and "Examples" in out


def test_every_option_is_documented() -> None:
    import inspect

    from pboh.cli.evaluate import evaluate_command

    page = (Path(__file__).parents[2] / "docs" / "reference" / "evaluation.md").read_text(encoding="utf-8")
    names = set(inspect.signature(evaluate_command).parameters) - {"datasets", "change"}
    assert [name for name in {*names, "set"} if f"--{name.replace('_', '-')}" not in page] == []


def test_ablate(world_model: Path, tmp_path: Path, capsys) -> None:
    table, gains = tmp_path / "table.md", tmp_path / "gains.json"
    wanted = (
        "--ablate",
        "--extensions",
        "coreference",
        "--extensions",
        "discount of words",
        "--workers",
        1,
        "--topics",
        2,
    )
    assert run("evaluate", "-m", world_model, PAGES, *wanted, "--report", table, "--json", gains) == 0
    out = capsys.readouterr().out
    assert "Alone, on the paper's model" in out and "On top of all the others" in out
    text = table.read_text()
    assert text.count("| coreference | coreference=10 | yes |") == 2
    assert text.count("| discount of words ξ | xi=0.9 | no |") == 2
    rows = {row["name"]: row for row in json.loads(gains.read_text())}
    assert set(rows) == {"coreference", "discount of words ξ", "everything"}
    assert list(rows["coreference"]["alone"]) == ["world", "mean"]
    assert rows["coreference"]["kinds"] == ["world"]
    assert set(rows["coreference"]["topics"]) == {"world, topic 1", "world, topic 2"}


def test_ablate_of_nothing(world_model: Path, capsys) -> None:
    assert run("evaluate", "-m", world_model, PAGES, "--ablate", "--extensions", "magic") == 1
    assert "no extension is called magic" in " ".join(capsys.readouterr().err.split())


def test_files_are_written_before_anything_is_printed(
    fake_model, gold: Path, tmp_path: Path, monkeypatch
) -> None:
    def gone(*arguments: object) -> None:
        raise InputError("nobody reads this any more")

    monkeypatch.setattr(pboh.cli.printing, "show", gone)
    files = rows, page = tmp_path / "rows.json", tmp_path / "report.html"
    assert run("evaluate", "-m", "m", gold, "--json", rows, "--report", page) == 1
    assert all(file.stat().st_size for file in files)


@pytest.mark.parametrize("option", ["--json", "--report"])
def test_places_that_cannot_be_written_are_refused_before_the_work(
    option: str, fake_model, gold: Path, tmp_path: Path, capsys
) -> None:
    (tmp_path / "file").write_text("")
    for place, message in ((tmp_path, "this is a folder"), (tmp_path / "file" / "x", "is a file")):
        assert run("evaluate", "-m", "m", gold, option, place) == 1
        assert message in " ".join(capsys.readouterr().err.split())
    assert not fake_model, "nothing was loaded"


@pytest.mark.slow
def test_the_whole_way_with_a_real_model(tmp_path: Path) -> None:
    corpus, counts, model = (tmp_path / name for name in ("corpus", "counts", "model"))
    assert run("extract", WORLD, "--out", corpus) == 0
    assert run("count", corpus, "--out", counts) == 0
    assert run("build", counts, "--out", model) == 0
    text = "Müller scored for Bayern in Munich. Tbilisi is the capital of Georgia in the Caucasus."
    names = {"Müller": "Thomas Müller", "Bayern": "FC Bayern Munich", "Georgia": "Georgia (country)"}
    mentions = [
        {"start": text.index(name), "end": text.index(name) + len(name), "gold": gold}
        for name, gold in names.items()
    ]
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"id": "d", "text": text, "mentions": mentions}))
    rows_file, page = tmp_path / "rows.json", tmp_path / "report.html"
    arguments = ["--systems", "all", "--compare", "paper", "--json", rows_file, "--report", page]
    assert run("evaluate", "-m", model, gold, *arguments) == 0
    rows = json.loads(rows_file.read_text())
    assert len(rows) == 10
    assert all(row["gold_in_kb"] == 1 and row["mentions"] == 3 for row in rows)
    whole = next(row for row in rows if row["system"] == "pboh")
    assert whole["correct"] >= 2 and whole["converged"] == 1
    assert set(whole["ms_by_stage"]) >= {"candidates", "pairs", "propagation"}
    assert page.stat().st_size > 20_000
