"""What an annotated row is, and how rows are answered: the same on one machine and on Spark."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import msgspec

from pboh.document import NO_ENTITY, Document
from pboh.errors import InputError, PbohError, SpanError
from pboh.files.writing import NOT_JSON
from pboh.formats.types import check_types
from pboh.inference.entities import TypedSet
from pboh.linker import Linker, load, model_folder
from pboh.model.store import MANIFEST

_ENTITY = {name: "double" if name == "type_probability" else "string" for name in NO_ENTITY}
FIELDS = {"start": "int32", "end": "int32", "text": "string", **_ENTITY}
FIELDS |= dict.fromkeys(("probability", "nil", "score", "detection"), "double")
"""What is written of a mention, and its types in Arrow."""
_NULL = msgspec.Raw(b"null")
OURS = ("id", "mentions", "error")  # columns that are not kept ones


class GivenMention(msgspec.Struct):
    """A mention as people write it; ``entity`` clamps it."""

    start: int
    end: int
    entity: str | None = None


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Which columns mean what, and how they are answered."""

    text: str = "text"
    id: str = "id"
    mentions: str | None = "mentions"  # column of given mentions; rows without them are searched for names
    keep: tuple[str, ...] = ()  # columns copied to the output
    candidates: int = 0  # of each mention, best first
    explain: bool = False  # add the terms of each answer's score; only JSON lines have room for them
    find: Literal["names", "all"] = "names"  # what is searched for
    nil: bool = False  # whether names without a known entity are found
    threshold: float | None = None  # least confidence, None: the model's
    overlapping: bool = False  # whether given mentions may overlap
    only: tuple[str, ...] = ()  # titles of the only entities that may be an answer; none: all
    types: tuple[str, ...] = ()  # the only types that answers may have; none: all
    paper: bool = False
    settings: dict[str, Any] = {}

    def __post_init__(self) -> None:
        clash = [name for name in self.keep if name in OURS]
        if clash:
            what = f"a kept column cannot be called {clash[0]}: the output has a column of that name"
            raise InputError(what, todo="Rename it, or name it with --id-column if it is the id")
        check_types(self.types)

    def linker(self, model: str | None) -> Linker:
        """The linker these options ask for."""
        linker = load(model, paper=self.paper, **self.settings)
        if self.types:
            TypedSet(linker.model, self.types)  # it may refuse, once instead of in every row
        return linker


class Answer(NamedTuple):
    """The mentions of a row as plain values, or why there are none."""

    mentions: list[dict[str, Any]] | None
    error: str | None = None


class Annotator:
    """Answers rows with one linker."""

    def __init__(self, model: str | None, options: Options) -> None:
        self.options = options
        self.linker = options.linker(model)
        changed = {} if options.threshold is None else {"threshold": options.threshold}
        self._given = self.linker.with_settings(**changed)
        self._fields = [*FIELDS]
        self._fields += ["candidates"] * bool(options.candidates) + ["explanation"] * options.explain
        self._only = self.linker.only(options.only) if options.only else None
        self._types = options.types or None

    def answer(self, text: Any, mentions: Any = None) -> Answer:
        """Mentions of a text: found, or where some are given (even none at all), those."""
        if not isinstance(text, str):
            reasons = {type(None): "there is no text", bytes: "the text is not UTF-8"}
            return Answer(None, reasons.get(type(text), "the text is not a string"))
        try:
            document = self._document(text, mentions)
        except PbohError as reason:
            return Answer(None, str(reason).rstrip("."))
        shown = self.options.candidates, self.options.explain
        plain = (mention.to_dict(shown[0], explain=shown[1]) for mention in document)
        return Answer([{name: values[name] for name in self._fields} for values in plain])

    def _document(self, text: str, mentions: Any) -> Document:
        if mentions is None:
            o = self.options
            return self.linker.link(
                text, mentions=o.find, nil=o.nil, threshold=o.threshold,
                entities=self._only, types=self._types,
            )  # fmt: skip
        try:
            given = msgspec.convert(mentions, list[GivenMention])
        except msgspec.ValidationError as reason:
            raise SpanError(f"the mentions are not a list of {{start, end}} ({reason})") from None
        spans = [(m.start, m.end, m.entity) for m in given]
        overlapping = self.options.overlapping
        return self._given.disambiguate(
            text, spans, overlapping=overlapping, entities=self._only, types=self._types
        )


@lru_cache(maxsize=2)
def _annotator(model: str | None, options: bytes, changed: int) -> Annotator:
    return Annotator(model, msgspec.json.decode(options, type=Options))


def annotator(model: str | None, options: Options) -> Annotator:
    """The annotator of this process: opened once, whatever number of parts it is given."""
    manifest = model_folder(model) / MANIFEST
    changed = manifest.stat().st_mtime_ns if manifest.exists() else 0
    return _annotator(model, msgspec.json.encode(options), changed)


class Rows(NamedTuple):
    """Answered rows: Arrow columns, or raw JSON values, that are carried over, ``id`` the first of them."""

    carried: dict[str, Any]
    answers: list[Answer]

    def to_json(self) -> bytes:
        """A JSON object a line; ``error`` is there only if there is one."""
        columns = {name: values(column) for name, column in self.carried.items()}
        lines = []
        for k, answer in enumerate(self.answers):
            plain = {name: column[k] for name, column in columns.items()}
            plain["mentions"] = answer.mentions
            if answer.error is not None:
                plain["error"] = answer.error
            lines.append(msgspec.json.encode(plain))
        return b"".join(line + b"\n" for line in lines)


def annotate_lines(annotator: Annotator, lines: Iterable[bytes]) -> Rows:
    """Answer lines of JSON."""
    options = annotator.options
    carried: dict[str, Any] = {name: [] for name in ("id", *options.keep)}
    answers = []
    for line in lines:
        try:
            fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
            text, given = (
                msgspec.json.decode(fields.get(name or "", _NULL))
                for name in (options.text, options.mentions)
            )
        except NOT_JSON as reason:
            fields, answer = {}, Answer(None, f"this is not a JSON object ({str(reason).rstrip('.')})")
        else:
            answer = annotator.answer(text, given)
        answers.append(answer)
        for name, column in carried.items():
            column.append(fields.get(options.id if name == "id" else name, _NULL))
    return Rows(carried, answers)


def values(column: Any) -> list[Any]:
    """Python values of a list or of an Arrow column, in which text that is not UTF-8 stays bytes."""
    try:
        return column if isinstance(column, list) else list(column.to_pylist())
    except UnicodeDecodeError:
        return [_value(value) for value in column]


def _value(value: Any) -> Any:
    try:
        return value.as_py()
    except UnicodeDecodeError:
        return value.as_buffer().to_pybytes() if hasattr(value, "as_buffer") else None
