"""The pages about the design name functions, modules, files and rooms that exist."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import pboh

ROOT = Path(__file__).parents[2]
SOURCE = Path(pboh.__file__).parent
PAGES = {"docs/explanation/design.md": 60, "CONTRIBUTING.md": 15}  # and how many names each has at least
FILES = (".json", ".npy", ".md", ".html", ".yml", ".txt", ".xml")  # file names, not attributes


def names(page: str) -> list[str]:
    """Everything in backticks outside fenced blocks that is written like a name, a file or a folder."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.M | re.S)
    quoted = re.findall(r"`([^`\s]+)`", text)
    dotted = [one for one in quoted if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)+", one) and not one.endswith(FILES)]
    paths = [one for one in quoted if re.fullmatch(r"[\w./]+(/|\.py|\.sql)", one)]
    return list(dict.fromkeys([*dotted, *paths]))


def exists(name: str) -> bool:
    """Whether a file or folder is there, in the package or beside it, or a name can be imported."""
    if name.endswith(("/", ".py", ".sql")):
        return any((folder / name).exists() for folder in (SOURCE, ROOT))
    parts = name.removeprefix("pboh.").split(".")
    for k in range(len(parts), 0, -1):
        if is_module(".".join(["pboh", *parts[:k]])):
            thing = import_module(".".join(["pboh", *parts[:k]]))
            for attribute in parts[k:]:
                thing = getattr(thing, attribute, None)
            return thing is not None
    return False


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what is before the last point is no package
        return False


@pytest.mark.parametrize(("page", "least"), PAGES.items())
def test_what_the_page_names_exists(page, least):
    found = names(page)
    assert len(found) >= least, found
    assert [name for name in found if not exists(name)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_room_is_in_the_table(page):
    text = (ROOT / page).read_text("utf-8")
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert {room for room in rooms if f"`{room}/`" not in text} == set()


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("linker.Linker.link", True),
        ("pboh.linker.load", True),
        ("inference/potentials.py", True),
        ("corpus/", True),
        ("linker.Linker.unlink", False),
        ("linkers.Linker", False),
        ("inference/potential.py", False),
        ("numpy.array", False),
    ],
)
def test_names_are_looked_up(name, there):
    assert exists(name) is there
