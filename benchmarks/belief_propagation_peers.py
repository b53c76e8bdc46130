"""Other belief propagation programs on graphs read from files; runs in their environment, without pboh."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

Answer = tuple[str, Callable[[], Any], Callable[[Any], list[int]]]
"""Mode, what is timed, and the best states from its result."""


def pgmax(unary: np.ndarray, pair: np.ndarray, rounds: int) -> Answer:
    from pgmax import fgraph, fgroup, infer, vgroup

    n, r = unary.shape
    variables = vgroup.NDVarArray(num_states=r, shape=(n,))
    graph = fgraph.FactorGraph(variable_groups=variables)
    edges = list(combinations(range(n), 2))
    graph.add_factors(
        fgroup.PairwiseFactorGroup(
            variables_for_factors=[[variables[i], variables[j]] for i, j in edges],
            log_potential_matrix=np.array([pair[i, j] for i, j in edges]),
        )
    )
    inferer = infer.build_inferer(graph.bp_state, backend="bp")
    start = inferer.init({variables: unary})

    def run() -> Any:
        state = inferer.run(start, num_iters=rounds, damping=0.0, temperature=0.0)
        beliefs = inferer.get_beliefs(state)[variables]
        return np.asarray(beliefs)

    return "max", run, lambda beliefs: beliefs.argmax(1).tolist()


def factorgraph(unary: np.ndarray, pair: np.ndarray, rounds: int) -> Answer:
    import factorgraph

    n, r = unary.shape
    graph = factorgraph.Graph(debug=False)
    variables = [graph.rv(str(i), r, debug=False) for i in range(n)]
    for i in range(n):
        graph.factor([variables[i]], potential=np.exp(unary[i].astype(float)), debug=False)
    for i, j in combinations(range(n), 2):
        graph.factor([variables[i], variables[j]], potential=np.exp(pair[i, j].astype(float)), debug=False)

    def run() -> Any:
        graph.lbp(normalize=True, max_iters=rounds)
        return graph.rv_marginals(variables)

    return "sum", run, lambda marginals: [int(np.argmax(weights)) for _, weights in marginals]


def pomegranate(unary: np.ndarray, pair: np.ndarray, rounds: int) -> Answer:
    import torch
    from pomegranate.distributions import Categorical, JointCategorical
    from pomegranate.factor_graph import FactorGraph

    torch.set_num_threads(1)
    n = len(unary)
    graph = FactorGraph(max_iter=rounds, tol=-1.0)
    weights = np.exp(unary - unary.max(1, keepdims=True))
    variables = [Categorical([(w / w.sum()).tolist()]) for w in weights]
    for variable in variables:
        graph.add_marginal(variable)
    for i, j in combinations(range(n), 2):
        joint = np.exp(pair[i, j].astype(np.float64))
        factor = JointCategorical((joint / joint.sum()).tolist())
        graph.add_factor(factor)
        graph.add_edge(variables[i], factor)
        graph.add_edge(variables[j], factor)
    unknown = torch.masked.MaskedTensor(
        torch.zeros(1, n, dtype=torch.int64), torch.zeros(1, n, dtype=torch.bool)
    )
    return "sum", lambda: graph.predict_proba(unknown), lambda found: [int(p[0].argmax()) for p in found]


def measure(build: Callable[..., Answer], folder: str, n: int, rounds: int) -> dict[str, Any]:
    """Processor time to build the graph and run once, and of the fastest of the later runs alone."""
    graph = np.load(f"{folder}/{n}.npz")
    begin = time.process_time()
    mode, run, best = build(graph["unary"], graph["pair"], rounds)
    found = run()
    first = time.process_time() - begin
    times: list[float] = []
    while len(times) < 3 and sum(times) < 60:
        start = time.process_time()
        found = run()
        times.append(time.process_time() - start)
    return {
        "mentions": n,
        "mode": mode,
        "build_and_first_run_ms": 1000 * first,
        "run_ms": 1000 * min(times),
        "best": best(found),
    }


if __name__ == "__main__":
    peer, most, where, *sizes = sys.argv[1:]
    programs = {"PGMax": pgmax, "factorgraph": factorgraph, "pomegranate": pomegranate}
    print(json.dumps([measure(programs[peer], where, int(n), int(most)) for n in sizes]))
