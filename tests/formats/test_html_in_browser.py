"""The page of `pboh link --format html` in a real browser: a mention shows its reasons, and nothing runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from pboh.formats.html import to_html

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_candidates_and_reasons_show_when_pointed_at(browser, linker, tmp_path: Path, scheme: str) -> None:
    text = "Müller scored for Bayern against Dortmund.\n<script>alert('x')</script> مولر 東京"
    document = linker.disambiguate(text, [(0, 6), (18, 24), (33, 41)])
    (tmp_path / "page.html").write_text(to_html(document), encoding="utf-8")
    page = browser.new_page(color_scheme=scheme, viewport={"width": 400, "height": 600})
    mistakes: list[str] = []
    page.on("pageerror", lambda error: mistakes.append(str(error)))
    page.on("dialog", lambda dialog: (mistakes.append("dialog"), dialog.dismiss()))
    page.on("request", lambda r: mistakes.append(r.url) if r.url.startswith("http") else None)
    page.goto((tmp_path / "page.html").as_uri())
    mentions = page.locator(".m")
    assert mentions.count() == 3
    reasons = mentions.nth(0).locator(".why")
    assert not reasons.is_visible()
    mentions.nth(0).hover()
    assert reasons.is_visible() and document.mentions[0].entity.title in reasons.inner_text()
    box = reasons.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 400, "it stays on a phone's screen"
    page.mouse.move(0, 599)
    page.keyboard.press("Tab")
    assert reasons.is_visible(), "the keyboard reaches it too"
    assert "<script>" in page.locator(".text").inner_text()
    assert mistakes == []
    page.close()
