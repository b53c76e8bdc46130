"""What only training needs is not needed to link: every such package is hidden, and linking goes on."""

import subprocess
import sys

import pytest

TRAINING_ONLY = ("duckdb", "lxml", "pyarrow", "urllib3")
UNIX_ONLY = ("fcntl", "pwd", "resource", "termios")
HIDE = """
import sys
hidden = {hidden!r}
for name in hidden:
    sys.modules[name] = None
"""
LINK = """
import pboh
document = pboh.load().link("Ray Charles sang about Georgia.")
assert [mention.text for mention in document] == ["Ray Charles", "Georgia"]
assert document.mentions[0].explain().words is not None
document.to_dict(explain=True), document._repr_html_()
"""


def run(code, *hidden, **options):
    script = HIDE.format(hidden=hidden) + code
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize("hidden", [TRAINING_ONLY, UNIX_ONLY], ids=["training", "unix"])
def test_linking_needs_neither(hidden):
    done = run(LINK, *hidden)
    assert done.returncode == 0, done.stderr


def test_json_lines_are_annotated_without_them():
    code = "import sys; sys.argv = ['pboh', 'annotate', '-']\nfrom pboh.cli import main; main()"
    done = run(code, *TRAINING_ONLY, input='{"id": 1, "text": "Ray Charles sang about Georgia."}\n')
    assert done.returncode == 0, done.stderr
    assert '"Ray Charles"' in done.stdout


def test_everything_is_warmed_up_and_measured_without_them(tmp_path):
    """The second command of the tutorial; of the formats of gold data, only the XML ones need more."""
    code = """
from pathlib import Path
from pboh.cli import program
from pboh.cli.warmup import TINY_WIKI, warmup_command
warmup_command()
program("evaluate")(["evaluate", str(TINY_WIKI / "gold.jsonl"), "--end-to-end"], standalone_mode=False)
"""
    done = run(code, *TRAINING_ONLY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all kernels are compiled" in done.stderr


def test_every_command_has_help_without_them():
    """What is not installed is missed when it is used, not when somebody asks what there is."""
    code = """
import io, sys
from contextlib import redirect_stdout
from pboh.cli import program
everything = program()
with redirect_stdout(io.StringIO()) as shown:
    for arguments in [[], *([name] for name in everything.commands)]:
        everything([*arguments, "--help"], standalone_mode=False)
assert "Fetch a Wikipedia dump" in shown.getvalue()
"""
    done = run(code, *TRAINING_ONLY)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["download", "enwiki", "--list"],
        ["train", "dumps", "--out", "m"],
        ["count", "corpus", "--out", "c"],
        ["build", "c", "--out", "m"],
    ],
)
def test_a_command_says_which_extra_it_lacks(command, tmp_path):
    code = f"import sys; sys.argv = ['pboh', *{command!r}]\nfrom pboh.cli import main; main()"
    done = run(code, *TRAINING_ONLY, cwd=tmp_path)
    assert done.returncode == 1
    assert "pip install 'pboh[train]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
