"""The site builds without a warning, shows every public name, and loads nothing from elsewhere."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import threading
from functools import cached_property, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import pboh

ROOT = Path(__file__).parents[2]
mkdocs = pytest.importorskip("mkdocs.config", reason="the extra docs is not installed")
markdown = pytest.importorskip("markdown", reason="the extra docs is not installed")


@pytest.fixture(scope="module")
def site(made_once):
    """The built site; its pages in build/docs are written once, too."""

    def make(folder):
        subprocess.run([sys.executable, "docs/make_site.py"], cwd=ROOT, check=True)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False,
            env=dict(os.environ) | {"NO_MKDOCS_2_WARNING": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once("site", make)


def test_every_page_is_in_the_menu():
    (ROOT / "build" / "docs").mkdir(parents=True, exist_ok=True)
    config = mkdocs.load_config(str(ROOT / "mkdocs.yml"))

    def paths(item):
        if isinstance(item, str):
            return [item]
        return [path for part in (item.values() if isinstance(item, dict) else item) for path in paths(part)]

    listed, docs = set(paths(config["nav"])), ROOT / "docs"
    written = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    written |= {path.relative_to(docs).with_suffix(".md").as_posix() for path in docs.rglob("*.ipynb")}
    assert written - listed == set()


def test_any_builder_can_take_the_pages(site):
    """Another renderer of Markdown, without a plugin or hook of the builder, loses nothing."""
    config = mkdocs.load_config(str(ROOT / "mkdocs.yml"))
    assert not config["hooks"] and list(config["plugins"]) == ["material/search"]
    pages = list((ROOT / "build" / "docs").rglob("*.md"))
    assert len(pages) > 25
    for page in pages:
        html = markdown.markdown(
            page.read_text(), extensions=["attr_list", "fenced_code", "md_in_html", "tables", "toc"]
        )
        assert not re.search(r"^(:::|!!!|```)", html, re.MULTILINE), page.name
        built = (site / page.relative_to(ROOT / "build" / "docs").with_suffix(".html")).read_text()
        for what in (r"<math\b", r"<table\b", r"<h[23]\b"):
            assert len(re.findall(what, html)) == len(re.findall(what, article(built))), (
                f"{page.name}: {what}"
            )


def article(html):
    """What of a built page is the page itself; the builder may lay its code out as a table."""
    return re.sub(
        r'<table class="highlighttable">', "", html.split("<article", 1)[1].split("</article>", 1)[0]
    )


def test_nothing_is_loaded_from_elsewhere(site):
    loads = r"""<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)=["']?(https?:|//)"""
    for page in site.rglob("*.html"):
        found = re.findall(loads, re.sub(r'<link rel="canonical"[^>]*>', "", page.read_text()))
        assert not found, page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*['\"]?https?:", sheet.read_text()), sheet.name


def test_equations_are_drawn_without_scripts(site):
    pytest.importorskip("latex2mathml", reason="latex2mathml is not installed")
    page = (site / "explanation" / "model.html").read_text()
    assert page.count("<math") >= 6
    assert "\\frac" not in page
    assert "```math" not in page


def test_every_public_name_and_method_is_on_the_page(site):
    page = (site / "reference" / "api.html").read_text()
    for name in pboh.__all__:
        if name == "__version__":
            continue
        thing = getattr(pboh, name)
        assert f'id="pboh.{name}"' in page, name
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            method = inspect.isfunction(value) or isinstance(value, property | cached_property | classmethod)
            if method and not member.startswith("_"):
                assert f'id="pboh.{name}.{member}"' in page, f"{name}.{member}"


@pytest.mark.slow
@pytest.mark.browser
def test_the_site_works_in_a_browser_without_the_network(site, browser):
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/"
        asked = []
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme)
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{address}explanation/model.html")
            assert page.locator("math").first.bounding_box()["width"] > 100
            assert page.get_attribute("body", "data-md-color-scheme") == {"light": "default"}.get(
                scheme, "slate"
            )
        page.click(".md-search__input")
        page.keyboard.type("belief propagation")
        page.locator(".md-search-result__item").first.wait_for()
        page.close()
        server.shutdown()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


def test_notebooks_become_pages():
    hooks = subprocess.run(
        [sys.executable, "-c", NOTEBOOK], cwd=ROOT / "docs", capture_output=True, text=True, check=False
    )
    assert (
        hooks.stdout == "# Title\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n<div><b>x</b></div>\n"
    ), hooks.stderr


NOTEBOOK = """
import make_site
print(make_site.notebook_page({"cells": [
    {"cell_type": "markdown", "source": ["# Title"]},
    {"cell_type": "code", "source": ["print(1)"], "outputs": [
        {"output_type": "stream", "text": ["1\\n"]},
        {"output_type": "display_data", "data": {"text/html": ["<b>x</b>"], "text/plain": ["x"]}},
    ]},
]}), end="")
"""
