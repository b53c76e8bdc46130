"""Compressed files: read whatever they are packed with; Zstandard is a backport before Python 3.14."""

from __future__ import annotations

import bz2
import gzip
import sys
import zlib
from typing import IO, Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["DAMAGE", "decoded", "zstd"]

DAMAGE = (OSError, EOFError, zlib.error, zstd.ZstdError)
"""What readers raise when a file is damaged or cut off."""


def decoded(file: IO[bytes]) -> Any:
    """A reader of what a file holds, which gzip, bzip2 or zstd may have compressed."""
    head = file.read(4)
    file.seek(0)
    if head.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if head == b"\x28\xb5\x2f\xfd":
        return zstd.ZstdFile(file)
    return file
