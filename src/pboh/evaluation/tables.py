"""The tables of an evaluation as plain rows: the terminal and the report print the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pboh.evaluation import published
from pboh.evaluation.breakdowns import calibration_of
from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import Comparison, Row, percent
from pboh.evaluation.runner import Evaluation, Run, system_name

OURS = "ours: "
_NOTHING = "–"


@dataclass(slots=True)
class Table:
    """A titled table of text cells; ``ours`` are the rows measured here, ``strong`` the cells to stress."""

    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""
    ours: set[int] = field(default_factory=set)
    strong: set[tuple[int, int]] = field(default_factory=set)

    @property
    def words(self) -> set[int]:
        """The columns that hold words, not figures."""
        names = {"System", "Source", "Format", "First", "Second"}
        return {0, *(at for at, name in enumerate(self.header) if name in names)}

    def add(self, cells: Iterable[str], ours: bool = False) -> None:
        """One more row."""
        if ours:
            self.ours.add(len(self.rows))
        self.rows.append(list(cells))

    def markdown(self) -> str:
        """The table in Markdown, its title above and its note below."""

        def line(cells: Iterable[str]) -> str:
            return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n"

        rule = line("---" if at in self.words else "---:" for at in range(len(self.header)))
        rows = "".join(
            line(f"**{c}**" if (at, column) in self.strong else c for column, c in enumerate(cells))
            for at, cells in enumerate(self.rows)
        )
        return f"### {self.title}\n\n{line(self.header)}{rule}{rows}\n{self.note}\n"


def paper_name_of(dataset: Dataset) -> str | None:
    """The name the paper gives to a dataset of ours."""
    return published.paper_name(dataset.name, cleaned=dataset.format == "wned")


def results_table(evaluation: Evaluation) -> Table:
    """Every run: the scores, what the dictionary allows, and the time."""
    header = ["Dataset", "System", "Docs", "Mentions", "P", "R", "F1", "95 % of F1", "F1 macro"]
    header += ["F1 macro GERBIL", "gold in KB", "gold in cand.", "acc. given cand.", "ms/doc"]
    table = Table("Results", header, note="P, R, F1 and the interval are micro; all in %.")
    for dataset in evaluation.datasets:
        runs = [run for run in evaluation.runs if run.dataset.name == dataset.name]
        best = max(run.row.micro.f1 for run in runs)
        for run in runs:
            if run.row.micro.f1 == best and len(runs) > 1:
                table.strong.add((len(table.rows), 6))
            table.add(_result(run.row))
    return table


def _result(row: Row) -> list[str]:
    names = [row.dataset, system_name(row.system), f"{row.documents:,}", f"{row.mentions:,}"]
    spread = "–".join(map(percent, row.intervals["micro"])) if row.intervals else _NOTHING
    shares = [row.macro.f1, row.macro_gerbil.f1]
    shares += [row.gold_in_kb, row.gold_in_candidates, row.accuracy_given_candidate]
    return [*names, *row.micro.percents(), spread, *map(percent, shares), f"{row.ms_per_document:.2f}"]


def paper_tables(evaluation: Evaluation) -> list[Table]:
    """Our figures below all systems of the paper's tables, for the datasets the tables have."""
    gerbil = ("Published with GERBIL: F1@MI / F1@MA", published.GERBIL, "Our F1@MA is GERBIL's macro.")
    cleaned = ("Cleaned datasets: F1@MI / F1@MA", published.CLEANED, "Our F1@MA is the authors' macro.")
    tables = [
        _beside(evaluation, *gerbil, lambda row: (row.micro.f1, row.macro_gerbil.f1)),
        _beside(evaluation, *cleaned, lambda row: (row.micro.f1, row.macro.f1)),
        _beside(evaluation, "AIDA: R@MI / R@MA", published.AIDA, "", recalls),
    ]
    return [table for table in tables if table is not None]


def recalls(row: Row) -> tuple[float, float]:
    """R@MI and R@MA."""
    return row.micro.recall, row.macro.recall


def _beside(
    evaluation: Evaluation,
    title: str,
    figures: Mapping[str, Mapping[str, published.Pair]],
    note: str,
    ours: Callable[[Row], tuple[float, float]],
) -> Table | None:
    """One of the paper's tables, the columns we ran, with our systems as further rows."""
    named = {dataset.name: paper_name_of(dataset) or "" for dataset in evaluation.datasets}
    columns = {ours: paper for ours, paper in named.items() if paper in next(iter(figures.values()))}
    if not columns:
        return None
    table = Table(title, ["System", *columns.values()], note=note)
    for system, by_dataset in figures.items():
        table.add([system, *(_pair(by_dataset[name]) for name in columns.values())])
    for system in evaluation.systems:
        table.add([OURS + system_name(system), *_pairs(evaluation, system, columns, ours)], ours=True)
    for column, name in enumerate(columns.values(), start=1):
        best = [by_dataset[name][0] or 0.0 for by_dataset in figures.values()]
        table.strong.add((max((figure, at) for at, figure in enumerate(best))[1], column))
    return table


def _pairs(
    evaluation: Evaluation, system: str, datasets: Iterable[str], ours: Callable[[Row], tuple[float, float]]
) -> list[str]:
    """A figure pair of one system for each dataset."""
    runs = (evaluation.run(name, system) for name in datasets)
    return [_pair([100 * share for share in ours(run.row)] if run else (None, None)) for run in runs]


def _pair(figures: Iterable[float | None]) -> str:
    return " / ".join(_NOTHING if figure is None else f"{figure:.2f}" for figure in figures)


def ablation_table(evaluation: Evaluation) -> Table:
    """R@MI / R@MA of each system (the paper's "Accuracy gains of individual PBoH components")."""
    papers, names = list(next(iter(published.ABLATION.values()))), [d.name for d in evaluation.datasets]
    header = ["System", *names, *(f"paper: {name}" for name in papers)]
    table = Table("Gains of the components: R@MI / R@MA", header)
    for system in evaluation.systems:
        printed = published.ABLATION.get(system, {})
        cells = [_pair(printed.get(name, (None, None))) for name in papers]
        table.add([system_name(system), *_pairs(evaluation, system, names, recalls), *cells])
    for column, name in enumerate(names, start=1):
        found = [run.row.micro.recall for run in evaluation.runs if run.row.dataset == name]
        table.strong.add((found.index(max(found)), column))
    return table


def nil_table(evaluation: Evaluation) -> Table:
    """How well the main system says "not in the knowledge base"."""
    note = "Withholding an answer is right where the gold is not in the model."
    header = ["Dataset", "gold unknown", "withheld", "P %", "R %", "F1 %", "wrong answers withheld %"]
    table = Table("Not in the knowledge base (NIL)", header, note=note)
    for run in evaluation.main_runs():
        judgement = run.judgement
        counts = [f"{int((~flags).sum()):,}" for flags in (judgement.known, judgement.answered)]
        wrong = ~judgement.correct
        spared = float((wrong & ~judgement.answered).sum()) / max(1, int(wrong.sum()))
        table.add([run.row.dataset, *counts, *run.row.nil.percents(), percent(spared)], ours=True)
    return table


def calibration_table(evaluation: Evaluation) -> Table:
    """How far the probabilities of the main system can be trusted."""
    note = (
        "Mean distance of the probability of an answer and the share that is right, in ten equal steps; and "
        "the error that chance alone would make if every probability were right."
    )
    header = ["Dataset", "answers", "error %", "by chance %"]
    table = Table("Expected calibration error", header, note=note)
    for run in evaluation.main_runs():
        found = calibration_of([run.judgement])
        errors = percent(found.error), percent(found.chance)
        table.add([run.row.dataset, f"{run.row.answered:,}", *errors], ours=True)
    return table


def propagation_table(evaluation: Evaluation) -> Table:
    """The paper's "Loopy belief propagation statistics", ours first."""
    header = ["Dataset", "Source", "mentions/doc", "converged %", "ms/doc", "rounds"]
    note = "The paper's milliseconds are message passing alone; ours are end to end."
    table = Table("Loopy belief propagation statistics", header, note=note)
    for run in evaluation.main_runs():
        row = run.row
        figures = (f"{row.mentions_per_document:.2f}", percent(row.converged), f"{row.ms_per_document:.2f}")
        table.add([row.dataset, "ours", *figures, f"{row.rounds:.2f}"], ours=True)
    for name, values in published.PROPAGATION.items():
        table.add([name, "paper", *(f"{value:.2f}" for value in values)])
    return table


def graph_table(evaluation: Evaluation) -> Table:
    """The paper's "Average number of entities that appear in the graph", ours first."""
    header = ["Dataset", "Source", "mentions/doc", "entities PBoH", "entities REL-RW"]
    note = "Ours counts the distinct candidate entities of a document."
    table = Table("Entities in the graph", header, note=note)
    for run in evaluation.main_runs():
        row = run.row
        figures = (f"{row.mentions_per_document:.2f}", f"{row.entities_per_document:.2f}")
        table.add([row.dataset, "ours", *figures, _NOTHING], ours=True)
    for name, (mentions, pboh, rel_rw) in published.GRAPH.items():
        table.add([name, "paper", f"{mentions:.2f}", f"{pboh:.2f}", f"{rel_rw:,.2f}"])
    return table


def comparison_table(title: str, comparisons: Sequence[Comparison]) -> Table:
    """Paired tests, one a row."""
    header = ["Dataset", "First", "Second", "difference of F1", "95 % interval", "p"]
    header += ["of macro F1", "95 % interval"]
    note = (
        "Differences in points, first minus second; intervals by paired bootstrap, two-sided p of micro F1 "
        "by approximate randomisation, both over documents."
    )
    table = Table(title, header, note=note)
    for test in comparisons:
        if test.p < 0.05:
            table.strong.add((len(table.rows), 3))
        micro, macro = (
            [f"{100 * difference:+.2f}", f"{100 * low:+.2f} … {100 * high:+.2f}"]
            for difference, low, high in (
                (test.difference, test.low, test.high),
                (test.macro, test.macro_low, test.macro_high),
            )
        )
        p = f"{test.p:.4f}" if test.p >= 0.001 else "< 0.001"
        table.add([test.dataset, test.first, test.second, *micro, p, *macro])
    return table


def dataset_table(datasets: Sequence[Dataset]) -> Table:
    """What was read, beside what the publishers say there is."""
    header = ["Dataset", "Format", "Docs", "with gold", "Mentions", "NIL", "published docs / mentions"]
    table = Table("Datasets as read", [*header, "repaired", "lost", "merged", "unmapped"])
    for dataset in datasets:
        problems = dataset.problem_counts()
        printed = published.STATISTICS.get(paper_name_of(dataset) or "")
        known = f"{printed[0]:,} / {printed[1]:,}" if printed else _NOTHING
        with_gold = sum(bool(document.linked) for document in dataset)
        counts = [f"{number:,}" for number in (len(dataset), with_gold, dataset.mentions, dataset.nil)]
        kinds = [str(problems.get(kind, 0)) for kind in ("repaired", "lost", "merged", "unmapped")]
        table.add([dataset.name, dataset.format, *counts, known, *kinds])
    return table


def side_by_side_table(first: Evaluation, second: Evaluation) -> Table:
    """Two models on the same datasets: recall and F1 of each system, and the average over datasets."""
    header = ["Dataset", "System", f"R {first.model}", f"R {second.model}", "ΔR"]
    header += [f"F1 {first.model}", f"F1 {second.model}", "ΔF1"]
    table = Table(f"{first.model} beside {second.model}", header, note="Micro recall and F1 in %.")
    pairs = [(run, other) for run in first.runs if (other := second.run(run.row.dataset, run.system))]
    for run, other in pairs:
        table.add([run.row.dataset, system_name(run.system), *_both([run], [other])])
    for system in first.systems if len(first.datasets) > 1 else []:
        mine = [(run, other) for run, other in pairs if run.system == system]
        if mine:
            table.ours.add(len(table.rows))
            cells = _both([run for run, _ in mine], [other for _, other in mine])
            table.rows.append(["average", system_name(system), *cells])
    return table


def _both(runs: Sequence[Run], others: Sequence[Run]) -> list[str]:
    """Mean recall and F1 of both sides with their differences."""
    cells = []
    for measure in ("recall", "f1"):
        means = [sum(getattr(r.row.micro, measure) for r in side) / len(side) for side in (runs, others)]
        cells += [*map(percent, means), f"{100 * (means[0] - means[1]):+.2f}"]
    return cells
