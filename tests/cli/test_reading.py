"""Texts as they come: from files in several encodings, from terminals, or not texts at all."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from pboh.cli.reading import decode
from pboh.errors import InputError

TEXT = "Müller scored for Bayern."
PBOH = [sys.executable, "-c", "from pboh.cli import main; main()"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_encodings_are_read(run, world_model, tmp_path, encoding):
    (tmp_path / "a.txt").write_bytes(TEXT.encode(encoding))
    code, out, _ = run("link", tmp_path / "a.txt", "--model", world_model, "--format", "json")
    assert code == 0
    assert json.loads(out)["mentions"][0]["text"] == "Müller"
    assert decode(TEXT.encode("utf-16-be").join([b"\xfe\xff", b""]), "here") == TEXT


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TEXT.encode("latin-1"), "this is not text in UTF-8 (byte 1)"),
        (bytes(range(256)), "this is binary data"),
        (TEXT.encode("utf-16-le"), "this is binary data"),
        (b"\xff\xfea", "this is not text"),
    ],
)
def test_what_is_not_text_is_one_sentence(run, world_model, tmp_path, data, message):
    (tmp_path / "a.txt").write_bytes(data)
    for source, stdin in ((tmp_path / "a.txt", b""), ("-", data)):
        code, out, err = run("link", source, "--model", world_model, stdin=stdin)
        assert (code, out) == (1, "")
        assert message in err
    with pytest.raises(InputError):
        decode(data, "here")


@pytest.mark.parametrize(("command", "wanted"), [("link", "text"), ("annotate", "JSON lines")])
def test_a_terminal_is_told_that_input_is_awaited(world_model, command, wanted):
    master, terminal = pty.openpty()
    with subprocess.Popen(
        [*PBOH, command, "-m", str(world_model)],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert f"reading {wanted} from standard input; end with Ctrl-D" in running.stderr.readline()
        os.write(master, b"\x04")
        assert running.wait(60) == 0
    os.close(master)
    os.close(terminal)
