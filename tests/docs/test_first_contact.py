"""The first ten minutes of somebody who found this project: what the README and the tutorial say, typed.

Everything happens in an empty folder with an empty environment, into which pip puts the wheel built from this
checkout. The one thing that is not real is Wikimedia's server: a small one on this machine answers instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from doc_blocks import PYTHON, ROOT, SHELL, Reader, blocks_of, lacking, reading
from documents import WORLD, write_documents
from wikimedia_server import running_mirror

from pboh.model.derived import STARTER

README, TUTORIAL = ROOT / "README.md", ROOT / "docs" / "tutorial"

pytestmark = pytest.mark.slow


def test_the_first_ten_minutes(newcomer):
    """Install, link, train a model on a download, use it; then the tutorial from top to bottom."""
    newcomer.follows(README, "Try it")
    newcomer.finds_the_size_that_is_stated("pip install pboh ")
    newcomer.is_told_which_extra_is_missing("pboh train dumps --out model")

    newcomer.brings_documents()
    newcomer.follows(README, "Use it")
    newcomer.finds_the_size_that_is_stated("pip install 'pboh[train]'")

    newcomer.makes_mistakes()

    newcomer.follows(TUTORIAL / "index.md")
    newcomer.follows(TUTORIAL / "own-model.md")
    newcomer.used_nothing_but_the_wheel()


MISTAKES = {
    "pboh lnk Paris": "No such command 'lnk'",
    "pboh link no-such-file.txt": "no such file",
    "pboh link --model nowhere Paris": "nowhere",
    "pboh link --set tau=-1 Paris": "tau",
    "pboh train nothing.xml --out m": "nothing.xml",
    "pboh evaluate --model model article.txt": "article.txt",
    "pboh download --out dumps": "Missing argument",
}


class Newcomer:
    """Types what pages show, in an environment of their own."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.folder = reader, reader.folder
        self.packages = next((reader.folder / "linking" / "lib").glob("python*")) / "site-packages"

    def follows(self, page: Path, section: str | None = None) -> None:
        """Run every block of a page, or of a section, and see what it shows."""
        blocks = [block for block in blocks_of(page) if section in (None, block.section)]
        assert blocks, f"{page} has no section {section!r}"
        for block in blocks:
            assert block.runs, f"{block}: nothing may be left out of what a newcomer reads first"
            if block.language in (*SHELL, PYTHON) and not lacking(block):
                self.reader.follow(block)

    def types(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.reader.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def brings_documents(self) -> None:
        """A text, documents and gold of one's own."""
        write_documents(self.folder)

    def finds_the_size_that_is_stated(self, command: str) -> None:
        """Packages take the megabytes that the README states behind the command, give or take a tenth."""
        stated = re.search(rf"^{re.escape(command)}.*?(\d+) MB", README.read_text("utf-8"), re.MULTILINE)
        assert stated, command
        own = ("pip", "setuptools", "_distutils_hack")  # what an empty environment has
        files = [f for f in self.packages.rglob("*") if f.is_file() and f.suffix not in (".nbi", ".nbc")]
        mine = [f for f in files if not f.relative_to(self.packages).parts[0].startswith(own)]
        megabytes = sum(file.stat().st_blocks * 512 for file in mine) / 2**20
        assert megabytes == pytest.approx(int(stated[1]), rel=0.1)

    def is_told_which_extra_is_missing(self, command: str) -> None:
        done = self.types(command)
        assert done.returncode and "pip install 'pboh[train]'" in " ".join(done.stderr.split()), done.stderr

    def makes_mistakes(self) -> None:
        """Every one is answered in a sentence or two that name it."""
        for command, words in MISTAKES.items():
            done = self.types(command)
            said = " ".join(re.sub(r"[│╭╮╰╯─]+", " ", done.stderr).split())
            assert done.returncode and words in said, f"{command}: {said}"
            assert "Traceback" not in said and len(said) < 600, f"{command}: {said}"

    def used_nothing_but_the_wheel(self) -> None:
        where = self.types("python -c 'import pboh; print(pboh.__file__)'").stdout
        assert Path(where.strip()).is_relative_to(self.packages), f"{where} was used"


# -- the empty environment ----------------------------------------------------------------------------


def pip(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    if not (STARTER / "model.json").is_file():
        pytest.skip("this checkout has no starter model")
    if pip("download", "--no-deps", "--dest", folder / "probe", "six").returncode:
        pytest.skip("no package index can be reached")
    built = pip("wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture
def newcomer(wheel: Path, tmp_path: Path) -> Iterator[Newcomer]:
    """Somebody with an empty folder and an empty environment, whose shell knows nothing of this checkout."""
    folder = tmp_path / "work"
    folder.mkdir()
    base = Path(sys._base_executable).parent  # type: ignore[attr-defined]
    subprocess.run([base / "python3", "-m", "venv", folder / "linking"], check=True)
    programs = [folder / "linking" / "bin", base, "/usr/local/bin", "/usr/bin", "/bin"]
    kept = {k: v for k, v in os.environ.items() if k.startswith(("PIP_", "SSL_", "LANG", "HTTP"))}
    links = [*pip("config", "get", "global.find-links").stdout.split(), os.environ.get("PIP_FIND_LINKS", "")]
    with running_mirror() as mirror:
        mirror.add_wiki("simplewiki", (WORLD / "world.xml").read_bytes())
        environment = kept | {
            "PATH": os.pathsep.join(map(str, programs)),
            "HOME": os.environ.get("HOME", str(tmp_path)),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PIP_CACHE_DIR": pip("cache", "dir").stdout.strip(),
            "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
            "PIP_FIND_LINKS": " ".join([*links, str(wheel)]),
            "PBOH_MIRROR": mirror.url,
            "no_proxy": "*",
            "COLUMNS": "100",
        }
        with reading(folder, environment, shutil.which("python", path=str(programs[0]))) as reader:
            yield Newcomer(reader)
