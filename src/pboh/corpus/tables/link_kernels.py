"""Links placed among the words of their page."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from pboh.corpus.wikitext.output_kernels import AFTER, BEFORE, END, PAGE, START

Int32 = npt.NDArray[np.int32]


@njit(cache=True, nogil=True)
def place_links(links: Int32, starts: Int32, ends: Int32, page: int, base: int) -> None:
    """Which page links stand on, and which words: those before one end at ``before``, and so on."""
    before = after = 0
    for link in range(links.shape[1]):
        while before < ends.size and ends[before] <= links[START, link]:
            before += 1
        if link and links[END, link] < links[END, link - 1]:  # one inside another: somebody's own links
            after = np.searchsorted(starts[:after], links[END, link])
        while after < starts.size and starts[after] < links[END, link]:
            after += 1
        links[PAGE, link], links[BEFORE, link], links[AFTER, link] = page, base + before, base + after
