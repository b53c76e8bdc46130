"""How the page looks: right examples, readable at every size, one meaning per colour, accessible."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest
from browsing import PHONE, keep, link, look_at, mention, solved

from pboh.learning import annotated

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXAMPLES = {  # what a reader would say; a name that is not here means the page of that title
    "Georgia": {"Georgia": "Georgia (country)"},
    "Java, an island": {},
    "Java, a language": {"Java": "Java (programming language)", "Python": "Python (programming language)"},
    "Collins in space": {"Michael Collins": "Michael Collins (astronaut)"},
    "Collins in Ireland": {"Michael Collins": "Michael Collins (Irish leader)"},
    "Planets": {"Mercury": "Mercury (planet)"},
}
BOXES = """all => all.filter(e => e.textContent).map(e => {
    const { left, right, top, bottom } = e.getBoundingClientRect(); return [left, right, top, bottom]; })"""


@pytest.fixture(scope="module")
def long_text() -> str:
    """Paragraphs about many things, with more than 200 names in them."""
    file = Path(annotated.__file__).with_name("development.jsonl")
    paragraphs = [json.loads(line) for line in file.read_text().splitlines()]
    return "\n\n".join(p["text"] for p in paragraphs if p["language"] == "en")[:14_000]


def test_the_examples_are_answered_rightly(open_page, starter_address):
    page = open_page(address=starter_address, text=None)
    shown = page.eval_on_selector_all("#examples button", "all => all.map(e => e.textContent)")
    assert shown == list(EXAMPLES)
    for example, special in EXAMPLES.items():
        solved(page, page.locator("#examples").get_by_role("button", name=example).click)
        answers = [m.split(": ", 1) for m in labels(page)]
        wrong = {
            name: answer for name, answer in answers if answer.rpartition(", ")[0] != special.get(name, name)
        }
        assert not wrong
        capitals = page.evaluate(UNLINKED)
        assert not capitals, f"{example}: {capitals} found no link"
        page.wait_for_selector(".reasons")  # of the name that tells
        name = page.inner_text(".subject q").strip("“”")
        assert page.inner_text(".candidate.answer .name") == special.get(name, name)
    keep(page, "example")


def labels(page):
    return page.eval_on_selector_all(".mention", "all => all.map(e => e.getAttribute('aria-label'))")


# Words with a capital letter that are in no mention, but for those that begin a sentence.
UNLINKED = """() => {
    const text = document.getElementById("text").cloneNode(true);
    for (const mention of text.querySelectorAll(".mention")) mention.replaceWith("·");
    return text.textContent.match(/(?<![.;] |^)\\b\\p{Lu}\\p{L}+/gu) ?? [];
}"""


@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desk", "phone"])
def test_the_graph_of_two_hundred_mentions_is_readable(open_page, starter_address, long_text, viewport):
    page = open_page(address=starter_address, viewport=viewport, text=long_text)
    answer = page.request.post(page.url + "v1/graph", data={"text": long_text}).json()
    answers = [m["answer"] for m in answer["mentions"]]
    assert len(answers) >= 200
    check_labels(page)
    for chosen in (0, 30, 100, 199):
        page.locator(f"#mention-{chosen}").click()
        check_labels(page)
        drawn = page.eval_on_selector_all(".node", "all => all.map(e => Number(e.dataset.key))")
        ties = [e for e in answer["edges"] if answers[e["a"]] == e["x"] and answers[e["b"]] == e["y"]]
        titles = {answer["mentions"][i]["entity"] for i in drawn}
        others = [e["a"] + e["b"] - chosen for e in ties if chosen in (e["a"], e["b"])]
        assert chosen in drawn
        assert {answer["mentions"][i]["entity"] for i in others[:5]} <= titles
    page.locator(".node").last.scroll_into_view_if_needed()
    keep(page, f"two-hundred-{'phone' if viewport else 'desk'}")
    page.press("body", ",")
    check_labels(page)


def check_labels(page):
    """No label lies over another or leaves the picture."""
    boxes = page.eval_on_selector_all(".node text", BOXES)
    ((left, right, top, bottom),) = page.eval_on_selector_all(
        "#graph svg", BOXES.replace("textContent", "tagName")
    )
    assert boxes
    for a, b, c, d in boxes:
        assert left <= a < b <= right and top <= c < d <= bottom
    for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
        same_node = min(abs(c - g), abs(d - h)) < 16 and abs(a + b - e - f) < 1
        assert same_node or b <= e or f <= a or d <= g or h <= c


def test_on_a_phone_a_tapped_mention_shows_its_reasons_in_view(open_page, starter_address, long_text):
    page = open_page(address=starter_address, viewport=PHONE, text=long_text)
    for place in (0, 80, 150):
        page.locator(f"#mention-{place}").click()
        page.wait_for_selector(".reasons")
        for shown in (f"#mention-{place}", ".subject", ".candidate-head", ".reasons"):
            box = page.locator(shown).first.bounding_box()
            assert box["y"] >= 0 and box["y"] + box["height"] <= PHONE["height"], shown
        sheet, name = page.locator("#why").bounding_box(), page.locator(f"#mention-{place}").bounding_box()
        assert name["y"] + name["height"] <= sheet["y"]
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    page.click("#close")
    assert page.is_hidden("#why")


def test_colours_mean_one_thing(open_page):
    """What a name is coloured in the text, its ring and its tag are coloured; nothing else is."""
    page = open_page(text="Mercury, Mars and Jupiter.")
    look_at(page, "Mercury")
    solved(page, page.get_by_role("button", name="Clamp to Mercury (mythology)").click)
    page.wait_for_timeout(600)
    colour = "(e, property) => getComputedStyle(e)[property]"
    for place in range(page.locator(".mention").count()):
        page.locator(f"#mention-{place}").click()
        wanted = page.eval_on_selector(f"#mention-{place}", colour, "borderBottomColor")
        page.wait_for_timeout(200)  # also under the mouse, and after a tap
        background = page.eval_on_selector(f"#mention-{place}", colour, "backgroundColor")
        assert background != page.evaluate(SHADE, "--hover")
        assert page.eval_on_selector(f".node[data-key='{place}'] .share", colour, "stroke") == wanted
        assert page.eval_on_selector(".tag", colour, "color") == wanted
    names = ("accent", "sure", "likely", "doubtful", "unlinked", "clamped", "reason")
    assert len({page.evaluate(SHADE, f"--{name}") for name in names}) == len(names)


# The colour of a variable.
SHADE = """name => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const shown = getComputedStyle(probe).color;
    probe.remove();
    return shown;
}"""


def test_a_colour_goes_with_the_percentage_that_is_shown(open_page):
    page = open_page(text=None)

    def nearly(route):
        answer = route.fetch().json()
        for m in answer["mentions"]:
            m["probability"] = 0.796
        route.fulfill(json=answer)

    page.route("**/v1/graph", nearly)
    link(page, "Georgia borders Armenia.")
    assert mention(page, "Georgia").get_attribute("aria-label").endswith(", 80 %")
    assert "sure" in mention(page, "Georgia").get_attribute("class")


def test_titles_are_written_out_in_the_graph(open_page, starter_address):
    for viewport in (None, PHONE):
        page = open_page(address=starter_address, viewport=viewport, text=None)
        solved(page, page.locator("#examples").get_by_role("button", name="Collins in space").click)
        assert page.locator(".node .entity", has_text="Michael Collins (astronaut)").count() == 1
        check_labels(page)


def test_the_numbers_of_an_answer_are_shown_as_they_are_answered(open_page):
    """Header: the answer's probability; rows: the candidates', and what is not in the knowledge base."""
    page = open_page()

    def richer(route):
        answer = route.fetch().json()
        for m in answer["mentions"]:
            m["probability"], m["nil"], m["detection"] = 0.62, 0.17, 0.44
            for k, c in enumerate(m["candidates"]):
                c["probability"] = 0.62 if k == 0 else 0.01
                c["type"], c["description"] = "place", f"number {k} of its name"
        route.fulfill(json=answer)

    page.route("**/v1/graph", richer)
    link(page, "Georgia borders Armenia.")
    look_at(page, "Georgia")
    rows = page.eval_on_selector_all(".candidate .percent", "all => all.map(e => e.textContent)")
    assert page.inner_text(".tag") == rows[0] == "62 %"
    assert rows[1] == "17 %" and "not in the knowledge base" in page.inner_text(".candidate.unknown")
    assert "Worth a link: 44 %" in page.inner_text(".detection")
    assert "place · number 0 of its name" in page.inner_text(".candidate.answer")
    assert "place · number 0 of its name" in mention(page, "Georgia").get_attribute("title")


def test_header_rows_and_rings_say_the_same_and_add_up(open_page, starter_address):
    page = open_page(address=starter_address, text="Ray Charles sang about Georgia.")
    look_at(page, "Georgia")
    said = page.request.post(page.url + "v1/graph", data={"text": "Ray Charles sang about Georgia."}).json()
    expected = next(m for m in said["mentions"] if m["text"] == "Georgia")
    widths = page.eval_on_selector_all(".meter i", "all => all.map(e => parseFloat(e.style.width))")
    shares = [*(c["probability"] for c in expected["candidates"]), expected["nil"]]
    assert widths == pytest.approx([100 * share for share in sorted(shares, reverse=True)], abs=0.01)
    assert sum(widths) == pytest.approx(100, abs=0.1)
    answer = page.inner_text(".candidate.answer .percent")
    assert page.inner_text(".tag") == answer == f"{100 * expected['probability']:.0f} %"
    assert mention(page, "Georgia").get_attribute("aria-label").endswith(answer)
    assert page.inner_text(".candidate.unknown .percent") == f"{100 * expected['nil']:.0f} %"
    assert f"{100 * expected['detection']:.0f} %" in page.inner_text(".detection")
    filled, whole = map(
        float, page.get_attribute(".node[aria-current=true] .share", "stroke-dasharray").split()
    )
    assert filled / whole == pytest.approx(expected["probability"], abs=0.001)


def test_dark_and_light(open_page):
    dark = open_page(scheme="dark")
    look_at(dark, "Jordan")
    keep(dark, "desk-dark")
    colour = "() => getComputedStyle(document.body).backgroundColor"
    before = dark.evaluate(colour)
    dark.click("#theme")
    assert dark.evaluate(colour) != before


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [None, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(open_page, scheme, viewport):
    page = open_page(scheme=scheme, viewport=viewport, text="Mercury, Mars and Jupiter. Jordan met Pippen.")
    check_with_axe(page)
    look_at(page, "Mercury")
    keep(page, f"{'phone' if viewport else 'desk'}-{scheme}")
    check_with_axe(page)
    solved(page, page.get_by_role("button", name="Clamp to Mercury (mythology)").click)
    page.press("body", ",")
    check_with_axe(page)
    page.press("body", "e")
    check_with_axe(page)
    docs = open_page("/docs", scheme=scheme, viewport=viewport, text=None)
    docs.wait_for_selector(".operation")
    docs.evaluate("() => document.querySelectorAll('details').forEach(e => { e.open = true; })")
    check_with_axe(docs)


def check_with_axe(page):
    """Every rule of axe-core, on the page as it is now."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page.wait_for_timeout(600)  # colours have faded to their values
    found = axe.run(page).response
    assert len(found["passes"]) > 10
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in found["violations"]] == []
