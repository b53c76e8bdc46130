"""The whole path on the small world: names are resolved together, the same on every thread and process."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from pboh.errors import InputError, SpanError
from pboh.inference.settings import Settings
from pboh.linker import Linker
from small_world import FOOTBALL, WRITERS, mark, titles


def test_context_and_coherence_decide_between_namesakes(linker):
    football = linker.disambiguate(FOOTBALL, mark(FOOTBALL, "Müller", "Bayern", "Dortmund"))
    assert titles(football)[0] in ("Thomas Müller", "Gerd Müller")
    assert titles(football)[1:] == ["FC Bayern Munich", "Borussia Dortmund"]
    writers = linker.disambiguate(WRITERS, mark(WRITERS, "Müller", "Hemingway", "Paris"))
    assert titles(writers)[0] in ("Herta Müller", "Max Müller")
    assert titles(writers)[1:] == ["Ernest Hemingway", "Paris"]


def test_offsets_count_code_points(linker):
    text = "😀 𝔘𝔫𝔦 Müller scored."
    (mention,) = linker.disambiguate(text, mark(text, "Müller"))
    assert text[mention.start : mention.end] == mention.text == "Müller"


def test_results_do_not_depend_on_batch_thread_or_process(linker):
    documents = [
        (FOOTBALL, mark(FOOTBALL, "Müller", "Bayern", "Paris")),
        (WRITERS, mark(WRITERS, "Müller")),
    ] * 5
    expected = [linker.disambiguate(*d).to_dict() for d in documents]
    assert [d.to_dict() for d in linker.pipe(documents)] == expected
    assert [d.to_dict() for d in linker.pipe(documents, workers=2, batch=3)] == expected
    with ThreadPoolExecutor(4) as threads:
        assert [d.to_dict() for d in threads.map(lambda d: linker.disambiguate(*d), documents)] == expected
    again = pickle.loads(pickle.dumps(linker))
    assert [again.disambiguate(*d).to_dict() for d in documents] == expected


def test_documents_survive_a_process_boundary_with_their_explanations(linker):
    document = pickle.loads(pickle.dumps(linker.disambiguate(WRITERS, mark(WRITERS, "Müller"))))
    mention = document.mentions[0]
    assert mention.explain().entity == mention.entity


def test_settings_change_without_rebuilding(linker):
    strong = linker.with_settings(tau=0.9, layers={"last": 0.5})
    assert strong.settings.tau == 0.9
    assert strong.settings.layers["cased"] == linker.settings.layers["cased"]
    assert isinstance(strong, Linker)
    with pytest.raises(InputError, match="unknown settings"):
        linker.with_settings(gamma=1)
    with pytest.raises(InputError, match="unknown name layers"):
        linker.with_settings(layers={"middle": 1})
    with pytest.raises(InputError, match="unknown system"):
        Settings(system="neural")


def test_overlap_is_refused_unless_allowed(linker):
    with pytest.raises(SpanError, match="overlap"):
        linker.disambiguate(FOOTBALL, [(0, 6), (3, 13)])
    assert len(linker.disambiguate(FOOTBALL, [(0, 6), (3, 13)], overlapping=True)) == 2
