"""Compressed files: read whatever they are packed with; Zstandard is a backport before Python 3.14."""

from __future__ import annotations

import bz2
import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pboh.errors import InputError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["DAMAGE", "codec_of", "decoded", "unpacked", "zstd"]

DAMAGE = (OSError, EOFError, zlib.error, zstd.ZstdError)
"""What readers raise when a file is damaged or cut off."""
_SIGNATURES = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zst"}


def codec_of(head: bytes) -> str:
    """How a file that begins like this is compressed, whatever its name says: gz, bz2, zst or plain."""
    return next((codec for sign, codec in _SIGNATURES.items() if head.startswith(sign)), "plain")


def decoded(file: IO[bytes], codec: str | None = None) -> Any:
    """A reader of what a file holds, which gzip, bzip2 or zstd may have compressed (``codec``, if known)."""
    codec = codec or codec_of(file.read(4))
    file.seek(0)
    if codec == "gz":
        return gzip.GzipFile(fileobj=file)
    if codec == "bz2":
        return bz2.BZ2File(file)
    return zstd.ZstdFile(file) if codec == "zst" else file


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[IO[bytes], Any]]:
    """Open a file: the file itself, which knows how far it is, and a reader of what it holds.

    A file that is not there, damaged or cut off is an error of one sentence.
    """
    try:
        with path.open("rb") as file:
            yield file, decoded(file)
    except FileNotFoundError:
        raise InputError("there is no such file", where=path) from None
    except DAMAGE as error:
        reason = getattr(error, "strerror", None) or f"damaged or cut off: {error}"
        raise InputError(f"the file cannot be read ({reason})", where=path) from error
