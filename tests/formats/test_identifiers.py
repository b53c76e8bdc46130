"""Titles as other systems write them."""

import pytest

from pboh.document import Entity, Facts, Told
from pboh.formats.identifiers import dbpedia, resource, wikipedia


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
