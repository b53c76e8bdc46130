"""The decoder of bz2 blocks against the standard library's, on data of every shape, and on damaged data."""

from __future__ import annotations

import bz2
import random
import tempfile

import numpy as np
import pytest
from corpus_helpers import DATA
from hypothesis import given
from hypothesis import strategies as st

from pboh.corpus.readers import bz2_blocks, unbzip2


def blocks(packed: bytes) -> list[bytes]:
    with tempfile.TemporaryFile() as file:
        file.write(packed)
        return [block.bits for block in bz2_blocks.blocks(file, 0)]


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


def test_more_blocks_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    chains, text = unbzip2.room()
    monkeypatch.setattr(unbzip2, "room", lambda: (chains[: unbzip2._ROOM + 1000], text))
    parts = [value[:90_000] for value in shapes().values()] * 2
    assert decoded(b"".join(map(bz2.compress, parts))) == b"".join(parts)


def runs_written_out(raw: bytes) -> bytes:
    out, run = b"", b""
    for byte in raw:
        if len(run) == 4:
            out, run = out + run[:1] * byte, b""
            continue
        run = run + bytes([byte]) if run[:1] == bytes([byte]) else bytes([byte])
        out += bytes([byte])
    return out


@given(st.lists(st.sampled_from(b"\x00\x01\x02a"), max_size=60).map(bytes), st.integers(0, 80))
def test_runs(raw: bytes, space: int) -> None:
    found = unbzip2._unpacked(np.frombuffer(raw, dtype=np.uint8), np.empty(space, dtype=np.uint8))
    assert found.tobytes() == runs_written_out(raw)


@pytest.mark.parametrize("mark", [bz2_blocks.BLOCK, bz2_blocks.END])
def test_marks_are_found_at_every_bit(mark: int) -> None:
    for bit in range(100):
        for behind in (0, 1, 7, 8, 50):
            size = -(-(bit + 48 + behind) // 8)
            data = (mark << (8 * size - 48 - bit)).to_bytes(size, "big")
            assert bz2_blocks._marks(data, 0) == [(bit, mark == bz2_blocks.BLOCK)]
            assert bz2_blocks._marks(data, bit + 1) == []


@pytest.mark.parametrize("shape", shapes())
def test_a_block_without_its_end_is_refused(shape: str) -> None:
    block = blocks(bz2.compress(shapes()[shape]))[0]
    assert all(unbzip2.decode([block[:-cut]]) is None for cut in range(1, min(200, len(block))))


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
    assert unbzip2.decode([bz2_blocks.BLOCK.to_bytes(6, "big") + data]) is None
