"""The model that comes with the package: small, honest about itself, and right about well-known names."""

from __future__ import annotations

import pytest

import pboh
from pboh.errors import ModelError
from pboh.files.writing import folder_size
from pboh.inference.settings import DEFAULT
from pboh.linker import Linker
from pboh.model.derived import STARTER
from pboh.model.store import read_manifest


@pytest.fixture(scope="module")
def starter() -> Linker:
    return pboh.load()


def answers(linker: Linker, text: str) -> dict[str, str]:
    return {mention.text: str(mention.entity) for mention in linker.link(text)}


def test_it_is_small_and_says_what_it_is() -> None:
    info = read_manifest(STARTER)
    assert folder_size(STARTER) <= 40_000_000
    assert "CC BY-SA" in info["licence"] and "short descriptions" in info["licence"]
    assert "pboh train" in info["note"]
    assert info["totals"]["entities"] > 1_000_000
    assert [name for corpus in info["corpus"] for name in corpus["sources"]], "what it was trained on"
    assert "/" not in str(info["corpus"]) + str(info["options"]), "no paths of the machine it was made on"
    assert {file.suffix for file in STARTER.iterdir()} == {".json", ".zst"}


def test_names_are_found_and_resolved(starter: Linker) -> None:
    found = answers(
        starter, "Angela Merkel met Emmanuel Macron in Berlin. Merkel and Macron talked about Brexit."
    )
    assert found == {
        "Angela Merkel": "Angela Merkel",
        "Merkel": "Angela Merkel",
        "Emmanuel Macron": "Emmanuel Macron",
        "Macron": "Emmanuel Macron",
        "Berlin": "Berlin",
        "Brexit": "Brexit",
    }


def test_asking_for_persons_makes_nobody_of_a_place(starter: Linker) -> None:
    document = starter.link("Angela Merkel met the head of Siemens in Berlin on Monday.", types=["person"])
    assert [str(mention.entity) for mention in document] == ["Angela Merkel"]


def test_the_same_name_means_what_its_neighbours_say(starter: Linker) -> None:
    country = answers(starter, "Georgia borders Armenia, Azerbaijan and Russia.")
    state = answers(starter, "Ray Charles sang about Georgia.")
    assert (country["Georgia"], state["Georgia"]) == ("Georgia (country)", "Georgia (U.S. state)")


def test_it_explains_itself_and_knows_how_sure_it_is(starter: Linker) -> None:
    mention = starter.link("The river Thames flows through London.").mentions[-1]
    assert str(mention.entity) == "London" and 0.5 < mention.probability <= 1
    assert mention.explain().score == pytest.approx(mention.score, abs=1e-4)


def test_it_has_the_settings_it_was_calibrated_with(starter: Linker) -> None:
    settings = starter.settings
    assert (settings.floor, settings.topic) == (DEFAULT.floor, DEFAULT.topic)
    assert settings.layers["folded"] == 1.0
    assert starter.engine.reliability is not None


def test_it_says_what_entities_are(starter: Linker) -> None:
    [thames, london] = starter.link("The river Thames flows through London.")
    assert {thames.entity.type, london.entity.type} == {"place"}
    assert "Capital" in london.entity.description


def test_parts_of_unknown_names_numbers_and_dates_are_left_alone(starter: Linker) -> None:
    found = answers(
        starter,
        "Yesterday Bukayo Saka of Arsenal paid 12,000 dollars with Google Pay in London on 2024-12-06.",
    )
    assert found == {"Arsenal": "Arsenal F.C.", "London": "London"}


def test_the_papers_settings_are_refused_in_one_sentence() -> None:
    with pytest.raises(ModelError, match="pruned model cannot answer with the paper's settings"):
        pboh.load(paper=True)
