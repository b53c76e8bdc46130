"""A program ``pboh`` that has been imported already: what pages show starts at once, a hundred times.

A process imports everything, links a text, and forks for every command. The ``pboh`` that the shell finds
hands it the arguments, the folder, the variables and the open files, and ends as the command does. A server
is not forked: it is the program itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SHIM = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1:2] == ["serve"]:
    os.execv({program!r}, [{program!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    ended = server.recv(1)
os._exit(ended[0] if ended else 70)
"""
SERVER = """
import gc, json, os, socket, sys
from contextlib import suppress
import pboh
from pboh.cli import main, program

def command(connection):
    head, files, _, _ = socket.recv_fds(connection, 4, 3)
    asked = connection.makefile("rb").read(int.from_bytes(head, "big"))
    arguments, folder, variables = json.loads(asked)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace")
    sys.argv = ["pboh", *arguments]
    try:
        main()
        code = 0
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else bool(stopped.code)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

def answer(connection):
    child = os.fork()
    if not child:
        command(connection)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall(bytes([status if status >= 0 else 128 - status]))
    os._exit(0)

address, model = sys.argv[1:]
program()
pboh.load(model).link("Müller scored for Bayern in Paris.")
gc.collect()
gc.freeze()
with socket.socket(socket.AF_UNIX) as listening:
    listening.bind(address)
    listening.listen()
    print("ready", flush=True)
    while True:
        connection, _ = listening.accept()
        if not os.fork():
            answer(connection)
        connection.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
"""


@contextmanager
def ready_program(folder: Path, model: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """The folder of such a program, to be put before all others in PATH."""
    address, shim = folder / "address", folder / "pboh"
    installed = str(Path(sys.executable).with_name("pboh"))
    shim.write_text(SHIM.format(python=sys.executable, program=installed, address=str(address)))
    shim.chmod(0o755)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(address), str(model)],
        stdout=subprocess.PIPE, env=dict(environment), start_new_session=True,
    ) as server:  # fmt: skip
        assert server.stdout and server.stdout.readline() == b"ready\n"
        try:
            yield folder
        finally:
            os.killpg(server.pid, signal.SIGKILL)
