"""Writes the table of speeds in the README from benchmarks/results, so that it says what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- figures, written by make docs from benchmarks/results -->\n", "<!-- end of figures -->\n"


def result(name: str) -> Any:
    """What one benchmark measured."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def inference_rows() -> list[tuple[str, str]]:
    """One document, and longer ones, and the first one."""
    figures = result("inference")
    twenty, cold = figures["twenty_mentions"], figures["cold_start"]
    stages = twenty["stages_ms"]
    longer = {row["n"]: row["median_ms"] for row in figures["growth"]}
    return [
        (
            f"one document of about {twenty['mentions']:.0f} mentions, end to end, one core",
            f"{twenty['median_ms']:.1f} ms (median of {twenty['documents']} validation pages)",
        ),
        (
            f"of that: {' / '.join(stages)}",
            " / ".join(f"{value:.2f}" for value in stages.values()) + " ms",
        ),
        ("the same with 100 / 500 mentions", f"{longer[100]:.0f} / {longer[500]:.0f} ms"),
        (
            "import and open the model of the sample; first answer; very first on a machine (compiling)",
            f"{cold['import_and_open_seconds']:.1f} s; {cold['first_call_seconds']:.1f} s; "
            f"{cold['first_ever_seconds']:.1f} s",
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


def training_rows() -> list[tuple[str, str]]:
    """Extraction, counting and the index of names."""
    extract, count = result("extract"), result("count")["power_law"][-1]
    two, names = extract["ours, 2 workers"], result("fuzzy")["20_000_000"]
    return [
        (
            f"extraction of {two['megabytes']:.0f} MB of XML, two workers",
            f"{two['seconds']:.0f} s, {two['peak_memory_megabytes'] / 1000:.1f} GB for all processes; "
            f"{extract['speed-up of two workers']:.2f}× one worker",
        ),
        (
            "against wikipedia2vec's `build-dump-db`, same dump, same run",
            f"{extract['times faster than wikipedia2vec']:.1f}× faster",
        ),
        (
            f"counting {count['raw_pairs'] / 1e6:.0f} M raw pairs at `--memory 1GB`",
            f"{count['seconds']:.0f} s, {count['peak_memory_megabytes']:.0f} MB",
        ),
        (
            f"closest name by trigrams, exact, {names['names'] / 1e6:.0f} M names",
            f"{names['misspelt_names']['median_ms']:.1f} ms misspelt, "
            f"{names['other_names']['median_ms']:.1f} ms unrelated (medians)",
        ),
    ]


def table() -> str:
    """The table."""
    rows = [*inference_rows(), propagation_row(), *training_rows()]
    return "\n".join(["| what | measured |", "| --- | --- |", *(f"| {a} | {b} |" for a, b in rows), ""])


def with_figures(text: str) -> str:
    """A page with its table written anew."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]


def main() -> None:
    """Write the README."""
    readme = ROOT / "README.md"
    readme.write_text(with_figures(readme.read_text()))


if __name__ == "__main__":
    main()
