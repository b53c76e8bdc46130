"""Kernels are compiled once, and people are told."""

from __future__ import annotations

import time


def test_it_says_so_when_kernels_are_compiled_and_only_then(caplog):
    from numba import njit

    from pboh.files.kernel_cache import say_if_compiling

    with say_if_compiling(after=0.0):
        time.sleep(0.1)
    assert not caplog.records, "a slow machine compiles nothing"
    with say_if_compiling(after=0.0):
        njit(lambda x: x + 1)(1)
        time.sleep(0.1)
    assert "compiling kernels" in caplog.text
