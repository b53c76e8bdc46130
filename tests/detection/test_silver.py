"""Silver sentences on small pages: what explains a capitalised word, and what does not."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from pboh.detection.casing import ABBREVIATION, PLAIN, TITLE, known_words
from pboh.detection.casing_kernels import fill_words
from pboh.detection.chain_kernels import BEGIN, LAST, UNIT
from pboh.detection.dictionary import Matches
from pboh.detection.nameness import OFFICE
from pboh.detection.pages import Page
from pboh.detection.silver import Explainer
from pboh.detection.tokens import code_points, tokens

SMALL, CAPITAL = 1, 8
WORDS = dict.fromkeys(
    ["the", "he", "she", "it", "in", "his", "their", "a", "prime", "minister", "president", "free", "trade"],
    SMALL,
)
WORDS |= dict.fromkeys(
    ["obama", "smith", "paris", "london", "monday", "hawaii", "thatcher", "israeli", "ruritania"], CAPITAL
)
WORDS["monday"] |= PLAIN
WORDS["dr"] = CAPITAL | TITLE | ABBREVIATION
WORDS["sir"] = CAPITAL | TITLE


class SmallDictionary:
    """Knows two nationalities and an office."""

    def find(self, text):
        found = [match.span() for match in re.finditer("Israeli|Hawaii|Prime Minister", text)]
        start, end = np.asarray(found, np.int64).reshape(-1, 2).T
        nothing = np.zeros(start.size, np.int64)
        share = np.asarray([0 if text[a] == "P" else 3 for a in start.tolist()])
        return Matches(start, end, nothing, nothing, share, nothing, nothing)


def explainer(told=True):
    words = np.asarray([tokens(code_points(word)).word[0] for word in WORDS], np.uint32)
    known = np.asarray(list(WORDS.values()), np.uint8)
    table = np.zeros(64, np.uint32)
    fill_words(words, known, table)
    return Explainer(
        partial(known_words, table), np.asarray([255, 0, OFFICE], np.uint8), told, SmallDictionary()
    )


def silver(markup, title=None, told=True, likely=()):
    """Silver sentences of a page, written with [name], {concept} and <office> as links, labelled."""
    text, links = "", []
    for piece in re.split(r"(\[[^\]]*\]|\{[^}]*\}|<[^>]*>)", markup):
        if piece[:1] in ("[", "{", "<"):
            links.append((len(text), len(text) + len(piece) - 2, "[{<".index(piece[0])))
            piece = piece[1:-1]  # noqa: PLW2901
        text += piece
    columns = (
        (np.asarray(column, np.int64) for column in zip(*links, strict=True))
        if links
        else [np.empty(0, int)] * 3
    )
    codes = code_points(text)
    cut = tokens(codes)
    page = Page(0, title, text, *columns)
    marked = np.asarray([text[a:b] in likely for a, b in zip(cut.start, cut.end, strict=True)], bool)
    label, sentence, chosen, _ = explainer(told).silver(codes, cut, page, marked)
    out = []
    for number in chosen.tolist():
        where, line = np.flatnonzero(sentence == number), ""
        for token in where.tolist():
            line += " " if cut.gap[token] and line else ""
            line += "[" if label[token] in (BEGIN, UNIT) else ""
            line += text[cut.start[token] : cut.end[token]]
            line += "]" if label[token] in (LAST, UNIT) else ""
        out.append(line)
    return out


def test_a_link_explains_its_words():
    assert silver("He was born in [Honolulu, Hawaii] in 1961.") == [
        "He was born in [Honolulu, Hawaii] in 1961."
    ]


def test_a_capitalised_word_that_nothing_explains_spoils_its_sentence():
    assert silver("He was born in Honolulu in 1961. It rained all day.") == ["It rained all day."]


def test_names_are_found_again_by_their_last_word_too():
    page = "Later [Barack Obama] spoke. It was late. Their guest Obama left in his car."
    assert silver(page) == ["It was late.", "Their guest [Obama] left in his car."][1:]


def test_the_title_is_a_name_of_its_page():
    assert silver("In 2008 Obama won the vote.", "Barack Obama") == ["In 2008 [Obama] won the vote."]
    assert silver("In 2008 Paris won the vote.", "Paris (mythology)") == ["In 2008 [Paris] won the vote."]
    assert silver("In 2008 Trade won the vote.", "Free trade") == []


@pytest.mark.parametrize("title", ["Sir", "Dr.", "President", "Prime Minister"])
def test_titles_before_names_are_explained(title):
    assert silver(f"In 1980 {title} [Thatcher] left.") == [f"In 1980 {title} [Thatcher] left."]


def test_a_defined_abbreviation_is_a_name():
    page = "It joined the [United Nations] (UN) in 1945. Their vote in the UN was late."
    assert silver(page) == [
        "It joined the [United Nations] ([UN]) in 1945.",
        "Their vote in the [UN] was late.",
    ]


def test_weekdays_and_dates_are_not_names():
    assert silver("It rained on Monday all day.") == ["It rained on Monday all day."]
    assert silver("It rained in [1961] all day.") == ["It rained in 1961 all day."]


def test_concepts_are_not_names():
    assert silver("He wrote of {free trade} in [Paris].") == ["He wrote of free trade in [Paris]."]


def test_sentences_begin_with_a_capital():
    assert silver("The sun rose in [Paris].") == ["The sun rose in [Paris]."]
    assert silver("Zorbing is a sport in [Paris].") == []


def test_boundaries_of_names():
    assert silver("He met [the Beatles] in 1964.") == ["He met the [Beatles] in 1964."]
    assert silver("He met [Lincoln's] men in 1864.") == ["He met [Lincoln]'s men in 1864."]
    assert silver('He read ["Ulysses"] in 1924.') == ['He read "[Ulysses]" in 1924.']


def test_a_link_across_sentences_spoils_both():
    assert silver("He came to [Paris. The] city was big. It rained all day.") == ["It rained all day."]


def test_without_case_likely_names_must_be_explained():
    assert silver("彼は[東京]に住む。", told=False) == ["彼は[東京]に住む。"]
    assert silver("彼は京都に住む。", told=False) == ["彼は京都に住む。"]
    assert silver("彼は京都に住む。", told=False, likely={"京", "都"}) == []


def test_offices_are_no_names_but_have_names_inside():
    assert silver(
        "In it <Israeli Prime Minister> [Ann Smith] met the <Governor of Hawaii> and the people."
    ) == ["In it [Israeli] Prime Minister [Ann Smith] met the Governor of [Hawaii] and the people."]
    assert silver("He met the <Governor of Ruritania> and many people.") == []  # a name that is not known
