"""Ablations: what each extension brings alone to the paper's model, and on top of all the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import interval, macro_scores, micro_scores
from pboh.evaluation.tables import Table
from pboh.evaluation.trials import (
    Counts,
    gain_draws,
    macro_f1,
    micro_f1,
    scoring,
    value_of,
    with_values,
    written,
)
from pboh.files.progress import Report, silent
from pboh.inference.settings import PAPER, Settings
from pboh.linker import Linker, paper_settings
from pboh.model.names import LAYERS

Changes = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Extension:
    """Something beyond the paper: its settings, with the values tried where the defaults are the paper's.

    ``needs`` are settings that it takes along from the defaults when it is on alone.
    """

    name: str
    settings: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    off: Mapping[str, Any] | None = None  # when that is not the paper's value

    def with_it(self, default: Settings) -> Changes:
        """Its settings switched on."""
        values = {name: value_of(default, name) for name in self.settings}
        usual = any(value != value_of(PAPER, name) for name, value in values.items())
        return values if usual and self.off is None else dict(self.settings)

    def without_it(self) -> Changes:
        """Its settings switched off."""
        return dict(self.off or {name: value_of(PAPER, name) for name in self.settings})

    def is_default(self, default: Settings) -> bool:
        """Whether the default settings have it."""
        values = self.with_it(default)
        return all(value_of(default, name) == value for name, value in values.items())


def _layer(name: str, layer: str, weight: float) -> Extension:
    return Extension(name, {f"layers.{layer}": weight}, needs=("popularity",))


EXTENSIONS = (
    _layer("titles", "title", 0.1),
    _layer("titles without qualifier", "stripped", 0.02),
    _layer("redirects", "redirect", 0.1),
    _layer("disambiguation pages", "disambiguation", 0.02),
    _layer("last names", "last", 0.02),
    _layer("first names", "first", 0.02),
    _layer("prefixes", "prefix", 0.02),
    _layer("acronyms", "acronym", 0.02),
    Extension(
        "popularity of derived names", {"popularity": 1.0}, tuple(f"layers.{name}" for name in LAYERS[3:])
    ),
    Extension("cased names first", {"layers.cased": 1.0, "layers.lower": 0.3}),
    Extension("folded names", {"layers.folded": 0.1}),
    Extension("word after a name", {"followed": 0.8}),
    Extension("variant spellings", {"variants": True}),
    Extension("fuzzy names (the paper's)", {"fuzzy": True}, off={"fuzzy": False}),
    Extension("closer fuzzy names", {"fuzzy_distance": 0.3}),
    Extension("coreference", {"coreference": 10.0}),
    Extension("more candidates", {"candidates": 16}),
    Extension("context weight ζ", {"zeta": 0.1}),
    Extension("smaller window", {"window": 25}),
    Extension("words seen twice", {"min_word_count": 2}),
    Extension("discount of words ξ", {"xi": 0.9}),
    Extension("unmatched words count less", {"unmatched": 0.5}),
    Extension("clipped words", {"clip": 4.0}),
    Extension("floor of matches", {"floor": 0.5}),
    Extension("topic of the words around", {"topic": 3.5}),
    Extension("few words weigh more", {"few_words": 2.0}),
    Extension("few mentions weigh less", {"few_mentions": 1.0}),
    Extension("pair weight τ", {"tau": 0.85}),
    Extension("discount of pairs δ", {"delta": 0.9}),
    Extension("authors' back-off", {"backoff": "authors"}),
    Extension("same entity twice", {"self_pair": 0.1}),
    Extension("kinship of unseen pairs", {"kinship": 8.0}),
    Extension("threshold", {"threshold": 0.3}),
)


def find_extensions(words: Sequence[str]) -> list[Extension]:
    """The extensions that have one of the words in their name; all without words."""
    found = [e for e in EXTENSIONS if not words or any(word in e.name for word in words)]
    if not found:
        known = ", ".join(extension.name for extension in EXTENSIONS)
        raise InputError(f"no extension is called {' or '.join(words)}", todo=f"Choose from {known}")
    return found


@dataclass(frozen=True, slots=True)
class Gain:
    """Differences of micro recall, micro and macro F1 between two settings; 95 % intervals of both F1."""

    recall: float
    f1: float
    low: float
    high: float
    macro_f1: float = 0.0
    macro_low: float = 0.0
    macro_high: float = 0.0

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Ablation:
    """What one extension brings: gains by dataset, ``mean`` of all of them last."""

    name: str
    settings: Changes
    default: bool
    alone: dict[str, Gain]
    on_top: dict[str, Gain]

    @property
    def carries_over(self) -> bool:
        """Whether it surely gains on top of the others, in the mean, and surely loses on no dataset."""
        *each, mean = self.on_top.values()
        return mean.low > 0 and all(gain.high >= 0 for gain in each)


def ablate(
    linker: Linker,
    datasets: Sequence[Dataset],
    extensions: Sequence[Extension] = EXTENSIONS,
    *,
    workers: int = 1,
    report: Report = silent,
) -> list[Ablation]:
    """Measure every extension on the paper's settings and on the linker's; everything together comes last."""
    default = linker.settings
    paper = paper_settings(linker.model)
    pairs: list[tuple[Settings, Settings]] = []
    for extension in extensions:
        with_it, without_it = extension.with_it(default), extension.without_it()
        needed = {name: value_of(default, name) for name in extension.needs}
        bases = (with_values(paper, needed), default)
        pairs += [(with_values(base, with_it), with_values(base, without_it)) for base in bases]
    pairs.append((default, paper))
    distinct = {repr(settings): settings for pair in pairs for settings in pair}
    counted: dict[str, Counts] = {}
    with scoring(linker, datasets, workers) as score:
        for key, counts in zip(distinct, score(list(distinct.values())), strict=True):
            counted[key] = counts
            report(len(counted), len(distinct))
    names = [dataset.name for dataset in datasets]
    gains = []
    for new, old in ((counted[repr(one)], counted[repr(other)]) for one, other in pairs):
        each = {name: _gain([a], [b]) for name, a, b in zip(names, new, old, strict=True)}
        gains.append(each | {"mean": _gain(new, old)})
    rows = [
        Ablation(e.name, e.with_it(default), e.is_default(default), gains[2 * at], gains[2 * at + 1])
        for at, e in enumerate(extensions)
    ]
    return [*rows, Ablation("everything", {}, True, gains[-1], gains[-1])]


def _gain(new: Counts, old: Counts) -> Gain:
    differences = [micro_scores(one) - micro_scores(other) for one, other in zip(new, old, strict=True)]
    _, recall, f1 = np.mean(differences, axis=0).tolist()
    pairs = zip(new, old, strict=True)
    macro = float(np.mean([macro_scores(one)[2] - macro_scores(other)[2] for one, other in pairs]))
    intervals = (interval(gain_draws(new, old, measure)) for measure in (micro_f1, macro_f1))
    (low, high), (macro_low, macro_high) = intervals
    return Gain(recall, f1, low, high, macro, macro_low, macro_high)


def ablation_tables(rows: Sequence[Ablation]) -> list[Table]:
    """Two tables: each extension alone on the paper's model, and on top of the others."""
    *names, _ = rows[0].alone
    header = ["Extension", "Settings", "default", *names, "mean ΔR", "mean ΔF1"]
    note = "Points of micro F1 (and recall, R); bold where the 95 % interval leaves out 0."
    titles = {"alone": "Alone, on the paper's model", "on_top": "On top of all the others"}
    tables = [Table(title, header, note=note) for title in titles.values()]
    tables[1] = Table(titles["on_top"], [*header, "carries over"], note=note)
    for which, table in zip(titles, tables, strict=True):
        for number, row in enumerate(rows):
            gains: list[Gain] = list(getattr(row, which).values())
            columns = [*range(3, len(header) - 2), len(header) - 1]
            table.strong |= {(number, at) for at, gain in zip(columns, gains, strict=True) if gain.sure}
            cells = [f"{100 * gain.f1:+.2f}" for gain in gains]
            cells.insert(-1, f"{100 * gains[-1].recall:+.2f}")
            settings = ", ".join(f"{name}={written(value)}" for name, value in row.settings.items())
            if which == "on_top":
                cells.append("yes" if row.carries_over else "no")
            table.add([row.name, settings, "yes" if row.default else "no", *cells])
    return tables
