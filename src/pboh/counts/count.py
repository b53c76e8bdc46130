"""Count one or more folders: run the steps that are not up to date, then write the manifest."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from pboh.counts.engine import DuckDB, Engine
from pboh.counts.inputs import (
    RELATIONS,
    TOKENS,
    Input,
    SpentError,
    check_inputs,
    open_input,
    read_json,
    relation_files,
    relation_sql,
)
from pboh.counts.plan import CountOptions, Step, fill, plan
from pboh.errors import CountsError, InputError
from pboh.files.progress import Report, silent

STATE = "steps/steps.json"
MANIFEST = "counts.json"


def count(
    inputs: Sequence[str | Path],
    out: str | Path,
    options: CountOptions | None = None,
    *,
    engine: Engine | None = None,
    memory: int = 4 << 30,
    threads: int | None = None,
    keep_steps: bool | None = None,
    spend: bool = False,
    report: Report = silent,
) -> dict[str, Any]:
    """Count corpus folders, and add counts folders, into the folder ``out``; returns its manifest.

    Steps that an earlier run finished with the same inputs and options are not done again. The key ``fresh``
    of the answer says whether there was anything to do. Tables on the way to the result are removed when they
    are no longer read, unless ``keep_steps`` (by default, if sums are kept). With ``spend``, the words of
    pages, by far the largest table that nobody else reads, are removed from corpora when they are counted.
    """
    options = options or CountOptions()
    own_engine = engine is None
    engine = engine or DuckDB(Path(out), memory, threads)
    try:
        counting = Counting(
            engine, [str(path) for path in inputs], str(out), options, report, keep_steps, spend
        )
        return counting.run()
    finally:
        if own_engine:
            engine.close()


class Counting:
    """One run of the steps into one folder."""

    def __init__(
        self,
        engine: Engine,
        inputs: Sequence[str],
        out: str,
        options: CountOptions,
        report: Report,
        keep_steps: bool | None = None,
        spend: bool = False,
    ) -> None:
        if not inputs:
            raise InputError("there is nothing to count", todo="Pass a folder written by pboh extract")
        self.engine, self.out, self.report = engine, out.rstrip("/"), report
        self.inputs = [open_input(engine, folder) for folder in inputs]
        if self.out in {one.folder for one in self.inputs}:
            raise InputError("the output folder is also an input", where=out, todo="Choose another --out")
        self.language = _language(self.inputs)
        self.options, self.spend = options, spend
        self.keep_steps = options.sums if keep_steps is None else keep_steps
        self.steps = {step.name: step for step in plan(engine, options, self.language, self.inputs)}
        self._check_texts()
        self.state: dict[str, dict[str, Any]] = read_json(engine, self._at(STATE)) or {}
        self.wanted = self._fingerprints()
        self.views: set[str] = set()

    def run(self) -> dict[str, Any]:
        """Do what is missing; the manifest goes first and comes last, so it never describes a mixture."""
        started = time.monotonic()
        todo = self._stale()
        before: dict[str, Any] = read_json(self.engine, self._at(MANIFEST)) or {}
        if not todo and all(before.get(key) == value for key, value in self._description().items()):
            return {**before, "fresh": False}
        used = {name for step in todo for name in step.reads if name in RELATIONS}
        if TOKENS in used and TOKENS in self.state.get("spent", {}) and not self._files_of(TOKENS):
            raise SpentError("the words of its pages were removed when they had been counted",
                             where=self.inputs[0].folder, todo="Write the corpus again")  # fmt: skip
        check_inputs(self.engine, self.inputs, sorted(used))
        self.engine.delete(self._at(MANIFEST))
        for number, step in enumerate(todo):
            self.report(number, len(todo), step.name)
            self._do(step, number, len(todo))
            self._tidy({name for later in todo[number + 1 :] for name in later.reads})
        self.report(len(todo), len(todo), "done")
        if not self.keep_steps:
            self.engine.delete(self._at("sums"))
        return self._finish(time.monotonic() - started)

    def _kept(self, step: Step) -> bool:
        """Whether a table is part of the result."""
        return step.final and (self.options.sums or not step.folder.startswith("sums/"))

    def _tidy(self, needed: set[str]) -> None:
        """Remove the tables that no step left to do reads."""
        for step in () if self.keep_steps else self.steps.values():
            if step.name not in needed and not self._kept(step):
                self.engine.delete(self._at(step.folder))
        if self.spend and TOKENS not in needed and self._files_of(TOKENS):
            self.state["spent"] = {TOKENS: self.wanted[TOKENS]}
            self._save()
            for table in filter(None, (one.table(TOKENS) for one in self.inputs)):
                self.engine.delete(table)

    def _files_of(self, relation: str) -> bool:
        """Whether the inputs have the rows of a relation."""
        return any(relation_files(self.engine, self.inputs, relation))

    def _at(self, path: str) -> str:
        return f"{self.out}/{path}"

    def _fingerprints(self) -> dict[str, str]:
        """Of each relation and step: a digest of its query and of everything it is made from."""
        digests = {name: _digest(relation_files(self.engine, self.inputs, name)) for name in RELATIONS}
        if not self._files_of(TOKENS):
            digests |= self.state.get("spent", {})
        for step in self.steps.values():
            digests[step.name] = _digest([step.sql, step.key, [digests[name] for name in step.reads]])
        return digests

    def _up_to_date(self, step: Step) -> bool:
        same = self.state.get(step.name, {}).get("fingerprint") == self.wanted[step.name]
        return same and bool(self.engine.files(self._at(step.folder)))

    def _stale(self) -> list[Step]:
        """Steps to do: stale results, and whatever they need that is not there."""
        needed: set[str] = set()
        for step in reversed(self.steps.values()):
            wanted = step.name in needed or self._kept(step)
            if wanted and not self._up_to_date(step):
                needed |= {step.name, *step.reads}
            else:
                needed.discard(step.name)
        return [step for step in self.steps.values() if step.name in needed]

    def _see(self, name: str) -> None:
        """Let queries read a relation of the inputs or the table of a finished step."""
        if name in self.views:
            return
        if name in RELATIONS:
            sql = relation_sql(self.engine, self.inputs, name)
        else:
            sql = f"SELECT * FROM {self.engine.scan(self._at(self.steps[name].folder))}"
        self.engine.view(name, sql)
        self.views.add(name)

    def _do(self, step: Step, number: int, total: int) -> None:
        """Make one table, then note that it is finished."""
        started = time.monotonic()
        if self.state.pop(step.name, None):
            self._save()
        folder = self._at(step.folder)
        with self._naming(step):
            for name in step.reads:
                self._see(name)
            if step.parts:
                self._do_parts(step, step.parts(self.engine), folder, number, total)
            elif step.run:
                step.run(self.engine, folder)
            else:
                self.engine.write(step.sql, folder)
        self.views.discard(step.name)
        done: dict[str, Any] = {"fingerprint": self.wanted[step.name]}
        if step.note:
            self._see(step.name)
            done["note"] = step.note(self.engine)
        self.state.pop(f"{step.name}/parts", None)
        self.state[step.name] = done | {"seconds": round(time.monotonic() - started, 3)}
        self._save()

    @contextmanager
    def _naming(self, step: Step) -> Iterator[None]:
        """Say in an error which table was being made, and from which folders."""
        try:
            yield
        except CountsError as error:
            read = [name for name in step.reads if name in RELATIONS]
            tables = {table for one in self.inputs for name in read if (table := one.table(name))}
            made_from = f" from {', '.join(sorted(tables))}" if tables else ""
            what = f"{error.what}, while making {step.name}{made_from}"
            raise CountsError(what, todo=error.todo) from error

    def _do_parts(
        self, step: Step, parts: list[dict[str, int]], folder: str, number: int, total: int
    ) -> None:
        """Make the shares of a large table one by one; a run that was stopped goes on at the next share."""
        digest = _digest([self.wanted[step.name], parts])
        progress = self.state.get(f"{step.name}/parts", {})
        if progress.get("fingerprint") != digest:
            self.engine.delete(folder)
            progress = {"fingerprint": digest, "done": 0}
        for part in range(progress["done"], len(parts)):
            self.report(number + part / len(parts), total, f"{step.name} {part + 1}/{len(parts)}")
            if step.run_part:
                step.run_part(self.engine, f"{folder}/{part:05}", parts[part])
            else:
                self.engine.write(fill(step.sql, parts[part]), f"{folder}/{part:05}")
            progress["done"] = part + 1
            self.state[f"{step.name}/parts"] = progress
            self._save()

    def _save(self) -> None:
        self.engine.write_text(self._at(STATE), msgspec.json.encode(self.state).decode())

    def _description(self) -> dict[str, Any]:
        """The part of the manifest that says what was counted and how."""
        given = ("wiki", "language", "date")
        return {
            "format": "pboh-counts",
            "version": 1,
            "language": self.language,
            "inputs": [
                {
                    "folder": one.folder,
                    "counted": one.counted,
                    **{key: one.manifest.get(key) for key in given},
                    "sources": [source["name"] for source in one.manifest.get("sources", ())],
                }
                for one in self.inputs
            ],
            "options": asdict(self.options),
            "sums": self.options.sums,
            "page_ids": True,
            "subjects": True,
        }

    def _finish(self, seconds: float) -> dict[str, Any]:
        manifest = self._description() | {
            "totals": self.state["totals"]["note"],
            "crosswikis": self.state["crosswikis_lines"].get("note"),
        }
        text = msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode() + "\n"
        self.engine.write_text(self._at(MANIFEST), text)
        return {**manifest, "fresh": True, "seconds": round(seconds, 3)}

    def _check_texts(self) -> None:
        if self.options.names_in_text and any(one.counted for one in self.inputs):
            raise InputError(
                "names in running text cannot be counted from a counts folder",
                todo="Pass corpus folders only, or leave out --names-in-text",
            )


def _language(inputs: Sequence[Input]) -> str:
    languages = {str(language) for one in inputs if (language := one.manifest.get("language"))}
    if len(languages) > 1:
        raise InputError(
            f"the inputs are in different languages ({', '.join(sorted(languages))})",
            todo="Count each language by itself",
        )
    return languages.pop() if languages else "en"


def _digest(value: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(value)).hexdigest()[:32]
