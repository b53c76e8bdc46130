"""Pseudo-likelihood maximisation of ρ and λ by lock-free parallel SGD (paper, section 3.4).

Maximises  Σ_d Σ_i log p(e_i | m_i, e_−i; ρ, λ) − γ·(‖ρ − ρ₀‖² + ‖λ − λ₀‖²).  Threads take blocks of
documents of a shuffled epoch and write to the same arrays without locks (Hogwild): two documents rarely touch
the same parameter, and a lost update is one noisy step among millions. One thread is exactly repeatable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from time import perf_counter
from typing import Any

import numpy as np

from pboh.errors import InputError
from pboh.files.progress import Report, silent
from pboh.learning.pseudo_likelihood import kernels
from pboh.learning.pseudo_likelihood.kernels import Array, Documents, Parameters, Step, Steps

BLOCK = 64  # documents a thread takes at a time: small beside an epoch, large beside the call
LONGEST_EPOCH = 1 << 24  # the clock of the lazy penalty counts documents in single precision


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """How to learn; recorded with the result."""

    epochs: int = 10
    rate: float = 0.1  # η of ρ in the first epoch
    pair_rate: float = 0.1  # η of λ in the first epoch
    decay: float = 0.0  # η of epoch k is rate / (1 + decay·k)
    adaptive: bool = True  # AdaGrad: rarely updated parameters keep a large rate
    penalty: float = 0.1  # γ of ρ; a Gaussian prior of variance 1/(2γ) on every parameter
    pair_penalty: float = 0.1  # γ of λ
    patience: int = 2  # epochs without a better held-out loss before learning stops
    threads: int = 1
    seed: int = 0

    def steps(self, epoch: int, documents: int) -> Steps:
        """How parameters move in one epoch of this many documents."""
        slower = 1.0 + self.decay * epoch
        return Steps(
            Step(self.rate / slower, 2.0 * self.penalty / documents, self.adaptive),
            Step(self.pair_rate / slower, 2.0 * self.pair_penalty / documents, self.adaptive),
        )


@dataclass(slots=True)
class State:
    """How far a run is: enough to continue it as if it had never stopped."""

    epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    best_loss: float = float("inf")
    best_epoch: int = -1


def judged(docs: Documents, parameters: Parameters, threads: int = 1) -> tuple[Array, Array]:
    """log p(e_i | m_i, e_−i) of every link, and its most probable ρ parameter given the others' gold."""
    log_p, best = np.empty(docs.gold.size), np.empty(docs.gold.size, docs.gold.dtype)

    def block(begin: int, end: int, scratch: tuple[Array, Array]) -> None:
        kernels.judge(begin, end, docs, parameters, log_p, best, *scratch)

    with workers(parameters, threads) as run:
        for _ in run(block, 0, docs.offsets.size - 1):
            pass
    return log_p, best


def held_out(docs: Documents, parameters: Parameters, threads: int = 1) -> dict[str, float]:
    """Loss and accuracy per link; ``choices`` is the accuracy where the name has more than one entity."""
    log_p, best = judged(docs, parameters, threads)
    right = best == docs.gold
    choice = np.diff(parameters.names.offsets)[docs.name] > 1
    return {
        "loss": float(-log_p.mean()) if log_p.size else 0.0,
        "accuracy": float(right.mean()) if log_p.size else 0.0,
        "accuracy_choices": float(right[choice].mean()) if choice.any() else 0.0,
    }


Block = Callable[[int, int, tuple[Array, Array]], Any]


@contextmanager
def workers(parameters: Parameters, threads: int) -> Iterator[Callable[[Block, int, int], Iterator[Any]]]:
    """Yield ``run(block, begin, end)``, which spreads documents over threads with scratch memory."""
    own = local()

    def prepare() -> None:
        own.scratch = parameters.scratch()

    with ThreadPoolExecutor(threads, initializer=prepare) as pool:

        def run(block: Block, begin: int, end: int) -> Iterator[Any]:
            starts = range(begin, end, BLOCK)
            return pool.map(lambda start: block(start, min(start + BLOCK, end), own.scratch), starts)

        yield run


class Learner:
    """One run of learning: epochs over the training documents until the held-out loss stops falling."""

    def __init__(
        self, train: Documents, held: Documents, parameters: Parameters, options: LearningOptions
    ) -> None:
        if train.offsets.size < 2:
            raise InputError("there is no document to learn from")
        if train.offsets.size - 1 > LONGEST_EPOCH:
            todo = "Learn from fewer pages (--sample)"
            raise InputError(f"an epoch has more than {LONGEST_EPOCH:,} documents", todo=todo)
        self.train, self.held, self.parameters, self.options = train, held, parameters, options
        self.state = State()

    def run(
        self, report: Report = silent, *, save: Callable[[bool], None] = lambda better: None
    ) -> list[dict[str, float]]:
        """Learn; ``save(better)`` is called after each epoch.

        ``better`` says that the held-out loss is the best so far: these parameters are the result.
        """
        state, options = self.state, self.options
        with workers(self.parameters, options.threads) as run:
            if not state.history:
                save(self._judged([0.0, 0, 0], 0.0))
            while state.epoch < options.epochs and not self.finished:
                began = perf_counter()
                sums = self._epoch(run, report)
                state.epoch += 1
                save(self._judged(sums, perf_counter() - began))
        return state.history

    @property
    def finished(self) -> bool:
        """Whether the held-out loss has stopped falling."""
        return len(self.state.history) - 1 - self.state.best_epoch >= self.options.patience

    def _epoch(self, run: Any, report: Report) -> list[float]:
        """Learn from all documents once; returns Σ log p, links right, links."""
        p, size, epoch = self.parameters, self.train.offsets.size - 1, self.state.epoch
        order = np.random.default_rng((self.options.seed, epoch)).permutation(size)
        steps, latest = self.options.steps(epoch, size), self.state.history[-1]

        def block(begin: int, end: int, scratch: tuple[Array, Array]) -> Any:
            return kernels.learn(order, begin, end, self.train, p, steps, *scratch)

        sums, step = [0.0, 0, 0], max(size // 20, BLOCK * self.options.threads)
        for start in range(0, size, step):
            stop = min(start + step, size)
            for result in run(block, start, stop):
                sums = [float(a + b) for a, b in zip(sums, result, strict=True)]
            known = f"held out {latest['loss']:.4f} ({latest['accuracy']:.2%} right)"
            detail = f"loss {-sums[0] / max(sums[2], 1):.4f}, {known}"
            report(epoch + stop / size, self.options.epochs, detail)
        kernels.settle(p.rho, float(size), steps.rho)
        kernels.settle(p.lam, float(size), steps.lam)
        return sums

    def _judged(self, sums: list[float], seconds: float) -> bool:
        """Note how the held-out pages fare after an epoch; returns whether better than ever."""
        state = self.state
        entry = held_out(self.held, self.parameters, self.options.threads)
        links = max(sums[2], 1)
        entry |= {"epoch": state.epoch, "train_loss": -sums[0] / links, "train_accuracy": sums[1] / links}
        entry["seconds"] = seconds
        if not np.isfinite(entry["loss"]):
            raise InputError("learning diverged: the held-out loss is not a number", todo="Lower --rate")
        state.history.append(entry)
        better = entry["loss"] < state.best_loss
        if better:
            state.best_loss, state.best_epoch = entry["loss"], state.epoch
        return better
