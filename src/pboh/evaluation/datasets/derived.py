"""Validation data derived from pages, so that it reads like news, headlines and posts.

``later``: Wikipedia links an entity once, by its full name; news says "Clinton" after "Bill Clinton". Where a
page does so without a link, the bare word is made a mention of its own. ``sentences``: on a page the first
mention is the full name and a hundred links surround it; a sentence from its middle says "Clinton" with no
"Bill Clinton" before it, beside one or two other names: what short texts look like. ``capitals``: in
headlines, names look like any other word. ``thinned``: half of the words around mentions are missing and some
belong elsewhere, as in lists, posts and texts cut out of something larger.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

from pboh.evaluation.datasets.core import Dataset, GoldDocument, GoldMention

LATER_POLICY = (
    "Later mentions are derived, not annotated: a capitalised word standing alone, behind a linked name of "
    "two to four words whose last word it is, means that name's entity, if no other linked name ends with it."
)
_NAME = re.compile(r"(?:[A-Z][\w.'-]+ ){1,3}[A-Z][\w'-]+")
_PART_OF_NAME = re.compile(r"[A-Z][\w.'’-]* $")
SENTENCES_POLICY = (
    "Every sentence that has a mention is a document: texts are cut at line ends and behind . ! ? before a "
    "capital letter, never inside a mention."
)
CAPITALS_POLICY = "All letters are capitals, where a letter has one capital."
LEFT_OUT, EXCHANGED = 0.5, 0.05
THINNED_POLICY = (
    "Half of the words outside mentions, chosen by chance, are left out, and one in ten of the others is a "
    "word of the next document."
)
_WORD = re.compile(r"\w+")
_CUT = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])|(?<!\s)\s*\n\s*")


def readings(pages: Dataset) -> list[Dataset]:
    """Pages as they are, and read so that they are unlike an encyclopaedia: long and short, clear and not."""
    later = with_later_mentions(pages)
    short = as_sentences(later)
    return [pages, later, short, in_capitals(short), thinned(later)]


def with_later_mentions(dataset: Dataset) -> Dataset:
    """The dataset with later mentions added to the ones that are linked."""
    documents = tuple(replace(document, mentions=later_mentions(document)) for document in dataset)
    policy = (*dataset.policy, LATER_POLICY)
    return replace(dataset, name=f"later:{dataset.name}", documents=documents, policy=policy)


def later_mentions(document: GoldDocument) -> tuple[GoldMention, ...]:
    """The document's own mentions and the later ones, in text order."""
    owners: dict[str, set[str]] = {}
    first: dict[str, int] = {}
    for mention in document.linked:
        last = mention.text.split()[-1] if _NAME.fullmatch(mention.text) else ""
        if len(last) >= 3 and last in str(mention.gold).split():
            owners.setdefault(last, set()).add(str(mention.gold))
            first.setdefault(last, mention.end)
    found = list(document.mentions)
    for last, golds in owners.items():
        if len(golds) == 1:
            found += _alone(document, last, first[last], *golds)
    return tuple(sorted(found, key=lambda mention: (mention.start, mention.end)))


def _alone(document: GoldDocument, word: str, begin: int, gold: str) -> list[GoldMention]:
    """Mentions of ``gold`` where ``word`` comes after ``begin`` outside every mention and longer name."""
    text, found = document.text, []
    for match in re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])").finditer(text, begin):
        start, end = match.span()
        inside_name = _PART_OF_NAME.search(text[max(0, start - 25) : start]) or re.match(
            r" [A-Z]", text[end : end + 2]
        )
        if not inside_name and not any(m.start < end and start < m.end for m in document.mentions):
            found.append(GoldMention(start, end, word, gold))
    return found


def as_sentences(dataset: Dataset) -> Dataset:
    """The dataset with every sentence that has a mention as a document."""
    documents = tuple(sentence for document in dataset for sentence in sentences(document))
    policy = (*dataset.policy, SENTENCES_POLICY)
    return replace(dataset, name=f"sentences:{dataset.name}", documents=documents, policy=policy)


def sentences(document: GoldDocument) -> list[GoldDocument]:
    """The sentences of a document that have mentions, with offsets of their own; no mention is lost."""
    inside = [(mention.start, mention.end) for mention in document.mentions]
    cuts = [match.span() for match in _CUT.finditer(document.text)]
    cuts = [cut for cut in cuts if not any(start < cut[1] and cut[0] < end for start, end in inside)]
    begins = [0, *(after for _, after in cuts)]
    ends = [*(before for before, _ in cuts), len(document.text)]
    found = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        mentions = tuple(
            replace(mention, start=mention.start - begin, end=mention.end - begin)
            for mention in document.mentions
            if begin <= mention.start and mention.end <= end
        )
        if mentions:
            text, whole = document.text[begin:end], document.origin
            id = f"{document.id}/{number}"
            found.append(replace(document, id=id, text=text, mentions=mentions, whole=whole))
    return found


def in_capitals(dataset: Dataset) -> Dataset:
    """The dataset in capital letters."""
    documents = tuple(
        replace(
            document,
            text=capitals(document.text),
            mentions=tuple(replace(mention, text=capitals(mention.text)) for mention in document.mentions),
            whole=document.origin,
        )
        for document in dataset
    )
    policy = (*dataset.policy, CAPITALS_POLICY)
    return replace(dataset, name=f"capitals:{dataset.name}", documents=documents, policy=policy)


def capitals(text: str) -> str:
    """A text in capitals, letter by letter: one that becomes several, such as ß, stays."""
    return "".join(letter.upper() if len(letter.upper()) == 1 else letter for letter in text)


def thinned(dataset: Dataset) -> Dataset:
    """The dataset with half of the words around its mentions, and some of other documents among them."""
    texts = [document.text for document in dataset]
    foreign = [_WORD.findall(text) for text in [*texts[1:], *texts[:1]]]
    documents = tuple(thin(document, words) for document, words in zip(dataset, foreign, strict=True))
    policy = (*dataset.policy, THINNED_POLICY)
    return replace(dataset, name=f"thinned:{dataset.name}", documents=documents, policy=policy)


def thin(document: GoldDocument, foreign: Sequence[str]) -> GoldDocument:
    """Leave out half of the words outside mentions, and put foreign ones in the place of some others."""
    chance = random.Random(crc32(document.text.encode("utf-8", "replace")))

    def other(match: re.Match[str]) -> str:
        draw = chance.random()
        if draw < LEFT_OUT:
            return ""
        return chance.choice(foreign) if foreign and draw < LEFT_OUT + EXCHANGED else match[0]

    text, end, mentions = "", 0, []
    for mention in document.mentions:  # in text order
        if mention.start >= end:
            text += _WORD.sub(other, document.text[end : mention.start])
            moved, end = len(text) - mention.start, mention.start
        text += document.text[end : mention.end]
        end = max(end, mention.end)
        mentions.append(replace(mention, start=mention.start + moved, end=mention.end + moved))
    text += _WORD.sub(other, document.text[end:])
    return replace(document, text=text, mentions=tuple(mentions), whole=document.origin)
