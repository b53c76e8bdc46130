"""From corpus and model to a model with learned parameters; killed runs go on, bad input is one sentence."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from folders import TITLES, random_links, write_corpus, write_model

from pboh.errors import CorpusError, InputError
from pboh.learning.pseudo_likelihood.checkpoints import CHECKPOINT
from pboh.learning.pseudo_likelihood.documents import DataOptions, read_training_data
from pboh.learning.pseudo_likelihood.learn import attach, learn
from pboh.learning.pseudo_likelihood.learner import LearningOptions
from pboh.learning.pseudo_likelihood.parameters import ParameterOptions
from pboh.model import store
from pboh.model.names import Layer

PARAMETERS = ParameterOptions(min_documents=2)


@pytest.fixture
def folders(tmp_path):
    links = random_links()
    return write_model(tmp_path / "model", links), write_corpus(tmp_path / "corpus", links)


def test_documents_are_the_links_of_the_corpus(folders):
    model, corpus = store.open_model(folders[0]), folders[1]
    data = read_training_data(corpus, model, DataOptions(held_out=5))
    links = random_links()
    train, held = data.train, data.held
    assert held.offsets.size - 1 == 5
    assert train.gold.size + held.gold.size + data.figures["held_out_links_unanswerable"] == len(links)
    pages = {}
    for page, anchor, entity in links:
        pages.setdefault(page, []).append((anchor.lower(), TITLES[entity]))
    expected = sorted(pages.values())
    got = []
    for docs in (train, held):
        for a, b in pairwise(docs.offsets):
            got.append(
                [
                    (
                        TITLES[0 + 3 * "abcd".index(model.title(e)[0].lower())].split()[0].lower(),
                        model.title(e),
                    )
                    for e in data.names.entity[docs.gold[a:b]].tolist()
                ]
            )
    assert sorted(got) == expected
    for docs in (train, held):  # a link's entity is one of its name's
        assert (docs.gold >= data.names.offsets[docs.name]).all()
        assert (docs.gold < data.names.offsets[docs.name + 1]).all()
    np.testing.assert_array_equal(data.counts, np.bincount(train.gold, minlength=data.counts.size))
    assert (model["name_layer"][data.entry] == Layer.LOWER).all()


def test_held_out_pages_do_not_decide_which_of_two_equals_comes_first(folders):
    """Entities of a name are ordered by training links, then by number, whatever the model's own order."""
    model = store.open_model(folders[0])
    for seed in range(5):
        data = read_training_data(folders[1], model, DataOptions(held_out=6, seed=seed))
        for a, b in pairwise(data.names.offsets):
            key = list(zip(-data.counts[a:b], data.names.entity[a:b], strict=True))
            assert key == sorted(key)


def test_links_of_disambiguation_pages_are_no_documents(tmp_path):
    links = random_links()
    model = store.open_model(write_model(tmp_path / "model", links))
    kinds = {3: "disambiguation", 4: "redirect", 5: "list"}
    corpus = write_corpus(tmp_path / "corpus", links, kinds)
    data = read_training_data(corpus, model, DataOptions(held_out=5))
    assert data.figures["links"] == sum(page not in (3, 4) for page, _, _ in links)


def test_a_sample_of_pages(folders):
    data = read_training_data(folders[1], store.open_model(folders[0]), DataOptions(held_out=5, pages=20))
    assert data.train.offsets.size - 1 == 20


def test_learning_helps_on_held_out_pages_and_is_stored_with_the_model(folders):
    model, corpus = folders
    before = store.open_model(model)
    figures = learn(model, corpus, parameter_options=PARAMETERS, data_options=DataOptions(held_out=6))
    assert figures["held_out_loss"] < figures["held_out_loss_at_start"]
    store.verify(model)
    after = store.open_model(model)
    assert after.info["learned"]["parameters"]["min_documents"] == 2
    assert after.info["learned"]["history"][-1]["epoch"] == figures["epochs"]
    for name, array in before.arrays.items():
        np.testing.assert_array_equal(array, after[name])
    lower = before["name_layer"] == Layer.LOWER
    np.testing.assert_array_equal(before["name_count"][~lower], after["learned_count"][~lower])
    assert not np.allclose(before["name_count"][lower], after["learned_count"][lower])
    offsets, other = after["learned_pair_offsets"], after["learned_pair_other"]
    assert offsets.size == before.entities + 1
    table = np.zeros((before.entities, before.entities))
    for e in range(before.entities):
        table[e, other[offsets[e] : offsets[e + 1]]] = after["learned_pair_value"][
            offsets[e] : offsets[e + 1]
        ]
    np.testing.assert_array_equal(table, table.T)
    kind = [title.split()[1] for title in TITLES[::-1]]
    same = np.equal.outer(kind, kind)
    assert table[same].mean() > table[~same].mean() + 0.1  # cities go with cities


def test_counts_say_what_rho_says(folders):
    """p(e|m) from the stored counts is softmax(ρ) over the learned entries of a name."""
    model, corpus = folders
    opened = store.open_model(model)
    data = read_training_data(corpus, opened, DataOptions(held_out=6))
    from pboh.learning.pseudo_likelihood.learn import learned_arrays
    from pboh.learning.pseudo_likelihood.parameters import both_ways

    rho = np.random.default_rng(0).normal(size=data.entry.size).astype(np.float32)
    nothing = both_ways(np.zeros(opened.entities + 1, np.int64), np.empty(0, np.int32))
    count = learned_arrays(opened, data.entry, rho, nothing, np.empty(0, np.float32))["learned_count"]
    for m in range(data.names.offsets.size - 1):
        row = slice(data.names.offsets[m], data.names.offsets[m + 1])
        entries = data.entry[row]
        softmax = np.exp(rho[row]) / np.exp(rho[row]).sum()
        np.testing.assert_allclose(count[entries] / count[entries].sum(), softmax, rtol=1e-4)
        np.testing.assert_allclose(count[entries].sum(), opened["name_count"][entries].sum(), rtol=1e-5)


def test_learning_again_replaces_the_learned_part(folders):
    model, corpus = folders
    for start in ("zeros", "bethe"):
        options = ParameterOptions(min_documents=2, start=start, rescaled=True, centre="start")
        learn(model, corpus, parameter_options=options, restart=True, options=LearningOptions(epochs=1))
        assert store.open_model(model).info["learned"]["parameters"]["start"] == start
        store.verify(model)
    assert not list(model.glob(".*"))


def test_killed_while_attaching_the_model_still_opens(folders, monkeypatch):
    model, corpus = folders
    learn(model, corpus, parameter_options=PARAMETERS, options=LearningOptions(epochs=1))
    old = dict(store.open_model(model).arrays)

    class Killed(BaseException):
        pass

    for moment in range(1, 8):
        calls = []

        def renamed(source, target, calls=calls, moment=moment, real=os.replace):
            calls.append(target)
            if len(calls) == moment:
                raise Killed
            real(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", renamed)
            patch.setattr("pathlib.Path.replace", renamed)
            try:
                attach(
                    model, {"learned_count": old["learned_count"][:-1], "learned_pair_other": np.zeros(3)}, {}
                )
            except Killed:
                store.verify(model)
    store.verify(model)


def run_command(model, corpus, *options):
    command = [
        sys.executable,
        "-c",
        "from pboh.cli import main; main()",
        "learn",
        "-m",
        str(model),
        "-c",
        str(corpus),
    ]
    return subprocess.Popen([*command, *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_killed_run_resumes_and_ends_where_an_uninterrupted_one_does(tmp_path, threads):
    links = random_links(400)
    corpus = write_corpus(tmp_path / "corpus", links)
    model, control = write_model(tmp_path / "model", links), write_model(tmp_path / "control", links)
    options = ["--min-documents", "2", "--workers", str(threads), "--patience", "1000000"]
    process = run_command(model, corpus, *options, "--epochs", "1000000")
    checkpoint = tmp_path / "model.learning" / CHECKPOINT
    deadline = time.monotonic() + 120
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()
    process.stderr.close()
    with np.load(checkpoint) as saved:
        reached = json.loads(saved["meta"].tobytes())["state"]["epoch"]
    arguments = {
        "parameter_options": PARAMETERS,
        "options": LearningOptions(epochs=reached + 2, patience=1000000, threads=threads),
    }
    resumed = learn(model, corpus, **arguments)
    straight = learn(control, corpus, **arguments)
    assert resumed["resumed"]
    assert not straight["resumed"]
    losses, control = ([h["loss"] for h in run["history"]] for run in (resumed, straight))
    if threads == 1:
        assert losses == control
    else:  # which thread comes first is chance
        assert losses[-1] == pytest.approx(control[-1], rel=0.01)
        assert control[-1] < 0.9 * control[0]


def test_a_checkpoint_of_another_run_is_refused(folders):
    model, corpus = folders

    def stopped(entry):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(model, corpus, parameter_options=PARAMETERS, epoch_done=stopped)
    with pytest.raises(InputError, match="made with other parameters"):
        learn(model, corpus, parameter_options=ParameterOptions(min_documents=2, start="zeros"))
    (model.parent / "model.learning" / CHECKPOINT).write_bytes(b"damaged")
    with pytest.raises(InputError, match="cannot be read"):
        learn(model, corpus, parameter_options=PARAMETERS)
    assert not learn(model, corpus, parameter_options=PARAMETERS, restart=True)["resumed"]


def test_a_finished_run_can_go_on_and_does_not_stand_in_the_way_of_another(folders):
    model, corpus = folders
    options = LearningOptions(epochs=1, patience=9)
    learn(model, corpus, parameter_options=PARAMETERS, options=options)
    longer = learn(model, corpus, parameter_options=PARAMETERS, options=replace(options, epochs=3))
    assert longer["resumed"]
    assert longer["epochs"] == 3
    other = learn(model, corpus, parameter_options=ParameterOptions(min_documents=3), options=options)
    assert not other["resumed"]


def test_what_is_no_corpus_is_said_in_one_sentence(folders, tmp_path):
    model = store.open_model(folders[0])
    with pytest.raises(CorpusError, match="is missing"):
        read_training_data(tmp_path / "nowhere", model, DataOptions())
    (folders[1] / "corpus.json").write_text("{}")
    with pytest.raises(CorpusError, match="not a corpus folder"):
        read_training_data(folders[1], model, DataOptions())


def test_a_damaged_table_is_said_in_one_sentence(folders):
    (folders[1] / "links" / "00000.parquet").write_bytes(b"no parquet")
    with pytest.raises(CorpusError, match="links cannot be read"):
        read_training_data(folders[1], store.open_model(folders[0]), DataOptions())


def test_a_corpus_of_other_names_is_said_in_one_sentence(folders, tmp_path):
    strange = write_corpus(tmp_path / "strange", [(page, f"name {page}", page % 5) for page in range(30)])
    with pytest.raises(InputError, match="no link of the corpus"):
        read_training_data(strange, store.open_model(folders[0]), DataOptions())


def test_a_rate_that_diverges_is_said_in_one_sentence(folders):
    options = LearningOptions(
        epochs=3, rate=1e38, pair_rate=1e38, adaptive=False, penalty=0.0, pair_penalty=0.0
    )
    with pytest.raises(InputError, match="diverged"):
        learn(*folders, parameter_options=PARAMETERS, options=options)


def test_the_command_says_what_it_did(folders, tmp_path):
    process = run_command(
        *folders, "--min-documents", "2", "--epochs", "2", "--json", str(tmp_path / "out.json")
    )
    _, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert "epoch 2: loss" in error
    assert "held out loss" in error
    assert len(json.loads((tmp_path / "out.json").read_text())["history"]) == 3
