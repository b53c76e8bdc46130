"""Everything pboh raises on purpose: what was wrong, where, and what to do about it."""

from __future__ import annotations

from functools import partial
from pathlib import Path


class PbohError(Exception):
    """Base of all expected failures; the command line prints it as one sentence, without a traceback.

    ``what`` says what is wrong, ``where`` names the file, line, byte or page, ``todo`` the way out.
    """

    def __init__(self, what: str, *, where: str | Path | None = None, todo: str | None = None) -> None:
        self.what = what.rstrip(".")
        self.where = None if where is None else str(where)
        self.todo = None if todo is None else todo.rstrip(".")
        super().__init__(str(self))

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        todo = f" {self.todo}." if self.todo else ""
        return f"{where}{self.what}.{todo}"

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip from a worker process (keyword arguments are not in ``args``)."""
        return partial(type(self), where=self.where, todo=self.todo), (self.what,)


class InputError(PbohError):
    """A file or value given by the user is missing, damaged or of another kind."""


class CorpusError(PbohError):
    """A dump, or a folder written by ``pboh extract``, cannot be read."""


class CountsError(PbohError):
    """A folder written by ``pboh count`` cannot be read, or counting failed."""


class ModelError(PbohError):
    """A model folder is missing, altered, truncated or of another format version."""


class SpanError(InputError, ValueError):
    """A mention's span is empty, out of range, overlapping or not a pair of integers."""


class OutputError(PbohError):
    """The output cannot be written: no space, no permission, or a folder that is not ours."""


class DownloadError(PbohError):
    """A dump could not be fetched."""


class MissingExtraError(PbohError):
    """A feature needs an optional dependency that is not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingExtraError:
        """Name the package that is missing and the extra that brings it."""
        return cls(f"this needs the package {package}", todo=f"Install it with: pip install 'pboh[{extra}]'")
