"""AIDA-YAGO2 files, whole and in parts."""

from __future__ import annotations

from pathlib import Path

import pytest
from dataset_helpers import DATA, every_span_slices, golds

from pboh.errors import InputError
from pboh.evaluation.datasets import read_dataset


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
        with pytest.raises(InputError, match="no documents of the part testa"):
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
        assert dataset.problem_counts() == {"repaired": 2}
        assert dataset.documents[0].text.endswith("a\u2028b\n")
