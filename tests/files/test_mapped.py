"""Pages of mapped files leave memory when asked to, and come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psutil

from pboh.files.mapped import give_pages_back, note_mapping


def test_pages_are_given_back_and_read_again(tmp_path: Path) -> None:
    expected = np.arange(4_000_000)
    np.save(tmp_path / "array.npy", expected)
    array = np.load(tmp_path / "array.npy", mmap_mode="c")
    note_mapping(array)
    assert array.sum() == expected.sum()
    before = psutil.Process().memory_info().shared
    give_pages_back()
    assert psutil.Process().memory_info().shared < before - 0.9 * expected.nbytes
    assert np.array_equal(array, expected)


def test_closed_mappings_and_ordinary_arrays_do_no_harm(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.arange(9))
    array = np.load(tmp_path / "array.npy", mmap_mode="c")
    note_mapping(array)
    note_mapping(np.arange(3))
    mapping = array.base
    while isinstance(mapping, np.ndarray):
        mapping = mapping.base
    del array
    mapping.close()
    give_pages_back()
