from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.errors import InputError
from pboh.evaluation.datasets import Dataset, read_dataset
from pboh.evaluation.datasets.core import NEAR, Annotation, Problem, build_document, locate

DATA = Path(__file__).parent / "data"


def golds(dataset: Dataset, document: int = 0) -> list[tuple[str, str | None]]:
    return [(mention.text, mention.gold) for mention in dataset.documents[document].mentions]


def kinds(dataset: Dataset) -> dict[str, int]:
    return dataset.problem_counts()


def every_span_slices(dataset: Dataset) -> bool:
    return all(d.text[m.start : m.end] == m.text for d in dataset for m in d.mentions)


class TestAida:
    def test_whole_file(self) -> None:
        dataset = read_dataset(DATA / "aida.tsv")
        assert [document.id for document in dataset] == ["1 EU", "947testa CRICKET", "1163testb SOCCER"]
        assert dataset.documents[0].text == "EU rejects German call .\nPeter Blackburn\n"
        assert golds(dataset) == [("EU", None), ("German", "Germany"), ("Peter Blackburn", None)]
        assert (dataset.mentions, dataset.nil, dataset.problems) == (5, 2, ())
        assert every_span_slices(dataset)

    def test_parts(self) -> None:
        assert [d.id for d in read_dataset(f"aida:{DATA}/aida.tsv#train")] == ["1 EU"]
        testb = read_dataset(f"{DATA}/aida.tsv#testb")
        assert golds(testb) == [("Japan", "Japan national football team"), ("Guns N' Roses", "Guns N' Roses")]
        assert testb.name == "aida#testb"

    def test_yago_entity_where_there_is_no_url(self) -> None:
        assert golds(read_dataset(f"{DATA}/aida.tsv#testa"))[0] == ("São Paulo", "São Paulo")

    def test_parts_by_number_when_names_have_no_suffix(self, tmp_path: Path) -> None:
        file = tmp_path / "conll.tsv"
        file.write_text("-DOCSTART- (946 A)\na\n\n-DOCSTART- (947 B)\nb\n\n-DOCSTART- (1163 C)\nc\n")
        for part, name in (("train", "946 A"), ("testa", "947 B"), ("testb", "1163 C")):
            assert [d.id for d in read_dataset(f"{file}#{part}")] == [name]

    def test_a_file_that_holds_one_part(self, tmp_path: Path) -> None:
        file = tmp_path / "aida_testb.tsv"
        file.write_text("-DOCSTART- (1 SOCCER)\nJapan\tB\tJapan\tJapan\n")
        assert len(read_dataset(f"{file}#testb")) == 1
        with pytest.raises(InputError, match="no document of the part testa"):
            read_dataset(f"{file}#testa")
        with pytest.raises(InputError, match="no part 'dev'"):
            read_dataset(f"{file}#dev")

    def test_damaged_lines_are_named(self, tmp_path: Path) -> None:
        file = tmp_path / "x.tsv"
        file.write_text("-DOCSTART- (1 A)\nEU\tB\n")
        with pytest.raises(InputError, match="line 2"):
            read_dataset(f"aida:{file}")

    def test_tokens_decide_where_a_mention_is(self, tmp_path: Path) -> None:
        file = tmp_path / "x.tsv"
        tokens = ["S\tB\tS&P\tS", "P\tI\tS&P\tS", "fell", "EU\tI\tEU\tEU", "a\u2028b"]
        file.write_text("-DOCSTART- (1 A)\r\n" + "\r\n".join(tokens) + "\r\n", encoding="utf-8")
        dataset = read_dataset(file)
        assert golds(dataset) == [("S P", "S"), ("EU", "EU")]
        assert kinds(dataset) == {"repaired": 2}
        assert dataset.documents[0].text.endswith("a\u2028b\n")


class TestWned:
    def test_folder(self) -> None:
        dataset = read_dataset(f"wned:{DATA}/wned")
        assert dataset.name == "small"
        assert golds(dataset) == [
            ("Dow Jones", "Dow Jones & Company"),
            ("AT&amp;T", "AT&T"),
            ("Home\nDepot", "The Home Depot"),
            ("Nardelli", None),
        ]
        assert golds(dataset, 1) == [("Paris", None)]
        # lost: a surface form that is nowhere, an offset that is no number, a document without a text
        assert kinds(dataset) == {"repaired": 3, "lost": 3}
        assert every_span_slices(dataset)

    def test_recognised_as_folder_and_as_file(self) -> None:
        named = read_dataset(f"wned:{DATA}/wned")
        assert read_dataset(DATA / "wned").documents == named.documents
        assert read_dataset(DATA / "wned" / "small.xml").documents == named.documents

    def test_without_texts(self, tmp_path: Path) -> None:
        (tmp_path / "x.xml").write_text('<a.entityAnnotation><document docName="d"/></a.entityAnnotation>')
        with pytest.raises(InputError, match="RawText"):
            read_dataset(tmp_path)


def test_bat_problems_and_raw_texts() -> None:
    dataset = read_dataset(DATA / "bat")
    assert golds(dataset) == [("Saddam Hussein", "Saddam Hussein"), ("Baghdad", None)]
    # offsets count \r\n as one character, so the text is read that way and nothing has to be moved
    assert "\r" not in dataset.documents[0].text
    assert kinds(dataset) == {}
    assert read_dataset(f"bat:{DATA}/bat").documents == dataset.documents


def test_bat_with_bare_ampersands(tmp_path: Path) -> None:
    (tmp_path / "Problems").mkdir()
    (tmp_path / "RawTexts").mkdir()
    (tmp_path / "RawTexts" / "a").write_text("AT&T fell")
    fields = "<SurfaceForm>AT&T</SurfaceForm><Offset>0</Offset><Length>4</Length>"
    chosen = "<ChosenAnnotation>http://en.wikipedia.org/wiki/AT&T</ChosenAnnotation>"
    instance = f"<ReferenceInstance>{fields}{chosen}</ReferenceInstance>"
    (tmp_path / "Problems" / "a").write_text(f"<ReferenceProblem>{instance}</ReferenceProblem>")
    dataset = read_dataset(tmp_path)
    assert golds(dataset) == [("AT&T", "AT&T")]
    assert kinds(dataset) == {"text": 1}
    (tmp_path / "Problems" / "b").write_text("not XML at all")
    with pytest.raises(InputError, match="not XML"):
        read_dataset(tmp_path)


def test_iitb() -> None:
    dataset = read_dataset(DATA / "iitb")
    assert golds(dataset) == [("Obama", "Barack Obama"), ("loudly", None)]
    assert dataset.documents[0].mentions[0].golds == ("Barack Obama", "Family of Barack Obama")
    assert kinds(dataset) == {"merged": 1, "lost": 2}
    assert read_dataset(f"iitb:{DATA}/iitb/annotations.xml").documents == dataset.documents


class TestMicroposts:
    def test_tsv(self) -> None:
        dataset = read_dataset(DATA / "microposts.tsv")
        assert len(dataset) == 4
        assert golds(dataset) == [("Chicago", "Chicago"), ("obama", "Barack Obama")]
        assert golds(dataset, 1) == [("NewYork", "New York"), ("New York", "New York City")]
        assert kinds(dataset) == {"lost": 2}
        assert every_span_slices(dataset)

    def test_csv(self) -> None:
        dataset = read_dataset(f"microposts:{DATA}/microposts.csv")
        assert golds(dataset) == [("Paris", "Paris")]
        assert dataset.documents[0].text == "Paris, I love you"

    def test_a_quotation_mark_swallows_nothing(self, tmp_path: Path) -> None:
        file = tmp_path / "x.tsv"
        file.write_text('1\t"open, Bern\tBern\thttp://dbpedia.org/resource/Bern\n2\tBern\n')
        assert [document.text for document in read_dataset(file)] == ['"open, Bern', "Bern"]
        file.write_text('1,"open\n2,x\n')
        with pytest.raises(InputError, match="not CSV"):
            read_dataset(f"microposts:{file}")


class TestJsonLines:
    def test_our_own(self) -> None:
        dataset = read_dataset(DATA / "small.jsonl")
        assert golds(dataset) == [("Bern", "Bern"), ("is", None), ("Switzerland", "Switzerland")]
        assert dataset.documents[0].mentions[2].also == ("Swiss Confederation",)
        assert [document.id for document in dataset] == ["d1", "2"]

    def test_genre_and_language(self, tmp_path: Path) -> None:
        file = tmp_path / "x.jsonl"
        file.write_text(
            '{"text": "Bern. Rome.", "mentions": [[6, 10, "Rome"]], "genre": "mail", "language": "de"}\n'
            '{"text": "Oslo", "mentions": []}\n'
        )
        assert [(d.genre, d.language) for d in read_dataset(file)] == [("mail", "de"), (None, None)]
        assert [(d.genre, d.language) for d in read_dataset(f"sentences:{file}")] == [("mail", "de")]

    def test_pages_with_links_and_slices(self) -> None:
        dataset = read_dataset(DATA / "pages.jsonl.gz")
        assert golds(dataset) == [("Bern", "Bern"), ("Europe", "Europe")]
        assert [d.id for d in read_dataset(f"{DATA}/pages.jsonl.gz#1:3")] == ["Oslo", "Rome"]
        assert [d.id for d in read_dataset(f"jsonl:{DATA}/pages.jsonl.gz#:1")] == ["Bern"]
        assert kinds(dataset) == {"lost": 1}
        assert kinds(read_dataset(f"{DATA}/pages.jsonl.gz#:1")) == {}

    @pytest.mark.parametrize(
        "line",
        ["{", "[]", '{"id": 1}', '{"text": "a", "mentions": [{"start": "0", "end": 1}]}', '{"text": 1}'],
    )
    def test_a_bad_line_is_named(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "x.jsonl"
        file.write_text('{"text": "ok", "mentions": []}\n' + line + "\n")
        with pytest.raises(InputError, match="line 2"):
            read_dataset(file)

    def test_truncated_gzip(self, tmp_path: Path) -> None:
        file = tmp_path / "x.jsonl.gz"
        file.write_bytes((DATA / "pages.jsonl.gz").read_bytes()[:60])
        with pytest.raises(InputError, match="cannot be read"):
            read_dataset(file)


class TestNif:
    def test_offsets_sameas_and_nested_nil(self) -> None:
        dataset = read_dataset(DATA / "small.ttl")
        assert len(dataset) == 2
        assert golds(dataset) == [("Rome", "Rom"), ("Rätia", None), ("Who", "Who's Next?"), ("Foo", None)]
        assert dataset.documents[0].mentions[0].golds == ("Rom", "Rome")
        # lost: absent surface form, no offsets at all, context without text; unmapped: Wikidata
        assert kinds(dataset) == {"lost": 3, "unmapped": 1, "repaired": 1}
        assert every_span_slices(dataset)

    def test_bad_turtle_names_file_and_line(self, tmp_path: Path) -> None:
        file = tmp_path / "x.ttl"
        file.write_text("<a> <b> .\n")
        with pytest.raises(InputError, match=r"x\.ttl, line 1, column 9"):
            read_dataset(file)
        file.write_text("<a> <b> <c> .\n")
        with pytest.raises(InputError, match="isString"):
            read_dataset(file)


class TestNames:
    def test_missing_and_unknown(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="no such dataset"):
            read_dataset(tmp_path / "nothing.ttl")
        (tmp_path / "x.bin").write_bytes(b"\x00\x01\x02 nothing known")
        with pytest.raises(InputError, match=r"not recognised.*the formats are aida"):
            read_dataset(tmp_path / "x.bin")
        with pytest.raises(InputError, match="part 'testb'"):
            read_dataset(f"{DATA}/small.jsonl#testb")
        with pytest.raises(InputError, match="no documents"):
            read_dataset(f"{DATA}/small.jsonl#5:6")

    def test_a_hash_in_a_file_name(self, tmp_path: Path) -> None:
        file = tmp_path / "a#b.jsonl"
        file.write_text('{"text": "ok", "mentions": []}\n')
        assert len(read_dataset(file)) == 1


class TestRepair:
    def test_nearest_occurrence_wins(self) -> None:
        assert locate("ab ab ab", Annotation(4, 6, "ab")) == (3, 5)

    def test_too_far_is_lost(self) -> None:
        far = " " * (NEAR + 1) + "Bern"
        assert locate(far, Annotation(0, 4, "Bern")) is None
        assert locate(far[1:], Annotation(0, 4, "Bern")) == (NEAR, NEAR + 4)

    def test_drift_carries_on(self) -> None:
        # Each mention lies ten characters further behind its offset than the one before it.
        text = "".join("x" * 10 + f"Bern{i} " for i in range(6))
        starts = [i * 16 + 10 for i in range(6)]
        written = [start - (i + 1) * 10 for i, start in enumerate(starts)]
        annotations = [Annotation(start, start + 5, f"Bern{i}") for i, start in enumerate(written)]
        problems: list[Problem] = []
        document = build_document("d", text, annotations, problems, "d")
        assert [m.start for m in document.mentions] == starts
        assert {problem.kind for problem in problems} == {"repaired"}

    def test_duplicates_merge_and_nil_gives_way(self) -> None:
        problems: list[Problem] = []
        spans = [
            Annotation(0, 4, "Bern"),
            Annotation(0, 4, "Bern", ("Bern",)),
            Annotation(0, 4, "Bern", ("Bern",)),
        ]
        document = build_document("d", "Bern", spans, problems, "d")
        assert [m.golds for m in document.mentions] == [("Bern",)]
        assert [problem.kind for problem in problems] == ["merged", "merged"]

    @given(st.text(max_size=40), st.integers(-5, 50), st.integers(-5, 50), st.text(max_size=5) | st.none())
    def test_never_a_span_outside_the_text(
        self, text: str, start: int, end: int, surface: str | None
    ) -> None:
        problems: list[Problem] = []
        document = build_document("d", text, [Annotation(start, end, surface, ("T",))], problems, "d")
        assert len(document.mentions) + sum(p.kind == "lost" for p in problems) == 1
        assert all(0 <= m.start < m.end <= len(text) and m.text for m in document.mentions)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "documents", "mentions", "nil"),
    [
        ("kore50-nif.ttl", 50, 144, 0),
        ("dbpedia-spotlight-nif.ttl", 58, 330, 0),
        ("Reuters-128.ttl", 128, 650, 230),
        ("RSS-500.ttl", 500, 524, 476),
    ],
)
def test_published_statistics(shared: Path, file: str, documents: int, mentions: int, nil: int) -> None:
    dataset = read_dataset(shared / "benchmarks" / file)
    assert (len(dataset), dataset.mentions, dataset.nil) == (documents, mentions, nil)
    assert every_span_slices(dataset)
    assert dataset.losses == (1 if "spotlight" in file else 0)  # a phrase whose context is not in the file


@pytest.mark.shared
def test_validation_pages(shared: Path) -> None:
    dataset = read_dataset(f"{shared}/corpus/validation.jsonl.gz#150:1000")
    assert (len(dataset), dataset.losses, dataset.nil) == (850, 0, 0)
    assert every_span_slices(dataset)
