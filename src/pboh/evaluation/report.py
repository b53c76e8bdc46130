"""The report: one self-contained HTML file with tables beside the paper's, plots and an error browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import pboh
from pboh.evaluation import breakdowns, published, svg, tables
from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import POLICY, Row, percent
from pboh.evaluation.mistakes import KINDS, WrongMention
from pboh.evaluation.runner import Evaluation, compare_models, compare_systems
from pboh.evaluation.tables import Table, system_name
from pboh.files.writing import written_aside

_ASSETS = files("pboh.evaluation") / "report_assets"


def write_report(path: Path, evaluation: Evaluation, other: Evaluation | None = None) -> None:
    """Write the report, whole or not at all; ``other`` is a second model to compare with."""
    page = render_report(evaluation, other)
    with written_aside(path) as aside:
        aside.write_text(page, encoding="utf-8")


def render_report(evaluation: Evaluation, other: Evaluation | None = None) -> str:
    """The HTML of the report."""
    sections = [
        ("results", "Results", _results(evaluation)),
        ("paper", "Beside the paper", _tables(tables.paper_tables(evaluation)) or _no_paper(evaluation)),
        ("systems", "Components", _systems(evaluation)),
        *([("models", "Two models", _models(evaluation, other))] if other else []),
        ("inference", "Inference", _inference(evaluation)),
        ("where", "Where it is right", _plots(evaluation)),
        ("policy", "Policy and data", _policy(evaluation)),
        ("errors", "Errors", _asset("errors.html")),  # last: its list grows while one scrolls
    ]
    sections = [section for section in sections if section[2]]
    return render_page(
        kind="Entity linking evaluation",
        title=f"Entity linking: {evaluation.model}",
        heading=evaluation.model,
        about=_about(evaluation),
        cards=_cards(evaluation),
        sections=sections,
        script=_asset("report.js"),
        data=_error_data(evaluation),
    )


def render_page(
    *,
    kind: str,
    title: str,
    heading: str,
    about: str,
    cards: Sequence[tuple[str, str]],
    sections: Sequence[tuple[str, str, str]],
    script: str = "",
    data: Any = None,
) -> str:
    """A page in the report's style: plain words, large figures with their names, and sections of HTML."""
    parts = [f'<section id="{key}"><h2>{escape(name)}</h2>{body}</section>' for key, name, body in sections]
    large = [f'<div class="card"><b>{escape(v)}</b><span>{escape(name)}</span></div>' for v, name in cards]
    return Template(_asset("report.html")).substitute(
        kind=escape(kind),
        title=escape(title),
        heading=escape(heading),
        about=escape(about),
        style=_asset("report.css"),
        script=_asset("theme.js") + script,
        navigation="".join(f'<a href="#{key}">{escape(title)}</a>' for key, title, _ in sections),
        cards="".join(large),
        sections="".join(parts),
        data=_embedded(data),
    )


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _embedded(value: Any) -> str:
    """JSON that can stand inside a script element: no character of it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _about(evaluation: Evaluation) -> str:
    """What was evaluated, in a line."""
    totals = evaluation.info.get("totals", {})
    facts = [f"{totals[name]:,} {name}" for name in ("entities", "names", "documents") if name in totals]
    info = evaluation.info
    corpus = [str(info[name]) for name in ("wiki", "language", "date") if info.get(name)]
    mode = "the paper's settings" if evaluation.info.get("paper") else "default settings"
    parts = [f"pboh {pboh.__version__}", " ".join(corpus), ", ".join(facts), mode]
    return " · ".join(part for part in parts if part)


def _cards(evaluation: Evaluation) -> list[tuple[str, str]]:
    """The main system's averages over the datasets, large."""
    rows = [run.row for run in evaluation.main_runs()]

    def mean(value: Callable[[Row], float]) -> float:
        return sum(map(value, rows)) / len(rows)

    return [
        (percent(mean(lambda row: row.micro.f1)), "micro F1, average"),
        (percent(mean(lambda row: row.micro.recall)), "micro recall, average"),
        (percent(mean(lambda row: row.gold_in_candidates)), "gold among candidates"),
        (percent(mean(lambda row: row.accuracy_given_candidate)), "right when it was a candidate"),
        (f"{mean(lambda row: row.ms_per_document):.1f} ms", "a document, end to end"),
        (f"{sum(row.mentions for row in rows):,}", f"mentions in {len(rows)} datasets"),
    ]


def html_table(table: Table) -> str:
    """A table; numbers to the right, ours tinted, the best in bold."""
    kinds = ["" if at in table.words else " class=n" for at in range(len(table.header))]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, table.header, strict=True))
    rows, previous = [], ""
    for number, cells in enumerate(table.rows):
        marks = {"ours": number in table.ours, "new": cells[0] != previous}
        previous, body = cells[0], ""
        for at, (kind, cell) in enumerate(zip(kinds, map(escape, cells), strict=True)):
            body += f"<td{kind}>{f'<b>{cell}</b>' if (number, at) in table.strong else cell}</td>"
        rows.append(f'<tr class="{" ".join(mark for mark, on in marks.items() if on)}">{body}</tr>')
    note = f"<figcaption>{escape(table.note)}</figcaption>" if table.note else ""
    return (
        f'<figure class="table"><h3>{escape(table.title)}</h3><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>{note}</figure>"
    )


def _tables(shown: Sequence[Table]) -> str:
    return "".join(map(html_table, shown))


def _figure(title: str, picture: str, note: str = "") -> str:
    caption = f"<figcaption>{escape(note)}</figcaption>" if note else ""
    return f'<figure class="chart"><h3>{escape(title)}</h3>{picture}{caption}</figure>'


def _results(evaluation: Evaluation) -> str:
    """The chart of all systems on all datasets and the full table."""
    names = [dataset.name for dataset in evaluation.datasets]
    series = []
    for system in evaluation.systems:
        rows = [run.row if (run := evaluation.run(name, system)) else None for name in names]
        values = [row.micro.f1 if row else None for row in rows]
        intervals = [row.intervals.get("micro") if row else None for row in rows]
        series.append(svg.Series(system_name(system), values, intervals))
    marks = [_published_f1(dataset) for dataset in evaluation.datasets]
    title, mark = "Micro F1 by dataset and system", "PBoH in the paper"
    chart = svg.grouped_bars(names, series, marks, title, mark)
    keys = [(svg.series_class(at, len(series)), one.name) for at, one in enumerate(series)]
    keys += [("diamond", mark)] if any(value is not None for value in marks) else []
    legend = "".join(f'<span><i class="{kind}"></i>{escape(name)}</span>' for kind, name in keys)
    picture = f'<div class="legend">{legend}</div>{chart}'
    figure = _figure(title, picture, "Whiskers: 95 % bootstrap over documents.")
    return figure + html_table(tables.results_table(evaluation))


def _published_f1(dataset: Dataset) -> float | None:
    known = {**published.GERBIL["PBoH"], **published.CLEANED["PBoH"]}
    micro, _ = known.get(tables.paper_name_of(dataset) or "", (None, None))
    return None if micro is None else micro / 100


def _no_paper(evaluation: Evaluation) -> str:
    names = ", ".join(dataset.name for dataset in evaluation.datasets)
    return f"<p>The paper has no table with {escape(names)}.</p>"


def _systems(evaluation: Evaluation) -> str:
    """Gains of the components and tests between them; nothing when only one system ran."""
    if len(evaluation.systems) < 2:
        return ""
    title = f"{system_name(evaluation.main)} against the others"
    tests = tables.comparison_table(title, compare_systems(evaluation))
    return _tables([tables.ablation_table(evaluation), tests])


def _models(evaluation: Evaluation, other: Evaluation) -> str:
    tests = tables.comparison_table("Paired tests", compare_models(evaluation, other))
    return _tables([tables.side_by_side_table(evaluation, other), tests])


def _inference(evaluation: Evaluation) -> str:
    judgements = [run.judgement for run in evaluation.main_runs()]
    title, caption = "Rounds to convergence", "rounds until convergence"
    rounds = _figure(title, svg.histogram(breakdowns.rounds_histogram(judgements), caption, title))
    shown = [tables.propagation_table(evaluation), tables.graph_table(evaluation)]
    return _tables(shown) + f'<div class="pair">{rounds}{_stages(evaluation)}</div>'


def _stages(evaluation: Evaluation) -> str:
    """Mean milliseconds a document by stage."""
    names = sorted({stage for run in evaluation.main_runs() for stage in run.row.ms_by_stage})
    if not names:
        return ""
    table = Table("Milliseconds a document by stage", ["Dataset", *names, "end to end"])
    for run in evaluation.main_runs():
        stages = (f"{run.row.ms_by_stage.get(name, 0.0):.2f}" for name in names)
        table.add([run.row.dataset, *stages, f"{run.row.ms_per_document:.2f}"])
    return html_table(table)


def _plots(evaluation: Evaluation) -> str:
    """Where the main system is right, all datasets together."""
    runs = evaluation.main_runs()
    judgements = [run.judgement for run in runs]
    popularity = [evaluation.popularity[run.row.dataset] for run in runs]
    if not sum(len(judgement.document) for judgement in judgements):
        return ""
    by_popularity = breakdowns.by_popularity(judgements, popularity)
    links = "links to the right entity in the corpus"
    bars = {
        "by ambiguity": (breakdowns.by_ambiguity(judgements), "candidates of the mention", "By ambiguity"),
        "by popularity of the entity": (by_popularity, links, "By popularity"),
        "by n": (breakdowns.by_length(judgements), "mentions in the document (n)", "By n"),
    }
    charts = [_figure(f"Accuracy {title}", svg.bin_bars(*plot)) for title, plot in bars.items()]
    charts.append(_figure("Calibration", svg.calibration_plot(breakdowns.calibration_of(judgements))))
    note = f"{system_name(evaluation.main)} on all datasets; accuracy over all mentions, answered or not."
    return f'<p class="lead">{escape(note)}</p><div class="grid">{"".join(charts)}</div>'


def _policy(evaluation: Evaluation) -> str:
    """The rules, the datasets as read, every problem met, and the settings."""
    lines = dict.fromkeys([*POLICY, *(line for d in evaluation.datasets for line in d.policy)])
    rules = "".join(f"<li>{escape(line)}</li>" for line in lines)
    details = "".join(_problems(dataset) for dataset in evaluation.datasets if dataset.problems)
    settings = evaluation.info.get("settings", {})
    known = "".join(f"<dt>{escape(str(k))}</dt><dd>{escape(str(v))}</dd>" for k, v in settings.items())
    knobs = f"<details><summary>Settings of the model</summary><dl>{known}</dl></details>" if known else ""
    return f"<ul>{rules}</ul>{html_table(tables.dataset_table(evaluation.datasets))}{details}{knobs}"


def _problems(dataset: Dataset, shown: int = 200) -> str:
    """What the reader repaired or lost in one dataset."""
    total = len(dataset.problems)
    items = "".join(f"<li>{escape(str(problem))}</li>" for problem in dataset.problems[:shown])
    first = f", the first {shown}" if total > shown else ""
    title = f"{escape(dataset.name)}: {total:,} repairs and losses{first}"
    return f"<details><summary>{title}</summary><ul>{items}</ul></details>"


def _error_data(evaluation: Evaluation) -> dict[str, Any]:
    """What the error browser shows, as compact rows."""
    names = [dataset.name for dataset in evaluation.datasets]
    kinds = list(KINDS)

    def row(error: WrongMention) -> list[Any]:
        place = [names.index(error.dataset), error.document, error.before, error.mention, error.after]
        verdict = [error.gold, error.answer, kinds.index(error.kind), error.probability]
        return [*place, *verdict, error.right, error.wrong]

    return {
        "datasets": names,
        "kinds": [KINDS[kind] for kind in kinds],
        "system": system_name(evaluation.main),
        "errors": [row(error) for error in evaluation.errors],
    }
