"""Parts of bz2 files: the same bytes as the standard library decodes, or an error, whatever is damaged."""

from __future__ import annotations

import bz2
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpus_helpers import DATA, prose

from pboh.corpus.readers import bz2_blocks
from pboh.corpus.readers.bz2_blocks import BLOCK, END
from pboh.errors import CorpusError

PLAIN = prose(1, 2_500_000)


def decoded(path: Path, step: int) -> bytes:
    """All parts of a file, each decoded on its own."""
    size = path.stat().st_size
    return b"".join(bz2_blocks.decode(path, at, at + step)[0] for at in range(0, size, step))


@pytest.mark.parametrize("form", ["plain", "streams", "mixed levels"])
@pytest.mark.parametrize("step", [50_000, 333_333, 10_000_000])
def test_decoded_from_any_byte_on(form: str, step: int, tmp_path: Path) -> None:
    pieces = [PLAIN[at : at + 170_001] for at in range(0, len(PLAIN), 170_001)]
    packed = {
        "plain": lambda: bz2.compress(PLAIN, 1),
        "streams": lambda: b"".join(map(bz2.compress, pieces)),
        "mixed levels": lambda: b"".join(bz2.compress(p, 1 + i % 9) for i, p in enumerate(pieces)),
    }[form]()
    path = tmp_path / "d.bz2"
    path.write_bytes(packed)
    own = [bz2_blocks.decode(path, at, at + step)[0] for at in range(0, len(packed), step)]
    assert b"".join(own) == PLAIN
    middle = len(own) // 2
    first, following = bz2_blocks.decode(path, middle * step, (middle + 1) * step)
    assert first + b"".join(following) == b"".join(own[middle:])


def shapes() -> dict[str, bytes]:
    drawn = random.Random(7)
    return {
        "text": (DATA / "world.xml").read_bytes(),
        "nothing": b"",
        "one byte": b"a",
        "runs": b"".join(bytes([65 + n % 3]) * n for n in range(600)),
        "one long run": bytes(5_000_000),
        "noise": drawn.randbytes(300_000),
        "all bytes": bytes(range(256)) * 40,
        "few bytes": bytes(drawn.choices(b"ab", k=200_000)),
    }


@pytest.mark.parametrize("shape", shapes())
@pytest.mark.parametrize("level", [1, 9])
def test_data_of_every_shape(shape: str, level: int, tmp_path: Path) -> None:
    data, path = shapes()[shape], tmp_path / "d.bz2"
    path.write_bytes(bz2.compress(data, level) + bz2.compress(b"") + bz2.compress(data, level))
    assert decoded(path, 1 << 20) == decoded(path, 1000) == 2 * data


def test_a_mark_that_is_none_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compressed data may contain the block mark by chance; here one is put where there is none."""
    path, real = tmp_path / "d.bz2", bz2_blocks._marks
    path.write_bytes(bz2.compress(PLAIN, 1))

    def misled(data: bytes, start: int) -> list[bz2_blocks.Mark]:
        found = real(data, start)
        return sorted([*found, bz2_blocks.Mark(found[2].place + 12_345, True, 0)])

    monkeypatch.setattr(bz2_blocks, "_marks", misled)
    assert decoded(path, 1 << 20) == PLAIN


@pytest.mark.parametrize("mark", [BLOCK, END])
def test_marks_are_found_at_every_bit(mark: int) -> None:
    for bit in range(100):
        for behind in (0, 1, 7, 8, 50):
            size = -(-(bit + 48 + behind) // 8)
            data = (mark << (8 * size - 48 - bit)).to_bytes(size, "big")
            assert [found[:2] for found in bz2_blocks._marks(data, 0)] == [(bit, mark == BLOCK)]


# --- damage --------------------------------------------------------------------------------------------

PIECES = [prose(seed, size) for seed, size in ((1, 120_000), (2, 20_000), (3, 120_000))]
PACKED = b"".join(bz2.compress(piece[:20_000] * (len(piece) // 20_000), 1) for piece in PIECES)
WHOLE = bz2.decompress(PACKED)


def by_the_standard_library(packed: bytes) -> bytes | None:
    """What it makes of a file, or None; bytes behind a stream that are no stream are an error here."""
    out = []
    while packed:
        decoder = bz2.BZ2Decompressor()
        try:
            out.append(decoder.decompress(packed))
        except OSError:
            return None
        if not decoder.eof:
            return None
        packed = decoder.unused_data
    return b"".join(out)


def structure() -> Iterator[int]:
    """Every bit of headers, marks and checksums."""
    for mark in bz2_blocks._marks(PACKED, 0):
        yield from range(mark.place, mark.place + 80)
        if not mark.is_block:
            after = -(-(mark.place + 80) // 8) * 8
            yield from range(mark.place + 80, min(after + 32, 8 * len(PACKED)))
    yield from range(32)


def check_flips(bits: list[int], path: Path, step: int) -> int:
    """Flip each bit on its own; returns how many flips were refused."""
    refused = 0
    for bit in bits:
        damaged = bytearray(PACKED)
        damaged[bit // 8] ^= 0x80 >> bit % 8
        path.write_bytes(damaged)
        try:
            assert decoded(path, step) == WHOLE, bit
        except CorpusError:
            refused += 1
            assert by_the_standard_library(bytes(damaged)) is None, bit
    return refused


@pytest.mark.slow
def test_every_flipped_bit_of_the_structure_is_refused_or_harmless(tmp_path: Path) -> None:
    assert sum(mark.is_block for mark in bz2_blocks._marks(PACKED, 0)) == 4
    bits = sorted(set(structure()))
    assert check_flips(bits, tmp_path / "d.bz2", 1 << 20) > 0.9 * len(bits)


@pytest.mark.slow
def test_a_thousand_flipped_bits_are_refused_or_harmless(tmp_path: Path) -> None:
    drawn = random.Random(3)
    bits = [drawn.randrange(8 * len(PACKED)) for _ in range(1000)]
    assert check_flips(bits[:900], tmp_path / "d.bz2", 1 << 20) > 850
    assert check_flips(bits[900:], tmp_path / "d.bz2", 5000) > 90


def test_flips_are_noticed_however_the_file_is_cut(tmp_path: Path) -> None:
    bits = sorted(set(structure()))[::17]
    assert check_flips(bits, tmp_path / "d.bz2", 3000) > 0.9 * len(bits)


@pytest.mark.parametrize("step", [3000, 1 << 20])
def test_a_file_that_ends_early_is_refused(step: int, tmp_path: Path) -> None:
    path, ends = tmp_path / "d.bz2", set()
    for mark in bz2_blocks._marks(PACKED, 0):
        if not mark.is_block:
            ends.add(-(-(mark.place + 80) // 8))
    for size in [*range(1, len(PACKED), 997), *(end + more for end in ends for more in (-1, 1, 4, 9))]:
        path.write_bytes(PACKED[:size])
        if size < len(PACKED):
            with pytest.raises(CorpusError):
                decoded(path, step)


def test_a_missing_block_is_noticed(tmp_path: Path) -> None:
    """Every block has its checksum and the next begins where it ends: only that of the stream tells."""
    first, second, *_ = bz2_blocks._marks(PACKED, 0)
    bits = bin(int.from_bytes(b"\1" + PACKED, "big"))[3:]
    end = next(mark.place for mark in bz2_blocks._marks(PACKED, 0) if not mark.is_block)
    kept = bits[: first.place] + bits[second.place : end + 80]
    kept += "0" * (-len(kept) % 8)
    path = tmp_path / "d.bz2"
    path.write_bytes(int(kept, 2).to_bytes(len(kept) // 8, "big"))
    for step in (3000, 1 << 20):
        with pytest.raises(CorpusError):
            decoded(path, step)
