"""The rehearsal runs from the dump to the service, and goes on where it was stopped."""

import json

import pytest
from benchmarks import common, whole_wikipedia
from benchmarks.rehearsal import Rehearsal
from benchmarks.whole_wikipedia import STEPS, main

pytestmark = pytest.mark.slow

SCALE = 0.0001


def test_from_the_dump_to_the_service(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    run = Rehearsal.run

    def stopped(self, step, *options, **disk):
        if step == "link":
            raise KeyboardInterrupt
        return run(self, step, *options, **disk)

    monkeypatch.setattr(Rehearsal, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        main(SCALE, tmp_path, workers=1)
    record = tmp_path / f"whole-wikipedia-{SCALE:g}" / "rehearsal.json"
    trained = json.loads(record.read_text())["used"]
    assert {"generate", "extract", "count", "build", "finder", "fit"} <= trained.keys()

    monkeypatch.setattr(Rehearsal, "run", run)
    results = main(SCALE, tmp_path, workers=1)
    assert {**results["stages"], **trained} == results["stages"]  # nothing was done twice
    assert results["train"]["totals"]["documents"] > 600
    assert results["link"]["documents"] > 0
    assert results["serve"]["errors"] == 0
    assert all(usage["peak_memory_megabytes"] > 20 for usage in results["stages"].values())
    assert (tmp_path / "results" / f"whole_wikipedia_{SCALE:g}.json").exists()
    assert not record.parent.exists()
    assert set(STEPS) <= results.keys()
    assert results["memory"] == whole_wikipedia.MEMORY
