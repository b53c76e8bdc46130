"""The report in a real browser: it draws, filters and explains, quickly, and runs nothing it should not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pboh.evaluation.report import write_report
from pboh.evaluation.runner import evaluate

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser, linker, small, tmp_path: Path) -> Iterator:
    """The report of two systems with 6,000 errors, some of them explained."""
    evaluation = evaluate(linker, [small], ["localmention", "pboh"], errors=True, explain=9)
    sure = evaluation.errors[0]._replace(probability=1.0, document="needle", mention="Haystack")
    evaluation = replace(evaluation, errors=evaluation.errors * 2000 + (sure,))
    write_report(tmp_path / "report.html", evaluation, evaluation)
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    opened.mistakes = []
    opened.on("pageerror", lambda error: opened.mistakes.append(str(error)))
    opened.on(
        "console", lambda message: opened.mistakes.append(message.text) if message.type == "error" else None
    )
    opened.on("dialog", lambda dialog: (opened.mistakes.append("dialog"), dialog.dismiss()))
    opened.on(
        "request", lambda request: opened.mistakes.append(request.url) if "http" in request.url[:5] else None
    )
    opened.goto((tmp_path / "report.html").as_uri())
    yield opened
    assert opened.mistakes == []
    opened.close()


def found(page) -> str:
    return page.evaluate("document.getElementById('found').value")


def test_tables_and_plots_are_visible(page) -> None:
    assert page.locator("nav a").count() == page.locator("section").count()
    assert page.locator("#results table").is_visible()
    assert page.locator("#paper").get_by_text("ours: PBoH").is_visible()
    assert page.locator("svg.plot").count() == 6
    widths = page.evaluate(
        "[...document.querySelectorAll('svg.plot')].map((s) => s.getBoundingClientRect().width)"
    )
    assert min(widths) > 300
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_errors_are_drawn_as_needed(page) -> None:
    assert found(page) == "6,001 of 6,001"
    first = page.locator(".error").count()
    assert 0 < first <= 400
    page.locator(".error").last.scroll_into_view_if_needed()
    page.wait_for_function(f"document.querySelectorAll('.error').length > {first}")
    assert page.locator(".error").count() < 1000


def test_search_and_filters(page) -> None:
    page.fill("#search", "NEEDLE hay")
    page.wait_for_function("document.getElementById('found').value.startsWith('1 of')")
    assert page.locator(".error mark").inner_text() == "Haystack"
    page.fill("#search", "")
    page.wait_for_function("document.getElementById('found').value.startsWith('6,001')")
    page.select_option("#by-kind", label="the right entity was not a candidate (2,000)")
    assert found(page) == "2,000 of 6,001"
    page.select_option("#by-kind", index=0)
    page.select_option("#order", "sure")
    assert page.locator(".error .doc").first.inner_text() == "needle"
    page.check("#explained")
    assert found(page) == "4,001 of 6,001"


def test_explanations_stand_side_by_side(page) -> None:
    page.locator(".error summary").first.click()
    page.wait_for_selector(".side")
    sides = page.locator(".error").first.locator(".side")
    assert sides.count() == 2
    left, right = (sides.nth(n).bounding_box() for n in (0, 1))
    assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 2
    assert "right: Paris Hilton" in sides.nth(0).inner_text()
    assert "Texas & <co>" in sides.nth(1).inner_text()
    assert "score" in sides.nth(1).inner_text()


def test_markup_in_data_stays_text(page) -> None:
    assert "<script>alert(1)</script>" in page.locator(".error p").first.inner_text()
    assert page.locator("script").count() == 2


def test_light_and_dark(page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(colour)
    page.click("#theme")
    assert page.evaluate(colour) != before
    page.emulate_media(color_scheme="dark")
    page.evaluate("localStorage.clear()")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_narrow_screen(page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
