"""The system ``learned``: the same inference over ρ and λ of ``pboh learn``."""

from pathlib import Path

import numpy as np
import pytest

from pboh.errors import ModelError
from pboh.inference.spans import Span
from pboh.learning.pseudo_likelihood.documents import DataOptions
from pboh.learning.pseudo_likelihood.learn import learn
from pboh.learning.pseudo_likelihood.learner import LearningOptions
from pboh.learning.pseudo_likelihood.parameters import ParameterOptions
from pboh.linker import Linker, load
from pboh.model.store import open_model

WORLD = Path(__file__).parents[2] / "data" / "world.xml"
TEXT = "Müller scored twice for Bayern in the Bundesliga, and Paris lost to Madrid."
SPANS = [
    Span(TEXT.index(name), TEXT.index(name) + len(name))
    for name in ("Müller", "Bayern", "Bundesliga", "Paris", "Madrid")
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    from pboh.corpus.extract import extract
    from pboh.counts.count import count
    from pboh.model.build import build_model

    folder = tmp_path_factory.mktemp("world")
    extract([WORLD], folder / "corpus", workers=1)
    count([folder / "corpus"], folder / "counts", threads=1)
    build_model(folder / "counts", folder / "model")
    return folder / "model", folder / "corpus"


@pytest.mark.parametrize("rescaled", [False, True])
def test_scores_are_rho_and_lambda(folders, rescaled):
    options = ParameterOptions(min_documents=2, start="prior", rescaled=rescaled)
    learn(*folders, data_options=DataOptions(held_out=5), parameter_options=options, restart=True,
          options=LearningOptions(epochs=2))  # fmt: skip
    model = open_model(folders[0])
    linker = Linker(model, load(folders[0], paper=True, system="learned").settings)
    solution = linker.engine.solve(TEXT, SPANS)
    offsets, other, value = (model[f"learned_pair_{part}"] for part in ("offsets", "other", "value"))
    table = np.zeros((model.entities, model.entities))
    for e in range(model.entities):
        table[e, other[offsets[e] : offsets[e + 1]]] = value[offsets[e] : offsets[e + 1]]
    assert (table < 0).any()
    chosen = [int(solution.unary.entity[i, a]) for i, a in enumerate(solution.answer)]
    factor = 2 / (len(SPANS) - 1) if rescaled else 1.0
    for i in range(len(SPANS)):
        for c in range(solution.unary.size[i]):
            e = int(solution.unary.entity[i, c])
            pairs = factor * sum(table[e, u] for j, u in enumerate(chosen) if j != i)
            expected = np.log(solution.unary.prior[i, c]) + pairs
            assert solution.scores[i, c] == pytest.approx(expected, abs=1e-4)


def test_a_model_without_learned_parameters_says_so(folders, tmp_path):
    from pboh.counts.count import count
    from pboh.model.build import build_model

    count([folders[1]], tmp_path / "counts", threads=1)
    build_model(tmp_path / "counts", tmp_path / "model")
    with pytest.raises(ModelError, match="no learned parameters"):
        load(tmp_path / "model", system="learned")
