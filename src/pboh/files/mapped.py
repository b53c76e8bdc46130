"""Files that are mapped and only read: their pages can be given back at any moment."""

from __future__ import annotations

import mmap
import threading
from contextlib import suppress
from typing import Any
from weakref import WeakSet

_MAPPINGS: WeakSet[mmap.mmap] = WeakSet()
_LOCK = threading.Lock()


def note_mapping(array: Any) -> None:
    """Remember the mapping of an array that nobody writes into."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = array.base
    if array is not None:
        with _LOCK:
            _MAPPINGS.add(array)


def give_pages_back() -> None:
    """Let go of all pages of these mappings; who reads them again finds them in the cache or on the disk."""
    with _LOCK:
        mappings = list(_MAPPINGS)
    for mapping in mappings:
        with suppress(ValueError, AttributeError):  # closed meanwhile, or a system that cannot
            mapping.madvise(mmap.MADV_DONTNEED)
