"""Belief propagation alone: its growth, and against a numpy twin and other programs on the same graphs."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import peer_python
from pboh.files.writing import write_json
from pboh.inference import belief_propagation
from pboh.inference.belief_propagation import ROUNDS, Couplings, FactorGraph
from pboh.inference.propagation_kernels import find_edges

RESULTS = Path(__file__).parent / "results" / "belief_propagation.json"
STATES = 10
DENSITY = 0.08  # of the label pairs of a document, 4–12 % were seen together
SIZES = (5, 10, 25, 50, 100, 200, 500)
TWIN_SIZES = (5, 10, 25, 50, 100)
PEER_SIZES = (5, 10, 25, 50)
PEERS = {
    # as its package declares it, PGMax gets a jax it cannot run with; an older one has to be chosen by hand
    "PGMax as declared": ("pgmax==0.6.1",),
    "PGMax with an older jax": ("pgmax==0.6.1", "jax==0.4.25", "jaxlib==0.4.25", "numpy<2", "scipy<1.13"),
    "factorgraph": ("factorgraph==0.0.3",),
    "pomegranate": ("pomegranate==1.1.2", "torch==2.13.0+cpu"),
}
Document = tuple[np.ndarray, np.ndarray, np.ndarray, Couplings]


def document(n: int, seed: int = 0, density: float = DENSITY, states: int = STATES) -> Document:
    """A document of n mentions whose candidates are all different: the largest table there can be."""
    rng = np.random.default_rng([n, seed])
    labels = n * states
    seen = round(density * labels * labels / 2)
    pairs = np.unique(np.sort(rng.integers(0, labels, (seen, 2)), axis=1), axis=0)
    value = rng.exponential(5.0, len(pairs)).astype(np.float32) / max(n - 1, 1)
    row, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    by_row = np.lexsort((other, row))
    start = np.searchsorted(row[by_row], np.arange(labels + 1)).astype(np.int64)
    couplings = Couplings(start, other[by_row].astype(np.int32), np.concatenate([value, value])[by_row])
    label = np.arange(labels, dtype=np.int32).reshape(n, states)
    return rng.normal(0, 2, (n, states)).astype(np.float32), label, np.full(n, states, np.int32), couplings


def blocks(given: Document) -> np.ndarray:
    """λ of every pair of states, (n, n, r, r)."""
    _, label, _, (start, other, value) = given
    table = np.zeros((label.size, label.size), np.float32)
    table[np.repeat(np.arange(label.size), np.diff(start)), other] = value
    return np.ascontiguousarray(table[label[:, None, :, None], label[None, :, None, :]])


def twin(unary: np.ndarray, pair: np.ndarray, mode: str, rounds: int = ROUNDS) -> np.ndarray:
    """The paper's update over the whole table, vectorised."""
    message = np.zeros((*pair.shape[:2], unary.shape[1]), np.float32)  # from, to, state of the receiver
    itself = np.arange(len(unary))
    for _ in range(rounds):
        cavity = (unary + message.sum(0))[:, None, :] - message.transpose(1, 0, 2)
        sums = cavity[..., None] + pair
        top = sums.max(axis=2)
        message = top if mode == "max" else top + np.log(np.exp(sums - top[:, :, None]).sum(axis=2))
        message = message - message.max(-1, keepdims=True)
        message[itself, itself] = 0
    return unary + message.sum(0)


def milliseconds(work: Callable[[], object], at_least: float = 0.3) -> float:
    """Processor time of the fastest of many repetitions: other programs on the machine do not count."""
    work()
    times: list[float] = []
    while len(times) < 3 or sum(times) < at_least:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def ours(given: Document, mode: str, epsilon: float = -1.0) -> Callable[[], belief_propagation.Beliefs]:
    """All 15 rounds, unless ``epsilon`` lets them stop."""
    return lambda: FactorGraph(*given).propagate(mode, epsilon=epsilon)  # type: ignore[arg-type]


def growth() -> list[dict[str, Any]]:
    rows = []
    for n in SIZES:
        given = document(n)
        row: dict[str, Any] = {"mentions": n}
        for mode in ("max", "sum"):
            row[f"{mode}_15_rounds_ms"] = milliseconds(ours(given, mode))
            row[f"{mode}_to_convergence_ms"] = milliseconds(ours(given, mode, belief_propagation.EPSILON))
            settled = ours(given, mode, belief_propagation.EPSILON)()
            row[f"{mode}_rounds"], row[f"{mode}_converged"] = settled.rounds, settled.converged
        rows.append(row)
    return rows


def against_twin() -> list[dict[str, Any]]:
    rows = []
    for n in TWIN_SIZES:
        given = document(n)
        pair = blocks(given)
        for mode in ("max", "sum"):
            np.testing.assert_allclose(ours(given, mode)().belief, twin(given[0], pair, mode), atol=1e-3)
            slow = milliseconds(lambda pair=pair, mode=mode, unary=given[0]: twin(unary, pair, mode))
            fast = milliseconds(ours(given, mode))
            rows.append(
                {"mentions": n, "mode": mode, "numpy_ms": slow, "pboh_ms": fast, "ratio": slow / fast}
            )
    return rows


def against_peers() -> dict[str, Any]:
    """Milliseconds of each program for 15 rounds on the same graphs, in its own mode."""
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for n in PEER_SIZES:
            given = document(n)
            np.savez(Path(folder) / f"{n}.npz", unary=given[0], pair=blocks(given))
        for name, packages in PEERS.items():
            try:
                answers = run_peer(name, packages, folder)
            except (RuntimeError, subprocess.SubprocessError) as reason:
                report[name] = {"unavailable": str(reason).strip().splitlines()[-1]}
                continue
            report[name] = {"versions": list(packages), "graphs": [compared(answer) for answer in answers]}
    return report


def run_peer(name: str, packages: tuple[str, ...], folder: str) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("belief_propagation_peers.py")
    command = [
        str(peer_python(*packages)),
        str(script),
        name.split(maxsplit=1)[0],
        str(ROUNDS),
        folder,
        *map(str, PEER_SIZES),
    ]
    one_core = {"OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | one_core, timeout=900
    )
    if done.returncode:
        raise RuntimeError(done.stderr or "no message")
    answers: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return answers


def compared(answer: dict[str, Any]) -> dict[str, Any]:
    """A peer's times and ours. ``ratio`` takes the peer at its best, on a graph it has already prepared and
    compiled, against all of our call; it says nothing where the answers are not the same.
    """
    given, mode = document(answer["mentions"]), answer["mode"]
    whole = milliseconds(ours(given, mode))
    return answer | {
        "pboh_ms": whole,
        "ratio": min(answer["document_ms"], answer["messages_ms"]) / whole,
        "ratio_for_a_new_shape": answer["first_document_of_a_shape_ms"] / whole,
        "same_answers": float(np.mean(ours(given, mode)().best() == np.array(answer.pop("best")))),
    }


def convergence(documents: int = 200) -> list[dict[str, Any]]:
    """How often and how fast messages come to rest within 15 rounds, over random documents."""
    rows = []
    for n in (5, 10, 25, 50):
        for mode in ("max", "sum"):
            ends = [FactorGraph(*document(n, seed)).propagate(mode) for seed in range(documents)]  # type: ignore[arg-type]
            rows.append(
                {
                    "mentions": n,
                    "mode": mode,
                    "documents": documents,
                    "converged": float(np.mean([end.converged for end in ends])),
                    "mean_rounds": float(np.mean([end.rounds for end in ends])),
                }
            )
    return rows


def density() -> list[dict[str, Any]]:
    """What the share of seen pairs costs; a table without unseen pairs is the worst case."""
    shares = (0.01, 0.04, 0.08, 0.12, 0.3, 1.0)
    return [{"mentions": 25, "seen": s, "ms": milliseconds(ours(document(25, 0, s), "max"))} for s in shares]


def thousand() -> dict[str, Any]:
    """A document of a thousand mentions without one repeated candidate."""
    given = document(1000)
    edges = find_edges(given[1], given[2], *given[3], np.arange(1000), 1000)
    spent = time.process_time()
    settled = ours(given, "max", belief_propagation.EPSILON)()
    return {
        "mentions": 1000,
        "seconds": time.process_time() - spent,
        "rounds": settled.rounds,
        "converged": settled.converged,
        "megabytes": (sum(array.nbytes for array in edges) + 8 * STATES * len(edges[0])) / 1e6,
        "megabytes_of_a_full_table": 4 * (1000 * STATES) ** 2 / 1e6,
    }


def main() -> dict[str, Any]:
    """Run everything on one core and keep the figures."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    results = {
        "states": STATES,
        "density": DENSITY,
        "growth": growth(),
        "numpy_twin": against_twin(),
        "peers": against_peers(),
        "convergence": convergence(),
        "cost_of_density": density(),
        "thousand_mentions": thousand(),
    }
    write_json(RESULTS, results)
    return results


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
