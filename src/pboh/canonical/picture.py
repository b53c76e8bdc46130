"""A small graph of merged names as SVG: the same picture for the same graph, readable without a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from pboh.canonical.exports import RELATED, relations
from pboh.canonical.groups import Groups
from pboh.text.hashing import Array

ROUNDS, LONGEST_LABEL = 200, 28
MARGINS = np.asarray([110, 45])  # left and right, above and below
_STYLE = (
    "text{font:12px sans-serif;text-anchor:middle;fill:#223;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".k{fill:#dbe6fb;stroke:#3b5fb0}.u{fill:#eee;stroke:#888;stroke-dasharray:3 2}"
    "line,path{stroke:#9aa4b8}path{fill:#9aa4b8}.r,.n{font-size:9px;fill:#667}"
)
_ARROW = (
    '<marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0,1L8,4L0,7z"/></marker>'
)


def to_svg(
    groups: Groups, edges: Iterable[Sequence[Any]] = (), *, width: int = 760, height: int = 520
) -> str:
    """Groups as circles, larger with more names, dashed if no entity is known; edges with their kinds.

    Below the label of a group are its other names. Edges that have a kind are arrows.
    """
    lines, some = relations(groups, edges), list(groups)
    at = _places(len(some), lines, width, height)
    radius = [8 + 3 * min(len(group.names), 6) for group in some]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{len(some)} nodes made of {len(groups.number)} names</title><style>{_STYLE}</style>{_ARROW}",
    ]
    parts += [_line(at[one], at[two], radius[two], kind) for one, two, kind in lines]
    for group, (x, y), r in zip(some, at, radius, strict=True):
        known = "k" if group.entity else "u"
        others = ", ".join(name for name in group.names if name != group.label)
        also = f'<text class="n" x="{x}" y="{y + r + 24}">{escape(_short(others))}</text>' if others else ""
        parts.append(
            f"<g><title>{escape(', '.join(group.names))}</title>"
            f'<circle class="{known}" cx="{x}" cy="{y}" r="{r}"/>'
            f'<text x="{x}" y="{y + r + 13}">{escape(_short(group.label))}</text>{also}</g>'
        )
    kinds = [
        f'<text class="r" x="{sum(at[k][0] for k in (a, b)) // 2}" y="{sum(at[k][1] for k in (a, b)) // 2}">'
        f"{escape(kind)}</text>"
        for a, b, kind in lines
        if kind != RELATED
    ]
    return "\n".join([*parts, *kinds, "</svg>", ""])


def _line(a: tuple[int, int], b: tuple[int, int], radius: int, kind: str) -> str:
    """An edge to the rim of a circle, with a tip if it is of a kind, which has a direction."""
    apart = np.hypot(b[0] - a[0], b[1] - a[1])
    x, y = (round(q - radius * (q - p) / max(apart, 1)) for p, q in zip(a, b, strict=True))
    tip = "" if kind == RELATED else ' marker-end="url(#a)"'
    return f'<line x1="{a[0]}" y1="{a[1]}" x2="{x}" y2="{y}"{tip}/>'


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def _places(size: int, lines: list[tuple[int, int, str]], width: int, height: int) -> list[tuple[int, int]]:
    """Where nodes are: as far from each other as there are edges between them, as well as a plane allows.

    Every round is a step of stress majorisation, which cannot make the picture worse.
    """
    if not size:
        return []
    turn = 2 * np.pi * np.arange(size) / size
    place = np.stack([np.cos(turn), np.sin(turn)], axis=1) * (1 + 0.1 * np.arange(size) / size)[:, None]
    wanted = _steps(size, lines)
    for _ in range(ROUNDS):
        apart = np.sqrt(((place[:, None] - place[None]) ** 2).sum(axis=2))
        pull = -wanted / np.maximum(apart, 1e-6)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        place = pull @ place / size
    return _scaled(place, width, height)


def _steps(size: int, lines: list[tuple[int, int, str]]) -> Array:
    """Edges between any two nodes on the shortest way; a little more than the longest where there is none."""
    steps = np.full((size, size), np.inf)
    np.fill_diagonal(steps, 0.0)
    for one, two, _ in lines:
        steps[one, two] = steps[two, one] = 1.0
    for middle in range(size):
        steps = np.minimum(steps, steps[:, middle, None] + steps[None, middle])
    finite = np.isfinite(steps)
    return np.where(finite, steps, steps[finite].max() + 0.5)


def _scaled(place: Array, width: int, height: int) -> list[tuple[int, int]]:
    low, span = place.min(axis=0), np.maximum(np.ptp(place, axis=0), 1e-9)
    fitted = MARGINS + (place - low) / span * (np.asarray([width, height]) - 2 * MARGINS)
    if len(place) == 1:
        fitted[:] = width / 2, height / 2
    return [(int(x), int(y)) for x, y in fitted.round().tolist()]
