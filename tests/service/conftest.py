"""The fixtures of a served model, and its page in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from applications import address, client, limits, starter_address
from browsing import DESK, is_mistake, link
from served import TEXT

__all__ = ["address", "client", "limits", "open_page", "starter_address"]


@pytest.fixture(scope="session")
def linker(typed_linker):
    """What is served here knows what some of its entities are."""
    return typed_linker


@pytest.fixture
def open_page(browser, address) -> Iterator[Callable[..., Any]]:
    """Opens pages; at the end, none of them may have complained or asked anybody else for anything."""
    contexts, mistakes = [], []

    def opened(path="/", viewport=None, scheme="light", text=TEXT, address=address):
        context = browser.new_context(viewport=viewport or DESK, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: mistakes.append(str(error)))
        page.on("console", lambda said: mistakes.append(said.text) if is_mistake(said) else None)
        page.on("dialog", lambda dialog: (mistakes.append("dialog"), dialog.dismiss()))
        page.on(
            "request", lambda r: mistakes.append(r.url) if not r.url.startswith((address, "data:")) else None
        )
        page.goto(address + path)
        if path == "/":
            page.wait_for_selector("#facts:not(:empty)")
        if text is not None:
            link(page, text)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert mistakes == []
