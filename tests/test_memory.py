"""Every stage under a hard limit of the operating system, on input several times larger than the limit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from large import large_corpus, large_counts, large_dump

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")]

LIMITED = """
import re, resource, sys
from pathlib import Path
from pboh.corpus.extract import Options, extract
from pboh.counts import CountOptions, count
from pboh.evaluation.datasets import read_dataset
from pboh.learning.calibration import calibrate
from pboh.learning.grid import tune
from pboh.linker import load
from pboh.model.build import BuildOptions, build_model
from pboh.model.small.prune import prune_to

stage, source, small, out, memory = sys.argv[1], *map(Path, sys.argv[2:5]), int(sys.argv[5]) << 20

def run(source, out):
    if stage == "extract":
        extract([source], out, Options(chunk_size=2 << 20, tokens=True), workers=1, memory=memory)
    elif stage == "count":
        count([source], out, CountOptions(min_word_count=2, sums=False), memory=memory)
    elif stage == "prune":
        linker = load(source)
        prune_to(linker.model, linker.settings.record(), out, 12)
    elif stage == "fit":
        gold = [read_dataset(source / "gold.jsonl")]
        assert calibrate(load(source), gold)["calibration"]
        assert tune(load(source), gold, space={"zeta": (0.0, 0.1)}, rounds=1).trials
    else:
        build_model(source, out, BuildOptions(vectors=0), memory=memory)

run(small, out / "small")  # libraries and kernels are loaded: what comes now is for the data
status = Path("/proc/self/status").read_text()
held = int(re.search(r"VmData:\\s+(\\d+) kB", status)[1]) << 10
held += sum(path.stat().st_size for path in source.glob("*.npy"))  # a model is mapped: that is no memory
resource.setrlimit(resource.RLIMIT_DATA, (held + (int(sys.argv[6]) << 20),) * 2)
run(source, out / "large")
"""


def limited(stage: str, source: Path, small: Path, out: Path, memory: int, room: int) -> None:
    """Run a stage in a process that can get only ``room`` MB more than it needs for a tiny input."""
    out.mkdir()
    arguments = [stage, *map(str, (source, small, out, memory, room))]
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]


def test_extract(tmp_path: Path) -> None:
    size = large_dump(tmp_path / "large.xml", 5_000)
    large_dump(tmp_path / "small.xml", 20)
    assert size > 2.5 * (120 << 20)
    limited("extract", tmp_path / "large.xml", tmp_path / "small.xml", tmp_path / "out", 256, 120)


def test_count(tmp_path: Path) -> None:
    size = large_corpus(tmp_path / "large", 20_000, 400, 150)
    large_corpus(tmp_path / "small", 100, 100, 10)
    assert size > 2.5 * (420 << 20)
    limited("count", tmp_path / "large", tmp_path / "small", tmp_path / "out", 512, 420)


def gold(path: Path, names: int) -> None:
    """Documents with names that two entities share; the first one is meant."""
    forms = sorted(f"Name {number} of Some Thing" for number in range(names))
    with path.open("w") as file:
        for number in range(20):
            text, mentions = "", []
            for k in range(number, names, names // 20):
                text += f"word{4 * k % 400:08} word{(4 * k + 44) % 400:08} "
                place = {"start": len(text), "end": len(text) + len(forms[k])}
                mentions.append(place | {"gold": f"Title {k} of a page"})
                text += f"{forms[k]} and "
            file.write(json.dumps({"id": str(number), "text": text, "mentions": mentions}) + "\n")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A large and a small model, made within 260 MB, and the bytes of N(w,e) of the large one as numbers."""
    folder = tmp_path_factory.mktemp("built")
    size = large_counts(folder / "large", 150_000, 400, 100_000)
    large_counts(folder / "small", 100, 10, 100)
    limited("build", folder / "large", folder / "small", folder / "out", 160, 260)
    gold(folder / "out" / "large" / "gold.jsonl", 100_000)
    gold(folder / "out" / "small" / "gold.jsonl", 100)
    return folder / "out", size


def test_build(built: tuple[Path, int]) -> None:
    assert built[1] > 2.5 * (260 << 20)


def test_prune(built: tuple[Path, int], tmp_path: Path) -> None:
    """Nearly every entity shares a name with another one, so that its words count."""
    out, size = built
    assert size > 2.5 * (260 << 20)
    limited("prune", out / "large", out / "small", tmp_path / "out", 0, 260)


def test_fit(built: tuple[Path, int], tmp_path: Path) -> None:
    """Calibrating and tuning."""
    out, _ = built
    limited("fit", out / "large", out / "small", tmp_path / "out", 0, 100)
