"""The documentation is complete and true: every command, option, setting and public name, every link."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import pboh

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def reference():
    """The script that writes the reference pages."""
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "docs" / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date():
    module = reference()
    for name, page in module.PAGES.items():
        written = (ROOT / "docs" / "reference" / name).read_text()
        assert written == page(), f"{name} is out of date; run make docs"


def test_every_command_and_option_explains_itself():
    for name, command in reference().commands().items():
        assert len(command.help or "") > 40, name
        assert "pboh " + name in command.help, f"pboh {name} --help shows no example"
        for parameter in command.params:
            assert parameter.name == "help" or parameter.help, f"{name}: {parameter.name} has no help"


def test_every_public_name_is_documented():
    text = (ROOT / "docs" / "reference" / "api.md").read_text()
    missing = [name for name in pboh.__all__ if f"`{name}" not in text and f"pboh.{name}" not in text]
    assert not missing
    for name in pboh.__all__:
        assert name == "__version__" or getattr(pboh, name).__doc__, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_shown_exist_with_their_options(page):
    known = reference().commands()
    for block in re.findall(r"```(?:console|sh|bash)?\n(.*?)```", page.read_text(), re.DOTALL):
        joined = block.replace("\\\n", " ")
        for line in re.findall(r"^(?:\$ )?pboh ([a-z-]+)(.*)$", joined, re.MULTILINE):
            name, rest = line
            assert name in known, f"{page.name} shows pboh {name}"
            flags = {flag for p in known[name].params for flag in [*p.opts, *p.secondary_opts]} | {
                "--help",
                "-h",
            }
            rest = rest.split("#")[0].split("|")[0]
            for flag in re.findall(r"(?<=\s)(--[a-z-]+)", rest):
                assert flag in flags, f"{page.name} shows pboh {name} {flag}"
