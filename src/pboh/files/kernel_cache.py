"""The user's cache, where compiled kernels are kept, and what is done while they are compiled."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer


def user_cache() -> Path:
    """The folder of ours in the user's cache; it need not exist."""
    return Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "pboh"


def ensure_kernel_cache() -> None:
    """Give compiled kernels a place when the package's own folder cannot be written to.

    numba keeps them beside the source and falls back to the home folder; a service user or a read-only
    image often has neither, and would compile anew in every process.
    """
    if "NUMBA_CACHE_DIR" in os.environ or os.access(Path(__file__).parents[1], os.W_OK):
        return
    for home in (user_cache(), Path(tempfile.gettempdir()) / f"pboh-{_user()}"):
        folder = home / "kernels"
        try:
            home.parent.mkdir(parents=True, exist_ok=True)
            home.mkdir(exist_ok=True, mode=0o700)  # whatever the user's mask allows others
            folder.mkdir(exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK) and _is_ours(folder) and _is_ours(folder.parent):
            os.environ["NUMBA_CACHE_DIR"] = str(folder)
            return


def _user() -> int:
    """The number of the user; on Windows, whose temporary folders belong to one user, that of all files."""
    return os.getuid() if sys.platform != "win32" else 0


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can put files there: they would be run as code."""
    about = folder.lstat()
    shared = about.st_mode & 0o022 and sys.platform != "win32"  # Windows has no such modes
    return stat.S_ISDIR(about.st_mode) and about.st_uid == _user() and not shared


@contextmanager
def say_if_compiling(after: float = 2.0, hint: str = " (pboh warmup does it beforehand)") -> Iterator[None]:
    """Explain a first call that takes long: its kernels are being compiled, once per machine and version."""
    what = f"compiling kernels, once on this machine{hint} …"
    timer = Timer(after, logging.getLogger("pboh").warning, [what])
    timer.daemon = True
    try:
        with _at_first_compilation(timer.start):
            yield
    finally:
        timer.cancel()


@contextmanager
def compiling_beside(module: str) -> Iterator[None]:
    """As soon as this process compiles, let another run a module, whose kernels it finds in the cache then.

    The other one is no more than a help: what it did not compile, or cannot, is compiled here.
    """
    others: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        command, silence = [sys.executable, "-m", module], subprocess.DEVNULL
        if (os.cpu_count() or 1) > 1:  # alone it would only take away from this one
            with suppress(OSError):
                others.append(subprocess.Popen(command, stdin=silence, stdout=silence, stderr=silence))

    try:
        with _at_first_compilation(start):
            yield
    finally:
        for other in others:
            other.kill()
            other.wait()


@contextmanager
def _at_first_compilation(act: Callable[[], object]) -> Iterator[None]:
    """Do something once, when a kernel is compiled that is not in the cache."""
    from numba.core import event  # noqa: PLC0415  (numba reads where its cache is when it is imported)

    class Compilations(event.Listener):
        """Hears of kernels that are compiled, not of those loaded from the cache."""

        heard = False

        def on_start(self, event: object) -> None:
            if not self.heard:
                self.heard = True
                act()

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Compilations()):
        yield
