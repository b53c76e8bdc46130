"""The compiled loops of extraction against plain Python: names, UTF-8, entities, words around links."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from corpus_helpers import rows
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pboh.corpus.extract import Options, extract
from pboh.corpus.string_table import StringTable
from pboh.corpus.string_table_kernels import LONGEST
from pboh.corpus.titles import Site, unescape
from pboh.corpus.wikitext.reader import Reader, _entities, plain_text
from pboh.text import utf8_kernels
from pboh.text.words import words

EN = Site.default("en")


def codes(text: str) -> np.ndarray:
    """UTF-8 with room behind it, as the kernels expect."""
    return np.frombuffer(text.encode("utf-8", "surrogatepass") + bytes(8), dtype=np.uint8)


@given(st.lists(st.text(max_size=20), max_size=60))
@example(["a", "\0a", "", "\0", "aaaaaaa", "aaaaaaaa", "aaaaaaaaa", "\0" * 8])
def test_names_are_numbered_as_a_dictionary_would(texts: list[str]) -> None:
    names, expected = StringTable.empty(1 << 4), dict[str, int]()
    for text in texts:
        names, number = names.add(text)
        assert number == expected.setdefault(text, len(expected))
    assert names.texts() == list(expected)


def test_names_grow() -> None:
    many = [f"{'x' * (number % 40)}{number}" for number in range(20_000)]
    names = StringTable.of(many)
    assert names.texts() == many
    assert [names.add(text)[1] for text in many[::997]] == list(range(0, 20_000, 997))
    names, number = names.add("y" * (5 * LONGEST))
    assert (number, len(names.texts()[-1])) == (20_000, 5 * LONGEST)


def test_white_space_is_that_of_python() -> None:
    for code in [*range(0x3100), 0xFEFF, 0x1F600]:
        text = chr(code)
        size = len(text.encode("utf-8", "surrogatepass"))
        assert bool(utf8_kernels.blank_at(codes(text), 0)) == text.isspace(), hex(code)
        assert bool(utf8_kernels.blank_before(codes(text), 0, size)) == text.isspace(), hex(code)


@given(st.text(alphabet=" \t\n\xa0\u2003\u3000aé字😀", max_size=12))
def test_stripping(text: str) -> None:
    data = codes(text)
    first, end = utf8_kernels.stripped(data, 0, data.size - 8)
    assert data[first:end].tobytes().decode() == text.strip()


@given(st.characters())
def test_characters_come_back(character: str) -> None:
    data = codes(character)
    code, after = utf8_kernels.decoded(data, 0)
    room = np.zeros(8, dtype=np.uint8)
    assert (code, after) == (ord(character), data.size - 8)
    assert utf8_kernels.put(code, room, 0) == after
    assert room[:after].tobytes() == data[:after].tobytes()


ENTITIES = [
    "&",
    "#",
    ";",
    "x",
    "X",
    "amp",
    "nbsp",
    "nGt",
    "eacute",
    "lt",
    "0",
    "39",
    "1F600",
    "D800",
    "110000",
    "a",
    "é",
]


@given(st.lists(st.sampled_from(ENTITIES), max_size=12).map("".join))
@settings(max_examples=500)
@example("&nGt;&nLt;&fjlig;")
@example("&#0000000;&#00000000;&#x;&#;&;&a;&amp")
@example("&CounterClockwiseContourIntegral;&CounterClockwiseContourIntegralx;")
def test_entities_are_decoded_as_in_titles(text: str) -> None:
    assert plain_text(f"x{text}x", EN).text == unescape(f"x{text}x")


def test_every_named_entity() -> None:
    names, values = _entities()
    names = StringTable(*names)
    for name, value in zip(names.texts(), values.tolist(), strict=True):
        expected = "".join(chr(code) for code in value if code)
        assert plain_text(f"x&{name};x", EN).text == f"x{expected}x" == unescape(f"x&{name};x")
        assert 5 * len(expected.encode()) <= 6 * len(f"&{name};")  # that much room is made for the text


def test_pages_pile_up_in_a_reader() -> None:
    pages = ["a [[B]]", "", "é [[:b#x|c]] [[File:f|thumb|[[C]] d]]", "[[B]]s " * 500, "[[é|x\xa0 y]]"]
    reader, expected = Reader(EN), [plain_text(page, EN) for page in pages]
    for page, plain in zip(pages, expected, strict=True):
        begin, first = reader.size, reader.count
        assert reader.read(page.encode()) == len(plain.text)
        assert reader.text[begin : reader.size].tobytes().decode() == plain.text
        titles = reader.titles.texts()
        starts, ends, _, _, numbers = reader.links[:5, first : reader.count].tolist()
        found = zip(starts, ends, (titles[number] for number in numbers), strict=True)
        assert list(found) == plain.links
    bounds, letters = reader.anchors()
    anchors = [letters[a:b].tobytes().decode() for a, b in pairwise(bounds)]
    assert anchors == [
        " ".join(text[start:end].split()) for text, links in expected for start, end, _ in links
    ]


WORDS = st.lists(
    st.sampled_from(["Rome", "the", "é", "1984", "12", "字", "–", "O'Neil"]), min_size=1, max_size=30
).map(" ".join)


PLACES = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 9)), max_size=6)


@given(st.lists(st.tuples(WORDS, PLACES), min_size=5, max_size=20))
@settings(max_examples=6, deadline=None)
def test_words_around_links_wherever_they_stand(pages: list[tuple[str, list[tuple[int, int]]]]) -> None:
    """Own links may lie inside one another: words before and behind each are those that do not touch it."""
    lines, expected = [], dict[tuple[str, str], int]()
    for number, (text, places) in enumerate(pages):
        links = []
        for place, length in places:
            start = place % len(text)
            end = min(len(text), start + length)
            if text[start:end].strip():
                links.append([start, end, f"T{number} {len(links)}"])
        lines.append(json.dumps({"title": f"P{number}", "text": text, "links": links}) + "\n")
        content = words(text, "en")
        for start, end, title in links:
            before = [word for _, last, word in content if last <= start][-3:]
            behind = [word for first, _, word in content if first >= end][:3]
            for word in before + behind:
                expected[title, word] = expected.get((title, word), 0) + 1
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.jsonl").write_text("".join(lines), "utf-8")
        extract([folder / "p.jsonl"], folder / "out", Options(window=3), workers=1)
        titles = {each["entity"]: each["title"] for each in rows(folder / "out", "entities")}
        spelt = {each["word"]: each["text"] for each in rows(folder / "out", "words")}
        found = sorted(
            (titles[each["entity"]], spelt[each["word"]], each["count"])
            for each in rows(folder / "out", "context_words")
        )
    assert found == sorted((title, word, count) for (title, word), count in expected.items())
