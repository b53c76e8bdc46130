"""Titles as MediaWiki understands them: one spelling per page, namespaces, redirects, kinds of pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html.entities import html5
from typing import Literal, NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from pboh.corpus.languages import Conventions, conventions, interwiki_prefixes

MAIN, FILE, CATEGORY = 0, 6, 14

Kind = Literal["article", "redirect", "disambiguation", "list", "other"]


@dataclass(frozen=True)
class Site:
    """The wiki a page comes from, as its dump's ``<siteinfo>`` describes it.

    ``namespaces`` maps every name a prefix may have (local, English, alias; lower case) to its number,
    ``languages`` and ``interwiki`` are the prefixes of other Wikipedias and of other sites.
    """

    language: str
    wiki: str
    first_letter: bool = True
    namespaces: dict[str, int] = field(default_factory=dict, hash=False, repr=False)
    conventions: Conventions = field(default_factory=Conventions, hash=False, repr=False)
    languages: frozenset[str] = field(default=frozenset(), hash=False, repr=False)
    interwiki: frozenset[str] = field(default=frozenset(), hash=False, repr=False)

    @classmethod
    def from_siteinfo(
        cls,
        language: str,
        wiki: str,
        case: str = "first-letter",
        namespaces: Mapping[str, int] | None = None,
        habits: Conventions | None = None,
    ) -> Site:
        """The site of a dump: names of its ``<namespace>`` elements, their aliases and English names added.

        ``case`` is the dump's ``<case>`` (``first-letter`` or ``case-sensitive``); ``habits`` replaces the
        language's default conventions.
        """
        habits = habits or conventions(language)
        local = {_prefix(name): key for name, key in (namespaces or {}).items() if name.strip()}
        return cls(
            language=language,
            wiki=wiki,
            first_letter=case != "case-sensitive",
            namespaces={**habits.namespaces, **local},
            conventions=habits,
            languages=interwiki_prefixes("languages") - {language.lower()},
            interwiki=interwiki_prefixes("sites") - set(local),
        )

    @property
    def capitalises_as_ascii(self) -> bool:
        """Whether titles begin with capitals and the capital of i is I."""
        return self.first_letter and self.language not in _DOTTED

    @classmethod
    def default(cls, language: str = "en") -> Site:
        """The Wikipedia of ``language``, for pages that come without a ``<siteinfo>``."""
        return cls.from_siteinfo(language, f"{language.replace('-', '_')}wiki")


# The two Latin alphabets whose capital of i is İ.
_DOTTED = frozenset({"tr", "az"})
_SPACES = re.compile("[ _\t\n\r\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_BIDI = re.compile("[\u200e\u200f\u202a-\u202e]+")
# Most titles are as they should be: nothing to decode, no prefix, composed letters, first a capital or one of
# a script without case; 81 characters are never more than the 255 bytes a title may have.
_CAPITALS = "A-ZÀ-ÖØ-ÞА-ЯЁא-תء-غف-يぁ-ゖァ-ヺー一-鿿가-힣"
_SIGNS = r"""0-9a-zß-öø-ſа-яё ,.()'"!?*$@=+–-"""
PLAIN_TITLE = rf"[{_CAPITALS}][{_CAPITALS}{_SIGNS}]{{0,80}}+(?<! )"
_PLAIN = re.compile(PLAIN_TITLE)
_INVALID = re.compile(
    "[<>\\[\\]{}|\x00-\x1f\x7f\ufffd]|~~~|%[0-9A-Fa-f]{2}|&#?[A-Za-z0-9]+;|(?:^|/)[.][.]?(?:/|$)"
)
_PROTOCOL = re.compile(r"(?i:https?|ftps?|mailto|news|ircs?|gopher|telnet|sips?|tel|sms):|//")
_ENTITY = re.compile(r"&(?:#(?:([0-9]{1,7})|[xX]([0-9a-fA-F]{1,6}))|([A-Za-z][A-Za-z0-9]{1,31}));")
_LONGEST = 255  # bytes of a title
_LONGEST_RAW = 4096  # characters: a title with its prefixes, nobody writes longer ones


def _decoded(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return html5.get(name + ";") or match.group()
    point = int(decimal) if decimal else int(hexadecimal, 16)
    if not point:
        return ""  # see preprocessor.NOTHING
    valid = point in (9, 10, 13) or 32 <= point < 0xD800 or 0xE000 <= point <= 0x10FFFF
    return chr(point) if valid else match.group()


def unescape(text: str) -> str:
    """HTML entities decoded as MediaWiki does: only with their semicolon, unknown ones left alone."""
    return _ENTITY.sub(_decoded, text) if "&" in text else text


def _prefix(name: str) -> str:
    return _SPACES.sub(" ", name).strip(" ").lower()


def spellings(name: str) -> tuple[str, ...]:
    """A name as it may be written where only the case of ASCII can be ignored."""
    return name.lower(), name.capitalize(), name.title(), name.upper()


def _capital(title: str, site: Site) -> str:
    """The first letter upper-cased where the wiki does so; letters whose capital is another length stay.

    Georgian stays as it is: its capitals (Unicode 11) are not used for titles.
    """
    if not site.first_letter or not title:
        return title
    first = title[0]
    if first == "i" and not site.capitalises_as_ascii:
        return "İ" + title[1:]
    upper = first.upper()
    if upper == first or len(upper) > 1 or "ა" <= first <= "ჿ":
        return title
    return upper + title[1:]


def _clean(raw: str) -> str:
    """%-escapes and entities decoded, directional marks dropped, white space made single, NFC."""
    text = unescape(unquote(raw) if "%" in raw else raw)
    if not text.isascii():
        text = _BIDI.sub("", text)
        if len(text) <= _LONGEST_RAW:  # putting accents in order takes quadratic time
            text = normalize("NFC", text)
    return _SPACES.sub(" ", text).strip(" ")


def _is_plain(raw: str) -> bool:
    return "  " not in raw and _PLAIN.fullmatch(raw) is not None


def normalise_title(raw: str, site: Site) -> str:
    """The one spelling of a title: ``the_%22bus%22`` and ``The &quot;bus&quot;`` are the same page."""
    return raw if _is_plain(raw) else _capital(_clean(raw), site)


def split_target(raw: str, site: Site) -> tuple[int, str] | None:
    """Namespace and title that ``[[raw]]`` leads to, or None when it leads out of the wiki or nowhere.

    A ``#section`` is cut off; a link to a section of the same page has the title ``""``.
    """
    title = _capital(raw, site)
    if _is_plain(title):
        return MAIN, title
    page, hash_, _ = _clean(raw).partition("#")
    page = page.strip(" ").removeprefix(":").strip(" ")
    if len(page) > _LONGEST_RAW:
        return None
    namespace = MAIN
    while ":" in page:
        prefix, _, rest = page.partition(":")
        name = _prefix(prefix)
        if name in site.namespaces:
            namespace, page = site.namespaces[name], rest.strip(" ")
            break
        if name in site.languages or name in site.interwiki:
            return None
        if name != site.language or not rest.strip(" "):
            break
        page = rest.strip(" ")  # [[en:Bus]] on the English Wikipedia is [[Bus]]
    if not page:
        return (MAIN, "") if hash_ and namespace == MAIN else None
    if _INVALID.search(page) or page.startswith(":") or _PROTOCOL.match(page):
        return None
    if len(page.encode("utf-8", "surrogatepass")) > _LONGEST:
        return None
    return namespace, _capital(page, site)


class _Signs(NamedTuple):
    """What tells the kinds of pages apart in one language."""

    redirect: re.Pattern[str]
    title: str
    is_template: Callable[[bytes], bool]
    category: re.Pattern[bytes]
    is_category: Callable[[bytes], bool]


_TEMPLATE = re.compile(rb"\{\{([^{}|\[<]{1,200}+)[|}]")
_HEAD = 2000  # bytes of a page that a redirect is in


def _spoken(name: bytes) -> str:
    """A name for comparing: lower case, single blanks."""
    return _SPACES.sub(" ", name.decode(errors="ignore")).strip().lower()


@lru_cache(maxsize=16)
def _signs(habits: Conventions) -> _Signs:
    def any_of(names: Iterable[str]) -> str:
        spaced = [re.escape(name).replace(r"\ ", "[ _]+") for name in sorted(names, key=len, reverse=True)]
        return f"(?i:{'|'.join(spaced) or '(?!)'})"

    templates = {name.lower() for name in habits.disambiguation_templates}
    categories = [name.lower() for name in habits.disambiguation_categories]
    prefixes = [name for name, key in habits.namespaces.items() if key == CATEGORY]
    spelt = {form for name in prefixes for form in spellings(name)}
    prefix = "|".join(re.escape(form) for form in sorted(spelt)).encode()
    category = re.compile(rb"\[\[\s*+(?i:%b)\s*+:([^\[\]|\n]{0,300})" % prefix)

    @lru_cache(maxsize=1 << 14)
    def is_template(name: bytes) -> bool:
        return _spoken(name) in templates

    @lru_cache(maxsize=1 << 14)
    def is_category(name: bytes) -> bool:
        return any(each in _spoken(name) for each in categories)

    redirect = re.compile(rf"\s*+#{any_of(habits.redirect_words)}\s*+:?+\s*+\[\[([^\[\]|\n]+)")
    title = rf"\({any_of(habits.disambiguation_titles)}\)$"
    return _Signs(redirect, title, is_template, category, is_category)


def redirect_target(wikitext: bytes, site: Site) -> str | None:
    """The raw target of a page that begins with ``#REDIRECT``, in the wiki's language or in English."""
    if not wikitext.lstrip().startswith(b"#"):
        return None
    found = _signs(site.conventions).redirect.match(wikitext[:_HEAD].decode(errors="ignore"))
    return found.group(1).strip() if found else None


def disambiguation_title(site: Site) -> str:
    """A regular expression that finds "(disambiguation)" at the end of a title."""
    return _signs(site.conventions).title


def page_kind(title: str, namespace: int, is_redirect: bool, wikitext: bytes, site: Site) -> Kind:
    """What a page is: only articles and lists hold running text, only articles are entities."""
    habits = site.conventions
    signs = _signs(habits)
    if namespace != MAIN and namespace not in habits.list_namespaces:
        return "other"
    if is_redirect or redirect_target(wikitext, site) is not None:
        return "redirect"
    if (
        (b"_" in wikitext and b"__DISAMBIG__" in wikitext)  # one byte is found much quicker than twelve
        or (title.endswith(")") and re.search(signs.title, title))
        or (b"{" in wikitext and any(map(signs.is_template, _TEMPLATE.findall(wikitext))))
        or any(map(signs.is_category, signs.category.findall(wikitext)))
    ):
        return "disambiguation"
    if namespace in habits.list_namespaces or title.startswith(habits.list_titles):
        return "list"
    return "article"
