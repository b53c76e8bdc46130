"""Writes tables from benchmarks/results: speeds (a few for the README), hostile trials, merging of names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- figures, written by make docs from benchmarks/results -->\n", "<!-- end of figures -->\n"


def result(name: str) -> Any:
    """What one benchmark measured."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def document_row() -> tuple[str, str]:
    """One document of usual length."""
    twenty = result("inference")["twenty_mentions"]
    return (
        f"one document of about {twenty['mentions']:.0f} mentions, one core",
        f"{twenty['median_ms']:.1f} ms (median of {twenty['documents']} validation pages)",
    )


def inference_rows() -> list[tuple[str, str]]:
    """The stages of one document, longer documents, and the first one."""
    figures = result("inference")
    stages, cold = figures["twenty_mentions"]["stages_ms"], figures["cold_start"]
    first = result("first_link")
    longer = {row["n"]: row["median_ms"] for row in figures["growth"]}
    return [
        (
            f"of that: {' / '.join(stages)}",
            " / ".join(f"{value:.2f}" for value in stages.values()) + " ms",
        ),
        ("one document of 100 / 500 mentions", f"{longer[100]:.0f} / {longer[500]:.0f} ms"),
        (
            "import and open the sample model; first answer",
            f"{cold['import_and_open_seconds']:.1f} s; {cold['first_call_seconds']:.1f} s",
        ),
        (
            "the very first `pboh link` on a machine, which compiles in two processes at once; the second",
            f"{first['first_processor_seconds']:.1f} + {first['helper_processor_seconds']:.1f} s;"
            f" {first['second_processor_seconds']:.1f} s of processor time",
        ),
    ]


def propagation_row() -> tuple[str, str]:
    """Belief propagation beside other programs, where their answers are the same."""
    figures = result("belief_propagation")
    ratios = {"a numpy twin": [row["ratio"] for row in figures["numpy_twin"] if row["mode"] == "max"]}
    for peer, measured in sorted(figures["peers"].items()):
        same = [row["ratio"] for row in measured.get("graphs", ()) if row["same_answers"] > 0.999]
        if same:  # a peer that could not be run says why in the results
            ratios[peer] = same
    spans = [f"{min(values):.0f}–{max(values):.0f}×" for values in ratios.values()]
    return f"belief propagation against {' / '.join(ratios)}", f"{' / '.join(spans)} faster"


def service_row() -> tuple[str, str]:
    """Requests over HTTP, each with one document."""
    levels = (result("service")[f"workers_{workers}"] for workers in (1, 2))
    best = (max(row["per_second"] for row in rows) for rows in levels)
    return (
        "requests per second over HTTP, one / two workers (the client runs on the same cores)",
        " / ".join(f"{value:.0f}" for value in best),
    )


def annotation_row() -> tuple[str, str]:
    """Raw text in bulk."""
    figures = result("annotate")
    speeds = (figures[f"workers_{workers}"]["documents_per_second"] for workers in (1, 2))
    return (
        f"raw texts of {figures['characters']:,} characters per second (`pboh annotate`), one / two workers",
        " / ".join(f"{speed:.0f}" for speed in speeds),
    )


def extraction_row() -> tuple[str, str]:
    """Extraction beside a program that does less."""
    extract = result("extract")
    two = extract["ours, 2 workers"]
    return (
        f"extracting {two['megabytes']:.0f} MB of XML, two workers",
        f"{two['seconds']:.0f} s, {extract['times faster than wikipedia2vec']:.1f}× faster than "
        "wikipedia2vec's `build-dump-db`",
    )


def counting_row() -> tuple[str, str]:
    """Counting pairs in bounded memory."""
    count = result("count")["power_law"][-1]
    return (
        f"counting {count['raw_pairs'] / 1e6:.0f} million raw pairs with `--memory 1GB`",
        f"{count['seconds']:.0f} s, {count['peak_memory_megabytes']:.0f} MB",
    )


def training_rows() -> list[tuple[str, str]]:
    """Details of extraction, and the index of names."""
    extract, names = result("extract"), result("fuzzy")["20_000_000"]
    memory = extract["ours, 2 workers"]["peak_memory_megabytes"] / 1000
    return [
        (
            "extraction: memory of all processes; speed-up of the second worker",
            f"{memory:.1f} GB; {extract['speed-up of two workers']:.2f}×",
        ),
        (
            f"closest of {names['names'] / 1e6:.0f} million names by trigrams, exact",
            f"{names['misspelt_names']['median_ms']:.1f} ms misspelt, "
            f"{names['other_names']['median_ms']:.1f} ms unrelated (medians)",
        ),
    ]


def before_row() -> tuple[str, str]:
    """Processor time beside that of an earlier version, in turns."""
    figures = result("before")
    ratios = " / ".join(f"{row['ratio']:.2f}" for name, row in figures.items() if name != "machine")
    names = " / ".join(name for name in figures if name != "machine")
    return f"processor time against the first version: {names}", ratios


def short() -> list[tuple[str, str]]:
    """What a newcomer wants to know."""
    return [document_row(), annotation_row(), service_row(), propagation_row(), counting_row()]


def full() -> list[tuple[str, str]]:
    """Everything."""
    linking = [document_row(), *inference_rows(), propagation_row(), service_row(), annotation_row()]
    return [*linking, extraction_row(), *training_rows(), counting_row(), before_row()]


def hostile() -> list[tuple[str, str]]:
    """What hostile trials found: mutated inputs, attacks on a server, and ordinary requests beside it."""
    figures = result("hostile")
    rows = [
        (
            f"{row['inputs']:,} mutated inputs: {kind}",
            f"{row['accepted']:,} accepted, {row['refused']:,} refused, {row['failed']:,} failed; "
            f"the longest took {row['longest_ms']:.0f} ms",
        )
        for kind, row in figures["mutated"].items()
    ]
    rows += [
        (
            f"attack: {name}",
            f"health checks {row['health_median_ms']:.0f} ms (median), "
            f"{row['largest_worker_megabytes']:.0f} MB",
        )
        for name, row in figures["attacks"].items()
    ]
    return rows + [
        (
            f"ordinary requests, connections: {connections}",
            f"{row['cpu_ms_now']:.2f} ms of processor time each, {row['ratio']:.2f} times as much as before "
            "there were such limits",
        )
        for connections, row in figures["ordinary"].items()
    ]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows under a head, as Markdown."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


def measured(rows: Callable[[], list[tuple[str, str]]]) -> Callable[[], str]:
    """A table of what was measured."""
    return lambda: table(("what", "measured"), rows())


MODELS = {"starter": "starter model", "sample": "model of the whole sample"}
TYPED = ", with types, 10% wrong"
METHODS = {
    "equal strings": "equal strings",
    "rapidfuzz": "rapidfuzz, token_sort_ratio ≥ 95",
    "names and graph": "pboh, names in their graph",
    "names, graph and a sentence each": "pboh, and in their sentences",
}


def merging_rows(kind: str) -> Iterator[Sequence[str]]:
    """Errors of merging the nodes of a graph: baselines, and what the two models make of the same nodes."""
    figures = result("canonical")
    equal = figures["sample"]["methods"]["equal strings"]["errors"]
    for method, full in METHODS.items():
        ours = full.startswith("pboh")
        name = full if ours or not kind else full.partition(",")[0]
        for model in MODELS if ours else ("sample",):
            found = figures[model]["methods"][name + kind]
            yield (
                f"pboh, {MODELS[model]}: {method}" if ours else full,
                *(f"{found[share]:.1%}" for share in ("precision", "recall")),
                *(f"{found[number]:,}" for number in ("wrongly_merged", "missed", "errors")),
                f"{found['errors'] / equal - 1:+.0%}".replace("-", "−") if found["errors"] != equal else "",
                f"{found['names_per_second']:,.0f}" if ours else "",
            )


def merging() -> str:
    """Merging: without types, with types, and of long lists."""
    columns = ("precision", "recall", "wrongly merged", "missed", "errors", "", "names a second")
    figures = result("canonical")
    lists = [
        (f"{row['different_names']:,} different ones", row["cpu_seconds"], row["names_per_cpu_second"],
         f"{row['peak_memory_megabytes']:,.0f} MB ({row['before_megabytes']:,.0f} MB before)")
        for row in figures["at_scale"]
    ]  # fmt: skip
    one = figures["repeated"]
    lists.append((
        f"one name {one['names']:,} times", one["cpu_seconds"], one["names"] / one["cpu_seconds"],
        f"{one['peak_memory_megabytes']:,.0f} MB",
    ))  # fmt: skip
    alone = [
        (f"a sentence each and no graph, {MODELS[model]}",
         f"{figures[model]['pages_301_to_340']['sentences']['names_per_second']:,.0f}")
        for model in MODELS
    ]  # fmt: skip
    return "\n".join((
        table(("method", *columns), merging_rows("")),
        table(("method, with types of which 10% are wrong", *columns), merging_rows(TYPED)),
        table(("names", "names a second"), alone),
        table(
            ("list of names alone, starter model", "processor time", "names a second", "peak memory"),
            [(what, f"{seconds:,.1f} s", f"{speed:,.0f}", memory) for what, seconds, speed, memory in lists],
        ),
    ))  # fmt: skip


PAGES = {
    ROOT / "README.md": measured(short),
    ROOT / "docs" / "explanation" / "speed.md": measured(full),
    ROOT / "docs" / "how-to" / "deploy.md": measured(hostile),
    ROOT / "docs" / "how-to" / "merge-names.md": merging,
}


def with_figures(text: str, tables: str) -> str:
    """A page with its tables written anew."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + tables + "\n" + END + rest.split(END)[1]


def main() -> None:
    """Write the tables into their pages."""
    for page, tables in PAGES.items():
        page.write_text(with_figures(page.read_text("utf-8"), tables()), "utf-8")


if __name__ == "__main__":
    main()
