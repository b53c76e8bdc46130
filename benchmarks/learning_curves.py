"""Held-out loss and links right, epoch by epoch, on the sample corpus: one and two threads, three starts.

``PBOH_MODEL`` names a model and ``PBOH_CORPUS`` the corpus it was counted from. The curves are drawn into
docs/images/learning-curves.svg.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, sample_model, save, table
from pboh.learning.pseudo_likelihood.learn import learn
from pboh.learning.pseudo_likelihood.learner import LearningOptions
from pboh.learning.pseudo_likelihood.parameters import ParameterOptions

PICTURE = ROOT / "docs" / "images" / "learning-curves.svg"
EPOCHS = 4
COLOURS = ("#1b6ca8", "#d1495b", "#66a182", "#8d5a97")
RUNS: dict[str, tuple[ParameterOptions, LearningOptions]] = {
    name: (
        ParameterOptions(start=start, centre=centre),
        LearningOptions(
            epochs=EPOCHS, rate=rate, pair_rate=0.02, decay=0.3, patience=EPOCHS, threads=threads
        ),
    )
    for name, start, centre, rate, threads in (
        ("prior, one thread", "prior", "start", 0.02, 1),
        ("prior, two threads", "prior", "start", 0.02, 2),
        ("zeros, two threads", "zeros", "zero", 0.5, 2),
    )
}


def main() -> dict[str, Any]:
    """Learn every way, keep the histories and draw them."""
    corpus = Path(os.environ.get("PBOH_CORPUS", ROOT / "data" / "sample-model.work" / "corpus"))
    histories = {name: learned(sample_model(), corpus, *options) for name, options in RUNS.items()}
    rows = [
        (name, *(f"{entry['loss']:.4f}, {entry['accuracy']:.2%}" for entry in history))
        for name, history in histories.items()
    ]
    table("held-out loss, links right", ("run", "start", *map(str, range(1, EPOCHS + 1))), rows)
    one, two = (
        min(entry["seconds"] for entry in histories[f"prior, {threads}"][1:])
        for threads in ("one thread", "two threads")
    )
    PICTURE.write_text(picture(histories))
    return save("learning_curves", {"histories": histories, "speed_up_of_two_threads": one / two})


def learned(
    model: Path, corpus: Path, parameters: ParameterOptions, options: LearningOptions
) -> list[dict[str, float]]:
    """History of a run on a copy of the model that shares its arrays."""
    with tempfile.TemporaryDirectory(dir=model.parent) as aside:
        copy = Path(aside) / "model"
        copy.mkdir()
        for file in model.iterdir():
            os.link(file, copy / file.name)  # learning replaces files, it never writes into one
        history: list[dict[str, float]] = learn(copy, corpus, parameter_options=parameters, options=options)[
            "history"
        ]
    return history


def picture(histories: dict[str, list[dict[str, float]]]) -> str:
    """Two plots side by side, readable on light and dark pages."""
    style = "text{font:12px sans-serif;fill:#777}.axis{stroke:#999}path{fill:none;stroke-width:2}"
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 290" role="img">',
        f"<title>Learning curves</title><style>{style}</style>",
    ]
    for left, field, words in ((50, "loss", "held-out loss per link"), (410, "accuracy", "links right")):
        curves = {name: [entry[field] for entry in history] for name, history in histories.items()}
        parts.append(plot(left, words, curves))
    for number, name in enumerate(histories):
        x, colour = 50 + 230 * number, COLOURS[number]
        parts.append(
            f'<path d="M{x} 275h24" stroke="{colour}"/><text x="{x + 30}" y="279">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def plot(left: int, words: str, curves: dict[str, Sequence[float]]) -> str:
    """Curves over epochs in a box of 280 × 200."""
    top, wide, high = 30, 280, 200
    # from zeros the first value is far off: the scale is that of what follows
    values = [value for curve in curves.values() for value in curve[1:]]
    low, most = min(values), max(values)
    low, most = low - 0.1 * (most - low), most + 0.1 * (most - low)
    parts = [f'<text x="{left}" y="18">{escape(words)}</text>']
    parts.append(f'<path class="axis" d="M{left} {top}v{high}h{wide}" style="stroke-width:1"/>')
    for share in (0.0, 0.5, 1.0):
        y = top + high * (1 - share)
        parts.append(
            f'<text x="{left - 5}" y="{y + 4}" text-anchor="end">{low + share * (most - low):.3f}</text>'
        )
    for epoch in range(1, EPOCHS + 1):
        x = left + wide * (epoch - 1) / (EPOCHS - 1)
        parts.append(f'<text x="{x:.0f}" y="{top + high + 18}" text-anchor="middle">epoch {epoch}</text>')
    for number, curve in enumerate(curves.values()):
        points = [
            f"{left + wide * k / (EPOCHS - 1):.1f} {top + high * (most - value) / (most - low):.1f}"
            for k, value in enumerate(curve[1:])
        ]
        parts.append(f'<path d="M{" L".join(points)}" stroke="{COLOURS[number]}"/>')
    return "\n".join(parts)


if __name__ == "__main__":
    main()
