"""Words too common to say anything about their neighbours, for the languages of the largest Wikipedias."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


@cache
def stop_words(language: str) -> frozenset[str]:
    """Stop words of a language code such as ``de``; empty for a language without a list."""
    return frozenset(lists().get(language.partition("-")[0], "").split())


@cache
def lists() -> dict[str, str]:
    """The words of every language, as ``stop_words.toml`` lists them."""
    return tomllib.loads(resources.files("pboh.text").joinpath("stop_words.toml").read_text("utf-8"))
