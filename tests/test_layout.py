"""Data flows one way: every room is known here, and none imports a room further down the stream."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

import pboh

SOURCE = Path(pboh.__file__).parent
STREAM = (
    "errors", "deadline", "text", "files", "document", "formats",  # what everybody may use
    "corpus", "counts", "model",  # from pages to a model
    "inference", "detection", "canonical", "linker",  # from a text to a document
    "evaluation", "learning", "train", "annotation", "service", "integrations", "cli",  # what is done with it
)  # fmt: skip
"""Rooms and files at the top of the package, up the stream first."""
APART = {
    "model": {"corpus", "counts"},
    "inference": {"corpus", "counts"},
    "detection": {"corpus", "counts"},
    "canonical": {"corpus", "counts"},
    "linker": {"corpus", "counts"},
    "evaluation": {"corpus", "counts"},
    "learning": {"counts"},
    "service": {"corpus", "counts", "train"},
}
"""Rooms up the stream that a room has no business with: a model is opened without what built it."""
TURNS = {"document": {"formats"}}
"""A notebook asks a document for its HTML, and only then is that format imported."""

MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip("."): path
    for path in SOURCE.rglob("*.py")
}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}


def imports(tree: ast.Module) -> Iterator[str]:
    """Modules of ours that a module imports, at its top, inside functions or for typing alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "pboh":
            here = str(node.module).removeprefix("pboh").lstrip(".")
            for name in node.names:
                inner = f"{here}.{name.name}".lstrip(".")
                yield inner if inner in MODULES else here or f"pboh.{name.name}"
        elif isinstance(node, ast.Import):
            yield from (n.name.removeprefix("pboh.") for n in node.names if n.name.split(".")[0] == "pboh")


IMPORTS = {module: set(imports(tree)) for module, tree in TREES.items()}


def room(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def is_kernels(module: str) -> bool:
    return module.endswith(("kernels", "_state"))  # the state that kernels share is one of theirs


def test_every_room_has_its_place_in_the_stream():
    assert {room(module) for module in MODULES} - {""} == set(STREAM)


@pytest.mark.parametrize("here", STREAM)
def test_no_room_imports_one_further_down(here):
    barred = {*STREAM[STREAM.index(here) + 1 :], *APART.get(here, ())} - TURNS.get(here, set())
    for module, imported in IMPORTS.items():
        if room(module) == here:
            assert not [target for target in imported if room(target) in barred], module


def test_the_package_itself_is_asked_for_its_version_only():
    for module, tree in TREES.items():
        asked = {name for name in IMPORTS[module] if room(name) == "pboh"}
        assert asked <= {"pboh", "pboh.__version__"}, module
        if "pboh" in asked:
            used = [node.attr for node in ast.walk(tree) if is_pboh(node)]
            assert set(used) == {"__version__"}, module


def is_pboh(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "pboh"


def test_kernels_know_nothing_but_kernels():
    for module in filter(is_kernels, MODULES):
        assert not [name for name in IMPORTS[module] if not is_kernels(name)], module


def test_kernels_have_files_of_their_own():
    for module, path in MODULES.items():
        if not is_kernels(module):
            assert "njit" not in path.read_text(encoding="utf-8"), f"{module}: move its kernels beside it"


def test_every_module_says_what_it_is_for():
    for module, tree in TREES.items():
        docstring = ast.get_docstring(tree)
        assert docstring, module
        assert len(docstring.splitlines()[0]) > 20, module
