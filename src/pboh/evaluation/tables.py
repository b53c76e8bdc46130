"""The tables of an evaluation as plain rows: the terminal and the report print the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pboh.evaluation import published
from pboh.evaluation.breakdowns import calibration
from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import Comparison, Row
from pboh.evaluation.runner import Evaluation, Run

SYSTEM_NAMES = {
    "localmention": "LocalMention",
    "localcontext": "LocalContext",
    "unnorm": "Unnorm",
    "rescaled": "Rescaled",
    "pboh": "PBoH",
}
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


def percent(share: float) -> str:
    """A share as the paper prints it: 86.72."""
    return f"{100 * share:.2f}"


def system_name(system: str) -> str:
    """The paper's spelling of a system."""
    return SYSTEM_NAMES.get(system, system)


def paper_name_of(dataset: Dataset) -> str | None:
    """The name the paper gives to a dataset of ours."""
    return published.paper_name(dataset.name, cleaned=dataset.format == "wned")


def results_table(evaluation: Evaluation) -> Table:
    """Every run: the scores, what the dictionary allows, and the time."""
    header = [
        "Dataset",
        "System",
        "Docs",
        "Mentions",
        "P",
        "R",
        "F1",
        "95 % of F1",
        "F1 macro",
        "F1 macro GERBIL",
    ]
    header += ["gold in KB", "gold in cand.", "acc. given cand.", "ms/doc"]
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
    interval = row.intervals.get("micro")
    return [
        row.dataset,
        system_name(row.system),
        f"{row.documents:,}",
        f"{row.mentions:,}",
        percent(row.micro.precision),
        percent(row.micro.recall),
        percent(row.micro.f1),
        f"{percent(interval[0])}–{percent(interval[1])}" if interval else _NOTHING,
        percent(row.macro.f1),
        percent(row.macro_gerbil.f1),
        percent(row.gold_in_kb),
        percent(row.gold_in_candidates),
        percent(row.accuracy_given_candidate),
        f"{row.ms_per_document:.2f}",
    ]


Figures = Mapping[str, Mapping[str, tuple[float | None, float | None]]]


def paper_tables(evaluation: Evaluation) -> list[Table]:
    """Our figures below all systems of the paper's tables, for the datasets the tables have."""

    def f1(row: Row) -> tuple[float, float]:
        return row.micro.f1, row.macro_gerbil.f1

    def authors_f1(row: Row) -> tuple[float, float]:
        return row.micro.f1, row.macro.f1

    def recall(row: Row) -> tuple[float, float]:
        return row.micro.recall, row.macro.recall

    wanted: list[tuple[str, Figures, Callable[[Row], tuple[float, float]], str]] = [
        ("Published with GERBIL: F1@MI / F1@MA", published.GERBIL, f1, "Our F1@MA is GERBIL's macro."),
        (
            "Cleaned datasets: F1@MI / F1@MA",
            published.CLEANED,
            authors_f1,
            "Our F1@MA is the authors' macro.",
        ),
        ("AIDA: R@MI / R@MA", published.AIDA, recall, ""),
    ]
    tables = (_beside(evaluation, *parts) for parts in wanted)
    return [table for table in tables if table is not None]


def _beside(
    evaluation: Evaluation,
    title: str,
    figures: Figures,
    ours: Callable[[Row], tuple[float, float]],
    note: str,
) -> Table | None:
    """One of the paper's tables, the columns we ran, with our systems as further rows."""
    columns = [
        (dataset, name)
        for dataset in evaluation.datasets
        if (name := paper_name_of(dataset)) and name in next(iter(figures.values()))
    ]
    if not columns:
        return None
    table = Table(title, ["System", *(name for _, name in columns)], note=note)
    values: list[list[float | None]] = []
    for system, by_dataset in figures.items():
        pairs = [by_dataset[name] for _, name in columns]
        values.append([pair[0] for pair in pairs])
        table.add([system, *(" / ".join(map(_figure, pair)) for pair in pairs)])
    for system in evaluation.systems:
        runs = [evaluation.run(dataset.name, system) for dataset, _ in columns]
        scores = [ours(run.row) if run else (None, None) for run in runs]
        cells = (" / ".join(_figure(None if x is None else 100 * x) for x in pair) for pair in scores)
        table.add([OURS + system_name(system), *cells], ours=True)
    for column in range(len(columns)):
        known = [(row[column], at) for at, row in enumerate(values) if row[column] is not None]
        table.strong.add((max(known)[1], column + 1))
    return table


def _figure(value: float | None) -> str:
    return _NOTHING if value is None else f"{value:.2f}"


def ablation_table(evaluation: Evaluation) -> Table:
    """R@MI / R@MA of each system (the paper's "Accuracy gains of individual PBoH components")."""
    papers = list(next(iter(published.ABLATION.values())))
    header = ["System", *(d.name for d in evaluation.datasets), *(f"paper: {name}" for name in papers)]
    table = Table("Gains of the components: R@MI / R@MA", header)
    for system in evaluation.systems:
        runs = [evaluation.run(dataset.name, system) for dataset in evaluation.datasets]
        pairs = [(r.row.micro.recall, r.row.macro.recall) if r else (0.0, 0.0) for r in runs]
        cells = [" / ".join(map(percent, pair)) for pair in pairs]
        printed = published.ABLATION.get(system, {})
        cells += [" / ".join(map(_figure, printed.get(name, (None, None)))) for name in papers]
        table.add([system_name(system), *cells])
    for column, dataset in enumerate(evaluation.datasets, start=1):
        recalls = [run.row.micro.recall for run in evaluation.runs if run.dataset.name == dataset.name]
        table.strong.add((recalls.index(max(recalls)), column))
    return table


def nil_table(evaluation: Evaluation) -> Table:
    """How well the main system says "not in the knowledge base"."""
    note = "Withholding an answer is right where the gold is no entity of the model."
    header = ["Dataset", "gold unknown", "withheld", "P %", "R %", "F1 %", "wrong answers withheld %"]
    table = Table("Not in the knowledge base (NIL)", header, note=note)
    for run in evaluation.main_runs():
        judgement, nil = run.judgement, run.row.nil
        counts = [f"{int((~flags).sum()):,}" for flags in (judgement.known, judgement.answered)]
        wrong = ~judgement.correct
        spared = float((wrong & ~judgement.answered).sum()) / max(1, int(wrong.sum()))
        scores = map(percent, (nil.precision, nil.recall, nil.f1, spared))
        table.add([run.row.dataset, *counts, *scores], ours=True)
    return table


def calibration_table(evaluation: Evaluation) -> Table:
    """How far the probabilities of the main system can be trusted."""
    note = "Mean distance of the probability of an answer and the share that is right, in ten equal steps."
    table = Table("Expected calibration error", ["Dataset", "answers", "error %"], note=note)
    for run in evaluation.main_runs():
        answers = int(run.judgement.answered.sum())
        table.add([run.row.dataset, f"{answers:,}", percent(calibration([run.judgement]).error)], ours=True)
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
    note = (
        "Difference of micro F1 in points, first minus second; interval by paired bootstrap, two-sided p by "
        "approximate randomisation, both over documents."
    )
    table = Table(title, header, note=note)
    for test in comparisons:
        if test.p < 0.05:
            table.strong.add((len(table.rows), 3))
        interval = f"{100 * test.low:+.2f} … {100 * test.high:+.2f}"
        p = f"{test.p:.4f}" if test.p >= 0.001 else "< 0.001"
        names = map(_with_system_name, (test.first, test.second))
        table.add([test.dataset, *names, f"{100 * test.difference:+.2f}", interval, p])
    return table


def _with_system_name(words: str) -> str:
    """``model pboh`` as ``model PBoH``."""
    model, _, system = words.rpartition(" ")
    return f"{model} {system_name(system)}".strip()


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
