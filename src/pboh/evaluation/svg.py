"""Small plots as inline SVG, coloured by the page's style sheet so that they follow light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from pboh.evaluation.breakdowns import Bin, Calibration

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 18, 14, 46


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a bar chart: its name, its values (None where there is none) and their intervals."""

    name: str
    values: Sequence[float | None]
    intervals: Sequence[tuple[float, float] | None] = ()


class _Plot:
    """A canvas with axes; x and y are given in shares of the plotting area."""

    def __init__(self, width: int, height: int, label: str) -> None:
        self.width, self.height = width, height
        self.parts = [
            f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}" '
            'preserveAspectRatio="xMidYMid meet">'
        ]

    def x(self, share: float) -> float:
        """Pixels from the left of a share of the width."""
        return round(_LEFT + share * (self.width - _LEFT - _RIGHT), 1)

    def y(self, share: float) -> float:
        """Pixels from the top of a share of the height (0 is the bottom)."""
        return round(_TOP + (1 - share) * (self.height - _TOP - _BOTTOM), 1)

    def text(self, x: float, y: float, words: str, kind: str = "", extra: str = "") -> None:
        """Words at a place."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}" {extra}>{escape(words)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" class="{kind}"/>')

    def bar(self, x: float, width: float, share: float, kind: str, tip: str) -> None:
        """A bar from the bottom up, with a tooltip."""
        top = self.y(share)
        height = max(0.5, self.y(0) - top)
        size = f'width="{width:.1f}" height="{height:.1f}"'
        self.mark(f'rect x="{x:.1f}" y="{top:g}" {size} rx="1.5" class="{kind}"', tip)

    def whisker(self, x: float, low: float, high: float) -> None:
        """An interval."""
        self.line(x, self.y(low), x, self.y(high), "whisker")
        for end in (low, high):
            self.line(x - 2.5, self.y(end), x + 2.5, self.y(end), "whisker")

    def grid(self, ticks: Sequence[tuple[float, str]], zero: float = 0) -> None:
        """Horizontal lines with their labels; the one at ``zero`` is the axis."""
        for share, label in ticks:
            y = self.y(share)
            self.line(_LEFT, y, self.width - _RIGHT, y, "axis" if share == zero else "rule")
            self.text(_LEFT - 7, y + 3.5, label, "tick", 'text-anchor="end"')

    def slots(self, count: int) -> tuple[float, list[float]]:
        """The width of equal slots along the x axis, and their centres."""
        width = (self.x(1) - self.x(0)) / max(1, count)
        return width, [self.x(0) + width * (number + 0.5) for number in range(count)]

    def under(self, x: float, words: str, down: int = 14, kind: str = "tick") -> None:
        """Words below the x axis, centred."""
        self.text(x, self.y(0) + down, words, kind, 'text-anchor="middle"')

    def curve(self, points: Iterable[tuple[float, float]]) -> None:
        """A line through points in pixels."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" class="curve"/>')

    def mark(self, shape: str, tip: str) -> None:
        """A shape with a tooltip."""
        name = shape.partition(" ")[0]
        self.parts.append(f"<{shape}><title>{escape(tip)}</title></{name}>")

    def caption(self, words: str) -> None:
        """What the x axis shows."""
        self.text(self.x(0.5), self.height - 6, words, "label", 'text-anchor="middle"')

    def done(self) -> str:
        """The finished picture."""
        return "".join([*self.parts, "</svg>"])


_PERCENT_TICKS = [(tick / 100, f"{tick}%") for tick in range(0, 101, 20)]


def grouped_bars(
    groups: Sequence[str], series: Sequence[Series], marks: Sequence[float | None], label: str, mark: str
) -> str:
    """Bars in groups, one colour a series; ``marks`` are drawn as diamonds over a whole group."""
    plot = _Plot(1090, 330, label)
    plot.grid(_PERCENT_TICKS)
    slot, centres = plot.slots(len(groups))
    width = min(30.0, slot * 0.78 / max(1, len(series)))
    for g, (group, centre) in enumerate(zip(groups, centres, strict=True)):
        for s, one in enumerate(series):
            value = one.values[g]
            if value is None:
                continue
            x = centre + (s - len(series) / 2) * width
            kind = series_class(s, len(series))
            plot.bar(x + 0.5, width - 1, value, kind, f"{group}, {one.name}: {100 * value:.2f}")
            interval = one.intervals[g] if one.intervals else None
            if interval:
                plot.whisker(x + width / 2, *interval)
        _diamond(plot, centre, width * len(series), marks[g], f"{group}, {mark}")
        plot.under(centre, _shortened(group, int(slot / 6.2)), 16)
    return plot.done()


def series_class(number: int, total: int) -> str:
    """The style class of a series; the last one, the whole model, has the main colour."""
    return f"s{min(total - 1 - number, 4)}"


def _diamond(plot: _Plot, centre: float, width: float, value: float | None, name: str) -> None:
    if value is None:
        return
    y = plot.y(value)
    plot.line(centre - width / 2, y, centre + width / 2, y, "mark")
    plot.mark(f'path d="M{centre:g} {y - 5:g}l5 5l-5 5l-5 -5z" class="mark"', f"{name}: {100 * value:.2f}")


def _shortened(words: str, room: int) -> str:
    return words if len(words) <= room else words[: max(1, room - 1)] + "…"


def bin_bars(bins: Sequence[Bin], caption: str, label: str) -> str:
    """Accuracy of groups of mentions with their intervals, and how many there are of each."""
    plot = _Plot(440, 270, label)
    plot.grid(_PERCENT_TICKS)
    slot, centres = plot.slots(len(bins))
    for centre, one in zip(centres, bins, strict=True):
        tip = f"{one.label}: {100 * one.accuracy:.1f} % of {one.count:,} mentions"
        plot.bar(centre - slot * 0.32, slot * 0.64, one.accuracy, "s0", tip)
        plot.whisker(centre, one.low, one.high)
        plot.under(centre, one.label)
        plot.under(centre, _compact(one.count), 26, "count")
    plot.caption(caption)
    return plot.done()


def _compact(number: int) -> str:
    return f"n={number:,}" if number < 10_000 else f"n={number / 1000:.0f}k"


def calibration_plot(curve: Calibration) -> str:
    """Accuracy against probability; the size of a dot is its number of mentions."""
    plot = _Plot(440, 270, "Calibration")
    plot.grid(_PERCENT_TICKS)
    for share, label in _PERCENT_TICKS:
        plot.under(plot.x(share), label)
    plot.line(plot.x(0), plot.y(0), plot.x(1), plot.y(1), "ideal")
    most = max((count for _, _, count in curve.points), default=1)
    plot.curve((plot.x(p), plot.y(share)) for p, share, _ in curve.points)
    for p, share, count in curve.points:
        radius = 2.5 + 6 * (count / most) ** 0.5
        tip = f"said {100 * p:.1f} %, right {100 * share:.1f} % of {count:,} mentions"
        plot.mark(f'circle cx="{plot.x(p):g}" cy="{plot.y(share):g}" r="{radius:.1f}" class="dot"', tip)
    plot.text(plot.x(0.03), plot.y(0.93), f"expected calibration error {100 * curve.error:.1f} %", "label")
    plot.caption("probability of the answer")
    return plot.done()


def histogram(counts: dict[int, int], caption: str, label: str) -> str:
    """Whole numbers and how often they occurred."""
    plot = _Plot(440, 270, label)
    most = max(counts.values(), default=0) or 1
    plot.grid([(quarter / 4, f"{most * quarter / 4:,.0f}") for quarter in range(5)])
    slot, centres = plot.slots(len(counts))
    for centre, (value, count) in zip(centres, counts.items(), strict=True):
        tip = f"{value} rounds: {count:,} documents"
        plot.bar(centre - slot * 0.36, slot * 0.72, count / most, "s0", tip)
        plot.under(centre, str(value))
    plot.caption(caption)
    return plot.done()


@dataclass(frozen=True, slots=True)
class Effect:
    """What one value of a setting gains, in points, with its interval."""

    value: str
    gain: float
    low: float
    high: float


def effect_plot(effects: Sequence[Effect], chosen: str, label: str) -> str:
    """The gain of each value of a setting over the one before; the chosen value is a diamond."""
    plot = _Plot(440, 230, label)
    low = min(0.0, *(one.low for one in effects))
    high = max(0.0, *(one.high for one in effects))
    step = _tick_step(high - low)
    first, last = math.floor(low / step), max(math.ceil(high / step), math.floor(low / step) + 1)

    def share(gain: float) -> float:
        return (gain / step - first) / (last - first)

    ticks = [(share(tick * step), f"{tick * step:+.3g}" if tick else "0") for tick in range(first, last + 1)]
    plot.grid(ticks, zero=share(0.0))
    centres = plot.slots(len(effects))[1]
    plot.curve((x, plot.y(share(one.gain))) for x, one in zip(centres, effects, strict=True))
    for x, one in zip(centres, effects, strict=True):
        y = plot.y(share(one.gain))
        plot.whisker(x, share(one.low), share(one.high))
        shape = f'circle cx="{x:g}" cy="{y:g}" r="4" class="dot"'
        if one.value == chosen:
            shape = f'path d="M{x:g} {y - 6:g}l6 6l-6 6l-6 -6z" class="mark"'
        plot.mark(shape, f"{one.value}: {one.gain:+.2f} ({one.low:+.2f} … {one.high:+.2f})")
        plot.under(x, one.value, 16)
    plot.caption(f"{label}; gain in points")
    return plot.done()


def _tick_step(span: float) -> float:
    """A round distance that puts about four ticks on an axis of this length."""
    rough = max(span, 1e-3) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
