"""The steps of counting and what each reads: the order of work, told by the SQL files themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import pairwise
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pboh.corpus.tables.second_pass import COUNTS, DELTA
from pboh.counts import crosswikis, pairs
from pboh.counts.engine import Engine
from pboh.counts.inputs import Input
from pboh.errors import InputError

if TYPE_CHECKING:
    from pboh.counts.contexts import Contexts

# Bytes a row takes in DuckDB's hash tables, generously; the number of shares follows from them.
BYTES_PER_PAIR = 48
BYTES_PER_WORD_ROW = 64
# A share may fill this part of the memory limit; sorting and writing need the rest.
SHARE_OF_MEMORY = 0.5
# zstd finds nothing in sorted numbers that their differences do not say
COMPACT: dict[str, Any] = {"use_dictionary": ["count"], "column_encoding": {"entity": DELTA, "word": DELTA}}
TOTALS = pa.schema([("entity", pa.int32()), ("total", pa.int64())])

Parts = Callable[[Engine], list[dict[str, int]]]


@dataclass(frozen=True, slots=True)
class CountOptions:
    """Thresholds and name sources; everything here is recorded in ``counts.json``.

    ``min_word_count``: N(w,e) is kept from this count on (paper, section on word counts: 3).
    ``top``: entities kept per name (the paper's R: 64). ``min_name_count``: links a name must have to an
    entity to keep the pair (1 keeps all). ``min_crosswikis_count``: the same for Crosswikis pairs (5).
    ``crosswikis_entities``: also take entities that only Crosswikis knows.
    ``sums``: keep the unpruned sums that let these counts be added to others later.
    """

    min_word_count: int = 3
    top: int = 64
    min_name_count: int = 1
    crosswikis: str | None = None
    min_crosswikis_count: int = 5
    crosswikis_entities: bool = False
    names_in_text: bool = False
    sums: bool = True

    def __post_init__(self) -> None:
        for name in ("min_word_count", "top", "min_name_count", "min_crosswikis_count"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', '-')} must be at least 1, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class Step:
    """One table: the query that makes it, or a Python function where SQL cannot say it."""

    name: str
    folder: str
    sql: str
    final: bool = False
    parts: Parts | None = None
    run: Callable[[Engine, str], None] | None = None
    run_part: Callable[[Engine, str, dict[str, int]], None] | None = None
    note: Callable[[Engine], dict[str, Any]] | None = None
    key: tuple[Any, ...] = ()
    also_reads: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Tables the query reads, in order of appearance (common table expressions are not among them)."""
        inner = set(re.findall(r"^(?:WITH )?(\w+) AS \($", self.sql, re.MULTILINE))
        found = re.findall(r"\b(?:FROM|JOIN) (\w+)", self.sql)
        return tuple(dict.fromkeys([*(name for name in found if name not in inner), *self.also_reads]))


def statistic(name: str, **parameters: object) -> str:
    """Text of a statistic's SQL file with its {parameters} filled in; those not given stay for later."""
    text = files("pboh.counts").joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    return fill(re.sub(r"--.*\n", "", text).strip(), parameters)


def fill(sql: str, parameters: Mapping[str, object]) -> str:
    """Replace each {parameter} that is given by its value."""
    return re.sub(r"\{(\w+)\}", lambda match: str(parameters.get(match[1], match[0])), sql)


def plan(engine: Engine, options: CountOptions, language: str, inputs: Sequence[Input]) -> list[Step]:
    """All steps in an order in which each reads only what comes before it."""

    def table(name: str, folder: str, **parameters: object) -> Step:
        return Step(name, folder, statistic(name, **parameters), final=not folder.startswith("steps/"))

    floor = {"min_crosswikis_count": options.min_crosswikis_count}
    steps = [
        crosswikis_step(engine, options, language),
        table("crosswikis", "sums/crosswikis"),
        table("resolution", "steps/resolution"),
        table("titles", "steps/titles", crosswikis_entities=int(options.crosswikis_entities), **floor),
        table("entity_ids", "steps/entity_ids"),
        table("words", "words"),
        table("word_ids", "steps/word_ids"),
        *word_steps(engine, options, inputs),
        table("documents", "steps/documents"),
        table("pages", "sums/pages"),
        table("anchors", "sums/anchors"),
        table("disambiguations", "sums/disambiguations"),
        table("crosswikis_names", "steps/crosswikis_names", **floor),
        table("names", "names", top=options.top, min_name_count=options.min_name_count),
        table("incidences", "incidences"),
        table("document_sizes", "steps/document_sizes"),
        table("entities", "entities"),
        table("subjects", "subjects"),
        pairs_step(engine),
        Step("totals", "steps/totals", statistic("totals"), final=True, note=_totals),
    ]
    if options.names_in_text:
        steps += [
            table("name_ids", "steps/name_ids"),
            occurrences_step(),
            table("names_in_text", "names_in_text"),
        ]
    return steps


def word_steps(engine: Engine, options: CountOptions, inputs: Sequence[Input]) -> list[Step]:
    """N(w,e) and Z_e: from the words around links that extraction counted, or from the tokens it kept."""
    least = options.min_word_count
    pruned = Step("word_entity", "word_entity", statistic("word_entity", min_word_count=least), final=True)
    totals = Step("word_totals", "word_totals", statistic("word_totals"), final=True)
    if not any(one.has_tokens for one in inputs):
        sums = Step("word_sums", "sums/word_entity", statistic("word_sums"), final=True, parts=entity_ranges)
        return [sums, pruned, totals]
    if not (engine.local and all(one.has_tokens for one in inputs)):
        what = "a corpus of pboh train is counted on this machine, and not together with others"
        raise InputError(what, todo="Write the corpus again with pboh extract")
    if not options.sums:
        return token_steps(inputs, "word_entity", "word_entity", least)
    [sums, _] = token_steps(inputs, "word_sums", "sums/word_entity", 1)
    return [sums, pruned, totals]


def token_steps(inputs: Sequence[Input], name: str, folder: str, least: int) -> list[Step]:
    """N(w,e) from the count ``least`` on, and Z_e, of the words around links, found in tokens."""
    held: list[Contexts] = []

    def contexts(engine: Engine) -> Contexts:
        from pboh.counts.contexts import Contexts  # noqa: PLC0415 - compiles kernels

        if not held:
            held.append(Contexts(engine, inputs))
        return held[0]

    def ranges(engine: Engine) -> list[dict[str, int]]:
        return contexts(engine).ranges()

    def write_range(engine: Engine, folder: str, part: dict[str, int]) -> None:
        rows = contexts(engine).rows(**part, least=least)
        engine.write_batches(rows, COUNTS, folder, **COMPACT)

    def write_totals(engine: Engine, folder: str) -> None:
        engine.write_batches(contexts(engine).total_rows(), TOTALS, folder)
        held.clear()

    reads = ("input_tokens", "input_placed_links", "entity_ids", "word_ids", "words")
    return [
        Step(name, folder, "", True, ranges, run_part=write_range, key=(least,), also_reads=reads),
        Step("word_totals", "word_totals", "", True, run=write_totals, also_reads=reads),
    ]


def pairs_step(engine: Engine) -> Step:
    """The number of distinct pairs: by a kernel on this machine, elsewhere by SQL."""
    name, folder, sql = "distinct_pairs", "steps/distinct_pairs", statistic("distinct_pairs")
    if not engine.local:
        return Step(name, folder, sql, parts=pair_shares)

    def count_share(engine: Engine, folder: str, share: dict[str, int]) -> None:
        engine.write_batches(pairs.distinct_pairs(engine, **share), pairs.SCHEMA, folder)

    return Step(name, folder, sql, parts=pairs.shares, run_part=count_share)


def pair_shares(engine: Engine) -> list[dict[str, int]]:
    """As many shares of the entities as it takes to keep the pairs of one share in memory."""
    [(found,)] = engine.rows(
        "SELECT SUM(n * (n - 1)) FROM (SELECT COUNT(*) AS n FROM incidences GROUP BY document) AS sizes"
    )
    parts = max(1, ceil((found or 0) / 2 * BYTES_PER_PAIR / (engine.memory * SHARE_OF_MEMORY)))
    return [{"parts": parts, "part": part} for part in range(parts)]


def entity_ranges(engine: Engine) -> list[dict[str, int]]:
    """Ranges of entities small enough for the words of one range to be summed in memory."""
    [(rows,)] = engine.rows("SELECT COUNT(*) FROM input_context_words")
    [(entities,)] = engine.rows("SELECT COALESCE(MAX(entity) + 1, 0) FROM entity_ids")
    parts = max(1, ceil(rows * BYTES_PER_WORD_ROW / (engine.memory * SHARE_OF_MEMORY)))
    cuts = [entities * part // parts for part in range(parts + 1)]
    return [{"first": first, "last": last} for first, last in pairwise(cuts)]


def _totals(engine: Engine) -> dict[str, Any]:
    names = re.findall(r"\) AS (\w+),?$", statistic("totals"), re.MULTILINE)
    [row] = engine.rows(f"SELECT {', '.join(names)} FROM totals")
    return dict(zip(names, (int(value) for value in row), strict=True))


def crosswikis_step(engine: Engine, options: CountOptions, language: str) -> Step:
    """Read the Crosswikis file if one is given; otherwise an empty table takes its place."""
    if options.crosswikis is None:
        return Step("crosswikis_lines", "steps/crosswikis_lines", crosswikis.NO_LINES)
    path, parse = options.crosswikis, partial(crosswikis.parse_batches, language=language)
    if not (found := engine.files(path)):
        raise InputError("the Crosswikis file is missing", where=path)

    def run(engine: Engine, folder: str) -> None:
        engine.write_lines(path, parse, crosswikis.SCHEMA, folder)

    note, key = crosswikis.malformed, (path, found, language)
    return Step("crosswikis_lines", "steps/crosswikis_lines", "", run=run, note=note, key=key)


def occurrences_step() -> Step:
    """Look for the names of the dictionary in the texts of the documents."""
    sql = statistic("document_texts")

    def run(engine: Engine, folder: str) -> None:
        from pboh.counts import occurrences  # noqa: PLC0415 - compiles kernels

        batches = engine.batches("SELECT name FROM name_ids ORDER BY id")
        names = (batch["name"].to_pylist() for batch in batches)
        beside = Path(folder).parent if engine.local else None
        with TemporaryDirectory(".tmp", ".names.", beside) as scratch:
            held, pages = engine.memory // 16, occurrences.document_pages(engine)
            known = occurrences.Dictionary.of(names, Path(scratch), held, pages, engine.threads)
        engine.write_mapped(sql, known.count_batches, occurrences.SCHEMA, folder)

    reads = ("name_ids", "documents")
    return Step("name_occurrences", "steps/name_occurrences", sql, run=run, also_reads=reads)
