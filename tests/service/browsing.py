"""What the browser tests share: linking a text on the page, finding a mention, waiting for answers."""

from __future__ import annotations

from pathlib import Path

PICTURES = Path(__file__).parents[2] / "artifacts" / "service"
DESK, PHONE = {"width": 1360, "height": 1000}, {"width": 390, "height": 844}


def is_mistake(said) -> bool:
    """Whether a line of the console means trouble; refused requests are shown to the user as well."""
    return said.type == "error" and "status of 413" not in said.text


def link(page, text):
    page.click("#edit")
    page.fill("#source", text)
    solved(page, lambda: page.click("#link"))
    page.wait_for_selector("#text:not([hidden])")


def keep(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.wait_for_timeout(600)  # bars and rings have moved to their places
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def mention(page, name):
    return page.locator(".mention", has=page.get_by_text(name, exact=True)).first


def label(page, name):
    return mention(page, name).get_attribute("aria-label")


def look_at(page, name):
    """Choose a mention and wait for its reasons."""
    mention(page, name).click()
    page.wait_for_selector(".reasons")


def solved(page, act):
    """Do something and wait for the service's answer to be shown."""
    with page.expect_response("**/v1/graph") as answer:
        act()
    assert answer.value.ok
    page.wait_for_function("() => !document.body.hasAttribute('aria-busy')")


def names(page):
    return page.eval_on_selector_all(".mention span", "all => all.map(e => e.textContent)")


def focused(page):
    """The text of the element that has the focus, or the name it is given."""
    return page.evaluate(
        "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()"
    )


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
