"""The wikitext reader against mwparserfromhell: the same article links, with the same anchors.

Templates, references and comments are left out on its side too; the captions of galleries, which it does not
parse, are given to it. Quotes are removed from its text, trails added to its anchors, titles compared in our
spelling. docs/explanation/wikitext.md explains the differences that remain.
"""

from __future__ import annotations

import bz2
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from pboh.corpus.titles import Site, split_target, unescape
from pboh.corpus.wikitext import plain_text
from pboh.corpus.wikitext.preprocessor import CHARACTERS

mwparserfromhell = pytest.importorskip("mwparserfromhell")
nodes = mwparserfromhell.nodes

Link = tuple[str, str]
UNSEEN = {"ref", "math", "timeline", "source", "syntaxhighlight", "nowiki", "pre", "imagemap", "score"}
QUOTES = re.compile("'{2,}")


def parse(wikitext: str) -> Any:
    return mwparserfromhell.parse(wikitext, skip_style_tags=True)


def shown(code: Any) -> str:
    """The text a reader sees of a label."""
    pieces = []
    for node in code.nodes if code is not None else ():
        if isinstance(node, nodes.Text):
            pieces.append(str(node))
        elif isinstance(node, nodes.HTMLEntity):
            pieces.append(unescape(str(node)))
        elif isinstance(node, nodes.Template):
            pieces.append(unescape(CHARACTERS.get(str(node)[1:].encode(), b"").decode()))
        elif isinstance(node, nodes.Wikilink):
            pieces.append(shown(node.title if node.text is None else node.text))
        elif isinstance(node, nodes.ExternalLink):
            pieces.append(shown(node.title))
        elif isinstance(node, nodes.Tag) and str(node.tag).lower() not in UNSEEN - {"nowiki"}:
            pieces.append(" " if str(node.tag).lower() == "br" else shown(node.contents))
    return QUOTES.sub("", "".join(pieces))


def links_of(code: Any, site: Site, trail: re.Pattern[str]) -> Iterator[Link]:
    """Every link to an article, as (title, anchor)."""
    following = [*code.nodes[1:], None]
    for node, after in zip(code.nodes, following, strict=True) if code.nodes else ():
        if isinstance(node, nodes.Wikilink):
            found = split_target(shown(node.title), site)
            if found and found[0] == 0 and found[1]:
                anchor = (
                    shown(node.title).strip().removeprefix(":") if node.text is None else shown(node.text)
                )
                if isinstance(after, nodes.Text) and (more := trail.match(str(after))):
                    anchor += more[0]
                if anchor.strip():
                    yield found[1], " ".join(anchor.split())
            if node.text is not None and (found is None or found[0] in {0, 6}):
                yield from links_of(node.text, site, trail)
        elif isinstance(node, nodes.Tag):
            name = str(node.tag).strip().lower()
            if name == "gallery":
                captions = (line.partition("|")[2] for line in str(node.contents).split("\n"))
                yield from links_of(parse("\n".join(captions)), site, trail)
            elif name not in UNSEEN and node.contents is not None:
                yield from links_of(node.contents, site, trail)
        elif isinstance(node, nodes.Heading | nodes.ExternalLink) and node.title is not None:
            yield from links_of(node.title, site, trail)


def ours(wikitext: str, site: Site) -> list[Link]:
    text, links = plain_text(wikitext, site)
    return [(title, " ".join(text[start:end].split())) for start, end, title in links]


def theirs(wikitext: str, site: Site) -> list[Link]:
    letters = site.conventions.trail
    return list(links_of(parse(wikitext), site, re.compile(f"[{letters}]*" if letters else "")))


PAGES = {
    "en": "{{Infobox|a=[[x]]}}'''Bus''', [[bus]]es and [[Coach (bus)|coaches]]<ref>[[y]]</ref>, "
    "''[[Time]]''.\n"
    "[[File:a.jpg|thumb|A [[tram]] in [[Oslo|the city]].]]\n"
    "{| class=x\n! [[A]] !! [[B|b]]\n|-\n| align=left | [[C]]"
    " || [[D#e|d]]\n|}\n* [[:F]] &ndash; [[G &amp; H]]<!-- [[z]] -->\n== [[I]] ==\n"
    "[[Category:J]] [[fr:K]] [[w:L]]"
    "<nowiki>[[m]]</nowiki><math>[[n]]</math> [http://o [[p]]] <small>[[Q]]</small> [[r|{{s}}]] [[T|''t'']]",
    "de": "Ein '''Omnibus''' in [[Köln]], mit [[Bus]]sen.\n"
    "[[Datei:x.jpg|mini|Ein [[Bus]] an der [[Straße]]]]\n"
    "[[Kategorie:Bus]] [[en:Bus]] [[Wikipedia:X|x]] [[Fähre]]nüber",
    "fr": "Une [[épopée]] d'[[Homère]]{{Sfn|X}}, [[Paris|la capitale]].\n"
    "[[Fichier:x.jpg|vignette|Un [[autobus]]]]\n"
    "[[Catégorie:A]] les [[élève]]s",
    "es": "Las [[ciudad]]es de [[España|la ''Península'']].\n[[Archivo:x.jpg|miniatura|El [[autobús]]]]",
    "ru": "'''Автобус''' — [[транспортное средство]]; [[автобус]]ами в [[Москва|Москве]].\n"
    "[[Файл:x.jpg|мини|[[Троллейбус]]]] [[Категория:X]]",
    "ja": "[[バス (交通機関)|バス]]は[[日本]]の[[自動車]]である。\n"
    "[[ファイル:x.jpg|サムネイル|[[東京]]の[[駅]]]]",
    "ar": "ال[[حافلة]] وال[[كتاب]]ين في [[القاهرة|المدينة]].\n[[ملف:x.jpg|تصغير|[[حافلة]]]] [[تصنيف:X]]",
    "pl": "[[autobus]]ów i [[Łódź|łódzk]]iej.\n[[Plik:x.jpg|mały|[[Tramwaj]] w [[Kraków|Krakowie]]]]",
    "zh": "[[北京]]abc的[[公共汽车|巴士]]。[[文件:x.jpg|缩略图|[[上海]]]]",
}


@pytest.mark.parametrize("language", PAGES)
def test_pages_of_several_languages(language: str) -> None:
    site = Site.default(language)
    found = ours(PAGES[language], site)
    assert found and Counter(found) == Counter(theirs(PAGES[language], site))


def pages(path: Path, wanted: int) -> list[str]:
    """``wanted`` articles of original wikitext (they have templates), drawn at random from a dump."""
    texts = []
    with bz2.open(path) as stream:
        for _, page in etree.iterparse(stream, tag="{*}page", huge_tree=True):
            text = page.findtext("{*}revision/{*}text") or ""
            if page.findtext("{*}ns") == "0" and "{{" in text and "[[" in text:
                texts.append(text)
            page.clear()
            del page.getparent()[: page.getparent().index(page)]
            if len(texts) >= 2 * wanted:
                break
    return random.Random(1).sample(texts, min(wanted, len(texts)))


def explanation(wikitext: str, link: Link) -> str | None:
    """Why the two differ on this link, or None."""
    title, anchor = link
    around = "|".join({re.escape(title), re.escape(title[0].lower() + title[1:])})
    if "[" in anchor or re.search(rf"\[\[\[(?:{around})", wikitext):
        return "a bracket inside or around the link"
    if re.search(rf"\[\[(?:File|Image):[^\n]*\[\[(?:{around})[^\n]*\|", wikitext):
        return "an image's text that is not its caption"
    if "'" in anchor or "'" in title:
        return "an apostrophe beside italics"
    left = "".join(str(node) for node in parse(wikitext).ifilter_text())
    if re.search(r"\{\{|\}\}|</?ref|<!--|</\w+ ?/?>", left):
        return "broken markup that mwparserfromhell leaves as text"
    return None


def compare(texts: list[str]) -> None:
    site = Site.default("en")
    total = 0
    differences: Counter[str] = Counter()
    unexplained = []
    seconds = [0.0, 0.0]
    for text in texts:
        start = time.process_time()
        our = Counter(ours(text, site))
        middle = time.process_time()
        their = Counter(theirs(text, site))
        seconds[0] += middle - start
        seconds[1] += time.process_time() - middle
        total += their.total()
        for kind, difference in (("missing", their - our), ("extra", our - their)):
            differences[kind] += difference.total()
            unexplained += [(kind, link) for link in difference if not explanation(text, link)]
    print(f"{len(texts)} pages, {total} links, {dict(differences)}, not explained: {unexplained}")
    speeds = [sum(map(len, texts)) / 1e6 / part for part in seconds]
    print(f"{speeds[0]:.1f} million characters a second here, {speeds[1]:.2f} there")
    assert total > 10_000
    assert differences["missing"] <= 0.005 * total
    assert differences["extra"] <= 0.005 * total
    assert len(unexplained) <= 0.0005 * total, unexplained


@pytest.mark.slow
@pytest.mark.shared
def test_real_pages_of_the_small_dump(shared: Path) -> None:
    compare(pages(shared / "corpus" / "enwiki-tiny-pages-articles.xml.bz2", 150))


@pytest.mark.slow
@pytest.mark.shared
def test_real_pages_of_the_sample_dump(shared: Path) -> None:
    part = next((shared / "corpus").glob("enwiki-sample-pages-articles-multistream1.xml-*.bz2"))
    compare(pages(part, 200))
