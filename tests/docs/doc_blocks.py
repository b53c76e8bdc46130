"""Reads the code blocks of Markdown pages and runs them as a reader would: in order, in one folder.

What a page may say in a comment of its own just before a block:

    <!-- not run: why -->      shown but not executed here (commands and options are checked all the same)
    <!-- given: code -->       executed before the block, not shown
    <!-- output varies -->     executed, but what it prints is not compared

Shown output is compared with what is printed: after the `$` lines of a console block (run in a terminal, as
the reader does) and in a text block that directly follows a Python block. Everything on a line must be the
same, only a number with a decimal point may differ by one in its last digit; a line `…` matches any lines.
After an intended change, PBOH_UPDATE_DOCS=1 writes what was printed into the pages; review the difference.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pboh.model.derived import STARTER

ROOT = Path(__file__).parents[2]
SHELL, PYTHON, OUTPUT = ("console", "sh"), "python", "text"
DATA = ("json", "toml", "nginx", "sql", "math", "html", "turtle", "yaml", OUTPUT)
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>[\w-]*)[^\n`]*\n(?P<code>.*?)^(?P=indent)```[ ]*$", re.M | re.S
)
SECTION = re.compile(r"^## (.+)$", re.M)
COMMENT = re.compile(r"<!--\s*(not run|given|output varies)(?::\s*(.*?))?\s*-->\s*$", re.S)
NUMBER = re.compile(r"(?<![\w.])([-−+]?\d+\.\d+)(?![\w.]*\d)")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
RULE = re.compile(r"[─━╴╶]{2,}")
ADDRESS = re.compile(r"(localhost|127\.0\.0\.1):8080")
MARK = "-- here the block ends --\n"
SESSION = f"""
import json, sys
names = {{"__name__": "__main__"}}
for line in sys.stdin:
    name, code = json.loads(line)
    exec(compile(code, name, "exec"), names)
    print("\\n" + {MARK!r}, end="", flush=True)
"""


@dataclass
class Block:
    """One fenced block of a page, with what the comments before it say."""

    page: Path
    line: int
    language: str
    code: str
    notes: dict[str, str] = field(default_factory=dict)
    output: str | None = None
    section: str = ""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def runs(self) -> bool:
        return "not run" not in self.notes

    def commands(self) -> list[tuple[str, str]]:
        """Commands of a shell block, each with the output that is shown behind it."""
        lines = self.code.splitlines()
        if not any(line.startswith("$ ") for line in lines):
            parts = re.split(r"^(pboh serve\b.*\n)", self.code, flags=re.M)  # runs beside what follows
            return [(part, "") for part in parts if part.strip()]
        found: list[tuple[str, str]] = []
        while lines:
            line = lines.pop(0)
            if not line.startswith("$ "):
                if found:
                    found[-1] = (found[-1][0], found[-1][1] + line + "\n")
                continue
            command = line[2:]
            while lines and unfinished(command):
                command += "\n" + lines.pop(0)
            found.append((command, ""))
        return found


def unfinished(command: str) -> bool:
    """Whether a shell would ask for another line."""
    if command.endswith("\\"):
        return True
    here = re.search(r"<<'?(\w+)'?", command)
    if here:
        return not command.endswith("\n" + here[1])
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False


def pages() -> list[Path]:
    """Everything that is written for readers."""
    return [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page in order."""
    text, found, end = page.read_text(), [], 0
    for match in FENCE.finditer(text):
        indent = match["indent"]
        code = re.sub(rf"^{indent}", "", match["code"], flags=re.M) if indent else match["code"]
        between = text[end : match.start()]
        block = Block(page, text.count("\n", 0, match.start()) + 1, match["language"], code)
        headings = SECTION.findall(text, 0, match.start())
        block.section = headings[-1] if headings else ""
        rest = between.rstrip()
        while note := COMMENT.search(rest):
            block.notes[note[1]] = note[2] or ""
            rest = rest[: note.start()].rstrip()
        if block.language == OUTPUT and found and found[-1].language == PYTHON and not rest:
            found[-1].output = code
        found.append(block)
        end = match.end()
    return found


def same_output(shown: str, printed: str) -> str | None:
    """None when what was printed is what is shown; else a sentence about the first difference."""
    wanted, lines = words_of(shown), words_of(printed)
    for i, words in enumerate(wanted):
        if words == ["…"]:
            if i + 1 == len(wanted):
                return None
            while lines and not same_words(wanted[i + 1], lines[0]):
                lines.pop(0)
            continue
        if not lines:
            return f"the line {' '.join(words)!r} was not printed"
        line = lines.pop(0)
        if not same_words(words, line):
            return f"{' '.join(words)!r} is shown, {' '.join(line)!r} was printed"
    return f"{' '.join(lines[0])!r} was printed too" if lines else None


def words_of(text: str) -> list[list[str]]:
    """The words of every line that has any, without colours; a table's rule is one word, long or short."""
    lines = RULE.sub("─", ESCAPES.sub("", text)).splitlines()
    return [words for line in lines if (words := line.split())]


def same_words(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(same_word, shown, printed))


def same_word(shown: str, printed: str) -> bool:
    """Whether two words are equal, their numbers within one of the last digit."""
    left, right = NUMBER.split(shown), NUMBER.split(printed)  # every other part is a number
    if len(left) != len(right):
        return False
    pairs = enumerate(zip(left, right, strict=True))
    return all(a == b or (i % 2 == 1 and close(a, b)) for i, (a, b) in pairs)


def close(shown: str, printed: str) -> bool:
    """Whether two numbers have as many decimals and differ by at most one in the last."""
    decimals = len(shown.partition(".")[2])
    if decimals != len(printed.partition(".")[2]):
        return False
    difference = float(shown.replace("−", "-")) - float(printed.replace("−", "-"))
    return abs(difference) < 1.5 * 10**-decimals


def free_port(wanted: int) -> int:
    """A port, the wanted one unless somebody has it."""
    for port in (wanted, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise AssertionError("no port is free")


class Reader:
    """Somebody who follows a page: one folder, one Python session, at most one server at a time."""

    def __init__(self, folder: Path, environment: Mapping[str, str], python: str | None = None) -> None:
        self.folder, self.environment, self.python = folder, dict(environment), python
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.session: subprocess.Popen[str] | None = None
        self.server: subprocess.Popen[bytes] | None = None
        self.port = 8080
        self.seconds = 1800 if python else 300  # an installation may take long, a command on a page may not

    def follow(self, block: Block) -> None:
        """Run one block and compare what it prints with what the page shows."""
        if given := block.notes.get("given"):
            self._python(given, block) if block.language == PYTHON else self._command(given, block)
        if block.language == PYTHON:
            printed = self._python(block.code, block)
            if block.output is not None:
                self._compare(block, "```text\n", block.output, printed)
        for command, shown in block.commands() if block.language in SHELL else ():
            printed = self._command(command, block, bool(shown.strip()))
            if shown.strip():
                self._compare(block, command + "\n", shown, printed)

    def _compare(self, block: Block, before: str, shown: str, printed: str) -> None:
        difference = same_output(shown, printed)
        if "output varies" in block.notes or difference is None:
            return
        page = block.page.read_text()
        if os.environ.get("PBOH_UPDATE_DOCS") and "…" not in shown and before + shown in page:
            lines = [line.rstrip() for line in ESCAPES.sub("", printed).splitlines()]
            text = "\n".join(line for line in lines if line) + "\n"
            block.page.write_text(page.replace(before + shown, before + text, 1))
            return
        pytest.fail(f"{block}: {difference}\n\nprinted in full:\n{printed}")

    def _command(self, command: str, block: Block, terminal: bool = False) -> str:
        if not re.match(r"pboh serve\b", command.strip()):
            return self._shell(command, block, terminal)
        self._serve(command, block)
        return ""

    def _shell(self, script: str, block: Block, terminal: bool = False) -> str:
        script = ADDRESS.sub(rf"\1:{self.port}", script)
        with tempfile.TemporaryFile() as errors, screen() if terminal else file() as (out, read):
            done = subprocess.Popen(
                ["bash", "-e", "-o", "pipefail", "-c", script],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
            try:
                code = done.wait(self.seconds)
            except subprocess.TimeoutExpired:
                os.killpg(done.pid, signal.SIGKILL)
                code = done.wait()
            printed = read()
            if code:
                errors.seek(0)
                pytest.fail(f"{block}: exit code {code}\n$ {script}\n{printed}\n{errors.read().decode()}")
        return printed

    def _python(self, code: str, block: Block) -> str:
        if self.python:  # a fresh interpreter that has only what was installed
            return self._session(code, block)
        printed = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + code, str(block.page), "exec"), self.names)
        return printed.getvalue()

    def _session(self, code: str, block: Block) -> str:
        """Send a block to the interpreter, which starts at the first one; a mark ends what each prints."""
        log = self.folder.parent / "session.log"
        if self.session is None:
            with log.open("w") as said:
                self.session = subprocess.Popen(
                    [str(self.python), "-c", SESSION],
                    cwd=self.folder, env=self.environment, start_new_session=True, text=True,
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                )  # fmt: skip
        assert self.session.stdin and self.session.stdout
        self.session.stdin.write(json.dumps([str(block), "\n" * block.line + code]) + "\n")
        self.session.stdin.flush()
        watch = threading.Timer(self.seconds, os.killpg, [self.session.pid, signal.SIGKILL])
        watch.start()
        printed = []
        while (line := self.session.stdout.readline()) not in (MARK, ""):
            printed.append(line)
        watch.cancel()
        if line != MARK:
            pytest.fail(f"{block}: the interpreter ended\n{''.join(printed)}\n{log.read_text()}")
        return "".join(printed)

    def _serve(self, command: str, block: Block) -> None:
        self.close()
        self.port = free_port(8080 if self.python else 0)  # pages may be followed side by side
        port = "" if self.port == 8080 else f" --port {self.port}"
        log = self.folder.parent / "server.log"
        with log.open("w") as said:
            self.server = subprocess.Popen(
                ["bash", "-c", f"exec {command.split(' #', maxsplit=1)[0].strip()}{port}"],
                cwd=self.folder, env=self.environment, start_new_session=True, stdout=said, stderr=said,
            )  # fmt: skip
        end = time.monotonic() + 300
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).close()
                return
            if self.server.poll() is not None or time.monotonic() > end:
                pytest.fail(f"{block}: the server did not start\n{log.read_text()}")
            time.sleep(0.2)

    def leave(self) -> None:
        """Stop the interpreter and the server, if they run."""
        if self.session is not None:
            with self.session:
                self.session.kill()
        self.close()

    def close(self) -> None:
        """Stop the server, if one runs."""
        if self.server is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait(60)
            self.server = None


@contextlib.contextmanager
def file() -> Iterator[tuple[int, Callable[[], str]]]:
    """Somewhere to print to, and how to read what was printed."""
    with tempfile.TemporaryFile() as kept:
        yield kept.fileno(), lambda: (kept.seek(0), kept.read().decode())[1]


@contextlib.contextmanager
def screen() -> Iterator[tuple[int, Callable[[], str]]]:
    """The same for a program that looks whether somebody is watching."""
    import pty

    master, slave = pty.openpty()
    seen: list[bytes] = []

    def watch() -> None:
        with contextlib.suppress(OSError):  # that is how a terminal says that nobody holds it any more
            while part := os.read(master, 65536):
                seen.append(part)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()

    def read() -> str:
        os.close(slave)
        watcher.join(60)
        return b"".join(seen).decode()

    try:
        yield slave, read
    finally:
        os.close(master)


@contextlib.contextmanager
def reading(folder: Path, environment: Mapping[str, str], python: str | None = None) -> Iterator[Reader]:
    """A reader who cleans up."""
    if sys.platform == "win32":
        pytest.skip("pages show the commands of a Unix shell")
    reader = Reader(folder, environment, python)
    try:
        yield reader
    finally:
        reader.leave()


def lacking(block: Block) -> str | None:
    """What this machine lacks to run a block, if anything."""
    if block.language in SHELL and "curl " in block.code and shutil.which("curl") is None:
        return "curl is not installed"
    starter = re.search(
        r"pboh\.load\(\)|add_pipe\(\"pboh\"\)|pboh (link|serve)(?![^\n]*(--model|-m ))", block.code
    )
    if starter and not (STARTER / "model.json").is_file():
        return "this checkout has no starter model"
    return None
