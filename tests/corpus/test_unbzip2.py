"""The decoder of bz2 blocks against the standard library's, on data of every shape, and on damaged data."""

from __future__ import annotations

import bz2
import random
import tempfile

import pytest
from corpus_helpers import DATA
from hypothesis import given
from hypothesis import strategies as st

from pboh.corpus import bzip2, unbzip2


def blocks(packed: bytes) -> list[bytes]:
    with tempfile.TemporaryFile() as file:
        file.write(packed)
        return [block.bits for block in bzip2.blocks(file, 0)]


def decoded(packed: bytes) -> bytes | None:
    found = unbzip2.decode(blocks(packed))
    return None if found is None else b"".join(part.data for part in found)


def shapes() -> dict[str, bytes]:
    drawn = random.Random(7)
    return {
        "text": (DATA / "world.xml").read_bytes(),
        "one byte": b"a",
        "runs": b"".join(bytes([65 + n % 3]) * n for n in range(600)),
        "one long run": bytes(5_000_000),
        "noise": drawn.randbytes(300_000),
        "all bytes": bytes(range(256)) * 40,
        "few bytes": bytes(drawn.choices(b"ab", k=200_000)),
        "long codes": b"".join(bytes([n]) * (1 << n) for n in range(19)),
    }


@pytest.mark.parametrize("shape", shapes())
@pytest.mark.parametrize("level", [1, 9])
def test_as_the_standard_library_does(shape: str, level: int) -> None:
    data = shapes()[shape]
    assert decoded(bz2.compress(data, level)) == data


@given(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=30))
def test_many_blocks_of_different_sizes(parts: list[bytes]) -> None:
    assert decoded(b"".join(map(bz2.compress, parts))) == b"".join(parts)


@given(st.integers(10, 3000), st.integers(0, 7))
def test_damage_is_noticed(place: int, bit: int) -> None:
    data = (DATA / "world.xml").read_bytes()[:30_000]
    block = bytearray(blocks(bz2.compress(data))[0])
    place = 6 + place % (len(block) - 7)
    block[place] ^= 1 << bit
    found = unbzip2.decode([bytes(block)])
    assert found is None or found[0].tobytes() == data  # a bit that nothing depends on


@given(st.binary(max_size=2000))
def test_anything_else_is_refused(data: bytes) -> None:
    assert unbzip2.decode([bzip2.BLOCK.to_bytes(6, "big") + data]) is None
