"""Geometry of the report's plots; the plots themselves are the macros of ``report_assets/charts.svg``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pboh.formats.html import templates

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a bar chart: its name, its values (None where there is none) and their intervals."""

    name: str
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()


def series_class(number: int, total: int) -> str:
    """The style class of a series; the last one, the whole model, has the main colour."""
    return f"s{min(total - 1 - number, 4)}"


class Plot:
    """Where things are in a plot: x and y take shares of the plotting area, ``centres`` are equal slots."""

    left, right, top, bottom = 44, 18, 14, 46

    def __init__(self, width: int, height: int, slots: int = 0) -> None:
        self.width, self.height = width, height
        self.slot = (self.x(1) - self.x(0)) / max(1, slots)
        self.centres = [self.x(0) + self.slot * (number + 0.5) for number in range(slots)]

    def x(self, share: float) -> float:
        """Pixels from the left of a share of the width."""
        return round(self.left + share * (self.width - self.left - self.right), 1)

    def y(self, share: float) -> float:
        """Pixels from the top of a share of the height (0 is the bottom)."""
        return round(self.top + (1 - share) * (self.height - self.top - self.bottom), 1)


@dataclass(frozen=True, slots=True)
class Effect:
    """What one value of a setting gains, in points, with its interval."""

    value: str
    gain: float
    low: float
    high: float


class GainAxis:
    """A y axis with round ticks that holds 0 and the intervals of all effects."""

    def __init__(self, effects: Iterable[Effect]) -> None:
        low = min(0.0, *(one.low for one in effects))
        high = max(0.0, *(one.high for one in effects))
        rough = max(high - low, 1e-3) / 4  # about four ticks, at a round distance
        power = 10.0 ** math.floor(math.log10(rough))
        self.step = next(f * power for f in (1, 2, 5, 10) if f * power >= rough * (1 - 1e-9))
        self.first = math.floor(low / self.step)
        self.last = max(math.ceil(high / self.step), self.first + 1)

    def share(self, gain: float) -> float:
        """How far up the axis a gain is."""
        return (gain / self.step - self.first) / (self.last - self.first)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Shares of the axis with their labels."""
        gains = [number * self.step for number in range(self.first, self.last + 1)]
        return [(self.share(gain), f"{gain:+.3g}" if gain else "0") for gain in gains]


@cache
def assets() -> Environment:
    """The templates of reports, with the geometry that their plots need."""
    environment = templates("evaluation/report_assets")
    percents = [(tick / 100, f"{tick}%") for tick in range(0, 101, 20)]
    environment.globals |= {
        "Plot": Plot, "GainAxis": GainAxis, "series_class": series_class, "percent_ticks": percents,
    }  # fmt: skip
    return environment
