"""Wikitext becomes plain text, and every link's place in it is exact."""

from __future__ import annotations

import pytest

from pboh.corpus.titles import Site
from pboh.corpus.wikitext import plain_text

EN = Site.default("en")


def read(wikitext: str, site: Site = EN) -> tuple[str, list[tuple[str, str]]]:
    """The text, and each link as (anchor, target)."""
    text, links = plain_text(wikitext, site)
    return text, [(text[start:end], target) for start, end, target in links]


LINKS = {
    "plain": ("a [[Bus]].", "a Bus.", [("Bus", "Bus")]),
    "label": ("a [[Bus|coach]].", "a coach.", [("coach", "Bus")]),
    "first letter": ("[[bus]]", "bus", [("bus", "Bus")]),
    "two blanks": ("[[bus  stop]]", "bus  stop", [("bus  stop", "Bus stop")]),
    "trail": ("[[bus]]es, [[Car|auto]]s!", "buses, autos!", [("buses", "Bus"), ("autos", "Car")]),
    "no trail in capitals": ("[[bus]]ES", "busES", [("bus", "Bus")]),
    "no trail behind a digit": ("[[bus]]2x", "bus2x", [("bus", "Bus")]),
    "no trail behind nowiki": ("[[bus]]<nowiki/>es", "buses", [("bus", "Bus")]),
    "no trail behind quotes": ("''[[bus]]''es", "buses", [("bus", "Bus")]),
    "no trail behind a template": ("[[bus]]{{x}}es", "buses", [("bus", "Bus")]),
    "no trail behind two tags": ("[[bus]]<ref>a</ref>{{x}}es", "buses", [("bus", "Bus")]),
    "apostrophe template": ("''[[Time]]''{{'}}s", "Time's", [("Time", "Time")]),
    "pipe trick": ("[[Bus (computing)|]]", "Bus", [("Bus", "Bus (computing)")]),
    "pipe trick, comma": ("[[Paris, Texas|]]", "Paris", [("Paris", "Paris, Texas")]),
    "pipe trick, namespace": ("[[Help:Link|]]", "Link", []),
    "section": ("[[Bus#History|past]] [[Bus#Now]]", "past Bus#Now", [("past", "Bus"), ("Bus#Now", "Bus")]),
    "section of this page": ("[[#History|above]]", "above", []),
    "leading colon": ("[[:Bus]]es", "Buses", [("Buses", "Bus")]),
    "colon category": ("[[:Category:Buses|buses]]", "buses", []),
    "category": ("a [[Category:Buses]] b", "a  b", []),
    "category with key": ("[[category:buses|*]]x", "x", []),
    "other language": ("x [[fr:Autobus]]", "x", []),
    "colon other language": ("[[:fr:Autobus|le bus]]", "le bus", []),
    "sister project": ("[[wikt:bus|bus]]", "bus", []),
    "user page": ("[[User:A|A]]", "A", []),
    "own language": ("[[en:Bus|b]]", "b", [("b", "Bus")]),
    "underscores": ("[[Big_bus|x]]", "x", [("x", "Big bus")]),
    "entities": ("[[AT&amp;T|AT&amp;T]]", "AT&T", [("AT&T", "AT&T")]),
    "percent": ("[[Caf%C3%A9|c]]", "c", [("c", "Café")]),
    "bars in the label": ("[[Bus|a|b]]", "a|b", [("a|b", "Bus")]),
    "brackets in the label": ("[[Bus|[b] c]] [[Bus|[d]]]", "[b] c [d]", [("[b] c", "Bus"), ("[d]", "Bus")]),
    "three brackets": ("[[[Xenon|Xe]]]", "[Xe]", [("Xe", "Xenon")]),
    "italics in the label": ("[[Bus|''the'' '''bus''']]", "the bus", [("the bus", "Bus")]),
    "italics around": ("''[[Bus]]''", "Bus", [("Bus", "Bus")]),
    "blanks around the label": ("a[[Bus| b ]]c", "a b c", [("b c", "Bus")]),
    "blanks around the target": ("[[ Bus ]]", "Bus", [("Bus", "Bus")]),
    "newline in the label": ("[[Bus|a\nb]]", "a\nb", [("a\nb", "Bus")]),
    "newline in the target": ("[[Bu\ns]]", "[[Bu\ns]]", []),
    "template as label": ("x [[Bus|{{flag}}]]", "x", []),
    "template in the label": ("[[Bus|a{{b}}]]", "a", [("a", "Bus")]),
    "template as target": ("[[{{x}}]]a", "a", []),
    "comment in the link": ("[[Bus<!-- x -->|a]]", "a", [("a", "Bus")]),
    "tag in the label": ("[[Bus|a<br/>b<sup>2</sup>]]", "a b2", [("a b2", "Bus")]),
    "link in a label": ("[[Bus|a [[Car]] b]]", "[[Bus|a Car b]]", [("Car", "Car")]),
    "address as target": ("[[http://x.org y]]", "[y]", []),
    "relative path": ("[[../x|y]]", "y", []),
    "invalid target": ("[[a{b|c]]", "c", []),
    "blank entities around": ("a[[Bus|&nbsp;b&#32;]]c", "a\xa0b c", [("b c", "Bus")]),
    "blank entity as label": ("a[[Bus|&nbsp;]]c", "a\xa0c", [("c", "Bus")]),
    "empty": ("[[]] [[|]] a", "a", []),
}


@pytest.mark.parametrize("case", LINKS)
def test_links(case: str) -> None:
    wikitext, text, links = LINKS[case]
    got_text, got_links = read(wikitext)
    assert (got_text.strip(), got_links) == (text, links)


IMAGES = {
    "caption": ("[[File:a.jpg|thumb|200px|A [[bus]].]]", "A bus.", [("bus", "Bus")]),
    "caption without links": ("[[Image:a.jpg|left|A bus]]", "A bus", []),
    "no caption": ("x [[File:a.jpg|thumb|x200px|alt=A bus]]", "x", []),
    "alternative text is no caption": ("[[File:a.jpg|alt=A [[car]]|A [[bus]]]]", "A bus", [("bus", "Bus")]),
    "options behind": ("[[File:a.jpg|A [[bus]]|thumb|upright=1.2]]", "A bus", [("bus", "Bus")]),
    "label in the caption": ("[[File:a.jpg|A [[bus|b]] c]]", "A b c", [("b", "Bus")]),
    "image in a caption": (
        "[[File:a.jpg|[[File:b.jpg|x [[bus]]]] y [[car]]]]z",
        "x bus y carz",
        [("bus", "Bus"), ("car", "Car")],
    ),
    "external link in a caption": ("[[File:a.jpg|by [http://x X], [[bus]]]]", "by X, bus", [("bus", "Bus")]),
    "colon": ("[[:File:a.jpg|see]]", "see", []),
    "unclosed": ("[[File:a.jpg|thumb|A [[bus]]\n\nB", "[[File:a.jpg|thumb|A bus\n\nB", [("bus", "Bus")]),
    "unclosed before another": (
        "[[File:a.jpg|A [[bus]] [[File:b.jpg|B [[car]]]]",
        "[[File:a.jpg|A bus B car",
        [("bus", "Bus"), ("car", "Car")],
    ),
    "gallery": (
        "<gallery mode=packed>\nFile:a.jpg|A [[bus]]<ref>r</ref>\nFile:b.jpg\nFile:c.jpg|alt=x|C\n</gallery>",
        "A bus\nC",
        [("bus", "Bus")],
    ),
}


@pytest.mark.parametrize("case", IMAGES)
def test_images_keep_their_caption(case: str) -> None:
    wikitext, text, links = IMAGES[case]
    got_text, got_links = read(wikitext)
    assert (got_text.strip(), got_links) == (text, links)


REMOVED = {
    "template": ("a{{b|[[c]]}}d", "ad"),
    "nested templates": ("a{{b|{{c|{{d}}}}|e}}f", "af"),
    "template over lines": ("a\n{{b\n| c = [[d]]\n}}\ne", "a\n\ne"),
    "parameter": ("a{{{b|c}}}d", "ad"),
    "parameter in a template": ("a{{b|{{{c}}}}}d", "ad"),
    "five braces": ("a{{{{{b}}} c}}d", "ad"),
    "parser function": ("a{{#if: x | [[y]] }}b", "ab"),
    "table code in a template": ("a{{b|\n{| x\n|}\n}}c", "ac"),
    "dash template": ("1914{{ndash}}1918 a{{snd}}b", "1914–1918 a – b"),
    "unclosed template": ("a {{b [[c]]", "a {{b c"),
    "stray braces": ("a }} b } c { d", "a }} b } c { d"),
    "one pair too few": ("{{a {{b}} c", "{{a  c"),
    "reference": ("a<ref>[[b]]</ref>c", "ac"),
    "named reference": ('a<ref name="x">{{cite|b}}</ref>c<ref name="x"/>d', "acd"),
    "reference in capitals": ("a<REF>b</Ref>c", "ac"),
    "reference inside a template": ("a{{b|<ref>}}</ref>}}c", "ac"),
    "reference with a smaller sign": ("a<ref>b < c</ref>d", "ad"),
    "unclosed reference": ("a<ref>b<ref>c</ref>d", "abd"),
    "references": ("a<references><ref>b</ref></references>c", "ac"),
    "comment": ("a<!-- [[b]] -->c", "ac"),
    "comment with dashes": ("a<!-- b -- c - -->d", "ad"),
    "unclosed comment": ("a<!-- b [[c]]", "a"),
    "math": ("a<math>\\frac{{x}}{y}</math>b", "ab"),
    "code": ("a<syntaxhighlight lang=c>x[[1]]</syntaxhighlight>b<source>c</source>", "ab"),
    "inline code": ("<code>x</code> <tt>y</tt>", "x y"),
    "nowiki": ("<nowiki>[[a]] '''b''' {{c}}</nowiki>", "[[a]] '''b''' {{c}}"),
    "pre": ("<pre>\n* [[a]]\n</pre>", "* [[a]]"),
    "tags": ("<div style='x'>a</div><span>b</span><br>c", "a b c"),
    "not a tag": ("a < b and c > d <foo>", "a < b and c > d <foo>"),
    "tag before a mark": ("<td><code>{|</code>\n<b>* a</b> | b\n<i>=c=</i>", "{|\n* a | b\n=c="),
    "bold and italics": ("'''a''' ''b'' '''''c'''''", "a b c"),
    "apostrophes": ("'a' don't ''''b'''' c", "'a' don't 'b' c"),
    "headings": ("= a =\n==b==\n=== c === \nd = e\n==f=\n=", "a\nb\nc\nd = e\n=f\n="),
    "lists": ("* a\n** b\n# c\n:: d\n; e : f\n----\ng", "a\nb\nc\nd\ne : f\n\ng"),
    "switches": ("__NOTOC__a__FORCETOC__ __x__", "a __x__"),
    "external links": ("[http://a.b c d] [//a.b] [https://x] e http://f", "c d   e http://f"),
    "unclosed external link": ("[http://a b [[c]] d", "[b c d"),
    "entities": ("a&nbsp;b &eacute; &#x41; &#66; &lt;ref&gt; &unknown; &amp;amp; AT&T", None),
    "windows lines": ("a\r\n* b\r\n", "a\nb"),
    "includeonly": ("<includeonly>a</includeonly><noinclude>b</noinclude>", "b"),
}


@pytest.mark.parametrize("case", REMOVED)
def test_what_is_no_text_is_removed(case: str) -> None:
    wikitext, text = REMOVED[case]
    if text is None:
        text = "a\xa0b é A B <ref> &unknown; &amp; AT&T"
    assert read(wikitext)[0].strip() == text


def test_tables() -> None:
    text, links = read(
        'Before\n{| class="wikitable"\n|+ style="x" | A [[caption]]\n|-\n! scope="col" | Name !! [[Age|age]]'
        '\n|- style="y"\n| [[Ann|A.]] || align="right" | 12\n| colspan=2 | [[Bob]]\n'
        ":{| inner\n| [[Cy]]\n|}\n|}\nAfter"
    )
    assert links == [("caption", "Caption"), ("age", "Age"), ("A.", "Ann"), ("Bob", "Bob"), ("Cy", "Cy")]
    assert [line.split("\t") for line in text.replace(" ", "").split("\n") if line] == [
        ["Before"], ["Acaption"], ["Name", "age"], ["A.", "12"], ["Bob"], ["Cy"], ["After"],
    ]  # fmt: skip


def test_bars_outside_tables_are_text() -> None:
    assert read("a || b\n| c | d\n! e") == ("a || b\n| c | d\n! e", [])


def test_unclosed_table() -> None:
    text, links = read("{|\n| x=1 | [[a]]")
    assert (text.strip(), links) == ("a", [("a", "A")])


def test_offsets_survive_everything_that_moves_text() -> None:
    wikitext = (
        "{{Infobox}}'''Ünï𝒳''' &ndash; [[Bus]]es<ref>x</ref>, [[File:a.jpg|thumb|see [[car]]]] &amp; "
        "<nowiki>[</nowiki> ''[[Tram|tr&auml;m]]'' [[Category:X]]\n* [[Bus| b]]"
    )
    text, links = plain_text(wikitext, EN)
    assert [text[start:end] for start, end, _ in links] == ["Buses", "car", "träm", "b"]
    assert text == "Ünï𝒳 – Buses, see car & [ träm \n b"


def test_blank_lines_left_by_templates_close_up() -> None:
    assert read("a\n\n{{b}}\n\n{{c}}\n\nd")[0] == "a\n\nd"


def test_a_page_of_nothing() -> None:
    assert read("") == ("", [])
    assert read("{{a}}\n[[Category:B]]\n") == ("", [])


def test_links_do_not_depend_on_pages_read_before() -> None:
    once = read("[[bus]] [[ bus]] [[:bus]] [[BUS|]] [[Bus#a|b]]")
    assert once == read("[[bus]] [[ bus]] [[:bus]] [[BUS|]] [[Bus#a|b]]")
    assert [target for _, target in once[1]] == ["Bus", "Bus", "Bus", "BUS", "Bus"]
