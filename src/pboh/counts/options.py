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
    ``*_weight``: how much one count of a name source weighs; the model builder multiplies by it, the rows
    keep raw counts, and 0 leaves the source out. Titles, redirects and disambiguations at 0 are the paper.
    ``crosswikis_entities``: also take entities that only Crosswikis knows.
    ``sums``: keep the unpruned sums that let these counts be added to others later.
    """

    min_word_count: int = 3
    top: int = 64
    min_name_count: int = 1
    crosswikis: str | None = None
    min_crosswikis_count: int = 5
    crosswikis_entities: bool = False
    anchor_weight: float = 1.0
    crosswikis_weight: float = 1.0
    title_weight: float = 0.1
    redirect_weight: float = 0.1
    disambiguation_weight: float = 0.02
    names_in_text: bool = False
    sums: bool = True

    def __post_init__(self) -> None:
        for name in ("min_word_count", "top", "min_name_count", "min_crosswikis_count"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', '-')} must be at least 1, not {getattr(self, name)}")
        for source, weight in self.weights.items():
            if not 0 <= weight < float("inf"):
                raise InputError(f"the weight of {source} names must not be negative, but is {weight}")

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each source of names."""
        return {
            "anchor": self.anchor_weight,
            "crosswikis": self.crosswikis_weight,
            "title": self.title_weight,
            "redirect": self.redirect_weight,
            "disambiguation": self.disambiguation_weight,
        }
