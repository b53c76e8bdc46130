"""Options that several commands share, each declared once: one name, one meaning, one sentence of help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from pboh.files.writing import check_outputs

if TYPE_CHECKING:
    from pboh.linker import Linker


def _model(default: str | bool) -> Any:
    return Option("--model", "-m", metavar="MODEL", help="A model folder.", show_default=default)


def out(metavar: str, help: str, **more: Any) -> Any:
    """The option ``--out``, which says what a command makes."""
    return Option("--out", "-o", metavar=metavar, help=help, **more)


def writable(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before any work is done for it."""
    check_outputs(path)
    return path


def load_linker(model: str | None, paper: bool, change: list[str] | None) -> Linker:
    """The linker that --model, --paper and --set ask for."""
    from pboh.inference.settings import parse_changes
    from pboh.linker import load

    return load(model, paper=paper, **parse_changes(change or []))


def listed(names: str | None) -> tuple[str, ...] | None:
    """What an option lists with commas between; None for nothing."""
    found = dict.fromkeys(name.strip() for name in (names or "").split(",") if name.strip())
    return tuple(found) or None


# -- the model and how it answers -----------------------------------------------------------------------

Model = Annotated[str | None, _model("the starter model")]
OwnModel = Annotated[str, _model(True)]  # one that can be written to, so there is no default
Change = Annotated[
    list[str] | None, Option("--set", metavar="NAME=VALUE", help="Change a setting, such as tau=0.7.")
]
Paper = Annotated[bool, Option("--paper", help="Use the paper's model: every extension off.")]
Only = Annotated[
    Path | None, Option("--only", metavar="FILE", help="Answer only with these entities, one title per line.")
]
Types = Annotated[
    str | None,
    Option(
        "--types", metavar="A,B,…", help="Answer only with entities of these types, such as person,place."
    ),
]
Threshold = Annotated[
    float | None,
    Option("--threshold", min=0, max=1, help="Keep links at least this likely.", show_default="the model's"),
]
Mentions = Annotated[
    Literal["names", "all"], Option("--mentions", help="What to find: names, or concepts too (all).")
]
Nil = Annotated[bool, Option("--nil", help="Also show names that no entity is known for.")]

# -- the machine ----------------------------------------------------------------------------------------

Workers = Annotated[
    int | None, Option("--workers", "-w", min=1, help="Parallel workers.", show_default="all cores")
]
Memory = Annotated[str, Option("--memory", metavar="SIZE", help="Use at most this much memory.")]
Engine = Annotated[
    Literal["local", "spark"], Option("--engine", help="Run on this machine or on a Spark cluster.")
]
Master = Annotated[
    str | None,
    Option("--master", metavar="URL", help="Spark master, such as yarn or local[2].", show_default="Spark's"),
]

# -- what goes in and what comes out --------------------------------------------------------------------

Dumps = Annotated[
    list[Path], Argument(metavar="DUMP", help="Downloaded folders, .xml, .bz2, .gz, .zst or .jsonl files.")
]
Validation = Annotated[
    list[str], Option("--validation", "-v", metavar="DATASET", help="Documents with gold; may be repeated.")
]
Out = Annotated[Path, out("FOLDER", "Folder to write to.")]
BesideModel = Annotated[Path | None, out("FOLDER", "Leave the model alone and write a new one here.")]
Json = Annotated[
    Path | None, Option("--json", metavar="FILE", help="Also write the results as JSON.", callback=writable)
]
Report = Annotated[
    Path | None,
    Option("--report", metavar="FILE.html", help="Write a report, one HTML file.", callback=writable),
]

# -- training -------------------------------------------------------------------------------------------

RedLinks = Annotated[
    Literal["keep", "drop"], Option("--red-links", help="Links to pages that are not in the dump.")
]
Language = Annotated[
    str | None, Option("--language", help="Language code.", show_default="what the dump says")
]
Crosswikis = Annotated[
    str | None, Option("--crosswikis", metavar="FILE", help="Add a Crosswikis dictionary (plain or .bz2).")
]
MinWordCount = Annotated[int, Option("--min-word-count", min=1, help="Keep N(w,e) from this count on.")]
Top = Annotated[int, Option("--top", min=1, max=255, help="Entities kept per name.")]
MergeTwins = Annotated[
    bool, Option("--merge-twins", help="Merge entities that are surely one under two titles.")
]
WordRows = Annotated[
    int,
    Option("--word-rows", min=1, metavar="ROWS", help="Counts of words around links to keep at most."),
]
NamesInText = Annotated[
    bool, Option(help="Count where names occur in the text, linked or not; pboh link needs it.")
]
