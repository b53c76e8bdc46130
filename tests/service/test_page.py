"""The page in a real browser: link, look, play, change; by mouse and keyboard, on desk and phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served import TEXT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PICTURES = Path(__file__).parents[2] / "artifacts" / "service"
DESK, PHONE = {"width": 1360, "height": 1000}, {"width": 390, "height": 844}


@pytest.fixture
def open_page(browser, address) -> Iterator:
    """Opens pages; at the end, none of them may have complained or asked anybody else for anything."""
    contexts, mistakes = [], []

    def opened(path="/", viewport=None, scheme="light", text=TEXT):
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
        if text is not None:
            page.wait_for_selector("#facts:not(:empty)")
            link(page, text)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert mistakes == []


def is_mistake(said) -> bool:
    """Whether a line of the console means trouble; refused requests are shown to the user as well."""
    return said.type == "error" and "status of 413" not in said.text


def link(page, text):
    page.click("#edit")
    page.fill("#source", text)
    page.click("#link")
    page.wait_for_function(
        "wanted => document.getElementById('text').textContent.includes(wanted)", arg=text[:6]
    )
    page.wait_for_selector("#text:not([hidden])")


def keep(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(600)  # bars and rings have moved to their places
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def mention(page, name):
    return page.locator(".mention", has=page.get_by_text(name, exact=True)).first


def label(page, name):
    return mention(page, name).get_attribute("aria-label")


def solved(page, act):
    """Do something and wait for the service's answer to be shown."""
    with page.expect_response("**/v1/graph") as answer:
        act()
    assert answer.value.ok
    page.wait_for_function("() => !document.body.hasAttribute('aria-busy')")


def test_a_text_is_linked_and_every_answer_has_reasons(open_page, linker):
    page = open_page()
    shown = page.eval_on_selector_all(".mention span", "all => all.map(e => e.textContent)")
    assert shown == [m.text for m in linker.link(TEXT)]
    mention(page, "Jordan").click()
    page.wait_for_selector(".reasons")
    candidates = page.eval_on_selector_all(".candidate .name", "all => all.map(e => e.textContent)")
    expected = next(m for m in linker.link(TEXT) if m.text == "Jordan")
    assert candidates == [c.entity.title for c in expected.candidates]
    for term in ("prior", "words", "neighbours"):
        assert page.locator(f".reason.{term}").count() == min(len(candidates), 4)
    widths = page.eval_on_selector_all(".meter i", "all => all.map(e => parseFloat(e.style.width))")
    assert widths == pytest.approx([100 * c.probability for c in expected.candidates], abs=0.1)
    assert page.locator(".details .term").count() > 0
    keep(page, "desk-light")


def test_more_or_fewer_mentions_are_found(open_page):
    page = open_page()
    found = page.locator(".mention").count()
    for value, expected in (("0.95", lambda n: n < found), ("0", lambda n: n >= found)):
        move = """([input, value]) => { input.value = value;
            input.dispatchEvent(new Event("input")); input.dispatchEvent(new Event("change")); }"""
        handle = page.query_selector("#threshold")
        solved(page, lambda move=move, handle=handle, value=value: page.evaluate(move, [handle, value]))
        assert expected(page.locator(".mention").count())
    assert "at least 0 %" in page.inner_text("#least")


def test_the_graph_draws_ties_as_thick_as_their_contribution(open_page):
    page = open_page()
    answer = page.request.post(
        page.url + "v1/graph",
        data={"text": TEXT},
    ).json()
    answers = [m["answer"] for m in answer["mentions"]]
    live = [e for e in answer["edges"] if answers[e["a"]] == e["x"] and answers[e["b"]] == e["y"]]
    widths = page.eval_on_selector_all(
        "#graph .edge", "all => all.map(e => Number(e.getAttribute('stroke-width')))"
    )
    assert len(widths) == len(live) > 3
    assert sorted(widths, reverse=True) == sorted(
        (pytest.approx(1 + 8 * e["value"] / answer["edges"][0]["value"], abs=0.02) for e in live),
        key=lambda w: w.expected,
        reverse=True,
    )
    assert page.locator(".node").count() == sum(bool(m["candidates"]) for m in answer["mentions"])


def test_belief_propagation_plays_round_by_round(open_page):
    page = open_page()
    last = int(page.get_attribute("#round", "max"))
    assert last >= 1
    dashes = "all => all.map(e => e.getAttribute('stroke-dasharray'))"
    final = page.eval_on_selector_all(".slice", dashes)
    page.press("body", ",")
    assert f"round {last - 1}" in page.inner_text("#round-facts") or last == 1
    for _ in range(last):
        page.press("body", ",")
    assert "on its own" in page.inner_text("#round-facts")
    assert page.eval_on_selector_all(".slice", dashes) != final
    keep(page, "first-round")
    page.click("#play")
    page.wait_for_function(f"() => document.getElementById('round').value === '{last}'", timeout=30_000)
    assert page.eval_on_selector_all(".slice", dashes) == final
    assert "converged" in page.inner_text("#round-facts")


def test_clamping_steers_the_neighbours_and_can_be_undone(open_page):
    text = "Mercury, Mars and Jupiter."
    page = open_page(text=text)
    free = label(page, "Mars")
    mention(page, "Mercury").click()
    page.wait_for_selector(".reasons")
    clamp = page.get_by_role("button", name="Clamp to Mercury (mythology)")
    solved(page, clamp.click)
    assert "clamped" in label(page, "Mercury") and "Mercury (mythology)" in label(page, "Mercury")
    assert label(page, "Mars") != free
    keep(page, "clamped")
    solved(page, lambda: page.click("#free"))
    assert label(page, "Mars") == free
    solved(page, lambda: page.press("body", "Control+z"))
    assert "clamped" in label(page, "Mercury")


def test_an_entity_outside_the_candidates_can_be_found_and_clamped(open_page):
    page = open_page()
    mention(page, "Bulls").click()
    page.fill("#wanted", "Georgia")
    page.press("#wanted", "Enter")
    solved(page, page.get_by_role("button", name="Georgia (country)").click)
    assert "Georgia (country), clamped" in label(page, "Bulls")


def test_mentions_are_added_moved_and_removed_by_mouse(open_page):
    page = open_page(text="Georgia borders Armenia.")
    before = page.locator(".mention").count()
    select(page, "borders")
    solved(page, lambda: page.click("#add"))
    assert page.locator(".mention").count() == before + 1 and label(page, "borders")
    select(page, "borders ")
    select(page, ".")
    page.evaluate("() => window.getSelection().removeAllRanges()")
    mention(page, "borders").click()
    solved(page, lambda: page.get_by_label("End one word later").click())
    assert page.locator(".mention").count() == before  # it now covers Armenia
    solved(page, lambda: page.click("#remove"))
    assert page.locator(".mention").count() == before - 1


def select(page, words):
    """Select words of the text as a mouse would."""
    page.evaluate(
        """words => {
            const walker = document.createTreeWalker(document.getElementById('text'), NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const at = walker.currentNode.data.indexOf(words);
                if (at < 0) continue;
                const range = document.createRange();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + words.length);
                window.getSelection().removeAllRanges();
                window.getSelection().addRange(range);
                return;
            }
        }""",
        words,
    )
    page.wait_for_timeout(100)


def test_everything_works_from_the_keyboard(open_page):
    page = open_page()
    names = page.eval_on_selector_all(".mention span", "all => all.map(e => e.textContent)")
    page.press("body", "ArrowRight")
    page.press("body", "ArrowRight")
    assert page.inner_text(".subject q").strip("“”") == names[1]
    assert page.evaluate("() => document.activeElement.id") == "mention-1"
    page.wait_for_selector(".reasons")
    solved(page, lambda: page.press("body", "1"))
    assert "clamped" in label(page, names[1])
    solved(page, lambda: page.press("body", "0"))
    assert "clamped" not in label(page, names[1])
    solved(page, lambda: page.press("body", "Shift+ArrowRight"))
    assert page.inner_text(".subject q").strip("“”").startswith(f"{names[1]} ")
    solved(page, lambda: page.press("body", "Delete"))
    assert page.locator(".mention").count() == len(names) - 1
    page.press("body", "e")
    page.evaluate("() => document.getElementById('source').setSelectionRange(0, 6)")
    solved(page, lambda: page.press("#source", "Control+m"))
    page.wait_for_selector(".mention")


def test_emoji_do_not_shift_the_mentions(open_page):
    page = open_page(text="😀😀 Georgia borders 😀 Armenia.")
    assert page.eval_on_selector_all(".mention span", "all => all.map(e => e.textContent)") == [
        "Georgia",
        "Armenia",
    ]
    select(page, "borders")
    solved(page, lambda: page.click("#add"))
    assert label(page, "borders")


def test_editing_keeps_the_mentions_elsewhere(open_page):
    page = open_page(text="Mercury, Mars and Jupiter.")
    mention(page, "Mercury").click()
    page.wait_for_selector(".reasons")
    solved(page, page.get_by_role("button", name="Clamp to Mercury (mythology)").click)
    page.click("#edit")
    page.fill("#source", "They said that Mercury, Mars and Jupiter.")
    solved(page, lambda: page.click("#edit"))
    assert "Mercury (mythology), clamped" in label(page, "Mercury")


def test_markup_in_a_text_stays_text(open_page):
    page = open_page(text="<img src=x onerror=alert(1)> Georgia <script>alert(2)</script>")
    assert page.locator("#text img, #text script").count() == 0
    assert "<script>alert(2)</script>" in page.inner_text("#text")


def test_dark_phone_and_theme(open_page):
    dark = open_page(scheme="dark")
    mention(dark, "Jordan").click()
    dark.wait_for_selector(".reasons")
    keep(dark, "desk-dark")
    colour = "() => getComputedStyle(document.body).backgroundColor"
    before = dark.evaluate(colour)
    dark.click("#theme")
    assert dark.evaluate(colour) != before
    phone = open_page(viewport=PHONE)
    mention(phone, "Jordan").click()
    phone.wait_for_selector(".reasons")
    keep(phone, "phone")
    assert phone.evaluate(
        "() => document.documentElement.scrollWidth <= window.innerWidth"
    )  # no sideways scrolling


def test_errors_are_shown_as_sentences(open_page):
    page = open_page()
    link_too_much = "Georgia and Armenia. " * 600
    page.click("#edit")
    page.fill("#source", link_too_much)
    with page.expect_response("**/v1/graph"):
        page.evaluate("() => document.getElementById('link').click()")
    page.wait_for_selector("#alert:not([hidden])")
    assert "limit is 500" in page.inner_text("#alert")


def test_the_reference_lists_and_tries_every_address(open_page):
    page = open_page("/docs", text=None)
    page.wait_for_selector(".operation")
    addresses = page.eval_on_selector_all(".operation > summary code", "all => all.map(e => e.textContent)")
    assert {"/v1/link", "/nif", "/rest/annotate", "/reconcile"} <= set(addresses)
    operation = page.locator(".operation", has_text="/v1/disambiguate").first
    operation.locator("> summary").click()
    operation.locator(".try > summary").click()
    operation.get_by_role("button", name="Send").click()
    operation.locator("pre").wait_for()
    assert operation.locator("pre").inner_text().startswith("200")
    keep(page, "reference")
