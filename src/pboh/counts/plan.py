"""The steps of counting and what each reads: the order of work, told by the SQL files themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import pairwise
from math import ceil
from typing import Any

from pboh.counts import crosswikis
from pboh.counts.engine import Engine
from pboh.counts.options import CountOptions
from pboh.errors import InputError

# Bytes a row takes in DuckDB's hash tables, generously; the number of shares follows from them.
BYTES_PER_PAIR = 48
BYTES_PER_WORD_ROW = 64
# A share may fill this part of the memory limit; sorting and writing need the rest.
SHARE_OF_MEMORY = 0.5

Parts = Callable[[Engine], list[dict[str, int]]]


@dataclass(frozen=True, slots=True)
class Step:
    """One table: the query that makes it, or a Python function where SQL cannot say it."""

    name: str
    folder: str
    sql: str
    final: bool = False
    parts: Parts | None = None
    run: Callable[[Engine, str], None] | None = None
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


def plan(engine: Engine, options: CountOptions, language: str) -> list[Step]:
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
        Step("distinct_pairs", "steps/distinct_pairs", statistic("distinct_pairs"), parts=pair_shares),
        Step("word_sums", "sums/word_entity", statistic("word_sums"), final=True, parts=entity_ranges),
        table("word_entity", "word_entity", min_word_count=options.min_word_count),
        table("word_totals", "word_totals"),
        Step("totals", "steps/totals", statistic("totals"), final=True, note=_totals),
    ]
    if options.names_in_text:
        steps += [
            table("name_ids", "steps/name_ids"),
            occurrences_step(),
            table("names_in_text", "names_in_text"),
        ]
    return steps


def pair_shares(engine: Engine) -> list[dict[str, int]]:
    """As many shares of the entities as it takes to keep the pairs of one share in memory."""
    [(pairs,)] = engine.rows(
        "SELECT SUM(n * (n - 1)) FROM (SELECT COUNT(*) AS n FROM incidences GROUP BY document) AS sizes"
    )
    parts = max(1, ceil((pairs or 0) / 2 * BYTES_PER_PAIR / (engine.memory * SHARE_OF_MEMORY)))
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
        from pboh.counts.occurrences import SCHEMA, Dictionary  # noqa: PLC0415 - compiles kernels

        batches = engine.batches("SELECT name FROM name_ids ORDER BY id")
        names = (batch["name"].to_pylist() for batch in batches)
        engine.write_mapped(sql, Dictionary.of(names).count_batches, SCHEMA, folder)

    return Step("name_occurrences", "steps/name_occurrences", sql, run=run, also_reads=("name_ids",))
