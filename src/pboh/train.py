"""From dumps to a model in one call: extract, count, build, each stage resumed or skipped as it needs."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from pboh.corpus.extract import Options as ExtractOptions
from pboh.corpus.extract import extract, input_files
from pboh.counts import CountOptions, count
from pboh.files.progress import Report, silent
from pboh.files.writing import checksum, disk_errors, folder_size, write_json
from pboh.model.build import BuildOptions, build_model

RECORD = "train.json"
# Words seen twice and the names in running text serve our extensions; the paper's model ignores both.
COUNTING = CountOptions(min_word_count=2, names_in_text=True)
# Share of each stage in the time of a training, for the one progress bar.
STAGES = {"extract": 0.45, "count": 0.45, "build": 0.1}


def work_folder(model: Path) -> Path:
    """Where the corpus and counts of a model stand: beside it."""
    return model.with_name(f"{model.name}.work")


def train(
    dumps: Sequence[str | Path],
    model: str | Path,
    *,
    extraction: ExtractOptions | None = None,
    counting: CountOptions | None = None,
    building: BuildOptions | None = None,
    memory: int = 4 << 30,
    workers: int | None = None,
    keep_work: bool = True,
    report: Report = silent,
) -> dict[str, Any]:
    """Make the folder ``model`` from dumps; returns what was made, and whether there was anything to do.

    Corpus and counts stand in ``MODEL.work``. While they are kept, a changed option redoes only what depends
    on it; a stopped training goes on where it was either way.
    """
    started, model = time.monotonic(), Path(model)
    extraction, building = extraction or ExtractOptions(), building or BuildOptions()
    counting = replace(counting or COUNTING, sums=keep_work)
    files = input_files(dumps)
    wanted = _recipe(files, extraction, counting, building)
    record = _read_record(model)
    if record.get("recipe") == wanted and (keep_work or not work_folder(model).exists()):
        return {**record, "fresh": False, "seconds": 0.0}

    work = work_folder(model)
    with disk_errors(work):
        work.mkdir(parents=True, exist_ok=True)
    try:
        extracted = extract(files, work / "corpus", extraction, workers=workers, memory=memory,
                            report=_stage("extract", report))  # fmt: skip
    finally:
        with suppress(OSError):  # unless there is something in it
            work.rmdir()
    count([work / "corpus"], work / "counts", counting, memory=memory, threads=workers,
          report=_stage("count", report))  # fmt: skip
    made_from = _digest([checksum(work / "counts" / "counts.json"), asdict(building)])
    if record.get("made_from") != made_from:
        build_model(work / "counts", model, building, _stage("build", report))
    record = {
        "recipe": wanted,
        "made_from": made_from,
        "totals": msgspec.json.decode((model / "model.json").read_bytes())["totals"],
        "model_megabytes": round(folder_size(model) / 1e6, 1),
    }
    write_json(model / RECORD, record)
    if not keep_work:
        shutil.rmtree(work)
    report(1, 1, "done")
    made = {**record, "fresh": True, "seconds": round(time.monotonic() - started, 2)}
    return made | {"problems": extracted.get("problems", [])}


def _recipe(dumps: Sequence[Path], *options: Any) -> dict[str, Any]:
    """The dumps and options a model is made from, as plain values."""
    found = [(dump.name, dump.stat()) for dump in dumps]
    sources = [{"name": n, "bytes": about.st_size, "modified": about.st_mtime_ns} for n, about in found]
    given = {type(one).__module__.split(".")[1]: asdict(one) for one in options}
    plain: dict[str, Any] = msgspec.json.decode(
        msgspec.json.encode({"dumps": sources, **given}, enc_hook=str)
    )
    for volatile in ("sums",):  # how long the work folder is kept does not change the model
        plain["counts"].pop(volatile)
    return plain


def _read_record(model: Path) -> dict[str, Any]:
    """What the model says about its own training; nothing when it is not there or not whole."""
    try:
        if not (model / "model.json").is_file():
            return {}
        record = msgspec.json.decode((model / RECORD).read_bytes())
    except (OSError, msgspec.DecodeError):
        return {}
    return record if isinstance(record, dict) else {}


def _stage(name: str, report: Report) -> Report:
    """A report that moves the one bar through its share."""
    names = list(STAGES)
    before = sum(STAGES[earlier] for earlier in names[: names.index(name)])

    def inner(done: float, total: float | None = None, detail: str = "") -> None:
        share = min(done / total, 1.0) if total else 0.0
        report(before + STAGES[name] * share, 1.0, f"{name}: {detail}" if detail else name)

    return inner


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()
