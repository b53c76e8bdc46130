"""pboh: entity linking by counting hyperlinks and resolving all names of a document together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pboh.document import Candidate, Contribution, Document, Entity, Explanation, Mention
from pboh.errors import PbohError
from pboh.files.kernel_cache import ensure_kernel_cache

if TYPE_CHECKING:
    from pboh.inference.settings import Settings
    from pboh.linker import Linker, load

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Contribution",
    "Document",
    "Entity",
    "Explanation",
    "Linker",
    "Mention",
    "PbohError",
    "Settings",
    "__version__",
    "load",
]

ensure_kernel_cache()  # before the first kernel is imported

_LATER = {"Linker": "pboh.linker", "load": "pboh.linker", "Settings": "pboh.inference.settings"}


def __getattr__(name: str) -> Any:
    """Import what needs numba only when it is asked for, so that the command line starts at once."""
    if name not in _LATER:
        raise AttributeError(f"module 'pboh' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_LATER[name]), name)
