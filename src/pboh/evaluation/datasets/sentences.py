"""Validation data that reads like headlines and posts: every sentence a document of its own.

On a page the first mention is the full name and a hundred links surround it. A sentence from its middle says
"Clinton" with no "Bill Clinton" before it, beside one or two other names: what short texts look like.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pboh.evaluation.datasets.core import Dataset, GoldDocument

SENTENCES_POLICY = (
    "Every sentence that has a mention is a document: texts are cut at line ends and behind . ! ? before a "
    "capital letter, never inside a mention."
)
_CUT = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])|\s*\n\s*")


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
            text, whole = document.text[begin:end], document.whole or document.text
            id = f"{document.id}/{number}"
            found.append(replace(document, id=id, text=text, mentions=mentions, whole=whole))
    return found
