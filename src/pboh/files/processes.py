"""Work spread over processes, results in order: one small pool for every stream of documents."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_function: Callable[..., Any]


def _start(function: Callable[..., Any]) -> None:
    global _function  # noqa: PLW0603  (one per worker process, sent once instead of with every item)
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop


def _call(item: Any) -> Any:
    return _function(item)


@contextmanager
def pool(function: Callable[[T], R], workers: int) -> Iterator[Callable[[Iterable[T]], Iterator[R]]]:
    """Yield ``map(function, …)`` over ``workers`` processes; one worker means this process."""
    if workers <= 1:
        yield partial(map, function)
        return
    context = multiprocessing.get_context("spawn")  # fork is not safe beside threads
    with ProcessPoolExecutor(workers, context, _start, (function,)) as executor:
        yield partial(_ordered, executor, 2 * workers)


def _ordered(executor: ProcessPoolExecutor, ahead: int, items: Iterable[Any]) -> Iterator[Any]:
    """Results in the order of items, which are taken only as fast as results are."""
    waiting: deque[Future[Any]] = deque()
    try:
        for item in items:
            waiting.append(executor.submit(_call, item))
            if len(waiting) >= ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def ordered_map(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """``map(function, items)`` on ``workers`` processes."""
    with pool(function, workers) as run:
        yield from run(items)
