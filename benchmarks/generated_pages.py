"""The pages of a generated Wikipedia: their titles, words, links and wikitext.

Entities are numbered by their frequency. The first have articles, the others are red links. Titles are a
given and a family name; families have several dozen members, so that a family name alone is ambiguous.
Articles have short descriptions, infoboxes, references, tables, files and categories; their words and links
go with their topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from math import gcd
from typing import Any

import numpy as np

from benchmarks.common import power_law

Array = np.ndarray[Any, Any]

ARTICLES, ENTITIES, TOPICS = 7_000_000, 12_000_000, 2_000
FAMILY = 35  # entities that share a family name
IDS = 10  # numbers of pages kept for an article and what is beside it
TEXT_WORDS = 10_000_000  # words of running text have smaller numbers, those of names larger ones
WORDS_AT_ONCE, LINKS_AT_ONCE = 512, 32
COMMON = 200_000  # words that are made beforehand
TOPIC_WORDS = 3_000
PROSE = 8_200  # bytes of wikitext of an average article that are sentences
WORDS_PER_SENTENCE, LINKS_PER_SENTENCE, REFERENCES_PER_SENTENCE = 19, 0.22, 0.3

STOP = re.findall(
    r"\w+",
    """the of and in to was is for on as with by he at from his an are it that which were this be also has
    or had first its one their not after but who new they two have her she been other when during time may""",
)
KINDS = ("politician", "football player", "writer", "painter", "river", "village", "company", "film")
SYLLABLES = [a + b for a, b in product("bdfghjklmnprstv", "aeiou")]
SCATTER = 2_654_435_761  # a prime: neighbouring numbers get words that are not alike
PAIRS = [a + b for a, b in product(SYLLABLES, SYLLABLES)]
SHORT, LONG = len(PAIRS), len(PAIRS) ** 2  # words of two syllables, and of four
NAMESPACES = {
    -2: "Media", -1: "Special", 0: "", 1: "Talk", 2: "User", 3: "User talk", 4: "Wikipedia",
    5: "Wikipedia talk", 6: "File", 7: "File talk", 8: "MediaWiki", 9: "MediaWiki talk", 10: "Template",
    11: "Template talk", 12: "Help", 13: "Help talk", 14: "Category", 15: "Category talk", 100: "Portal",
    101: "Portal talk", 118: "Draft", 119: "Draft talk", 828: "Module", 829: "Module talk",
}  # fmt: skip


# -- pieces of pages, filled in with % because wikitext is full of braces ----------------------------

LEAD = (
    "{{Short description|%s}}\n{{Use dmy dates|date=January 2024}}\n%s%s"
    "'''%s''' (born {{circa}} 1950) is a %s from [[%s]]. %s\n"
)
ABOUT = "{{About|the person||%s (disambiguation)}}\n"
INFOBOX = """{{Infobox person
| name = %s
| image = %d.jpg
| caption = %s
| birth_date = {{Birth date|19%d|4|12|df=y}}
| birth_place = %s
| known_for = %s<br />%s
| years_active = 1980–present
}}
"""
CITE_WEB = (
    "<ref>{{cite web |url=https://www.example.org/%d/%d |title=%s |website=%s |publisher=%s "
    "|date=12 March 2019 |access-date=4 May 2021 |archive-url=https://web.archive.org/web/2021/https://www.example.org/%d}}</ref>"
)
CITE_BOOK = (
    '<ref name="b%d">{{cite book |last=%s |first=%s |title=%s |year=2004 |isbn=978-0-%d |pages=24–31}}</ref>'
)
CITE_AGAIN = '<ref name="b%d" />'
PICTURE = "[[File:%d %d.jpg|thumb|upright=1.2|%s]]\n"
COMMENT = "<!-- source? -->\n"
TABLE = '{| class="wikitable sortable"\n|+ %s\n! Year !! Name !! scope="col" | Place !! Number\n%s|}\n'
ROW = "|-\n| 19%d || %s || %s || %d\n"
END = """
== See also ==
%s
== References ==
{{Reflist|30em}}

== External links ==
* {{Official website|https://www.example.org/%d}}

{{Navbox %s}}
{{Authority control}}

"""
SORTED = "{{DEFAULTSORT:%s, %s}}\n"
REDIRECT = "#REDIRECT [[%s]]\n\n{{Redirect category shell|\n{{R from alternative name}}\n}}"
DISAMBIGUATION = "'''%s''' may refer to:\n\n%s\n{{disambiguation|surname}}\n"
CATEGORY = "{{Category main article}}\n"
TEMPLATE = (
    "<includeonly>{{navbox\n| name = {{PAGENAME}}\n| list1 = {{{1|}}}\n}}</includeonly>"
    "<noinclude>{{documentation}}</noinclude>"
)
PAGE = """  <page>
    <title>%s</title>
    <ns>%d</ns>
    <id>%d</id>
%s    <revision>
      <id>%d</id>
      <parentid>%d</parentid>
"""
REVISION = """      <timestamp>2025-11-0%dT10:19:33Z</timestamp>
      <contributor>
        <username>Editor %d</username>
        <id>%d</id>
      </contributor>
      <comment>/* top */ clean up</comment>
      <origin>%d</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="%d" xml:space="preserve">%s</text>
"""


def header() -> str:
    """What a dump begins with."""
    named = "\n".join(
        f'      <namespace key="{key}" case="first-letter"' + (f">{name}</namespace>" if name else " />")
        for key, name in NAMESPACES.items()
    )
    schema = "http://www.mediawiki.org/xml/export-0.11/"
    return f"""<mediawiki xmlns="{schema}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="{schema} http://www.mediawiki.org/xml/export-0.11.xsd" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <generator>MediaWiki 1.46.0-wmf.9</generator>
    <case>first-letter</case>
    <namespaces>
{named}
    </namespaces>
  </siteinfo>
"""


def escaped(text: str) -> str:
    """Text as XML has it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


@cache
def common_words() -> Array:
    """Stop words, then the most frequent other words."""
    return np.asarray([*STOP, *map(word, range(COMMON))], object)


def word(number: int) -> str:
    """The word of a number: frequent ones are short."""
    if number < SHORT:
        return PAIRS[number * SCATTER % SHORT]
    first, second = divmod((number - SHORT) * SCATTER % LONG, SHORT)
    return PAIRS[first] + PAIRS[second]


@cache
def _step(size: int) -> int:
    """A step that visits all of so many places before it comes back."""
    return next(step for step in range(size * 618 // 1000 + 1, size) if gcd(step, size) == 1)


@dataclass(frozen=True)
class World:
    """What there is to write about."""

    articles: int
    entities: int
    topics: int

    @classmethod
    def of(cls, scale: float) -> World:
        """The world at a scale; 1 is English Wikipedia."""
        articles = max(700, round(ARTICLES * scale))
        return cls(articles, articles * ENTITIES // ARTICLES, max(10, round(TOPICS * scale)))

    @property
    def families(self) -> int:
        """How many family names there are."""
        return max(1, self.entities // FAMILY)

    def names(self, entity: int) -> tuple[str, str]:
        """Given and family name, unique together."""
        member, family = divmod(entity, self.families)
        given = TEXT_WORDS + member * 30_011 + family % 30_011
        return word(given).capitalize(), word(TEXT_WORDS + 2_000_000 + family).capitalize()

    def title(self, entity: int) -> str:
        """The title of an entity's article."""
        return " ".join(self.names(entity))

    def entity(self, place: int) -> int:
        """The article that has a place in the dump: frequent ones are anywhere."""
        return place * _step(self.articles) % self.articles

    def redirects(self, entity: int) -> list[str]:
        """Other titles of an article, 1.5 on average."""
        given, family = self.names(entity)
        forms = (f"{family}, {given}", f"{given} {family} (name)", f"{given} {family} Jr.")
        return list(forms[: (entity * SCATTER >> 7) % 4])


class Writer:
    """Writes pages one after the other; all that is drawn comes from one generator of random numbers."""

    def __init__(self, world: World, random: np.random.Generator) -> None:
        self.world, self.random = world, random
        self.linked = 0
        self.about(0)

    # -- what is drawn --------------------------------------------------------------------------

    def whole(self, low: int, high: int) -> int:
        """A whole number below ``high``."""
        return int(self.random.integers(low, high))

    def chance(self, probability: float) -> bool:
        """True so often."""
        return bool(self.random.random() < probability)

    def about(self, topic: int) -> None:
        """Speak of a topic from now on."""
        self.topic = topic
        self._words: list[str] = []
        self._links = self._next_links()

    def words(self, count: int) -> list[str]:
        """Words of running text: stop words, words of the topic, and any others; drawn in hundreds."""
        while len(self._words) < count:
            self._words += self._more_words()
        found, self._words = self._words[:count], self._words[count:]
        return found

    def _more_words(self) -> list[str]:
        random, common = self.random, common_words()
        draw = random.random((2, WORDS_AT_ONCE))
        topical = (self.topic * 7919 + power_law(random, WORDS_AT_ONCE, TOPIC_WORDS, 0.9) * 131) % 60_000
        numbers = np.where(draw[0] < 0.33, topical, power_law(random, WORDS_AT_ONCE, TEXT_WORDS, 1.08))
        stop = power_law(random, WORDS_AT_ONCE, len(STOP), 0.8)
        numbers = np.where(draw[1] < 0.42, stop, len(STOP) + numbers)
        found: list[str] = common[np.minimum(numbers, common.size - 1)].tolist()
        for k in np.flatnonzero(numbers >= common.size).tolist():
            found[k] = word(int(numbers[k]) - len(STOP))
        return found

    def phrase(self, count: int) -> str:
        """A few words that begin with a capital."""
        return " ".join(self.words(count)).capitalize()

    def links(self, count: int) -> list[str]:
        """Links from this page."""
        self.linked += count
        return list(islice(self._links, count))

    def _next_links(self) -> Iterator[str]:
        """Links, of which half stay in the topic and a few are red."""
        w, random = self.world, self.random
        while True:
            where, how = random.random((2, LINKS_AT_ONCE))
            near = power_law(random, LINKS_AT_ONCE, w.articles // w.topics, 0.75) * w.topics + self.topic
            red = w.articles + power_law(random, LINKS_AT_ONCE, w.entities - w.articles, 0.5)
            far = power_law(random, LINKS_AT_ONCE, w.articles, 0.8)
            entities = np.where(where < 0.06, red, np.where(where < 0.5, near, far))
            yield from map(self._link, entities.tolist(), how.tolist())

    def _link(self, entity: int, how: float) -> str:
        """A link by the title, a family name, a common word, small letters, or through a redirect."""
        given, family = self.world.names(entity)
        title = f"{given} {family}"
        if how < 0.45:
            return f"[[{title}]]"
        if how < 0.70:
            return f"[[{title}|{family}]]"
        if how < 0.84:
            return f"[[{title}|{word(entity * 40_503 % 30_000)}]]"
        if how < 0.92 or entity >= self.world.articles or not self.world.redirects(entity):
            return f"[[{title}|{title.lower()}]]"
        return f"[[{family}, {given}|{title}]]"

    # -- wikitext -------------------------------------------------------------------------------

    def sentences(self, count: int) -> list[str]:
        """Sentences, many with a link and some with a reference."""
        lengths = self.random.integers(WORDS_PER_SENTENCE - 8, WORDS_PER_SENTENCE + 9, count)
        ends = np.cumsum(lengths).tolist()
        words = self.words(ends[-1]) if count else []
        linked = np.flatnonzero(self.random.random(count) < LINKS_PER_SENTENCE)
        at = dict(zip(linked.tolist(), self.links(linked.size), strict=True))
        cited = self.random.random(count) < REFERENCES_PER_SENTENCE
        found, begin = [], 0
        for k, end in enumerate(ends):
            if k in at:
                words[(begin + end) // 2] = at[k]
            if end - begin > 14:
                words[begin + 6] += ","
            words[begin] = words[begin].capitalize()
            found.append(" ".join(words[begin:end]) + "." + (self.reference() if cited[k] else ""))
            begin = end
        return found

    def reference(self) -> str:
        """A footnote."""
        kind, number = self.random.random(), self.whole(0, 10**6)
        if kind < 0.6:
            source = self.world.title(number % self.world.articles)
            return CITE_WEB % (number, self.topic, self.phrase(6), source, source, number)
        if kind < 0.85:
            return CITE_BOOK % (number, word(number), word(number // 7), self.phrase(5), number)
        return CITE_AGAIN % (number % 50)

    def table(self) -> str:
        """A table with a link in every row."""
        rows = self.links(3 + int(power_law(self.random, 1, 60, 0.7)[0]))
        cells = zip(rows, self.words(len(rows)), strict=True)
        return TABLE % (self.phrase(4), "".join(ROW % (10 + k % 90, *two, k) for k, two in enumerate(cells)))

    def section(self, entity: int, sentences: list[str]) -> str:
        """A heading, perhaps a picture, paragraphs, and perhaps a table."""
        picture = PICTURE % (entity, self.whole(0, 99), self.phrase(8)) if self.chance(0.15) else ""
        paragraphs = "\n\n".join(" ".join(sentences[at : at + 4]) for at in range(0, len(sentences), 4))
        end = self.table() if self.chance(0.1) else COMMENT if self.chance(0.05) else ""
        return f"\n== {self.phrase(2)} ==\n{picture}{paragraphs}\n{end}"

    def article(self, entity: int) -> str:
        """The wikitext of an article; lengths are log-normal."""
        self.about(entity % self.world.topics)
        title, (given, family) = self.world.title(entity), self.world.names(entity)
        share = float(np.clip(self.random.lognormal(-0.5, 1.0), 0.05, 30.0))
        sentences = self.sentences(max(2, round(share * PROSE / 135)))
        box = ""
        if self.chance(0.55):
            box = INFOBOX % (title, entity, self.phrase(6), self.whole(10, 99), *self.links(3))
        about = ABOUT % family if self.chance(0.1) else ""
        kind, home = KINDS[self.topic % len(KINDS)], self.world.title(self.topic)
        self.linked += 1
        return "".join(
            [
                LEAD % (self.phrase(4), about, box, title, kind, home, " ".join(sentences[:2])),
                *(self.section(entity, sentences[at : at + 12]) for at in range(2, len(sentences), 12)),
                END
                % ("".join(f"* {link}\n" for link in self.links(self.whole(0, 5))), entity, word(self.topic)),
                SORTED % (family, given),
                *(f"[[Category:{name.capitalize()}]]\n" for name in self.words(self.whole(2, 8))),
            ]
        )

    def disambiguation(self, family: int) -> tuple[str, str]:
        """Title and text of the page about a family name."""
        w = self.world
        members, name = range(family, w.articles, w.families), w.names(family)[1]
        self.about(family % w.topics)
        self.linked += len(members)
        listed = "".join(f"* [[{w.title(e)}]], {' '.join(self.words(4))}\n" for e in members)
        return f"{name} (disambiguation)", DISAMBIGUATION % (name, listed)

    # -- pages ----------------------------------------------------------------------------------

    def page(self, number: int, title: str, text: str, namespace: int = 0, target: str | None = None) -> str:
        """A page as a dump has it."""
        redirect = f'    <redirect title="{escaped(target)}" />\n' if target else ""
        revision, editor = 1_000_000_000 + number, number % 50_021
        head = PAGE % (escaped(title), namespace, number, redirect, revision, revision - 100_000_000)
        body = REVISION % (1 + number % 9, editor, editor, revision, len(text.encode()), escaped(text))
        return f"{head}{body}      <sha1>{number * SCATTER**3:031x}</sha1>\n    </revision>\n  </page>\n"

    def group(self, place: int) -> list[str]:
        """The article at a place, its redirects, and the other pages that are due there."""
        w, number = self.world, (place + 1) * IDS
        entity = w.entity(place)
        title = w.title(entity)
        pages = [self.page(number, title, self.article(entity))]
        for other in w.redirects(entity):
            number += 1
            pages.append(self.page(number, other, REDIRECT % title, target=title))
        family, rest = divmod(place, w.articles // w.families)
        if rest == 0 and family < w.families:
            pages.append(self.page(number + 1, *self.disambiguation(family)))
        if place % 4 == 0:
            pages.append(self.page(number + 2, f"Category:{word(place).capitalize()}", CATEGORY, 14))
        if place % 8 == 0:
            pages.append(self.page(number + 3, f"Template:Navbox {word(place)}", TEMPLATE, 10))
        return pages
