"""Data flows one way: no stage imports a later one, and kernels know nothing of the command line."""

import ast
from pathlib import Path

import pytest

import pboh

SOURCE = Path(pboh.__file__).parent
ORDER = ["corpus", "counts", "model", "inference"]
MAY_NOT_IMPORT = {
    "text": {"files", "corpus", "counts", "model", "inference", "evaluation", "cli", "linker"},
    "corpus": {"counts", "model", "inference", "evaluation", "cli"},
    "counts": {"model", "inference", "evaluation", "cli"},
    "model": {"corpus", "counts", "inference", "evaluation", "cli", "linker"},
    "inference": {"corpus", "counts", "evaluation", "cli"},
    "evaluation": {"corpus", "counts", "cli"},
}


def imported(path: Path) -> set[str]:
    """Sub-packages of pboh that a module imports, at its top or inside functions (not for typing alone)."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("pboh.")}
    return found


@pytest.mark.parametrize("stage", MAY_NOT_IMPORT)
def test_no_stage_imports_a_later_one(stage):
    for path in (SOURCE / stage).rglob("*.py"):
        assert not imported(path) & MAY_NOT_IMPORT[stage], path


def test_every_module_says_what_it_is_for():
    for path in SOURCE.rglob("*.py"):
        docstring = ast.get_docstring(ast.parse(path.read_text()))
        assert docstring, path
        assert len(docstring.splitlines()[0]) > 20, path
