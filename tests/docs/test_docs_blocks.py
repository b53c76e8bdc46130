"""Every command and every program the documentation shows runs, or the page says why it does not."""

from __future__ import annotations

import ast
import importlib
import re
import shlex

import pytest
from doc_blocks import DATA, FENCE, PYTHON, ROOT, SHELL, Block, blocks_of, lacking, pages, same_output

PAGES = pages()
BLOCKS = {page: blocks_of(page) for page in PAGES}
NEWCOMERS = [ROOT / "README.md", *(ROOT / "docs" / "tutorial").iterdir()]  # see test_first_contact
FOLLOWED = [
    page
    for page in PAGES
    if page not in NEWCOMERS
    and any(block.runs and block.language in (*SHELL, PYTHON) for block in BLOCKS[page])
]
OPTIONAL = {"spacy", "pyspark", "mcp", "llama_index", "langchain_core", "langchain_community"}


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_says_what_it_is(page):
    for block in BLOCKS[page]:
        assert block.language in (*SHELL, PYTHON, *DATA), f"{block} is of the kind {block.language!r}"
        if not block.runs:
            assert len(block.notes["not run"]) > 5, f"{block} does not say why it is not run"


@pytest.mark.slow
@pytest.mark.parametrize("page", FOLLOWED, ids=name)
def test_page_can_be_followed(page, reader):
    for block in BLOCKS[page]:
        if not block.runs or block.language not in (*SHELL, PYTHON):
            continue
        if reason := lacking(block):
            pytest.skip(f"{block}: {reason}")
        try:
            reader.follow(block)
        except ModuleNotFoundError as missing:
            if missing.name not in OPTIONAL:
                raise
            pytest.skip(f"{block} needs the package {missing.name}")


def command_lines():
    """Every `pboh …` of every shell block, whether it is run or not."""
    for page in PAGES:
        for block in BLOCKS[page]:
            for script, _ in block.commands() if block.language in SHELL else ():
                for line in script.replace("\\\n", " ").splitlines():
                    for part in re.split(r"\||&&|;", line):
                        words = shlex.split(part, comments=True) if quoted_well(part) else part.split()
                        words = [word for word in words if "=" not in word or word.startswith("-")]
                        if words[:1] == ["pboh"]:
                            yield block, words


def quoted_well(text):
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def test_commands_shown_exist_with_their_options(commands):
    seen = 0
    for block, words in command_lines():
        if words[1] in ("--help", "-h", "--version"):
            continue
        assert words[1] in commands, f"{block} shows pboh {words[1]}"
        command = commands[words[1]]
        if inner := getattr(command, "commands", None):
            assert words[2] in inner, f"{block} shows pboh {words[1]} {words[2]}"
            command = inner[words[2]]
        flags = {flag for p in command.params for flag in [*p.opts, *p.secondary_opts]}
        for word in words[2:]:
            if re.match(r"--?[a-z]", word):
                assert word.split("=")[0] in flags | {"--help", "-h"}, f"{block} shows pboh {words[1]} {word}"
        seen += 1
    assert seen > 30


def test_programs_that_are_not_run_are_programs():
    for page in PAGES:
        for block in BLOCKS[page]:
            if block.language != PYTHON or block.runs:
                continue
            for node in ast.walk(ast.parse(block.code, str(block))):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pboh"):
                    module = importlib.import_module(node.module)
                    for imported in node.names:
                        assert hasattr(module, imported.name), f"{block} imports {imported.name}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_tables_are_whole(page):
    """Every run of lines with bars begins with a head and a rule: a blank line would end a table early."""
    text = FENCE.sub("", page.read_text("utf-8"))
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        rows = table.splitlines()
        assert len(rows) > 2 and re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", rows[1]), rows[0]
        columns = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
        assert len(columns) == 1, rows[0]


def test_the_readme_keeps_its_order():
    """What it is, the commands with their output, how good it is, how it works, how it compares."""
    text = (ROOT / "README.md").read_text("utf-8")
    headings = ["Try it", "Use it", "How good is it?", "How it works", "How it compares", "Develop"]
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == headings
    assert "It is for " in text.split("## ")[0]
    (speeds,) = re.findall(r"^\| what \| measured \|\n.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert len(speeds.splitlines()) == 5 and "(docs/explanation/speed.md)" in text


def test_every_limit_of_the_service_is_explained(commands):
    text = (ROOT / "docs" / "how-to" / "deploy.md").read_text("utf-8")
    limits = [p.opts[0] for p in commands["serve"].params if re.match(r"--(max|client)-", p.opts[0])]
    assert len(limits) > 8
    mcp = {"--max-characters"}  # explained where assistants are
    assert [option for option in limits if f"| `{option}` |" not in text and option not in mcp] == []


def test_make_targets_shown_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for block in BLOCKS[page]:
            if block.language in SHELL:
                for target in re.findall(r"^(?:\$ )?make ([a-z]+)", block.code, re.MULTILINE):
                    assert target in targets, f"{block} shows make {target}"


# -- the reader itself: a test that passes whatever a page says would be worth nothing ------------------


def block(code, language="console", **notes):
    return Block(ROOT / "README.md", 1, language, code, notes)


def test_commands_and_outputs_are_told_apart():
    code = "$ echo 'a\nb' \\\n  c\na\nb c\n$ cat <<'EOF'\nx\nEOF\nx\n"
    assert block(code).commands() == [("echo 'a\nb' \\\n  c", "a\nb c\n"), ("cat <<'EOF'\nx\nEOF", "x\n")]
    assert block("echo a\necho b\n", "sh").commands() == [("echo a\necho b\n", "")]
    served = block("echo a\npboh serve --model m\necho b\n", "sh").commands()
    assert [command for command, _ in served] == ["echo a\n", "pboh serve --model m\n", "echo b\n"]


def test_a_wrong_output_is_noticed(reader):
    reader.follow(block("$ echo 0.95 Paris\n0.94  Paris\n"))
    with pytest.raises(pytest.fail.Exception, match="is shown"):
        reader.follow(block("$ echo 0.95 Paris\n0.95  London\n"))
    with pytest.raises(pytest.fail.Exception, match="exit code 3"):
        reader.follow(block("exit 3\n", "sh"))


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 0.51 b", "a  0.52\tb", True),
        ("a 0.51 b", "a 0.53 b", False),
        ("a 0.5 b", "a 0.51 b", False),
        ("−0.31, (1.0)", "−0.32, (0.9)", True),
        ("0.31", "−0.31", False),
        ("version 1.2.3", "version 1.2.4", False),
        ("3 mentions", "4 mentions", False),
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nb\nc", False),
        ("a\n…", "a\nb", True),
        ("a", "a\nb", False),
        ("a\nb", "a", False),
        ("─── ──\nGeorgia  82%  or 4%", "\x1b[1m ─────── ── \x1b[0m\nGeorgia 82%  or  4%", True),
        ("Georgia 82%", "Georgia 81%", False),
        ("Georgia 82%", "Georgia 82% or 4%", False),
    ],
)
def test_outputs_are_compared(shown, printed, same):
    assert (same_output(shown, printed) is None) == same
