"""``pboh canonical``: a table of names in, groups of names that mean the same out."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text
from typer import Argument, Option

from pboh.cli import app, options
from pboh.cli.printing import output
from pboh.files.progress import progress, summarise
from pboh.files.writing import write_json

if TYPE_CHECKING:
    from pboh.canonical import Groups

SHOWN = 40  # groups in a table on standard output


def _column(help: str, default: str | None = None) -> Any:
    return Option(metavar="NAME", help=help, rich_help_panel="Columns", show_default=default or True)


@app.command("canonical")
def canonical_command(
    source: Annotated[
        Path, Argument(metavar="FILE", help="Names: .csv, .tsv, .jsonl, .parquet, or .txt with one per line.")
    ],
    out: Annotated[
        Path | None,
        options.out(
            "OUT",
            "File .jsonl (a group per line), .csv or .parquet (a name per row), .ttl or .cypher (a graph).",
            show_default="a table of the groups",
            callback=options.writable,
        ),
    ] = None,
    model: options.Model = None,
    edges: Annotated[
        Path | None, Option("--edges", metavar="FILE", help="Pairs of names, or of ids, that are neighbours.")
    ] = None,
    merge_threshold: Annotated[
        float, Option(min=0, max=1, help="Merge names at least this likely to mean the same.")
    ] = 0.6,
    name_column: Annotated[str, _column("Holds the names.")] = "name",
    context_column: Annotated[
        str | None,
        _column("Holds a text about the name, or one that it occurs in.", "context, if there is one"),
    ] = None,
    type_column: Annotated[
        str | None, _column("Says what kind of thing it is.", "type, if there is one")
    ] = None,
    id_column: Annotated[
        str | None, _column("Copied to the output as id; edges may use it.", "id, if there is one")
    ] = None,
    source_column: Annotated[str, _column("Holds one end of each edge.")] = "source",
    target_column: Annotated[str, _column("Holds the other end.")] = "target",
    paper: options.Paper = False,
    change: options.Change = None,
    workers: options.Workers = None,
    json: options.Json = None,
) -> None:
    """Group names that mean the same: the nodes of a knowledge graph, the cells of a column.

    Names of known entities are grouped by what they mean: IBM, I.B.M. and International Business Machines.
    A context (a sentence or a description) or edges to other names decide what an ambiguous name means.
    Names of no known entity are compared with each other: spelling, legal forms, order of first and last
    names, initials, acronyms, slips of the pen. Nothing is merged below --merge-threshold, and every name
    says why it is in its group. Every row of FILE is in exactly one group; a row without a name is alone.

    \b
    Examples:
      pboh canonical names.txt
      pboh canonical entities.csv --edges relations.csv --out groups.jsonl
      pboh canonical nodes.parquet --name-column title --context-column description --out nodes-merged.parquet
    """
    from pboh.canonical.tables import Wanted, check_kind, read_edges, read_names, write_groups
    from pboh.files.memory import processors

    if out is not None:
        check_kind(out)
    began = perf_counter()
    table = read_names(source, Wanted(name_column, context_column, type_column, id_column))
    pairs = read_edges(edges, table, source_column, target_column) if edges is not None else None
    linker = options.load_linker(model, paper, change)
    with progress("grouping names") as report:
        groups = linker.canonical(
            table.names, table.contexts or None, table.types or None, pairs,
            threshold=merge_threshold, workers=workers or processors(), report=report,
        )  # fmt: skip
        if out is not None:
            write_groups(groups, table.ids, out, report, pairs or ())
    figures = {
        "names": len(table.names),
        "groups": len(groups),
        "of_known_entities": sum(groups.entity(number) is not None for number in range(len(groups))),
        "merged_names": len(table.names) - len(groups),
        "seconds": perf_counter() - began,
    }
    if out is not None:
        summarise(f"groups in {out}", figures, json)
        return
    output().print(_table(groups))
    if json is not None:
        write_json(json, figures)


def _table(groups: Groups) -> Table:
    """The largest groups."""
    order = sorted(range(len(groups)), key=lambda number: -groups.size(number))
    shown = Table(box=SIMPLE_HEAD)
    for name in ("label", "entity", "type", "probability", "names"):
        shown.add_column(name, justify="right" if name == "probability" else "left")
    for number in order[:SHOWN]:
        group = groups[number]
        counts = {name: sum(member.name == name for member in group.members) for name in group.names[:12]}
        names = [f"{_cut(name)} ×{count}" if count > 1 else _cut(name) for name, count in counts.items()]
        more = [f"… {len(group.names) - 12:,} more"] * (len(group.names) > 12)
        entity = group.entity.title if group.entity else "–"
        cells = (
            _cut(group.label),
            entity,
            group.type or "–",
            f"{group.probability:.0%}",
            ", ".join(names + more),
        )
        shown.add_row(*map(Text, cells))
    if len(groups) > SHOWN:
        shown.caption = f"{len(groups) - SHOWN:,} smaller groups are not shown; --out writes all of them"
    return shown


def _cut(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:59]}…"
