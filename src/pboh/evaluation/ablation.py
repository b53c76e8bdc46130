"""Ablations: what each extension brings alone to the paper's model, and on top of all the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Dataset
from pboh.evaluation.metrics import Floats, interval, macro_scores, micro_scores
from pboh.evaluation.tables import Table
from pboh.evaluation.trials import (
    Counts,
    Integers,
    gain_draws,
    macro_f1,
    micro_f1,
    scoring,
    text_numbers,
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
    """What one extension brings: gains by dataset, and means of several readings and (last) of all datasets.

    ``kinds`` names the gains on different texts: a dataset, or the mean of several readings of one.
    ``topics`` are gains on top of the others, on parts of the texts.
    """

    name: str
    settings: Changes
    default: bool
    alone: dict[str, Gain]
    on_top: dict[str, Gain]
    kinds: tuple[str, ...]
    topics: dict[str, Gain]

    @property
    def carries_over(self) -> bool:
        """Whether it surely gains on some kind of text, on top of the others, and surely loses on none.

        Every reading counts for itself, too. Topics do not: so few texts surely lose by chance too often.
        """
        *each, _ = self.on_top.values()
        return any(self.on_top[kind].low > 0 for kind in self.kinds) and all(gain.high >= 0 for gain in each)


def ablate(
    linker: Linker,
    datasets: Sequence[Dataset],
    extensions: Sequence[Extension] = EXTENSIONS,
    *,
    topics: Sequence[Dataset] = (),
    workers: int = 1,
    report: Report = silent,
) -> list[Ablation]:
    """Measure every extension on the paper's settings and on the linker's; everything together comes last.

    ``topics`` are documents of one topic each: gains on their texts, in all readings, are told too.
    """
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
    views = _Views(datasets, topics)

    def row(name: str, settings: Changes, is_default: bool, *at: int) -> Ablation:
        (alone, on_top) = [[counted[repr(settings)] for settings in pairs[k]] for k in at]
        gains = views.gains(*alone), views.gains(*on_top)
        return Ablation(name, settings, is_default, *gains, views.kinds, views.by_topic(*on_top))

    rows = [
        row(e.name, e.with_it(default), e.is_default(default), 2 * at, 2 * at + 1)
        for at, e in enumerate(extensions)
    ]
    return [*rows, row("everything", {}, True, -1, -1)]


class _Views:
    """What gains are told of: every dataset, several readings of the same texts, and all; topics."""

    def __init__(self, datasets: Sequence[Dataset], topics: Sequence[Dataset]) -> None:
        self.names = [dataset.name for dataset in datasets]
        self.texts = text_numbers(datasets)
        kinds: dict[str, list[int]] = {}  # datasets that have texts in common, by the first one
        for number, (name, texts) in enumerate(zip(self.names, self.texts, strict=True)):
            firsts = (first for first, kind in kinds.items() if np.isin(texts, self.texts[kind[0]]).any())
            kinds.setdefault(next(firsts, name), []).append(number)
        told = {
            f"{first}, {len(kind)} readings" if kind[1:] else first: kind for first, kind in kinds.items()
        }
        self.kinds, self.readings = tuple(told), {name: kind for name, kind in told.items() if kind[1:]}
        self.topics: dict[str, list[tuple[int, Integers]]] = {}  # documents of datasets, by number
        for topic in topics:
            own = {document.origin for document in topic}
            rows = [np.flatnonzero([d.origin in own for d in dataset]) for dataset in datasets]
            self.topics[topic.name] = [(number, some) for number, some in enumerate(rows) if some.size]

    def gains(self, new: Counts, old: Counts) -> dict[str, Gain]:
        """The gain of one setting over another on every dataset, and the means."""
        each = [_Drawn.of(*columns) for columns in zip(new, old, self.texts, strict=True)]
        gains = {name: _gain([drawn]) for name, drawn in zip(self.names, each, strict=True)}
        gains |= {name: _gain([each[number] for number in kind]) for name, kind in self.readings.items()}
        return gains | {"mean": _gain(each)}

    def by_topic(self, new: Counts, old: Counts) -> dict[str, Gain]:
        """The gain on the texts of every topic, the mean of their readings."""
        return {
            name: _gain([_Drawn.of(new[k][some], old[k][some], self.texts[k][some]) for k, some in parts])
            for name, parts in self.topics.items()
        }


class _Drawn(NamedTuple):
    """Differences between two settings on one dataset, and of both F1 when texts are drawn again."""

    recall: float
    micro: float
    macro: float
    micro_draws: Floats
    macro_draws: Floats

    @classmethod
    def of(cls, new: Floats, old: Floats, texts: Integers) -> _Drawn:
        _, recall, micro = (micro_scores(new) - micro_scores(old)).tolist()
        macro = float(macro_scores(new)[2] - macro_scores(old)[2])
        draws = (gain_draws([new], [old], measure, [texts]) for measure in (micro_f1, macro_f1))
        return cls(recall, micro, macro, *draws)


def _gain(parts: Sequence[_Drawn]) -> Gain:
    """The mean of some datasets."""
    recall, micro, macro, micro_draws, macro_draws = (
        np.mean(column, axis=0) for column in zip(*parts, strict=True)
    )
    return Gain(float(recall), float(micro), *interval(micro_draws), float(macro), *interval(macro_draws))


def ablation_tables(rows: Sequence[Ablation]) -> list[Table]:
    """Two tables: each extension alone on the paper's model, and on top of the others."""
    *names, _ = rows[0].alone
    header = ["Extension", "Settings", "default", *names, "mean ΔR", "mean ΔF1"]
    note = "Points of micro F1 (and recall, R); bold where the 95 % interval leaves out 0."
    titles = {"alone": "Alone, on the paper's model", "on_top": "On top of all the others"}
    tables = [Table(title, header, note=note) for title in titles.values()]
    topic = ["worst topic"] if rows[0].topics else []
    tables[1] = Table(titles["on_top"], [*header, *topic, "carries over"], note=note)
    for which, table in zip(titles, tables, strict=True):
        for number, row in enumerate(rows):
            gains: list[Gain] = list(getattr(row, which).values())
            columns = [*range(3, len(header) - 2), len(header) - 1]
            table.strong |= {(number, at) for at, gain in zip(columns, gains, strict=True) if gain.sure}
            cells = [f"{100 * gain.f1:+.2f}" for gain in gains]
            cells.insert(-1, f"{100 * gains[-1].recall:+.2f}")
            settings = ", ".join(f"{name}={written(value)}" for name, value in row.settings.items())
            if which == "on_top":
                worst = [f"{100 * min(gain.f1 for gain in row.topics.values()):+.2f}"] if topic else []
                cells += [*worst, "yes" if row.carries_over else "no"]
            table.add([row.name, settings, "yes" if row.default else "no", *cells])
    return tables
