"""Later mentions: bare last words of linked names, and only where they can mean nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pboh.errors import InputError
from pboh.evaluation.datasets import GoldDocument, GoldMention, read_dataset
from pboh.evaluation.datasets.derived import later_mentions

DATA = Path(__file__).parents[2] / "data"


def document(marked: str) -> GoldDocument:
    """A document from text with ``[[Title|surface]]`` links."""
    text, mentions, at = "", [], 0
    for match in re.finditer(r"\[\[(.*?)\|(.*?)\]\]", marked):
        text += marked[at : match.start()]
        end = len(text) + len(match[2])
        mentions.append(GoldMention(len(text), end, match[2], match[1] or None))
        text += match[2]
        at = match.end()
    return GoldDocument("d", text + marked[at:], tuple(mentions))


def added(marked: str) -> list[tuple[str, str | None]]:
    """The mentions that were not linked."""
    given = document(marked)
    found = later_mentions(given)
    assert [m for m in found if m in given.mentions] == list(given.mentions)
    assert all(given.text[m.start : m.end] == m.text for m in found)
    assert [m.start for m in found] == sorted(m.start for m in found)
    return [(m.text, m.gold) for m in found if m not in given.mentions]


BILL = "[[Bill Clinton|Bill Clinton]]"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        (f"{BILL} spoke, then Clinton left, and Clinton's car followed.", 2),
        (f"Clinton is a town. {BILL} spoke.", 0),  # before the name nothing is known
        (f"{BILL} met [[Hillary Clinton|Hillary Clinton]]. Then Clinton left.", 0),  # which one?
        (f"{BILL} spoke. When Clinton left he waved.", 0),  # "When" may be a first name
        (f"{BILL} spoke. Chelsea Clinton left, and Clinton County grew.", 0),  # other names
        (f"{BILL} spoke of Clintonism and the Anti-Clinton league.", 0),  # other words
        (f"{BILL} spoke. [[Clinton, Iowa|Clinton]] is a town.", 0),  # linked already
        (f"{BILL} spoke. [[|Clinton]] is unknown.", 0),  # annotated as NIL
        ("[[Bill Clinton|the former president]] spoke. Later the president left.", 0),  # no name
        ("[[Hope, Arkansas|Little Clinton]] is small. Clinton is large.", 0),  # not a word of the title
        ("[[Ho Li|Ho Li]] spoke. Li left.", 0),  # too short to be sure
    ],
)
def test_which_words_are_mentions(marked: str, expected: int) -> None:
    assert added(marked) == [("Clinton", "Bill Clinton")] * expected


def test_the_prefix_reads_any_format_and_says_what_it_did(tmp_path: Path) -> None:
    plain, later = read_dataset(DATA / "world.jsonl"), read_dataset(f"later:{DATA / 'world.jsonl'}")
    assert later.name == "later:world" and later.format == "jsonl" and len(later) == len(plain)
    assert any("derived" in line for line in later.policy)
    part = read_dataset(f"later:jsonl:{DATA / 'world.jsonl'}#2:5")
    assert part.name == "later:world#2:5" and len(part) == 3
    text = "Bill Clinton spoke. Clinton left."
    file = tmp_path / "one.jsonl"
    mentions = [{"start": 0, "end": 12, "gold": "Bill Clinton"}]
    file.write_text(json.dumps({"id": "1", "text": text, "mentions": mentions}))
    assert read_dataset(f"later:{file}").mentions == 2


def test_mistakes_behind_the_prefix_are_reported_as_usual() -> None:
    with pytest.raises(InputError, match="there is no such dataset"):
        read_dataset("later:nowhere.ttl")


@pytest.mark.shared
def test_later_mentions_of_the_validation_pages(shared: Path) -> None:
    pages = shared / "corpus" / "validation.jsonl.gz"
    plain, later = read_dataset(f"{pages}#0:150"), read_dataset(f"later:{pages}#0:150")
    assert later.mentions > 1.1 * plain.mentions
