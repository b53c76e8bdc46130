"""Work spread over processes, results in order: one small pool for every stream of documents."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_function: Callable[..., object]


def _start(function: Callable[..., object]) -> None:
    global _function  # noqa: PLW0603  (one per worker process, sent once instead of with every item)
    _function = function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop


def _call(item: T) -> object:
    return _function(item)


def ordered_map(function: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """``map(function, items)`` on ``workers`` processes; takes items only as fast as results are taken."""
    context = multiprocessing.get_context("spawn")  # fork is not safe beside threads
    with ProcessPoolExecutor(workers, context, _start, (function,)) as pool:
        waiting: deque[Future[R]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(_call, item))  # type: ignore[arg-type]
                if len(waiting) >= 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
