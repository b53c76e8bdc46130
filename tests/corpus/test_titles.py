"""Titles have one spelling, redirects one end, pages one kind."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from worst_cases import assert_linear, worst_cases

from pboh.corpus.languages import _tables, conventions, read_conventions
from pboh.corpus.titles import (
    Site,
    normalise_title,
    page_kind,
    redirect_target,
    split_target,
    unescape,
)
from pboh.errors import InputError

EN = Site.default("en")


@pytest.mark.parametrize(
    ("raw", "title"),
    [
        ("Bus", "Bus"),
        ("bus stop", "Bus stop"),
        ("bus_stop", "Bus stop"),
        ("  bus __ stop_ ", "Bus stop"),
        ("bus\u3000stop\xa0", "Bus stop"),
        ("AT&amp;T", "AT&T"),
        ("caf&eacute;", "Café"),
        ("caf%C3%A9", "Café"),
        ("Cafe\u0301", "Café"),
        ("100% bus", "100% bus"),
        ("\u200eBus\u200f", "Bus"),
        ("élan", "Élan"),
        ("ßtest", "ßtest"),
        ("ŉ", "ŉ"),
        ("თბილისი", "თბილისი"),
        ("москва", "Москва"),
        ("日本", "日本"),
        ("iPod", "IPod"),
        ("𐐨x", "𐐀x"),
        ("", ""),
    ],
)
def test_normalise_title(raw: str, title: str) -> None:
    assert normalise_title(raw, EN) == title
    assert normalise_title(title, EN) == title


def test_case_is_the_wikis() -> None:
    wiktionary = Site.from_siteinfo("en", "enwiktionary", case="case-sensitive")
    assert normalise_title("bus_stop", wiktionary) == "bus stop"
    assert normalise_title("istanbul", Site.default("tr")) == "İstanbul"


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        ("Bus", (0, "Bus")),
        (":bus", (0, "Bus")),
        ("bus#History", (0, "Bus")),
        ("bus stop#a#b", (0, "Bus stop")),
        ("#History", (0, "")),
        ("bus_%28computing%29", (0, "Bus (computing)")),
        ("File:a.jpg", (6, "A.jpg")),
        ("image : a_b.jpg", (6, "A b.jpg")),
        (":Category:buses", (14, "Buses")),
        ("user_talk:A", (3, "A")),
        ("WP:Bus", (4, "Bus")),
        ("Star Trek: Voyager", (0, "Star Trek: Voyager")),
        ("fr:Autobus", None),
        (":fr:Autobus", None),
        ("WIKT:bus", None),
        ("en:bus", (0, "Bus")),
        ("en:Talk:Bus", (1, "Bus")),
        ("C++", (0, "C++")),
        ("AC/DC", (0, "AC/DC")),
        ("", None),
        (" ", None),
        (":", None),
        ("File:", None),
        ("a|b", None),
        ("a<b", None),
        ("a[b", None),
        ("a{b", None),
        ("a\ufffdb", None),
        ("%FF", None),
        ("..", None),
        ("../a", None),
        ("a/./b", None),
        ("http://x.org", None),
        ("mailto:a@b.c", None),
        ("//x.org", None),
        ("x" * 255, (0, "X" + "x" * 254)),
        ("x" * 256, None),
        ("字" * 86, None),
        ("::bus", None),
        ("~~~~", None),
        ("a&amp;lt;b", None),
    ],
)
def test_split_target(raw: str, found: tuple[int, str] | None) -> None:
    assert split_target(raw, EN) == found


def test_namespaces_of_the_dump_are_known_with_their_english_names() -> None:
    site = Site.from_siteinfo("de", "dewiki", namespaces={"Datei": 6, "Benutzer Diskussion": 3, "": 0})
    assert (
        split_target("datei:a", site)
        == split_target("Bild:a", site)
        == split_target("File:a", site)
        == (6, "A")
    )
    assert split_target("benutzer_diskussion:b", site) == (3, "B")


@given(st.text())
def test_any_title(raw: str) -> None:
    found = split_target(raw, EN)
    assert found is None or "\n" not in found[1]
    title = normalise_title(raw, EN)
    assert title == title.strip(" ")
    if found and found[0] == 0 and found[1] and "#" not in raw and ":" not in raw:
        assert found[1] == title
        assert split_target(title, EN) == found


@given(st.text("aB%25&amp;#x;_ é\u0301", max_size=20))
def test_a_valid_title_is_its_own_spelling(raw: str) -> None:
    found = split_target(raw, EN)
    if found and found[1]:
        assert normalise_title(found[1], EN) == found[1]


def test_unescape_needs_the_semicolon_and_a_real_character() -> None:
    assert unescape("&lt;&#65;&#x42;&hellip;") == "<AB…"
    assert unescape("&copy 2000 &nosuch; &#xD800; &#1114112; &#1; AT&T;") == (
        "&copy 2000 &nosuch; &#xD800; &#1114112; &#1; AT&T;"
    )
    assert unescape("&amp;lt;") == "&lt;"


@pytest.mark.parametrize(
    ("language", "title", "namespace", "wikitext", "kind"),
    [
        (
            "en",
            "Bus",
            0,
            "A '''bus''' is {{disambiguation needed}} … {{about|x|y|Bus (disambiguation)}}",
            "article",
        ),
        ("en", "Bus", 0, "'''Bus''' may be:\n{{disambig}}", "disambiguation"),
        ("en", "Bus", 0, "… {{ Hndis |name=Bus}}", "disambiguation"),
        ("en", "Bus", 0, "… {{place_name_disambiguation}}", "disambiguation"),
        ("en", "Bus", 0, "… __DISAMBIG__", "disambiguation"),
        ("en", "Bus", 0, "… [[Category:Human name disambiguation pages]]", "disambiguation"),
        ("en", "Bus", 0, "… [[Category:Word-sense disambiguation]]", "article"),
        ("en", "Bus (disambiguation)", 0, "x", "disambiguation"),
        ("en", "List of buses", 0, "x", "list"),
        ("en", "Listeria", 0, "x", "article"),
        ("en", "Bus", 10, "{{disambig}}", "other"),
        ("en", "Bus", 0, "#REDIRECT [[Coach]]", "redirect"),
        ("en", "Bus", 0, " #redirect: [[Coach]]", "redirect"),
        ("de", "Bus", 0, "… {{Begriffsklärung}}", "disambiguation"),
        ("de", "Liste der Busse", 0, "x", "list"),
        ("de", "Bus", 0, "#WEITERLEITUNG [[Omnibus]]", "redirect"),
        ("fr", "Bus", 0, "… {{Homonymie}}", "disambiguation"),
        ("fr", "Liste d'autobus", 0, "x", "list"),
        ("fr", "Bus", 0, "#REDIRECTION [[Autobus]]", "redirect"),
        ("es", "Bus", 0, "… {{desambiguación}}", "disambiguation"),
        ("es", "Anexo:Buses", 104, "x", "list"),
        ("es", "Bus", 0, "#REDIRECCIÓN [[Autobús]]", "redirect"),
        ("it", "Bus", 0, "{{Disambigua}}", "disambiguation"),
        ("ru", "Автобус (значения)", 0, "x", "disambiguation"),
        ("ru", "Автобус", 0, "… {{неоднозначность}}", "disambiguation"),
        ("ru", "Бус", 0, "#перенаправление [[Автобус]]", "redirect"),
        ("ja", "バス", 0, "{{aimai}}", "disambiguation"),
        ("ja", "バス", 0, "#転送 [[自動車]]", "redirect"),
        ("zh", "巴士", 0, "{{消歧义}}", "disambiguation"),
        ("zh", "巴士", 0, "#重定向 [[公共汽车]]", "redirect"),
        ("pl", "Bus", 0, "{{Ujednoznacznienie}}", "disambiguation"),
        ("pl", "Bus", 0, "#PATRZ [[Autobus]]", "redirect"),
        ("pt", "Ônibus", 0, "{{Desambiguação}}", "disambiguation"),
        ("ar", "حافلة", 0, "{{توضيح}}", "disambiguation"),
        ("ar", "حافلة", 0, "#تحويل [[باص]]", "redirect"),
        ("nl", "Bus", 0, "{{dp}}", "disambiguation"),
        ("sv", "Buss", 0, "{{förgrening}}", "disambiguation"),
        ("ceb", "Bus", 0, "{{giklaro}}", "disambiguation"),
        ("xx", "Bus", 0, "{{disambig}}", "disambiguation"),
    ],
)
def test_page_kind(language: str, title: str, namespace: int, wikitext: str, kind: str) -> None:
    assert page_kind(title, namespace, False, wikitext.encode(), Site.default(language)) == kind


def test_the_dumps_redirect_element_decides() -> None:
    assert page_kind("Bus", 0, True, b"", EN) == "redirect"


def test_redirect_target_in_the_text() -> None:
    assert redirect_target(b"#REDIRECT [[bus stop#x|y]] {{R}}", EN) == "bus stop#x"
    assert redirect_target(b"no", EN) is None


def test_a_site_survives_the_trip_to_a_worker() -> None:
    site = Site.default("pl")
    assert pickle.loads(pickle.dumps(site)) == site
    assert hash(site) == hash(Site.default("pl"))


def test_the_ten_largest_wikipedias_are_built_in() -> None:
    known = set(_tables()) - {"other", "interwiki"}
    assert {"en", "ceb", "de", "fr", "sv", "nl", "es", "ru", "it", "pl"} <= known
    for language in known:
        assert conventions(language).disambiguation_templates > {"disambiguation", "disambig"}
    assert conventions("simple") == conventions("en")
    assert conventions("zh-yue") == conventions("zh")


def test_own_conventions(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('disambiguation_templates = ["Meanings"]\nlist_titles = ["Index "]\n', "utf-8")
    site = Site.from_siteinfo("en", "mywiki", habits=read_conventions(path, "en"))
    assert page_kind("A", 0, False, b"{{meanings}}", site) == "disambiguation"
    assert page_kind("A", 0, False, b"{{hndis}}", site) == "article"
    assert page_kind("Index of a", 0, False, b"", site) == "list"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('disambigation_templates = ["x"]', "unknown key 'disambigation_templates'"),
        ("list_titles = 3", "Expected `array`"),
        ("no toml", "not as expected"),
        ('trail = "z-a"', "bad character range"),
        (None, "cannot be read"),
    ],
)
def test_bad_conventions_say_what_is_wrong(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "mine.toml"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"mine\.toml") as caught:
        read_conventions(path, "en")
    assert says in str(caught.value)


FRAGMENTS = [
    "en:", ":", "File:", "fr:", " ", "_", "#", "%", "%41", "&", "&amp;", "&#", ";", "a", "é", "\u0301",
    "\u0316", "\u0301\u0316", "\u200e", "\u3000", ".", "..", "/", "~", "[", "#REDIRECT",
    "#REDIRECT ", "#REDIRECT:[[",
]  # fmt: skip


SIZES = (2_000, 20_000, 300_000)  # longer ones than 4,096 characters are no titles


def test_titles_and_redirects_take_time_in_proportion_to_their_length() -> None:
    def read(text: str) -> None:
        normalise_title(text, EN)
        split_target(text, EN)
        redirect_target(text.encode(), EN)

    assert_linear(read, list(worst_cases(FRAGMENTS, ["", "#REDIRECT", "File:"], 200)), SIZES)
