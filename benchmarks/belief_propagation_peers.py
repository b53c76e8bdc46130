"""Other belief propagation programs on graphs read from files; runs in their environment, without pboh."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

Answer = tuple[str, Callable[[], Any], Callable[[], Any], Callable[[Any], list[int]]]
"""Mode, messages alone on a graph that is ready, another document of that shape, best states of a result."""


def pgmax(unary: np.ndarray, pair: np.ndarray, rounds: int) -> Answer:
    import jax
    from pgmax import fgraph, fgroup, infer, vgroup

    n, r = unary.shape
    variables = vgroup.NDVarArray(num_states=r, shape=(n,))
    graph = fgraph.FactorGraph(variable_groups=variables)
    left, right = np.triu_indices(n, 1)
    edges = [[variables[i], variables[j]] for i, j in zip(left.tolist(), right.tolist(), strict=True)]
    factors = fgroup.PairwiseFactorGroup(variables_for_factors=edges, log_potential_matrix=pair[left, right])
    graph.add_factors(factors)
    inferer = infer.build_inferer(graph.bp_state, backend="bp")
    ready = inferer.init(evidence_updates={variables: unary})

    @jax.jit  # the whole run as one compiled program, the fastest way to use this peer
    def passes(state: Any) -> Any:
        state = inferer.run(state, num_iters=rounds, damping=0.0, temperature=0.0)
        return inferer.get_beliefs(state)[variables]

    @jax.jit
    def another(unary: Any, matrices: Any) -> Any:
        return passes(
            inferer.init(evidence_updates={variables: unary}, log_potentials_updates={factors: matrices})
        )

    return (
        "max",
        lambda: np.asarray(passes(ready)),
        lambda: np.asarray(another(unary, pair[left, right])),
        lambda beliefs: beliefs.argmax(1).tolist(),
    )


def factorgraph(unary: np.ndarray, pair: np.ndarray, rounds: int) -> Answer:
    import factorgraph

    n, r = unary.shape

    def build() -> tuple[Any, list[Any]]:
        graph = factorgraph.Graph(debug=False)
        variables = [graph.rv(str(i), r, debug=False) for i in range(n)]
        for i in range(n):
            graph.factor([variables[i]], potential=np.exp(unary[i].astype(float)), debug=False)
        for i, j in combinations(range(n), 2):
            weights = np.exp(pair[i, j].astype(float))
            graph.factor([variables[i], variables[j]], potential=weights, debug=False)
        return graph, variables

    def run(graph: Any, variables: list[Any]) -> Any:
        graph.lbp(normalize=True, max_iters=rounds)
        return graph.rv_marginals(variables)

    ready = build()
    best = lambda marginals: [int(np.argmax(weights)) for _, weights in marginals]  # noqa: E731
    return "sum", lambda: run(*ready), lambda: run(*build()), best


def pomegranate(unary: np.ndarray, pair: np.ndarray, rounds: int) -> Answer:
    import torch
    from pomegranate.distributions import Categorical, JointCategorical
    from pomegranate.factor_graph import FactorGraph

    torch.set_num_threads(1)
    n = len(unary)

    def build() -> Any:
        graph = FactorGraph(max_iter=rounds, tol=0.0)
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
        return graph

    nothing = torch.zeros(1, n, dtype=torch.int64)
    unknown = torch.masked.MaskedTensor(nothing, torch.zeros(1, n, dtype=torch.bool))
    ready = build()
    best = lambda found: [int(p[0].argmax()) for p in found]  # noqa: E731
    return "sum", lambda: ready.predict_proba(unknown), lambda: build().predict_proba(unknown), best


def milliseconds(work: Callable[[], Any]) -> float:
    """Processor time of the fastest of as many runs as pboh is given, after one that may compile."""
    work()
    times: list[float] = []
    while (len(times) < 3 or sum(times) < 0.3) and sum(times) < 60:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def measure(build: Callable[..., Answer], folder: str, n: int, rounds: int) -> dict[str, Any]:
    graph = np.load(f"{folder}/{n}.npz")
    begin = time.process_time()
    mode, messages, document, best = build(graph["unary"], graph["pair"], rounds)
    document()
    first = time.process_time() - begin
    return {
        "mentions": n,
        "mode": mode,
        "first_document_of_a_shape_ms": 1000 * first,
        "document_ms": milliseconds(document),
        "messages_ms": milliseconds(messages),
        "best": best(document()),
    }


if __name__ == "__main__":
    peer, most, where, *sizes = sys.argv[1:]
    programs = {"PGMax": pgmax, "factorgraph": factorgraph, "pomegranate": pomegranate}
    print(json.dumps([measure(programs[peer], where, int(n), int(most)) for n in sizes]))
