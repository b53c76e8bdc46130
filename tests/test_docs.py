"""The documentation is complete and true: every command, option, setting and public name, every link."""

from __future__ import annotations

import importlib.util
import json
import re
from dataclasses import fields
from functools import cached_property
from pathlib import Path

import pytest

import pboh
from pboh.inference.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]


def reference(name="make_reference"):
    """The script that writes the reference pages, or another one."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date():
    module = reference()
    for name, page in module.PAGES.items():
        written = (ROOT / "docs" / "reference" / name).read_text()
        assert written == page(), f"{name} is out of date; run make docs"


@pytest.mark.parametrize("page", reference().PAGES)
def test_rows_of_generated_tables_have_as_many_cells_as_their_head(page):
    text = (ROOT / "docs" / "reference" / page).read_text()
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1, table


def test_figures_are_those_that_were_measured():
    module = reference("make_figures")
    for page, tables in module.PAGES.items():
        written = page.read_text("utf-8")
        assert written == module.with_figures(written, tables()), f"{page.name} is out of date; run make docs"
    assert len(module.short()) == 5


def test_reopening_a_model_is_measured_alone():
    """Mapping the files again takes less time than importing the package and mapping them."""
    measured = json.loads((ROOT / "benchmarks" / "results" / "inference.json").read_text())
    assert measured["reopen_ms"] < 1e3 * measured["cold_start"]["import_and_open_seconds"]


def test_every_command_and_option_explains_itself():
    for name, command in reference().commands().items():
        assert len(command.help or "") > 40, name
        assert "pboh " + name in command.help, f"pboh {name} --help shows no example"
        for parameter in command.params:
            assert parameter.name == "help" or parameter.help, f"{name}: {parameter.name} has no help"


def public_members():
    """Every public name with its public methods and properties, as the page should show them."""
    for name in pboh.__all__:
        thing = getattr(pboh, name)
        yield name, thing
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                wanted = callable(value) or isinstance(value, property | cached_property)
                if wanted and not member.startswith("_"):
                    yield f"{name}.{member}", value


def test_every_public_name_is_documented():
    text = (ROOT / "docs" / "reference" / "api.md").read_text()
    for name in pboh.__all__:
        assert f"| `{name}" in text, f"{name} is not in the table of names"
        assert name == "__version__" or f"::: pboh.{name}\n" in text, f"{name} is not documented in full"
    for name, thing in public_members():
        assert name == "__version__" or thing.__doc__, f"{name} has no docstring"


def test_every_command_option_and_setting_is_documented():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    for name, command in reference().commands().items():
        section = page.split(f"## pboh {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            for flag in parameter.opts if parameter.name != "help" else ():
                assert f"`{flag}`" in section or not flag.startswith("-"), f"pboh {name} {flag}"
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    for setting in fields(Settings):
        assert f"| `{setting.name}" in page, setting.name
    for layer in Settings().layers:
        assert f"| `layers.{layer}` |" in page, layer


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
