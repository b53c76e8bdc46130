"""The closest-name index at millions of names: build time, size, memory and look-ups, against a full scan."""

from __future__ import annotations

import bz2
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from pboh.files.memory import peak_memory_megabytes
from pboh.files.writing import write_json
from pboh.model import fuzzy
from pboh.model.fuzzy_kernels import _grams

RESULTS = Path(__file__).parent / "results" / "fuzzy.json"
SIZES = (5_000_000, 20_000_000)
LOOK_UPS = 1000
CHUNK = 500_000


def titles() -> list[str]:
    """Real titles from the index of the sample dump, lower-cased."""
    beside = Path(__file__).parent.parent.parent / "shared"
    files = sorted((Path(os.environ.get("PBOH_SHARED", beside)) / "corpus").glob("*multistream-index*.bz2"))
    lines = [line for file in files for line in bz2.decompress(file.read_bytes()).decode().splitlines()]
    return [line.split(":", 2)[2].lower() for line in lines]


class NameMaker:
    """Makes names with the words, word frequencies and lengths of real titles."""

    def __init__(self, real: list[str], seed: int) -> None:
        split = [title.split() for title in real]
        self.words = [word for words in split for word in words]
        self.lengths = [len(words) for words in split if 0 < len(words) <= 6]
        self.random = random.Random(seed)

    def __call__(self, count: int) -> list[str]:
        """``count`` names; one word alone is rarely new, so every word may lose or change a letter."""
        choice, number = self.random.choices, self.random.random
        names = []
        for length in choice(self.lengths, k=count):
            name = " ".join(choice(self.words, k=length))
            names.append(misspelt(name, self.random) if length == 1 or number() < 0.1 else name)
        return names


def misspelt(name: str, chance: random.Random) -> str:
    """Replace, drop or double one letter."""
    at = chance.randrange(len(name))
    return (
        name[:at]
        + chance.choice(("", name[at] * 2, chance.choice("abcdefghijklmnopqrstuvwxyz")))
        + name[at + 1 :]
    )


def distinct_names(make: NameMaker, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Blob and offsets of ``count`` different names; doubles are dropped and replaced by others."""
    blobs, lengths, seen, missing = [], [], np.zeros(1 << 28, np.bool_), count
    while missing:
        names = make(CHUNK)
        keys = np.fromiter((hash(name) & (len(seen) - 1) for name in names), np.int64, len(names))
        first = np.unique(keys, return_index=True)[1]
        new = first[~seen[keys[first]]][:missing]
        seen[keys[new]] = True
        missing -= len(new)
        encoded = [names[i].encode() for i in new]
        blobs.append(np.frombuffer(b"".join(encoded), np.uint8))
        lengths.append(np.fromiter(map(len, encoded), np.uint64, len(encoded)))
    offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(np.concatenate(lengths), dtype=np.uint64)])
    return np.concatenate(blobs), offsets


@njit(cache=True)
def scan(letters, blob, offsets):
    """Best similarity found by comparing the query with every name."""
    buffer = np.empty(4096, np.uint64)
    wanted = buffer[: _grams(letters, 0, len(letters), buffer)].copy()
    shared, union = 1, 2
    for name in range(len(offsets) - 1):
        n = _grams(blob, np.int64(offsets[name]), np.int64(offsets[name + 1]), buffer)
        i, k, common = 0, 0, 0
        while i < len(wanted) and k < n:
            common += wanted[i] == buffer[k]
            i, k = i + (wanted[i] <= buffer[k]), k + (buffer[k] <= wanted[i])
        if common * union > shared * (len(wanted) + n - common):
            shared, union = common, len(wanted) + n - common
    return shared / union


def look_ups(index: dict, blob: np.ndarray, offsets: np.ndarray, queries: list[str]) -> dict[str, Any]:
    times, found = [], 0
    for query in queries:
        start = time.thread_time()  # of this thread alone: other programs do not count
        found += fuzzy.closest(index, blob, offsets, query) is not None
        times.append(1000 * (time.thread_time() - start))
    return {
        "median_ms": float(np.median(times)),
        "mean_ms": float(np.mean(times)),
        "p99_ms": float(np.quantile(times, 0.99)),
        "found": found / len(queries),
    }


def measure(count: int) -> dict[str, Any]:
    """All figures for ``count`` names."""
    make = NameMaker(titles(), seed=1)
    fuzzy.build_index(np.frombuffer(b"warm", np.uint8), np.array([0, 4], np.uint64))
    blob, offsets = distinct_names(make, count)
    memory = peak_memory_megabytes()
    start = time.process_time()
    index = fuzzy.build_index(blob, offsets)
    seconds = time.process_time() - start
    chance = random.Random(2)
    known = [chance.randrange(len(offsets) - 1) for _ in range(LOOK_UPS)]
    names = [blob[offsets[i] : offsets[i + 1]].tobytes().decode() for i in known]
    typos, unknown = [misspelt(name, chance) for name in names], make(LOOK_UPS)
    look_ups(index, blob, offsets, typos[:20])
    figures = {
        "names": len(offsets) - 1,
        "mean_letters": len(blob) / (len(offsets) - 1),
        "build_cpu_seconds": seconds,
        "build_names_per_cpu_second": (len(offsets) - 1) / seconds,
        "index_megabytes": sum(array.nbytes for array in index.values()) / 1e6,
        "names_megabytes": (blob.nbytes + offsets.nbytes) / 1e6,
        "peak_memory_megabytes": peak_memory_megabytes(),
        "peak_memory_before_build_megabytes": memory,
        "misspelt_names": look_ups(index, blob, offsets, typos),
        "other_names": look_ups(index, blob, offsets, unknown),
    }
    return figures | against_scan(index, blob, offsets, typos[:5] + unknown[:5], figures)


def against_scan(
    index: dict, blob: np.ndarray, offsets: np.ndarray, queries: list[str], figures: dict
) -> dict[str, Any]:
    """The same answers from a full scan, and how much longer that takes."""
    times = []
    for query in queries:
        start = time.thread_time()
        best = scan(np.frombuffer(query.encode(), np.uint8), blob, offsets)
        times.append(1000 * (time.thread_time() - start))
        hit = fuzzy.closest(index, blob, offsets, query)
        assert (1 - hit[1] if hit else 0.5) == best, f"{query}: {hit}, but a full scan finds {best}"
    scan_ms = float(np.median(times))
    typical = (figures["misspelt_names"]["mean_ms"] + figures["other_names"]["mean_ms"]) / 2
    return {"scan_ms": scan_ms, "times_faster_than_scan": scan_ms / typical, "equal_to_scan": len(queries)}


def main() -> dict[str, Any]:
    """Measure every size in a process of its own, so that peak memory is that size's."""
    results: dict[str, Any] = {}
    for count in SIZES:
        child = [sys.executable, "-m", "benchmarks.fuzzy", str(count)]
        done = subprocess.run(
            child, check=True, capture_output=True, text=True, cwd=Path(__file__).parent.parent
        )
        results[f"{count:_}"] = json.loads(done.stdout)
    first, last = (list(results.values())[k] for k in (0, -1))
    results["growth"] = {
        "names": last["names"] / first["names"],
        "index": last["index_megabytes"] / first["index_megabytes"],
        "median": last["other_names"]["median_ms"] / first["other_names"]["median_ms"],
    }
    write_json(RESULTS, results)
    return results


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1])) if len(sys.argv) > 1 else main(), indent=2))
