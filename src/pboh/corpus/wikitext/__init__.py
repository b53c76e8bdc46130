"""Wikitext to plain text with the exact place of every link."""

from pboh.corpus.wikitext.reader import Plain, plain_text

__all__ = ["Plain", "plain_text"]
