"""Linked text as gold for concepts: what is not linked need not be wrong.

Wikipedia links a concept where it matters, and common words hardly ever. So links are positive examples, and
all else is unlabelled. If editors choose at random among mentions whose words are links equally often and are
capitalised or not, they link a mention with a probability c that depends on nothing else, and

    p(mention) = p(link) / c,    c = mean of p(link) over links

(C. Elkan and K. Noto, "Learning classifiers from only positive and unlabeled data", KDD 2008). How probably
the answer to a mention is right is learned from links alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pboh.evaluation.metrics import Floats

_LEAST = 1e-3  # probabilities are kept this far from 0 and 1


def mention_shares(linked: NDArray[np.bool_], chance: Floats, *habits: Floats) -> Floats:
    """How probably everything found is a mention: 1 for links, (1−c)/c · p/(1−p) for the rest.

    ``chance`` is the probability p of being a link, fitted without the example; log c is linear in the
    ``habits``: the log-odds of how often the words are links, and whether they are capitalised.
    """
    p = np.clip(chance, _LEAST, 1 - _LEAST)
    x = np.column_stack([np.ones(len(chance)), *habits])
    line, *_ = np.linalg.lstsq(x[linked], np.log(p[linked]), rcond=None)
    c = np.clip(np.exp(x @ line), _LEAST, 1.0)
    return np.asarray(np.where(linked, 1.0, np.clip((1 - c) / c * p / (1 - p), 0.0, 1.0)))
