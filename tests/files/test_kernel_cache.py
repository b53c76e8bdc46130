"""Kernels are compiled once, people are told, and nobody else can put theirs in the place of ours."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path


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


def test_kernels_are_kept_only_where_nobody_else_can_write(tmp_path, monkeypatch):
    from pboh.files import kernel_cache

    fallback = tmp_path / f"pboh-{os.getuid()}"
    writable = os.access
    package = Path(kernel_cache.__file__).parents[1]
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != package and writable(path, mode))
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing/can/be/made/here")
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)

    def chosen():
        kernel_cache.ensure_kernel_cache()
        return os.environ.pop("NUMBA_CACHE_DIR", None)

    fallback.mkdir(mode=0o777)
    fallback.chmod(0o777)  # whoever may write there could put another folder in the place of ours
    assert chosen() is None
    fallback.chmod(0o700)
    assert chosen() == str(fallback / "kernels")
    (fallback / "kernels").rmdir()
    (fallback / "kernels").symlink_to(tmp_path)
    assert chosen() is None
    (fallback / "kernels").unlink()
    somebody = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: somebody)  # now it all belongs to somebody else
    fallback.rename(tmp_path / f"pboh-{os.getuid()}")
    assert chosen() is None


def test_a_generous_mask_does_not_open_the_folder_to_others(tmp_path, monkeypatch):
    from pboh.files import kernel_cache

    package = Path(kernel_cache.__file__).parents[1]
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != package)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    before = os.umask(0o002)
    try:
        kernel_cache.ensure_kernel_cache()
    finally:
        os.umask(before)
    assert os.environ.pop("NUMBA_CACHE_DIR") == str(tmp_path / "cache" / "pboh" / "kernels")


def test_windows_has_neither_user_numbers_nor_modes(tmp_path, monkeypatch):
    from pboh.files import kernel_cache

    monkeypatch.setattr(kernel_cache.sys, "platform", "win32")
    monkeypatch.delattr(os, "getuid")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).is_relative_to(tmp_path))
    monkeypatch.setattr(Path, "lstat", lambda _: os.stat_result((stat.S_IFDIR | 0o777, *[0] * 9)))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    kernel_cache.ensure_kernel_cache()
    assert os.environ.pop("NUMBA_CACHE_DIR") == str(tmp_path / "pboh" / "kernels")


def test_another_process_helps_as_soon_as_this_one_compiles(monkeypatch):
    from numba import njit

    from pboh.files import kernel_cache

    started = []

    class Helper:
        def __init__(self, command, **streams):
            started.append([command[1:], "runs"])

        def kill(self):
            started[-1][1] = "killed"

        def wait(self):
            started[-1][1] += " and gone"

    monkeypatch.setattr(kernel_cache.subprocess, "Popen", Helper)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with kernel_cache.compiling_beside("some.module"):
        assert not started, "nothing is compiled yet"
        njit(lambda x: x + 1)(1)
        njit(lambda x: x + 2)(1)
        assert started == [[["-m", "some.module"], "runs"]]
    assert started == [[["-m", "some.module"], "killed and gone"]]

    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # it would only take away from this one
    with kernel_cache.compiling_beside("some.module"):
        njit(lambda x: x + 3)(1)
    assert len(started) == 1


def test_no_helper_is_no_error(monkeypatch):
    from numba import njit

    from pboh.files import kernel_cache

    tries = []

    def refuse(*_, **__):
        tries.append(1)
        raise PermissionError("no processes here")

    monkeypatch.setattr(kernel_cache.subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with kernel_cache.compiling_beside("some.module"):
        assert njit(lambda x: x + 1)(1) == 2
        assert njit(lambda x: x + 2)(1) == 3
    assert len(tries) == 1
