"""Static hash tables find what is in them and nothing else."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pboh.text.hashing import (
    blocks_of_lines,
    bucket_index,
    hash_strings,
    hash_words,
    lines_of,
    look_up,
    string_blob,
)

line = st.text(st.characters(blacklist_characters="\n", blacklist_categories=["Cs"]), max_size=12)


@given(st.sets(line, max_size=60), st.lists(line, max_size=20))
def test_look_up_agrees_with_a_dictionary(keys, queries):
    hashes = np.sort(hash_strings(sorted(keys)))
    by_hash = {int(h): i for i, h in enumerate(hashes)}
    assert len(by_hash) == len(keys)
    strings = [*queries, *keys]
    expected = [
        by_hash.get(int(h), -1) if s in keys else -1
        for s, h in zip(strings, hash_strings(strings), strict=True)
    ]
    assert look_up(hashes, bucket_index(hashes), strings).tolist() == expected


def test_hash_of_a_word_is_that_of_its_code_points_wherever_it_stands():
    assert hash_words(["müller", "goal"])[0] == hash_words(["x", "müller"])[1]
    assert hash_words(["müller"])[0] != hash_words(["muller"])[0]


def test_top_bits_spread_similar_strings_over_buckets():
    hashes = hash_strings([f"name {i}" for i in range(4096)])
    assert np.unique(hashes >> np.uint64(52)).size > 2400  # 4096·(1−1/e) = 2589 expected of a fair hash


@given(st.lists(line, max_size=10))
def test_string_blob_can_be_cut_apart_again(strings):
    blob, offsets = string_blob(strings)
    cut = [blob[a:b].tobytes().decode() for a, b in pairwise(offsets)]
    assert cut == strings


@given(st.lists(line, min_size=1), st.integers(1, 40))
def test_lines_come_in_blocks_and_make_up_the_whole(strings, at_a_time):
    lines = lines_of(*string_blob(strings))
    assert lines.tobytes() == "\n".join(strings).encode()
    blocks = [block.tobytes() for block in blocks_of_lines(lines, at_a_time)]
    assert b"\n".join(blocks) == lines.tobytes()
    assert all(len(block) <= at_a_time or b"\n" not in block for block in blocks)
