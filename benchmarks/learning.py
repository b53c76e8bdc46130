"""Speed, memory and agreement of pseudo-likelihood learning: threads against one, and the paper's size.

``threads`` compares one and two threads on documents drawn like a wiki's; ``size`` lays out 26 million ρ and
39 million λ and measures memory. ``python -m benchmarks.learning [threads|size]`` runs both, or one of them.
Thread ratios in seconds mean something only on a machine with nothing else to do; the processor time two
threads need beside one (sharing memory, waiting for each other's cache lines) is nearly immune to that.
"""

from __future__ import annotations

import json
import subprocess
import sys
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.common import ROOT, save, table
from pboh.files.memory import peak_memory_megabytes
from pboh.learning.pseudo_likelihood.kernels import Documents, Names, Parameters
from pboh.learning.pseudo_likelihood.learner import Learner, LearningOptions
from pboh.learning.pseudo_likelihood.parameters import (
    ParameterOptions,
    blank,
    both_ways,
    cooccurring,
    starting_point,
)

EPOCHS = 2


def zipf(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    """Numbers below ``size``, few of them often: log-uniform, as words and links are."""
    return np.minimum(np.exp(rng.random(count) * np.log(size)).astype(np.int64), size - 1)


def synthetic_names(
    rng: np.random.Generator, names: int, entities: int, parameters: int
) -> tuple[Names, np.ndarray]:
    """Names with 1…64 entities, few of them with many, about ``parameters`` in all; and counts."""
    sizes = np.minimum(1 + rng.geometric(min(names / parameters, 0.99), names), 64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    entity = zipf(rng, entities, int(offsets[-1])).astype(np.int32)
    return Names(offsets, entity), rng.integers(1, 50, entity.size).astype(np.float64)


def synthetic_documents(rng: np.random.Generator, names: Names, count: int, mean: int) -> Documents:
    """Documents of about ``mean`` links; which entity a link has is the name's first twice out of three."""
    sizes = 2 + rng.geometric(1 / mean, count)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    name = zipf(rng, names.offsets.size - 1, int(offsets[-1])).astype(np.int32)
    width = np.diff(names.offsets)[name]
    choice = np.where(rng.random(name.size) < 2 / 3, 0, (rng.random(name.size) * width).astype(np.int64))
    return Documents(offsets, name, (names.offsets[name] + choice).astype(np.int32))


def threads() -> dict[str, Any]:
    """Seconds per epoch (the fastest of all) and held-out losses with one and two threads, from one start."""
    rng = np.random.default_rng(0)
    entities = 200_000
    names, counts = synthetic_names(rng, 150_000, entities, 600_000)
    train = synthetic_documents(rng, names, 8_000, 60)
    held = synthetic_documents(rng, names, 1000, 60)
    together = cooccurring(train, names, entities, 7)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    losses: dict[int, list[float]] = {1: [], 2: []}
    processor: dict[int, list[float]] = {1: [], 2: []}
    for seed in range(2):
        for count in (1, 2):
            parameters = starting_point(names, counts, together, ParameterOptions(rescaled=True))
            options = LearningOptions(
                epochs=EPOCHS, threads=count, patience=99, pair_rate=1.0, pair_penalty=0.01, seed=seed
            )
            began = process_time()
            history = Learner(train, held, parameters, options).run()
            processor[count].append((process_time() - began) / EPOCHS)
            seconds[count] += [entry["seconds"] for entry in history[1:]]
            losses[count].append(history[-1]["loss"])
    return {
        "rho": int(names.entity.size), "lambda": int(together.other.size), "links": int(train.gold.size),
        "loss_at_start": history[0]["loss"], "loss_1_thread": losses[1], "loss_2_threads": losses[2],
        "seconds_per_epoch_1_thread": min(seconds[1]), "seconds_per_epoch_2_threads": min(seconds[2]),
        "speed_up": min(seconds[1]) / min(seconds[2]),
        "processor_seconds_1_thread": min(processor[1]), "processor_seconds_2_threads": min(processor[2]),
        "speed_up_by_processor_time": 2 * min(processor[1]) / min(processor[2]),
    }  # fmt: skip


def paper_size(rho: int = 26_000_000, lam: int = 39_000_000, entities: int = 4_000_000) -> Parameters:
    """Parameters of the paper's number over synthetic names and pairs."""
    rng = np.random.default_rng(1)
    names, _ = synthetic_names(rng, rho // 3, entities, rho - rho // 3)
    keep = int(np.searchsorted(names.offsets, rho, side="right")) - 1
    names = Names(names.offsets[: keep + 1], names.entity[: names.offsets[keep]])
    one, two = zipf(rng, entities, lam + lam // 8), rng.integers(0, entities, lam + lam // 8)
    keys = np.unique(np.minimum(one, two) * entities + np.maximum(one, two))
    keys = keys[np.linspace(0, keys.size - 1, min(lam, keys.size)).astype(np.int64)]
    rows = np.searchsorted(keys, np.arange(entities + 1) * entities)
    other = (keys % entities).astype(np.int32)
    del keys, one, two
    return blank(names, both_ways(rows, other), other.size)


def size() -> dict[str, Any]:
    """Memory of parameters, structure and documents at the paper's size, and the speed of an epoch there."""
    began = perf_counter()
    parameters = paper_size()
    built = perf_counter() - began
    making = peak_memory_megabytes()
    rng = np.random.default_rng(2)
    train = synthetic_documents(rng, parameters.names, 30_000, 60)
    learner = Learner(
        train,
        synthetic_documents(rng, parameters.names, 100, 60),
        parameters,
        LearningOptions(epochs=1, threads=2),
    )
    cpu = process_time()
    history = learner.run()
    with open("/proc/self/status") as status:  # noqa: PTH123 (Linux: what is resident now, without the peak of making it)
        resident = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
    return {
        "rho": len(parameters.rho), "lambda": len(parameters.lam), "links": int(train.gold.size),
        "parameter_megabytes": parameters.bytes / 1e6, "resident_megabytes": resident,
        "peak_megabytes_with_making_the_data": max(making, peak_memory_megabytes()),
        "seconds_making_the_data": built, "seconds_per_epoch": history[-1]["seconds"],
        "processor_microseconds_per_link": 1e6 * (process_time() - cpu) / train.gold.size,
    }  # fmt: skip


PARTS = {"threads": threads, "size": size}


def main() -> dict[str, Any]:
    """Measure each part in a process of its own, so that peak memory is its own."""
    results = {}
    for name in PARTS:
        child = [sys.executable, "-m", "benchmarks.learning", name]
        done = subprocess.run(child, check=True, capture_output=True, text=True, cwd=ROOT)
        results[name] = json.loads(done.stdout)
        table(name, ("figure", "value"), list(results[name].items()))
    return save("learning", results)


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(PARTS[sys.argv[1]](), indent=2))
    else:
        main()
