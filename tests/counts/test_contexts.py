"""N(w,e) from the tokens of pages: the same tables as from the words that extraction counts around links."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from twin import rows

from pboh.corpus.extract import Options, extract
from pboh.counts import CountOptions, SpentError, count
from pboh.counts.engine import DuckDB
from pboh.errors import InputError

WORLD = Path(__file__).parent.parent / "data" / "world.xml"
TABLES = ("words", "word_entity", "word_totals", "entities", "names", "incidences")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same pages with the words around links counted, and with tokens; some pages are set aside."""
    folder = tmp_path_factory.mktemp("corpora")
    for name, tokens in (("counted", False), ("tokens", True)):
        options = Options(window=7, hold_out=20, chunk_size=30_000, tokens=tokens)
        extract([WORLD], folder / name, options, workers=1)
    assert not (folder / "tokens" / "context_words").exists()
    return folder / "counted", folder / "tokens"


@pytest.fixture(scope="module")
def expected(corpora: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("expected") / "counts"
    count([corpora[0]], out, CountOptions(min_word_count=2))
    return out


def same(one: Path, other: Path, *tables: str) -> None:
    for table in tables:
        assert rows(one / table) == rows(other / table), table


@pytest.mark.parametrize("room", [1 << 30, 2_000, 40])
def test_every_table_is_the_same(
    corpora: tuple[Path, Path], expected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """With room for all words, for those of some entities, or of hardly any."""
    engine = DuckDB(tmp_path / "counts")
    monkeypatch.setattr("pboh.counts.contexts.SHARE_OF_MEMORY", 4 * room / engine.memory)
    totals = count(
        [corpora[1]], tmp_path / "counts", CountOptions(min_word_count=2, sums=False), engine=engine
    )
    engine.close()
    same(expected, tmp_path / "counts", *TABLES)
    assert totals["totals"]["context_tokens"] == sum(row["total"] for row in rows(expected / "word_totals"))
    assert (len(list((tmp_path / "counts" / "word_entity").iterdir())) > 1) == (room < 1 << 30)


def test_sums_are_the_same_too(corpora: tuple[Path, Path], expected: Path, tmp_path: Path) -> None:
    count([corpora[1]], tmp_path / "counts", CountOptions(min_word_count=2))
    same(expected, tmp_path / "counts", *TABLES, "sums/word_entity")


def test_two_corpora(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    text = "Paris is the capital of France, on the Seine in the north. " * 3
    page = f'{{"title": "Seine", "text": "{text}", "links": [[0, 5, "Paris"], [24, 30, "France"]]}}\n'
    (tmp_path / "more.jsonl").write_text(page)
    for name, corpus in zip(("counted", "tokens"), corpora, strict=True):
        options = Options(window=7, tokens=name == "tokens")
        extract([tmp_path / "more.jsonl"], tmp_path / f"more-{name}", options, workers=1)
        count([corpus, tmp_path / f"more-{name}"], tmp_path / name, CountOptions(min_word_count=1))
    same(tmp_path / "counted", tmp_path / "tokens", *TABLES)


def test_corpora_of_both_kinds_are_not_counted_together(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not together with others"):
        count(corpora, tmp_path / "counts")


def test_tokens_are_removed_when_they_are_counted(
    corpora: tuple[Path, Path], expected: Path, tmp_path: Path
) -> None:
    corpus, out = tmp_path / "corpus", tmp_path / "counts"
    shutil.copytree(corpora[1], corpus)
    options = CountOptions(min_word_count=2, sums=False)

    def stop(done: float, total: float | None = None, detail: str = "") -> None:
        if detail == "names":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count([corpus], out, options, spend=True, report=stop)
    assert not (corpus / "tokens").exists() and (corpus / "texts").exists()
    assert count([corpus], out, options, spend=True)["fresh"]
    same(expected, out, *TABLES)
    assert {path.name for path in (out / "steps").iterdir()} <= {"steps.json", "totals"}
    assert not count([corpus], out, options, spend=True)["fresh"]
    with pytest.raises(SpentError, match="removed"):
        count([corpus], out, CountOptions(min_word_count=3, sums=False))
