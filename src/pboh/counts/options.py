"""What may be chosen when counting, with the paper's values as defaults."""

from __future__ import annotations

from dataclasses import dataclass

from pboh.errors import InputError


@dataclass(frozen=True, slots=True)
class CountOptions:
    """Thresholds and name sources; everything here is recorded in ``counts.json``.

    ``min_word_count``: N(w,e) is kept from this count on (paper, section on word counts: 3).
    ``top``: entities kept per name (the paper's R: 64). ``min_name_count``: links a name must have to an
    entity to keep the pair (1 keeps all). ``min_crosswikis_count``: the same for Crosswikis pairs (5).
    ``crosswikis_entities``: also take entities that only Crosswikis knows.
    ``sums``: keep the unpruned sums that let these counts be added to others later.
    """

    min_word_count: int = 3
    top: int = 64
    min_name_count: int = 1
    crosswikis: str | None = None
    min_crosswikis_count: int = 5
    crosswikis_entities: bool = False
    names_in_text: bool = False
    sums: bool = True

    def __post_init__(self) -> None:
        for name in ("min_word_count", "top", "min_name_count", "min_crosswikis_count"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', '-')} must be at least 1, not {getattr(self, name)}")
