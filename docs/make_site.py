"""Writes the pages of the site into build/docs as plain Markdown that any site builder can read.

What plain Markdown lacks is put in here: equations become MathML, notebooks become pages, ``::: pboh.name``
becomes the reference of that name, and links out of the folder lead to the repository (or become text).
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

import pboh

DOCS = Path(__file__).parent
PAGES = DOCS.parent / "build" / "docs"
REPOSITORY = ""  # where source files can be read, once the project has a public address
MATH = re.compile(r"^```math\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+(?:src|deploy|benchmarks|tests)/?[^)]*)\)")
NAME = re.compile(r"^::: pboh\.(\w+)$", re.MULTILINE)
ROLE = re.compile(r":(?:class|meth|func|data|attr|mod):`~?([^`]+)`")


def page(markdown: str) -> str:
    """A page of ours as a site builder wants it."""
    markdown = MATH.sub(lambda match: equation(match[1]), markdown)
    markdown = OUTSIDE.sub(lambda match: outside(match[1], match[2]), markdown)
    return NAME.sub(lambda match: reference(match[1]), markdown)


def outside(label: str, path: str) -> str:
    """A link to a source file."""
    return f"[{label}]({REPOSITORY}/blob/main/{path.replace('../', '')})" if REPOSITORY else label


def equation(latex: str) -> str:
    """One displayed equation; browsers draw MathML without a script."""
    with_limits = re.sub(r"\\(sum|max)_", r"\\\1\\limits_", " ".join(latex.split()))
    return convert(with_limits, display="block")


# -- the reference of Python names --------------------------------------------------------------------


def reference(name: str) -> str:
    """A public name: its signature, what it says of itself, and its public methods and properties."""
    thing = getattr(pboh, name)
    parts = [entry(f"pboh.{name}", thing, 3)]
    if inspect.isclass(thing):
        members = [item for item in vars(thing).items() if not item[0].startswith("_")]
        parts += [entry(f"pboh.{name}.{key}", value, 4) for key, value in members if documented(value)]
    return "\n\n".join(parts) + "\n"


def documented(value: Any) -> bool:
    """Whether a member of a class is a method or a property."""
    return inspect.isfunction(value) or isinstance(value, property | cached_property | classmethod)


def entry(path: str, thing: Any, level: int) -> str:
    """The heading, the signature and the docstring of one name."""
    function = getattr(thing, "__func__", thing)
    is_property = isinstance(function, property | cached_property)
    short = path.rpartition(".")[2]
    heading = f"{'#' * level} `{short}` {{ #{path} }}"
    signature = "" if is_property else f"```python\n{short}{signature_of(function)}\n```"
    text = ROLE.sub(r"`\1`", inspect.getdoc(function) or "").replace("``", "`")
    return "\n\n".join(part for part in (heading, signature, text) if part)


def argument(parameter: inspect.Parameter) -> str:
    """One argument as it is declared; a default of more than a few words is left out."""
    if parameter.default is not parameter.empty and len(repr(parameter.default)) > 40:
        return f"{parameter.replace(default=parameter.empty)} = …".replace("'", "")
    return str(parameter).replace("'", "")


def signature_of(thing: Any) -> str:
    """A signature without ``self``, one argument a line where it is long."""
    signature = inspect.signature(thing)
    arguments = [argument(value) for key, value in signature.parameters.items() if key != "self"]
    keyword_only = [k for k, v in signature.parameters.items() if v.kind is v.KEYWORD_ONLY]
    if keyword_only and not any(v.kind is v.VAR_POSITIONAL for v in signature.parameters.values()):
        at = next(i for i, text in enumerate(arguments) if text.startswith(keyword_only[0]))
        arguments.insert(at, "*")
    returns = signature.return_annotation
    arrow = "" if returns in (inspect.Signature.empty, None, "None") else f" -> {str(returns).strip(chr(39))}"
    line = f"({', '.join(arguments)}){arrow}"
    return line if len(line) < 90 else "(\n    " + ",\n    ".join(arguments) + f",\n){arrow}"


# -- notebooks ----------------------------------------------------------------------------------------


def notebook_page(notebook: dict[str, Any]) -> str:
    """A notebook as Markdown: its text, its code, and what the code printed or drew."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts.append(f"```python\n{source}\n```")
            parts += [shown for output in cell["outputs"] if (shown := output_of(output))]
    return "\n\n".join(parts) + "\n"


def output_of(output: dict[str, Any]) -> str:
    """One output: the drawn form where there is one, else the printed one."""
    data = output.get("data", {})
    if "text/html" in data:
        return f"<div>{''.join(data['text/html'])}</div>"
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```" if text.strip() else ""


def write_pages(pages: Path = PAGES) -> None:
    """Every page, picture and style sheet of the site."""
    shutil.rmtree(pages, ignore_errors=True)
    for source in sorted(path for path in DOCS.rglob("*") if path.is_file()):
        target = pages / source.relative_to(DOCS)
        if source.suffix == ".py" or "__pycache__" in source.parts:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            target.write_text(page(source.read_text("utf-8")), "utf-8")
        elif source.suffix == ".ipynb":
            notebook = json.loads(source.read_text("utf-8"))
            target.with_suffix(".md").write_text(page(notebook_page(notebook)), "utf-8")
        else:
            shutil.copyfile(source, target)


if __name__ == "__main__":
    write_pages(*map(Path, sys.argv[1:]))
