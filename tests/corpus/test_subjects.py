"""What pages say they are about: types and descriptions from first sentences, infoboxes and categories."""

from __future__ import annotations

import tomllib
from importlib import resources
from unicodedata import category

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pboh.corpus.subjects.description import LONGEST, tidy
from pboh.corpus.subjects.language import language
from pboh.corpus.subjects.page import Subject, read_subject
from pboh.corpus.subjects.title import title_types
from pboh.formats.types import TYPES

TABLES = tomllib.loads(resources.files("pboh.corpus.subjects").joinpath("subjects.toml").read_text("utf-8"))
LANGUAGES = sorted(TABLES)

SENTENCES = {
    "en": [
        ("Ada Vale", "Ada Vale (born 3 May 1950, /eɪdə/) was a German footballer who won a cup.", "person"),
        ("Vale", "Vale is a small town in the Alps, known for its bridge.", "place"),
        ("Vale", "In physics, vale is the ability of a body to resist.", "other"),
        ("The Vale", "The Vale is a 1974 American horror film directed by Ada Vale.", "work"),
        ("Vale", "Vale were an English rock band formed in 1980.", "organisation"),
        ("Battle of Vale", "The Battle of Vale was a battle of the civil war.", "event"),
        ("Vale X1", "The Vale X1 is a midsize car built by Vale since 1989.", "product"),
        ("Vale vale", "Vale vale is a species of beetle in the family Validae.", "species"),
        ("Vale", "Vale is a film, television and theatre actress.", "person"),
        ("Vale", "Vale is a type of massive structure built in the north.", "place"),
        ("Vale", "Vale is an oil painting on canvas by Ada Vale.", "work"),
        ("Vale", "Vale is a public research university in Vale.", "organisation"),
        ("History of Vale", "Vale is a small town in the Alps.", "other"),
        ("Vale", "Vale is the most widely spoken language of the north.", "other"),
        ("Vale", "Vale is a multitasking operating system for phones.", "work"),
        ("Vale", "Vale is a geographical region spanning much of the north.", "place"),
        ("Vale", "Vale is a scientist combining physics and philosophy.", "person"),
        ("Vale", "Vale is an influential group of philosophers of the north.", "organisation"),
        ("Vales", "Vales are churches and abbeys of the north.", "place"),
        ("Ada Vale", "Thomas was an English priest.\nRome was a town that he saw.", "person"),
        ("Ada Dale", "Thomas was an English priest.\nDale left. In 1900 he was a town's friend.", "person"),
        ("Vicar", "A vicar is a priest of the Church of Utopia.", "other"),
        ("Wicket-keeper", "In cricket, the wicket-keeper is the player who stands behind.", "other"),
        ("Vale shark", "The vale shark is a rare member of the family Squalidae.", "species"),
        ("Vale national side", "The Vale national side is a member of FIFA.", "organisation"),
        ("Leader of the House", "The Leader of the House is a member of the cabinet.", "other"),
        ("2013 Vale Festival", "Ada Dale was the head of the jury.", "event"),
        ("Ulm massacre", "The Ulm massacre was an act of terrorism in the north.", "event"),
        ("Vale", "Vale is a city and the administrative centre of the north.", "place"),
        ("Vale", "Vale was a prisoner of war camp in the north.", "place"),
        ("Vale", "Vale is a state of inactivity of animals.", "other"),
        ("Vale", "Vale is a governmental body of the United States with powers.", "organisation"),
        ("Vale", "Vale is the Utopian version of the reality television show Big Brother.", "work"),
        ("Vale", "Vale was an American science fiction author most famous for a series.", "person"),
        ("Ada Vale", "Ada Vale is a Dutch road and track racing cyclist riding for Ulm.", "person"),
        ("Sgt. Vale's Club Band", "Sgt. Vale's Club Band is the eighth album by Ada Vale.", "work"),
        ("The Vales", "The Vales, once called the Vales of Ulm, were an English rock band.", "organisation"),
        ("Ulm rising", "The Ulm rising was a major, but unsuccessful, uprising in Ulm.", "event"),
        ("Vale", "Vale is a business and economics journal published in Ulm.", "work"),
        ("Vales", "The Vales are a long string of small islands off the coast.", "place"),
        ("Vale", "Vale is the personification of the Moon in myths.", "person"),
        ("Vale", "Vale is a chapel today located in Ulm.", "place"),
        ("Vale", "Vale was the pen name of Utopian novelist Ada Dale.", "person"),
        ("Vale war", "The Vale War is an ongoing civil war taking place in Utopia.", "event"),
        ("Murder of Ada Vale", "The murder of Ada Vale was a crime in Ulm.", "event"),
        ("Vale shark", "A vale shark is a person who offers loans.", "other"),
        ("Ada Dale", "Ada Dale is also a town in the north.", ""),
        ("No title 7", "The war of Ulm (1462) saw the army of Utopia. It was long.", "event"),
        ("No title 7", "Ada Vale was born in Utopia. She was a potter of the north.", "person"),
        ("No title 7", "Ada and Thomas Vale were anarchists of the north.", "person"),
        ("No title 7", "In law, a crown heir is a person who inherits.", "other"),
        ("No title 7", "A Fresh Vale is a 1910 drama of Utopia.", "work"),
        ("Ulm Rams football", "The Ulm Rams football program represents the University of Ulm in games.",
         "organisation"),
        ("Ulm's 5th district", "Ulm's 5th district covers the north and its towns since long ago.", "place"),
        ("Vale Act", "The Vale Act (1974), a law of Utopia, establishes a code of practice.", "work"),
        ("Ulm at the 1960 Vale Games", "Ulm sent a team of nine to the games.", "event"),
        ("1704 in Ulm", "The first church of the town is opened.", "other"),
        ("HMS Vale", "HMS Vale was laid down in 1904.", "product"),
        ("Vale", "The vale is the largest known mammal of the north.", "species"),
        ("Vale", "Vale was a wholly privately run British railway company.", "organisation"),
        ("Vale", "Vale is the most common of the sulfide minerals.", "other"),
        ("Vale", "Vale is the international governing body of football.", "organisation"),
        ("Vale", "Vale is the alias of two fictional characters of comics.", "person"),
        ("Vale", "Vale was one of the greatest Utopian novelists of all.", "person"),
        ("Vale", "Vale is a village south of Ulm in the north.", "place"),
        ("Vale", "Vale is a yearly awards ceremony honoring cinematic achievements.", "event"),
        ("Murder of Ada Vale", "Ada Vale was an architect who was found dead.", "event"),
        ("Vale", "Vale is an Ulm-based firearms publisher founded in 1965 by friends.", "organisation"),
        ("Vale", "Vale was an intellectual and cultural movement of the north.", "other"),
        ("Vale", "Vale is a New York City based visual artist known for paintings.", "person"),
        ("Al-Vale", "Abu al-Vale was a philosopher of the north.", "person"),
        ("City wall of Ulm", "The city wall of Ulm was a fortification of the town.", "place"),
        ("Validae", "Validae is a small bee family of the north.", "species"),
        ("Vale", "Vale is the ninth letter of the Greek alphabet.", "other"),
        ("Early life of Ada Vale", "Ada Vale was an English author born in Ulm.", "other"),
        ("Dale v. Vale", "Dale v. Vale is a Supreme Court of Utopia decision.", "other"),
    ],
    "de": [("Ada Vale", "Ada Vale (* 3. Mai 1950 in Ulm) ist eine deutsche Politikerin.", "person"),
           ("Vikar", "Ein Vikar ist ein Priester der Kirche.", "other"),
           ("Vale", "Vale ist eine Gemeinde im Landkreis Ulm.", "place")],
    "fr": [("Ada Vale", "Ada Vale, née le 3 mai 1950, est une romancière française.", "person"),
           ("Vale", "Vale est un film français sorti en 1974.", "work")],
    "es": [("Ada Vale", "Ada Vale (3 de mayo de 1950) fue una escritora española.", "person")],
    "it": [("Vale", "Vale è un comune italiano di 300 abitanti.", "place")],
    "pt": [("Vale", "Vale é um álbum da banda portuguesa.", "work")],
    "nl": [("Ada Vale", "Ada Vale (Ulm, 3 mei 1950) is een Nederlands voetballer.", "person")],
    "sv": [("Ada Vale", "Ada Vale, född 3 maj 1950, är en svensk politiker.", "person")],
    "pl": [("Ada Vale", "Ada Vale (ur. 3 maja 1950) – polska piosenkarka i aktorka.", "person")],
    "ru": [("Вале", "Вале́ (род. 3 мая 1950) — немецкий футболист, тренер.", "person")],
    "uk": [("Вале", "Вале́ (нар. 1950) — українська письменниця.", "person"),
           ("Вале", "Вале — річка в Україні.", "place")],
    "ja": [("田中一", "田中 一（たなか はじめ、1950年 - ）は、日本の漫画家。", "person"),
           ("谷町", "谷町（たにまち）は、日本の町である。", "place")],
    "zh": [("谷", "谷（1950年－）是一名中國歌手。", "person")],
}  # fmt: skip
CASES = [(code, *case) for code, cases in SENTENCES.items() for case in cases]


@pytest.mark.parametrize(("code", "title", "text", "kind"), CASES)
def test_first_sentences_tell_the_type(code, title, text, kind):
    assert read_subject(title, b"", text.encode(), code).type == kind


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("Vale (born 3 May 1950) was a German politician.", "German politician"),
        ("Vale /veɪl/ [veɪl] is the capital of Utopia (see map). It is old.", "Capital of Utopia"),
        ("A caption: somebody was captured\n\nVale is a U.S. state in the St. Vale valley. It has hills.",
         "U.S. state in the St. Vale valley"),
        ("Vale was located near the sea.\nVale is a town.", "Located near the sea"),
        ("Vale has nothing to say about itself and goes on for a while.", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_descriptions_are_the_defining_phrase(text, description):
    assert read_subject("Vale", b"", text.encode(), "en").description == description


def test_long_definitions_are_cut_where_a_clause_ends():
    text = "Vale is a town in the north of the country, " + "which has many old houses and a long wall, " * 9
    description = read_subject("Vale", b"", text.encode(), "en").description
    assert description.startswith("Town in the north of the country") and len(description) <= LONGEST
    assert description.endswith("wall")
    endless = read_subject("Vale", b"", f"Vale is a {'very ' * 900}old town".encode(), "en").description
    assert endless.endswith("very…") and len(endless) <= LONGEST


def test_a_short_description_comes_before_the_first_sentence():
    page = b"{{Short description|Town in Utopia &amp; a port}}\n{{Infobox settlement|a=b}}\nVale is a song."
    told = read_subject("Vale", page, b"Vale is a song.", "en")
    assert told == Subject("Town in Utopia & a port", "place", "infobox")
    none = read_subject("Vale", b"{{short description|none}}", b"Vale is a song by Ada.", "en")
    assert none.description == "Song by Ada"


def test_infoboxes_of_other_languages():
    assert read_subject("Вале", "{{Науковець\n|ім'я=В}}".encode(), b"", "uk").type == "person"
    assert read_subject("谷", "{{基礎情報 国|a=b}}".encode(), b"", "ja").type == "place"
    assert read_subject("Vale", b"{{Automatic taxobox}}", b"", "en").type == "species"
    assert read_subject("Vale", b"{{Infobox musical artist}}", b"Vale is a hit.", "en").type == "person"
    band = read_subject("Vale", b"{{Infobox musical artist}}", b"Vale is a rock band.", "en")
    assert band == Subject("Rock band", "organisation", "sentence")


def test_categories_count_when_nothing_else_tells():
    page = b"Vale.\n[[Category:1950 births]]\n[[Category:Living people]]\n[[Category:German films]]"
    assert read_subject("Vale", page, b"Vale.", "en") == Subject("", "person", "category")


def test_a_language_without_a_table_gets_the_first_sentence():
    text = "Vale (1950) dia olona iray tao Madagasikara. Nisy zavatra hafa."
    told = read_subject("Vale", b"", text.encode(), "mg")
    assert told.description == "Vale dia olona iray tao Madagasikara"


def _of_title(title: str) -> tuple[str, str]:
    """What the qualifier of a title says, and its noun."""
    told, hints = title_types(pa.array(["Some", title], pa.string()), "en")
    return told[1].as_py(), hints[1].as_py()


@pytest.mark.parametrize(
    ("title", "kind"),
    [("Stardust (film)", "work"), ("Bob Vale (footballer, born 1927)", "person"),
     ("Coralie (rocket)", "product"), ("Harbinger (DC Comics)", ""), ("Vale (EP)", "work"), ("Vale", ""),
     ("Route 1 (Utopia)", ""), ("(", ""), (")", "")],
)  # fmt: skip
def test_the_qualifier_of_a_title_tells_the_type(title, kind):
    assert _of_title(title)[0] == kind


@pytest.mark.parametrize("code", LANGUAGES)
def test_tables_name_types_only(code):
    table = TABLES[code]
    for name in ("categories", "infoboxes", "types"):
        assert set(table.get(name, {})) <= set(TYPES)
    assert set(table) <= set(TABLES["other"]), "a key that nothing reads"


@pytest.mark.parametrize(
    ("title", "kind"),
    [("Lincoln Park", "place"), ("Battle of Ulm (1805)", "event"), ("University of Ulm, Ulm", "organisation"),
     ("Grammy Award for Best Song", "other"), ("Robert Plant", "species"), ("Ada Vale", ""), ("", "")],
)  # fmt: skip
def test_the_noun_of_a_title_is_a_hint(title, kind):
    assert _of_title(title)[1] == kind


def check(subject: Subject) -> None:
    assert len(subject.description) <= LONGEST
    assert subject.description == subject.description.strip()
    assert not set(subject.description) & set("\n\r\t{}[]<>|()")
    assert not {category(letter) for letter in subject.description} & {"Cc", "Cs", "Zl", "Zp"}
    assert subject.type in ("", *TYPES[1:]) and bool(subject.type) == bool(subject.evidence)


MARKUP = st.sampled_from(
    ["{{", "}}", "[[", "]]", "(", ")", "（", "）", " is ", " was ", " a ", "— ", "は、", "である。", "|",
     "Short description|", "\n", "\u200f", "\u202e", "שלום ", "السلام ", "/", '"', ". ", ", ", "film ",
     "Infobox ", "Category:", "\u0301", "\x00", "é", "「", "one of the ", "of ", "and "]
)  # fmt: skip


@given(st.lists(MARKUP | st.text(max_size=6), max_size=60).map("".join), st.sampled_from(LANGUAGES))
def test_any_page_gives_a_clean_description_or_none(text, code):
    data = text.encode("utf-8", "ignore")
    check(read_subject(text[:20], data, data, code))


@pytest.mark.parametrize(
    "text",
    [
        "Vale is a " + "very " * 1_000_000,
        "(" * 2_500_000 + ")" * 2_500_000,
        "{{" * 1_000_000,
        "Vale is " + "a (b " * 1_000_000,
        "[" * 5_000_000,
        "Vale " + "is " * 1_600_000,
        "/" * 5_000_000,
        "." * 5_000_000,
        "שלום " * 900_000,
        "{{Short description|" + "x" * 5_000_000,
        "a, " * 1_600_000,
        "\n" * 5_000_000,
    ],
    ids=lambda text: text[:12],
)
@pytest.mark.parametrize("code", ["en", "uk", "ja", "mg"])
def test_hostile_pages_take_no_longer_than_their_beginning(text, code):
    data = text.encode()
    check(read_subject("Vale", data, data, code))


@given(st.text())
def test_what_somebody_wrote_is_tidied(text):
    check(Subject(tidy(text)))


def test_a_language_is_read_once():
    assert language("en") is language("EN".lower())
    assert language("simple").noun("film") == "work"
