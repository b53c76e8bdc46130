"""A small graph of merged names as SVG: the same picture for the same graph, readable without a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from pboh.canonical.exports import RELATED, relations
from pboh.canonical.groups import Groups
from pboh.text.hashing import Array

ROUNDS, MARGIN, LONGEST_LABEL = 200, 95, 28
_STYLE = (
    "text{font:12px sans-serif;text-anchor:middle;fill:#223}.k{fill:#dbe6fb;stroke:#3b5fb0}"
    ".u{fill:#eee;stroke:#888;stroke-dasharray:3 2}line{stroke:#9aa4b8}.r{font-size:9px;fill:#667}"
)


def to_svg(
    groups: Groups, edges: Iterable[Sequence[Any]] = (), *, width: int = 760, height: int = 520
) -> str:
    """Groups as circles, larger with more names, dashed if no entity is known; edges with their kinds."""
    lines = relations(groups, edges)
    at = _places(len(groups), lines, width, height)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{len(groups)} nodes made of {len(groups.number)} names</title><style>{_STYLE}</style>",
    ]
    for one, two, kind in lines:
        (a, b), (c, d) = at[one], at[two]
        parts.append(f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}"/>')
        if kind != RELATED:
            parts.append(f'<text class="r" x="{(a + c) // 2}" y="{(b + d) // 2}">{escape(kind)}</text>')
    for group, (x, y) in zip(groups, at, strict=True):
        names, radius = ", ".join(group.names), 8 + 3 * min(len(group.names), 6)
        known = "k" if group.entity else "u"
        parts.append(
            f'<g><title>{escape(names)}</title><circle class="{known}" cx="{x}" cy="{y}" r="{radius}"/>'
            f'<text x="{x}" y="{y + radius + 13}">{escape(_short(group.label))}</text></g>'
        )
    return "\n".join([*parts, "</svg>", ""])


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
    room = np.asarray([width - 2 * MARGIN, height - 2 * MARGIN])
    fitted = MARGIN + (place - low) / span * room
    if len(place) == 1:
        fitted[:] = width / 2, height / 2
    return [(int(x), int(y)) for x, y in fitted.round().tolist()]
