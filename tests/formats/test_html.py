"""What notebooks show of documents, mentions and explanations: whole, escaped, and true to the numbers."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from pboh.document import Candidate, Contribution, Document, Entity, Explanation, Facts, Mention, Told
from pboh.formats.html import NOTEBOOK_CHARACTERS, SHOWN, to_html

TEXT = "Müller scored for Bayern before the striker of Dortmund was sent off."


class Reader(HTMLParser):
    """Text of an HTML fragment, its attributes, and whether every element was closed."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.text, self.open, self.attributes, self.cells = "", [], [], []
        self.feed(fragment)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in {"a", "b", "div", "span", "table", "td", "th", "tr"}, tag
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells.append(data)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.attributes if key == name]


def test_links_lead_to_the_wikipedia_of_the_model():
    address = "https://de.wikipedia.org/wiki/K%C3%B6ln_%28Rhein%29"
    for url, found in ((address, [address]), (None, [])):
        entity = Entity("Köln (Rhein)", 0, None, Told(Facts("place", 0.9, "Stadt in <Deutschland>"), url))
        document = Document("Köln", [Mention(0, 4, "Köln", entity, 0.9)])
        for page in (to_html(document), document._repr_html_()):
            assert re.findall(r'href="([^"]*)"', page) == found
            assert "place: Stadt in &lt;Deutschland&gt;" in page
            assert Reader(document._repr_html_())
        candidate = Candidate(entity, 0.9, 0.1, 0.1, 0.9)
        mention = Mention(0, 4, "Köln", entity, 0.9, candidates=(candidate,))
        assert "; place: Stadt" in Reader(mention._repr_html_()).text
        assert Reader(mention._repr_html_()).all("title") == ["place: Stadt in <Deutschland>"]


def test_a_document_shows_its_text_with_coloured_mentions(linker):
    document = linker.link(TEXT, threshold=0.0)
    shown = Reader(document._repr_html_())
    assert shown.text.startswith(TEXT)
    titles = [mention.entity.title for mention in document]
    assert len(titles) >= 3
    assert [hint.split(":")[0] for hint in shown.all("title")] == titles
    assert all(address.startswith("https://en.wikipedia.org/wiki/") for address in shown.all("href"))
    assert f"{len(titles)} mentions of {len(set(titles))} entities" in shown.text


def test_colours_are_transparent_so_that_they_suit_light_and_dark(linker):
    document = linker.link(TEXT, threshold=0.0)
    for shown in (document, document.mentions[0], document.mentions[0].explain()):
        styles = " ".join(Reader(shown._repr_html_()).all("style"))
        assert not re.search(r"(?<!-)color:(?!inherit)|background:(?!hsla\()|#[0-9a-f]{3}", styles)


def test_a_mention_shows_its_candidates(linker):
    (mention,) = linker.disambiguate(TEXT, [(0, 6)])
    shown = Reader(mention._repr_html_())
    for candidate in mention.candidates:
        assert candidate.entity.title in shown.cells
        assert f"{candidate.probability:.1%}" in shown.cells
    assert f"{mention.probability:.0%} sure" in shown.text


def test_an_explanation_shows_terms_that_sum_to_the_score(linker):
    for mention in linker.link(TEXT, threshold=0.0):
        why = mention.explain()
        cells = Reader(why._repr_html_()).cells
        values = [float(cell) for cell in cells if re.fullmatch(r"[+-]\d+\.\d\d", cell)]
        *terms, score = values
        assert sum(terms) == pytest.approx(score, abs=0.005 * len(values) + 1e-9)
        assert score == pytest.approx(why.score, abs=0.005)
        assert f"score of {why.entity.title}" in cells


def test_many_terms_are_summed_up():
    words = tuple(Contribution(f"w{k}", 1.0 / (k + 1)) for k in range(50))
    total = sum(word.value for word in words)
    why = Explanation(Entity("E", 0), -1.0, total, words, 0.0, 0.5, (), total - 0.5)
    cells = Reader(why._repr_html_()).cells
    assert f"{50 - 2 * SHOWN} more words" in cells
    assert "a longer name in the text" in cells


NASTY = '"><script>alert(1)</script>&'


def test_everything_is_escaped():
    entity = Entity(NASTY, 0)
    mention = Mention(0, len(NASTY), NASTY, entity, 0.5, candidates=(Candidate(entity, 0.5, 0, 0, 0.5),))
    why = Explanation(entity, 0.0, 0.0, (Contribution(NASTY, 1.0),), 0.0, 0.0, (), 1.0)
    for shown in (Document(NASTY, [mention]), mention, why):
        fragment = shown._repr_html_()
        assert "<script" not in fragment
        assert NASTY in Reader(fragment).text


def test_odd_documents_can_be_shown():
    assert "0 mentions of 0 entities" in Reader(Document("", [])._repr_html_()).text
    odd = Document("a\ud800b", [Mention(0, 1, "a"), Mention(0, 2, "a\ud800"), Mention(2, 3, "b")])
    odd._repr_html_().encode()
    assert Reader(Mention(0, 1, "a")._repr_html_()).text == "“a” → no entity"
    zero = Explanation(Entity("E", 0), 0.0, 0.0, (), 0.0, 0.0, (), 0.0)
    assert "+0.00" in Reader(zero._repr_html_()).cells


def test_long_documents_are_cut():
    text = "Bayern " * 20_000
    mentions = [Mention(k, k + 6, "Bayern", Entity("B", 0)) for k in range(0, len(text), 7)]
    shown = Reader(Document(text, mentions)._repr_html_())
    body = shown.text[: shown.text.index("20,000 mentions")]
    assert body == text[:NOTEBOOK_CHARACTERS]
    assert f"{len(text) - NOTEBOOK_CHARACTERS:,} of them not shown" in shown.text
