"""Co-occurrence from document lists equals counting by hand, whatever is a head and has a column."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pboh.model import pair_kernels
from pboh.model.pair_kernels import MEMBERSHIPS, Scratch, cooccurrences
from pboh.model.tables import head_table


def flattened(lists):
    """Ascending lists as offsets and documents."""
    offsets = np.cumsum([0, *(len(x) for x in lists)]).astype(np.int64)
    return offsets, np.asarray([d for x in lists for d in sorted(x)], np.uint32)


def matrix(entities, counted):
    """A sparse result as a dense matrix."""
    start, other, count = counted
    table = np.zeros((entities.size, entities.size), np.int64)
    for i in range(entities.size):
        assert (np.diff(other[start[i] : start[i + 1]]) > 0).all()
        table[i, other[start[i] : start[i + 1]]] = count[start[i] : start[i + 1]]
    assert (count > 0).all()
    return table


def twin(entities, lists, documents):
    """N(e,e′) = |documents(e) ∩ documents(e′)|: the product of the incidence matrix with itself."""
    incidence = np.zeros((len(lists), documents), np.int64)
    for e, documents_of_e in enumerate(lists):
        incidence[e, list(documents_of_e)] = 1
    together = incidence[entities] @ incidence[entities].T
    np.fill_diagonal(together, 0)
    return together


@st.composite
def corpora(draw):
    """Lists of documents, and several sets of candidates to ask for one after the other."""
    documents = draw(st.integers(1, 90))
    lists = draw(st.lists(st.sets(st.integers(0, documents - 1)), min_size=1, max_size=40))
    some = st.sets(st.integers(0, len(lists) - 1)).map(lambda s: np.asarray(sorted(s), np.int32))
    return documents, lists, draw(st.lists(some, min_size=1, max_size=4))


@settings(max_examples=300, deadline=None)
@given(corpora(), st.sampled_from([100, 40, 10, 0]), st.sampled_from([0, 1, 5, MEMBERSHIPS]))
def test_equals_the_product_of_incidences(corpus, long, columns):
    documents, lists, questions = corpus
    offsets, flat = flattened(lists)
    heads, pairs = head_table(offsets, flat, long)
    scratch = Scratch.of(documents, heads, offsets)
    scratch.column[scratch.column >= columns] = -1
    for entities in questions:
        counted = cooccurrences(entities, offsets, flat, heads, pairs, scratch)
        assert np.array_equal(matrix(entities, counted), twin(entities, lists, documents))
        assert not scratch.state[:, 0].any()  # left as found
        assert not scratch.touched.any()


def test_only_the_longest_lists_get_columns(monkeypatch):
    monkeypatch.setattr(pair_kernels, "MEMBERSHIPS", 2)
    offsets, flat = flattened([range(5), range(9), range(7), range(8)])
    heads, _ = head_table(offsets, flat, 4)
    scratch = Scratch.of(10, heads, offsets)
    assert scratch.column.tolist() == [-1, 0, -1, 1]


def test_memory_is_bounded_whatever_the_number_of_heads():
    offsets, flat = flattened([range(20)] * 200)
    heads, _ = head_table(offsets, flat, 4)
    assert heads.size == 200
    scratch = Scratch.of(8000, heads, offsets)
    assert sum(array.nbytes for array in scratch) <= 12.125 * 8000 + 300


def test_no_entities_no_pairs():
    offsets, documents = flattened([])
    heads, pairs = head_table(offsets, documents)
    nobody = np.empty(0, np.int32)
    scratch = Scratch.of(3, heads, offsets)
    start, other, _ = cooccurrences(nobody, offsets, documents, heads, pairs, scratch)
    assert start.tolist() == [0]
    assert other.size == 0
