"""The files meant by what a user names: files, folders written by ``pboh download``, or both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pboh.corpus.download.folder import dump_files
from pboh.errors import InputError


def input_files(inputs: Sequence[str | Path]) -> list[Path]:
    """Every file once, in the order given; the parts of a download in page order."""
    if not inputs:
        raise InputError("no dump was given", todo="Name at least one dump file, or the folder of a download")
    files: list[Path] = []
    for path in map(Path, inputs):
        if path.is_dir():
            files += dump_files(path)
        elif path.exists():
            files.append(path)
        else:
            raise InputError("there is no such file", where=path, todo="Fetch a dump with: pboh download")
    return list(dict.fromkeys(files))
