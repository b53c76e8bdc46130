"""What entities are, in a model: the arrays of types and short descriptions, and how they are read.

All of them are optional. ``entity_type`` is the place of every entity's type in
:data:`pboh.formats.types.TYPES`, ``entity_type_sure`` its probability (255 is one); ``description_blob``
holds the descriptions in UTF-8 and ``description_offsets`` cuts them apart, an empty one meaning none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from pboh.document import Facts
from pboh.formats.types import TYPES
from pboh.text.hashing import Array

ARRAYS: dict[str, str] = {
    "entity_type": "|u1",
    "entity_type_sure": "|u1",
    "description_blob": "|u1",
    "description_offsets": "<i8",
}
SURE = 255  # what a probability of one is stored as
_SHARES = tuple(k / SURE for k in range(256))
_NAMES = (*TYPES, *["unknown"] * (256 - len(TYPES)))  # a model may know types that this program does not


def facts_at(arrays: Mapping[str, Array], k: int) -> Facts:
    """What is known about the k-th entity."""
    return fact_reader(arrays)(k)


def fact_reader(arrays: Mapping[str, Array]) -> Callable[[int], Facts]:
    """Tells what is known about the k-th entity, all of it at once: outputs ask this of every new entity."""
    codes, sure = arrays.get("entity_type"), arrays.get("entity_type_sure")
    offsets, blob = arrays.get("description_offsets"), arrays.get("description_blob")

    def read(k: int) -> Facts:
        text = None
        if offsets is not None and blob is not None:
            begin, end = offsets.item(k), offsets.item(k + 1)
            if begin < end:
                text = blob[begin:end].tobytes().decode("utf-8", "replace")
        return Facts(
            None if codes is None else _NAMES[codes.item(k)],
            None if sure is None else _SHARES[sure.item(k)],
            text,
        )

    return read


def wanted_codes(names: Iterable[str]) -> Array:
    """Whether every code belongs to one of these types."""
    wanted = set(names)
    return np.asarray([name in wanted for name in _NAMES])


def wrong_with(arrays: Mapping[str, Array], entities: int) -> str:
    """Why these arrays cannot belong to a model of that size, in words; nothing if they can."""
    for name, kind in ARRAYS.items():
        array = arrays.get(name)
        if array is not None and (array.dtype.str != kind or array.ndim != 1):
            return f"{name} is {array.ndim} × {array.dtype.str}"
    for name in ("entity_type", "entity_type_sure"):
        if name in arrays and arrays[name].size != entities:
            return f"{name} has {arrays[name].size:,} entries for {entities:,} entities"
    if ("description_blob" in arrays) != ("description_offsets" in arrays):
        return "description_blob and description_offsets belong together"
    offsets = arrays.get("description_offsets")
    if offsets is None:
        return ""
    if offsets.size != entities + 1:
        return f"description_offsets has {offsets.size:,} entries for {entities:,} entities"
    if offsets[0] != 0 or offsets[-1] != arrays["description_blob"].size:
        return "description_offsets does not fit description_blob"
    return ""
