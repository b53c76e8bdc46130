"""What commands read besides their data: a text from anywhere, and the file of the option ``--only``."""

from __future__ import annotations

import codecs
import errno
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pboh.errors import InputError
from pboh.files.progress import console

if TYPE_CHECKING:
    from pboh.inference.entities import EntitySet
    from pboh.linker import Linker

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def say_waiting(what: str) -> None:
    """Tell whoever sits at a terminal that the command waits for input."""
    if sys.stdin.isatty():
        console.print(f"reading {what} from standard input; end with Ctrl-D", style="dim")


def read_text(source: str) -> tuple[str, str | None]:
    """A text and its name: standard input, a file if there is one of that name, else the argument itself."""
    if source == "-":
        say_waiting("text")
        return decode(sys.stdin.buffer.read(), "standard input"), None
    try:
        path = Path(source)
        if path.is_file():
            return decode(path.read_bytes(), path), path.name
    except OSError as reason:
        if reason.errno not in (errno.ENAMETOOLONG, errno.EINVAL):  # then it is the text
            raise InputError(f"the file cannot be read ({reason.strerror})", where=source) from None
    except ValueError:  # a null character: not a path, but it may be text
        return source, None
    if " " not in source and source.endswith((".txt", ".md", ".text")):
        raise InputError("there is no such file", where=source)
    return source, None


def decode(data: bytes, where: str | Path) -> str:
    """Bytes as text: UTF-8, or what the mark at their beginning says."""
    encoding = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in data:
        raise InputError("this is binary data, not text", where=where, todo="Extract its text first")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"this is not text in UTF-8 (byte {error.start:,})"
        todo = "Convert it, for example with: iconv -f latin1 -t utf-8 FILE"
        raise InputError(what, where=where, todo=todo) from None


def read_only(linker: Linker, path: Path | None) -> EntitySet | None:
    """The set that a file of titles means; titles the model does not know are reported."""
    if path is None:
        return None
    try:
        lines = decode(path.read_bytes(), path).splitlines()
    except OSError as reason:
        raise InputError(f"the file cannot be read ({reason.strerror})", where=path) from None
    titles = [line.strip() for line in lines if line.strip()]
    only = linker.only(titles)
    if not len(only):
        raise InputError(f"the model knows none of its {len(titles)} titles", where=path)
    if only.unknown:
        shown = ", ".join(only.unknown[:3]) + (" …" if len(only.unknown) > 3 else "")
        what = f"{path}: the model does not know {len(only.unknown):,} of {len(titles):,} titles ({shown})"
        console.print(what, style="yellow", soft_wrap=True, markup=False)
    return only
