"""The tutorial, followed word by word in an empty environment in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from doc_blocks import PYTHON, ROOT, SHELL, blocks_of, lacking, reading

from pboh.model.starter import STARTER

PARTS = [ROOT / "docs" / "tutorial" / name for name in ("index.md", "own-model.md")]

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tutorial")]


def pip(*arguments, **options):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture
def environment(tmp_path):
    """Variables of a shell that knows nothing of this checkout, but whose pip finds its wheel."""
    if not (STARTER / "model.json").is_file():
        pytest.skip("this checkout has no starter model")
    if pip("download", "--no-deps", "--dest", tmp_path / "probe", "six").returncode:
        pytest.skip("no package index can be reached")
    built = pip("wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    assert built.returncode == 0, built.stderr
    configured = pip("config", "get", "global.find-links").stdout.split()
    base = Path(sys._base_executable).parent
    search = [str(tmp_path / "work" / "linking" / "bin"), str(base), "/usr/local/bin", "/usr/bin", "/bin"]
    kept = {
        key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "LANG", "HTTP"))
    }
    return kept | {
        "PATH": os.pathsep.join(search),
        "HOME": os.environ.get("HOME", str(tmp_path)),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PIP_CACHE_DIR": pip("cache", "dir").stdout.strip(),
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
        "PIP_FIND_LINKS": " ".join([os.environ.get("PIP_FIND_LINKS", ""), *configured, str(tmp_path)]),
        "COLUMNS": "100",
    }


def test_tutorial_works_in_an_empty_environment(environment, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    python = folder / "linking" / "bin" / "python"
    with reading(folder, environment, str(python)) as reader:
        for page in PARTS:
            for block in blocks_of(page):
                assert block.runs, f"{block}: nothing may be left out of the tutorial"
                if block.language in (*SHELL, PYTHON) and not lacking(block):
                    reader.follow(block)
    shown = subprocess.run(
        [python, "-c", "import pboh; print(pboh.__file__)"], cwd=folder, env=environment, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    assert str(folder) in shown.stdout, "the tutorial used another installation"
