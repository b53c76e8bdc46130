"""Files that are decoded from the front: damage is refused or harmless, as their checksums decide."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from pboh.corpus.readers.chunks import Source, chunks
from pboh.errors import CorpusError

DATA = b"".join(b"line %d of many\n" % number for number in range(40))
PACKED = {
    "gz": 2 * gzip.compress(DATA),
    "zst": 2 * zstandard.ZstdCompressor(write_checksum=True).compress(DATA),
}


def decoded(path: Path, packed: bytes) -> bytes | None:
    """All data of a file that was written like this, None if it is refused."""
    path.write_bytes(packed)
    try:
        parts = chunks([Source(path, path.suffix[1:], "jsonl", len(packed))], 200)
        return b"".join(part.data or b"" for part in parts)
    except CorpusError as error:
        assert "damaged or cut off" in str(error)
        return None


@pytest.mark.parametrize("codec", PACKED)
def test_every_flipped_bit_is_refused_or_harmless(codec: str, tmp_path: Path) -> None:
    packed, refused = PACKED[codec], 0
    for bit in range(8 * len(packed)):
        damaged = bytearray(packed)
        damaged[bit // 8] ^= 0x80 >> bit % 8
        found = decoded(tmp_path / f"d.{codec}", bytes(damaged))
        assert found in (None, 2 * DATA), bit
        refused += found is None
    assert refused > 0.9 * 8 * len(packed)


@pytest.mark.parametrize("codec", PACKED)
def test_a_file_that_ends_early_is_refused(codec: str, tmp_path: Path) -> None:
    """Unless it ends with one of the two it is made of: that is a file of its own."""
    packed = PACKED[codec]
    whole = [size for size in range(1, len(packed)) if decoded(tmp_path / f"d.{codec}", packed[:size])]
    assert whole == [len(packed) // 2]
