"""Options that several commands share, each declared once: one name, one meaning, one sentence of help."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Option


def _model(default: str | bool) -> Any:
    return Option("--model", "-m", metavar="MODEL", help="A model folder.", show_default=default)


def writable(path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before any work is done for it."""
    from pboh.files.writing import check_outputs

    check_outputs(path)
    return path


def cores(workers: int | None) -> int:
    """How many workers are meant by the option: all cores unless it is given."""
    return workers or os.cpu_count() or 1


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
Threshold = Annotated[
    float | None,
    Option("--threshold", min=0, max=1, help="Keep links at least this likely.", show_default="the model's"),
]
BesideModel = Annotated[
    Path | None,
    Option("--out", "-o", metavar="FOLDER", help="Leave the model alone and write a new one here."),
]

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
    Option(
        "--master", metavar="URL", help="Spark master, such as local[2] or yarn.", show_default="Spark's own"
    ),
]

# -- what goes in and what comes out --------------------------------------------------------------------

Json = Annotated[
    Path | None,
    Option("--json", metavar="FILE", help="Also write the results as JSON.", callback=writable),
]
Report = Annotated[
    Path | None,
    Option("--report", metavar="FILE.html", help="Write a report, one HTML file.", callback=writable),
]
Validation = Annotated[
    list[str],
    Option("--validation", "-v", metavar="DATASET", help="Documents with gold; may be repeated."),
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
NamesInText = Annotated[
    bool,
    Option(
        "--names-in-text/--no-names-in-text",
        help="Count where names occur in the text, linked or not; pboh link needs it.",
    ),
]
