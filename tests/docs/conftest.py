"""The folder in which the pages of the documentation are followed: a small model and the files pages name."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doc_blocks import Reader, reading
from documents import WORLD, write_documents
from ready_program import ready_program

from pboh.cli import program


@pytest.fixture(scope="session")
def prepared(
    world_corpus: Path, world_counts: Path, world_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """What the pages take for granted, made once: dumps, tables, a model, texts and gold standards."""
    folder = tmp_path_factory.mktemp("prepared")
    for name, source in (("corpus", world_corpus), ("counts", world_counts), ("model", world_model)):
        shutil.copytree(source, folder / name)
    for name in ("old-model", "new-model"):
        shutil.copytree(world_model, folder / name)
    shutil.copy(WORLD / "world.xml", folder / "world.xml")
    documents = write_documents(folder)
    shutil.copy(WORLD.parent / "evaluation" / "data" / "aida.tsv", folder / "AIDA-YAGO2-dataset.tsv")
    with gzip.open(folder / "validation.jsonl.gz", "wt") as file:
        for i in range(310):  # pages leave out up to 300
            file.write(json.dumps(documents[i % len(documents)] | {"id": str(i)}) + "\n")
    return folder


@pytest.fixture(scope="session")
def environment(world_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables of a reader's shell, which finds the program at once."""
    if sys.platform == "win32":
        pytest.skip("pages show the commands of a Unix shell")
    variables = dict(os.environ) | {"COLUMNS": "120", "NO_COLOR": "1"}
    installed = [str(Path(sys.executable).parent), os.environ["PATH"]]
    with ready_program(tmp_path_factory.mktemp("ready"), world_model, variables) as ready:
        yield variables | {"PATH": os.pathsep.join([str(ready), *installed])}


@pytest.fixture
def reader(prepared: Path, environment: dict[str, str], tmp_path: Path) -> Iterator[Reader]:
    """Somebody who follows one page in a copy of the prepared folder."""
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder)
    with reading(folder, environment) as one:
        yield one


@pytest.fixture(scope="session")
def commands() -> dict[str, Any]:
    """Every command of the program with its parameters."""
    return dict(program().commands)
