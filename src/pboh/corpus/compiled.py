"""How the loops of extraction are compiled: kept on disk, without the interpreter's lock, without references.

They allocate nothing and keep no array, so nothing needs to be counted; counting took half of their time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])
Number = Any
"""A whole number of whatever width: numba's rules for them are not mypy's."""


def compiled(function: Function) -> Function:
    """Compile a function of numbers and arrays."""
    options: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
    return njit(**options)(function)  # type: ignore[no-any-return, unused-ignore]
