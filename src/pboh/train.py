"""From dumps to a finished model in one call: extract, count, build, fit; each stage resumed or skipped."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from pboh.corpus.download import id_table
from pboh.corpus.extract import Options as ExtractOptions
from pboh.corpus.extract import extract, input_files
from pboh.corpus.tables.held_out import write_gold
from pboh.counts import CountOptions, SpentError, count
from pboh.detection.finder_training import FinderOptions
from pboh.errors import PbohError
from pboh.evaluation.datasets import Dataset, read_dataset
from pboh.files.progress import Report, silent, within
from pboh.files.usage import Usage, check_disk, check_memory
from pboh.files.writing import checksum, disk_errors, file_state, folder_size, read_json, write_json
from pboh.learning.annotated import annotated_texts
from pboh.learning.finishing import add_finder, fit, halves, judge
from pboh.model.build import BuildOptions, build_model
from pboh.model.ids import ARRAY, add_ids
from pboh.model.store import read_manifest
from pboh.model.writing import SCRATCH, changing

RECORD = "train.json"
SPARE = 64 << 20  # bytes of disk that even a small wiki takes
HELD_OUT = "held-out.jsonl.gz"
"""File of a model with the pages that were set aside."""
# Words seen twice and the names in running text serve our extensions; the paper's model ignores both.
COUNTING = CountOptions(min_word_count=2, names_in_text=True)
# Share of each stage in the time of a training, for the one progress bar.
STAGES = {"extract": 0.3, "count": 0.3, "build": 0.1, "finder": 0.15, "fit": 0.1, "judge": 0.04, "ids": 0.01}


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a model is finished; ``gold`` names datasets in which every name is annotated, to use instead of
    those that come with pboh."""

    gold: tuple[str, ...] = ()
    finder: FinderOptions = field(default_factory=FinderOptions)


def work_folder(model: Path) -> Path:
    """Where the corpus and counts of a model are: beside it."""
    return model.with_name(f"{model.name}.work")


def train(
    dumps: Sequence[str | Path],
    model: str | Path,
    *,
    extraction: ExtractOptions | None = None,
    counting: CountOptions | None = None,
    building: BuildOptions | None = None,
    fitting: FitOptions | None = FitOptions(),  # noqa: B008 - frozen
    memory: int = 4 << 30,
    workers: int | None = None,
    keep_work: bool = False,
    report: Report = silent,
) -> dict[str, Any]:
    """Make the folder ``model`` from dumps; returns what was made, and whether there was anything to do.

    Corpus and counts are in ``MODEL.work`` until the model is finished, and each table only until the next is
    made of it. If they are kept, a changed option redoes only what depends on it; a stopped training goes on
    where it was either way. Without ``fitting`` every page is counted, and the model is left as it was built.
    """
    started, model, work = time.monotonic(), Path(model), work_folder(Path(model))
    extraction = replace(extraction or ExtractOptions(hold_out=None), tokens=True)
    if fitting is None:
        extraction = replace(extraction, hold_out=0)
    counting = replace(counting or COUNTING, sums=False)
    building = building or BuildOptions()
    files = input_files(dumps)
    gold = [read_dataset(spec) for spec in fitting.gold] if fitting else []  # refused early, if at all
    wanted = _recipe(files, gold, fitting, corpus=extraction, counts=counting, model=building)
    record = _Record(model)
    if record.recipe == wanted and (keep_work or not work.exists()):
        added = _add_ids(model, id_table(files), record, report)
        seconds = round(time.monotonic() - started, 2) if added else 0.0
        return {**record.figures, "fresh": added, "seconds": seconds}

    check_memory(memory)
    check_disk(model, needed_disk(files) - folder_size(work))
    with Usage([work, model.with_name(f".{model.name}.tmp") / SCRATCH], memory) as usage:

        def tables() -> dict[str, Any]:
            with _removed_if_empty(work), usage.stage("extract"):
                found = extract(files, work / "corpus", extraction, workers=workers, memory=memory,
                                report=_stage("extract", report))  # fmt: skip
            with usage.stage("count"):
                count([work / "corpus"], work / "counts", counting, memory=memory, threads=workers,
                      keep_steps=keep_work, spend=not keep_work, report=_stage("count", report))  # fmt: skip
            return found

        try:
            extracted = tables()
        except SpentError:  # other options need what was removed
            shutil.rmtree(work / "corpus")
            extracted = tables()
        with usage.stage("build"):
            record.step("build", [_counted(work), asdict(building), fitting is None],
                        lambda: _build(work, model, building, report, memory))  # fmt: skip
        if fitting is not None:
            _finish(work / "corpus", model, fitting, gold, record, usage, report)
        with usage.stage("ids"):
            _add_ids(model, id_table(files), record, report)
    record.complete(wanted)
    if not keep_work:
        shutil.rmtree(work)
    report(1, 1, "done")
    made = {**record.figures, "fresh": True, "seconds": round(time.monotonic() - started, 2)}
    problems = [*extracted.get("problems", []), *made.get("problems", [])]
    return made | {"problems": problems, "used": usage.figures()}


def needed_disk(dumps: Sequence[Path]) -> int:
    """Bytes that a training takes at most: scratch, and the model, which grows more slowly than the dump.

    A dump that is not compressed counts as if it were.
    """
    size = sum(path.stat().st_size // (4 if path.suffix in (".xml", ".jsonl") else 1) for path in dumps)
    return SPARE + 7 * size // 2 + 4 * min(size, 1 << 30) + max(0, size - (1 << 30))


@contextmanager
def _removed_if_empty(folder: Path) -> Iterator[None]:
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):  # unless there is something in it
            folder.rmdir()


def _counted(work: Path) -> dict[str, Any]:
    """What was counted, but for the folder it was in: a model may be moved with it."""
    counts: dict[str, Any] = read_json(work / "counts" / "counts.json", "the counts' description")
    inputs = [{**one, "folder": checksum(work / "corpus" / "corpus.json")} for one in counts["inputs"]]
    return {**counts, "inputs": inputs}


def _build(work: Path, model: Path, options: BuildOptions, report: Report, memory: int) -> dict[str, Any]:
    """Make the model of the counts, with the pages that were set aside beside its arrays."""
    totals = build_model(work / "counts", model, options, _stage("build", report), memory)["totals"]
    write_gold(work / "corpus", model / HELD_OUT)
    return {"totals": totals}


def _finish(
    corpus: Path, model: Path, options: FitOptions, gold: Sequence[Dataset], record: _Record, usage: Usage,
    report: Report,
) -> None:  # fmt: skip
    """Train the name finder, fit what can be fitted, and judge the result by pages it was not fitted on."""
    pages = [read_dataset(model / HELD_OUT)] if (model / HELD_OUT).exists() else []
    to_fit, to_judge = zip(*map(halves, pages), strict=True) if pages else ((), ())
    in_finder = _stage("finder", report)
    with usage.stage("finder"):
        record.step("finder", asdict(options.finder),
                    lambda: add_finder(corpus, model, options.finder, in_finder))  # fmt: skip
    with usage.stage("fit"):
        record.step("fit", _states(gold),
                    lambda: fit(model, to_fit, gold, _stage("fit", report)))  # fmt: skip
    with usage.stage("judge"):
        record.step("judge", None,
                    lambda: {"held_out": judge(model, to_judge, _stage("judge", report))})  # fmt: skip


def _add_ids(model: Path, table: Path | None, record: _Record, report: Report) -> bool:
    """Give entities their Wikidata ids, unless they have those of the table; says whether that was done.

    Ids stay when the table is gone. A table that does not fit is a problem, but no reason to lose the model.
    """
    if table is None:
        return False

    def work() -> dict[str, Any]:
        name = "entities_with_an_id"
        try:
            return {name: add_ids(model, table, report=_stage("ids", report))[name]}
        except PbohError as error:
            return {name: 0, "problems": [str(error)]}

    return record.extra("ids", file_state(table), ARRAY in read_manifest(model)["arrays"], work)


def _recipe(
    dumps: Sequence[Path], gold: Sequence[Dataset], fitting: FitOptions | None, **options: Any
) -> dict[str, Any]:
    """All that a model is made from, as plain values."""
    given: dict[str, Any] = {name: asdict(one) for name, one in options.items()}
    del given["counts"]["sums"]  # how long the work folder is kept does not change the model
    given["fit"] = fitting and {"finder": asdict(fitting.finder), "gold": _states(gold)}
    recipe = {"dumps": [file_state(dump) for dump in dumps], **given}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(recipe, enc_hook=str))
    return plain


def _states(gold: Sequence[Dataset]) -> list[list[Any]]:
    """What tells datasets from others: their names, and all that is in them; of ours, if there are none."""
    return [[one.name, _digest([asdict(document) for document in one])] for one in gold or annotated_texts()]


class _Record:
    """What a model says about its training: which steps were done, made from what, with which figures."""

    def __init__(self, model: Path) -> None:
        self._model, self._made_from = model, ""
        self._known: dict[str, dict[str, Any]] = {}
        self._done: dict[str, dict[str, Any]] = {}
        self.recipe: Any = None
        with suppress(PbohError, OSError, msgspec.DecodeError, TypeError, KeyError):  # there is none
            read_manifest(model)
            content = msgspec.json.decode((model / RECORD).read_bytes())
            self.recipe, self._known = content["recipe"], content["steps"]

    @property
    def figures(self) -> dict[str, Any]:
        """The figures of all steps."""
        steps = self._done or self._known
        return {name: value for step in steps.values() for name, value in step["figures"].items()}

    def step(self, name: str, options: Any, work: Callable[[], dict[str, Any]]) -> None:
        """Do a step, unless it was done with these options after the same steps; keep its figures."""
        self._made_from = _digest([self._made_from, name, options])
        step = self._known.get(name, {})
        if step.get("made_from") != self._made_from:
            if self.recipe is not None:  # from now on the model is not what it says
                self._write(None)
            step = {"made_from": self._made_from, "figures": work()}
            self._done[name] = step
            self._write(None)
        self._done[name] = step

    def extra(self, name: str, options: Any, there: bool, work: Callable[[], dict[str, Any]]) -> bool:
        """Do a step on which no other depends, unless what it makes is there, with these options."""
        self._done = self._done or dict(self._known)
        step = {"made_from": _digest(options)}
        known = self._known.get(name, {})
        if there and known.get("made_from") == step["made_from"]:
            self._done[name] = known
            return False
        self._done[name] = {**step, "figures": work()}
        self._write(self.recipe)
        return True

    def complete(self, recipe: dict[str, Any]) -> None:
        """Note that all steps are done."""
        size = round(folder_size(self._model) / 1e6, 1)
        self._done["complete"] = {"made_from": self._made_from, "figures": {"model_megabytes": size}}
        self._write(recipe)

    def _write(self, recipe: dict[str, Any] | None) -> None:
        self.recipe = recipe
        with changing(self._model):
            write_json(self._model / RECORD, {"recipe": recipe, "steps": self._done})


def _stage(name: str, report: Report) -> Report:
    """A report that moves the one bar through its share."""
    names = list(STAGES)
    before = sum(STAGES[earlier] for earlier in names[: names.index(name)])
    return within(report, before, before + STAGES[name], name)


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value, enc_hook=str)).hexdigest()
