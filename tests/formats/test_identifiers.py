"""Titles as other systems write them, written and read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.document import Entity, Facts, Told
from pboh.formats.identifiers import (
    dbpedia,
    is_opaque,
    plain_title,
    resource,
    title_of,
    wikipedia,
    written_title,
)


@pytest.mark.parametrize(
    ("uri", "title"),
    [
        ("http://dbpedia.org/resource/New_York_City", "New York City"),
        ("https://de.dbpedia.org/resource/Rudi_V%C3%B6ller", "Rudi Völler"),
        ("http://dbpedia.org/page/Ohio", "Ohio"),
        ("http://en.wikipedia.org/wiki/S%E3o_Paulo", "São Paulo"),  # Latin-1 escapes occur
        ("https://en.m.wikipedia.org/wiki/iPod#History", "IPod"),
        ("http://en.wikipedia.org/wiki/Ohio?oldid=3", "Ohio"),
        ("http://en.wikipedia.org/w/index.php?title=Ohio_River&oldid=3", "Ohio River"),
        ("http://dbpedia.org/resource/Who's_Next?", "Who's Next?"),
        ("http://yago-knowledge.org/resource/Bern", "Bern"),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC"),
        ("http://en.wikipedia.org/wiki/http://en.wikipedia.org/wiki/Dorothy_Lamour", "Dorothy Lamour"),
        ('http://en.wikipedia.org/wiki/Bern"', "Bern"),
        ("http://en.wikipedia.org/wiki/*null*", None),
        ("http://aksw.org/notInWiki/Bern", None),
        ("http://aksw.org/notInWiki/http://dbpedia.org/resource/Bern", None),
        ("http://aksw.org/notInWiki/http%3A%2F%2Fdbpedia.org%2Fresource%2FBern", None),
        ("http://notdbpedia.org/resource/Bern", None),
        ("http://dbpedia.org.example.com/resource/Bern", None),
        ("http://dbpedia.org/ontology/Place", None),
        ("http://dbpedia.org/resource/", None),
        ("http://[bad", None),
        ("Bern", None),
    ],
)
def test_title_of(uri: str, title: str | None) -> None:
    assert title_of(uri) == title


@pytest.mark.parametrize(
    "nil", [None, "", "  ", "NIL", "NIL12", "*null*", "---", "--NME--", "none", "http://x.org/a"]
)
def test_nil_marks(nil: str | None) -> None:
    assert written_title(nil) is None


def test_written_titles() -> None:
    assert written_title("New_York City ") == "New York City"
    assert written_title("http://en.wikipedia.org/wiki/Nile") == "Nile"
    assert written_title("Nile") == "Nile"


def test_opaque() -> None:
    assert is_opaque("http://www.wikidata.org/entity/Q42")
    assert not is_opaque("http://dbpedia.org/resource/Q42")


@given(st.text())
def test_any_text_is_a_title_or_none(text: str) -> None:
    for title in (plain_title(text), title_of(text), title_of(f"http://dbpedia.org/resource/{text}")):
        assert title is None or title == " ".join(title.split())


@pytest.mark.parametrize(
    ("language", "chapter"),
    [("en", "http://dbpedia.org/resource/"), ("ja", "http://ja.dbpedia.org/resource/"),
     ("zh-yue", "http://zh-yue.dbpedia.org/resource/")],
)  # fmt: skip
def test_a_language_has_its_own_chapter_of_dbpedia(language, chapter):
    article = Told(Facts(), wikipedia("東京 (都)", language))
    assert dbpedia(language) == chapter
    assert resource(Entity("東京 (都)", 1, None, article)) == chapter + "東京_(都)"


def test_an_entity_without_an_article_is_written_as_in_the_english_chapter():
    assert resource(Entity("A?", 1)) == "http://dbpedia.org/resource/A%3F"


def test_an_added_entity_has_its_own_address_made_fit_for_turtle():
    added = Entity("Vale", 1, "x", Told(Facts(), "https://kb.example/a b<%20>?q=[1]#c"))
    assert resource(added) == "https://kb.example/a%20b%3C%20%3E?q=[1]#c"
