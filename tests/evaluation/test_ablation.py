"""Ablations on the small world: each extension is switched both ways and measured against its twin."""

from __future__ import annotations

import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest

from pboh.evaluation.ablation import EXTENSIONS, Ablation, Extension, Gain, ablate, ablation_tables
from pboh.evaluation.datasets import Dataset, read_dataset
from pboh.evaluation.datasets.derived import as_sentences
from pboh.evaluation.metrics import judge, macro_scores, micro_scores
from pboh.evaluation.runner import answer_document
from pboh.evaluation.trials import value_of, with_values
from pboh.inference.settings import DEFAULT, PAPER, Settings
from pboh.linker import Linker, load
from pboh.model.names import LAYERS
from pboh.model.store import read_manifest
from pboh.model.writing import write_manifest

WORLD = Path(__file__).parents[1] / "data" / "world.jsonl"
OFF = {"zeta": 0.0, "tau": 0.0}


@pytest.fixture(scope="module")
def gold() -> Dataset:
    return read_dataset(WORLD)


@pytest.fixture(scope="module")
def real(world_model: Path) -> Linker:
    return load(world_model)


def micro(linker: Linker, settings: Settings, dataset: Dataset) -> list[float]:
    """Precision, recall and F1 by the evaluation's own way."""
    chosen = Linker(linker.model, settings)
    answers = [answer_document(chosen, d) for d in dataset]
    return micro_scores(judge(dataset, answers, linker.resolve).counts).tolist()


def load_paper(linker: Linker) -> Linker:
    return Linker(linker.model, PAPER)


def test_gains_are_differences_of_evaluations(real: Linker, gold: Dataset) -> None:
    half = replace(gold, name="half", documents=gold.documents[:6])
    extension = Extension("coreference", {"coreference": 10.0})
    row, everything = ablate(real, [gold, half], [extension])
    assert row.default and row.settings == {"coreference": DEFAULT.coreference}
    for dataset in (gold, half):
        pairs = [
            (row.alone, PAPER.change(coreference=DEFAULT.coreference), PAPER),
            (row.on_top, DEFAULT, DEFAULT.change(coreference=0.0)),
            (everything.alone, DEFAULT, PAPER),
        ]
        for gains, one, other in pairs:
            new, old = (micro(real, settings, dataset) for settings in (one, other))
            assert gains[dataset.name].recall == pytest.approx(new[1] - old[1])
            assert gains[dataset.name].f1 == pytest.approx(new[2] - old[2])
            assert (
                gains[dataset.name].low <= gains[dataset.name].f1 + 1e-9
                and gains[dataset.name].f1 <= gains[dataset.name].high + 1e-9
            )
    answers = [answer_document(real, d) for d in gold], [answer_document(load_paper(real), d) for d in gold]
    new, old = (macro_scores(judge(gold, one, real.resolve).counts)[2] for one in answers)
    assert everything.alone["world"].macro_f1 == pytest.approx(new - old)
    one, other, _, mean = row.alone.values()
    assert mean.f1 == pytest.approx((one.f1 + other.f1) / 2)


def test_a_gain_carries_over_if_it_is_sure_on_some_kind_of_text_and_nowhere_a_sure_loss() -> None:
    sure, unsure, loss = Gain(0, 0.2, 0.1, 0.3), Gain(0, 0.1, -0.1, 0.3), Gain(0, -0.1, -0.2, -0.05)
    for reading, readings, texts, carries in (
        (unsure, sure, unsure, True),
        (unsure, unsure, sure, True),
        (sure, unsure, unsure, False),  # a reading alone is no kind of text
        (unsure, unsure, unsure, False),
        (loss, sure, sure, False),
        (unsure, sure, loss, False),
    ):
        gains = {"pages": reading, "texts": texts, "pages, 2 readings": readings, "mean": sure}
        row = Ablation("it", {}, True, {}, gains, ("texts", "pages, 2 readings"), {"a topic": loss})
        assert row.carries_over == carries


def test_readings_of_the_same_texts_are_one_kind_and_topics_are_told(real: Linker, gold: Dataset) -> None:
    first, second = (
        replace(gold, name=n, documents=d) for n, d in (("a", gold.documents[:4]), ("b", gold.documents[4:]))
    )
    short = as_sentences(first)
    row, _ = ablate(
        real,
        [first, short, second],
        [Extension("context", {"zeta": 0.1}, off=OFF)],
        topics=[replace(second, name="t")],
    )
    assert row.kinds == ("a, 2 readings", "b")
    assert list(row.on_top) == list(row.alone) == ["a", short.name, "b", "a, 2 readings", "mean"]
    assert row.topics == {"t": row.on_top["b"]}
    mean = (row.on_top["a"].f1 + row.on_top[short.name].f1) / 2
    assert row.on_top["a, 2 readings"].f1 == pytest.approx(mean)
    assert ablation_tables([row])[1].header[3:] == [
        "a", short.name, "b", "a, 2 readings", "mean ΔR", "mean ΔF1", "worst topic", "carries over",
    ]  # fmt: skip


def test_an_extension_that_is_no_default_is_added(real: Linker, gold: Dataset) -> None:
    row, _ = ablate(real, [gold], [Extension("off", OFF, off={"zeta": 0.1, "tau": 0.5})])
    assert not row.default
    on = DEFAULT.change(zeta=0.1, tau=0.5)
    loss = micro(real, DEFAULT.change(**OFF), gold)[2] - micro(real, on, gold)[2]
    assert row.on_top["world"].f1 == pytest.approx(loss) and loss < 0


def test_all_that_differs_from_the_paper_is_ablated() -> None:
    ablated = {name for extension in EXTENSIONS for name in extension.settings}
    names = [item.name for item in fields(Settings) if item.name != "layers"]
    names += [f"layers.{layer}" for layer in LAYERS]
    missing = [n for n in names if value_of(DEFAULT, n) != value_of(PAPER, n) and n not in ablated]
    assert missing == []


@pytest.mark.parametrize("extension", EXTENSIONS, ids=lambda extension: extension.name)
def test_every_extension_changes_something(extension: Extension) -> None:
    for base in (PAPER, DEFAULT):
        with_it = with_values(base, extension.with_it(DEFAULT))
        assert with_it != with_values(base, extension.without_it())
    if extension.off is None:
        assert with_values(PAPER, extension.without_it()) == PAPER
    if extension.is_default(DEFAULT):
        assert with_values(DEFAULT, extension.with_it(DEFAULT)) == DEFAULT


def test_a_derived_name_alone_is_weighed_by_popularity(real: Linker, gold: Dataset) -> None:
    titles = next(extension for extension in EXTENSIONS if extension.name == "titles")
    row, _ = ablate(real, [gold], [titles])
    alone = PAPER.change(popularity=DEFAULT.popularity, layers={"title": DEFAULT.layers["title"]})
    assert row.alone["world"].f1 == pytest.approx(micro(real, alone, gold)[2] - micro(real, PAPER, gold)[2])


def test_tables_stress_what_is_sure(real: Linker, gold: Dataset) -> None:
    rows = ablate(real, [gold], [Extension("context", {"zeta": 0.1}, off={"zeta": 0.0})])
    alone, on_top = ablation_tables(rows)
    assert alone.header == ["Extension", "Settings", "default", "world", "mean ΔR", "mean ΔF1"]
    assert alone.rows[0][:2] == ["context", "zeta=0.1"] and on_top.rows[-1][0] == "everything"
    for number, row in enumerate(rows):
        assert ((number, 3) in alone.strong) == row.alone["world"].sure
        assert ((number, 5) in alone.strong) == row.alone["mean"].sure


def test_a_calibration_does_not_favour_the_settings_it_belongs_to(
    real: Linker, gold: Dataset, tmp_path: Path
) -> None:
    """Trials go by marginals throughout: an extension without effect gains nothing on a calibrated model."""
    model = tmp_path / "model"
    shutil.copytree(real.model.folder, model)
    never = {"weights": {"bias": -9.0}, "knots": [[-9.0, 0.1], [9.0, 0.1]], "threshold": 0.5}
    write_manifest(model / "model.json", {**read_manifest(model), "calibration": never})
    row, _ = ablate(load(model, threshold=0.5), [gold], [Extension("nothing", {"epsilon": 1e-6})])
    assert row.on_top["world"].f1 == pytest.approx(0.0, abs=0.02)
