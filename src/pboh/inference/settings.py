"""Every knob of the model, named once: the paper's values, ours, and the five systems of its ablation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

from pboh.errors import InputError
from pboh.model.names import LAYERS

SYSTEMS = ("localmention", "localcontext", "unnorm", "rescaled", "pboh", "learned", "learnedcontext")

FOUND_TOP, FOUND_ZETA = 24, 2 / 3
_MOST = sys.float_info.max  # JSON has no infinity


def _ranged(default: float, least: float, most: float) -> Any:
    """A number that may be changed within a range."""
    return field(default=default, metadata={"range": (least, most)})


@dataclass(frozen=True, slots=True)
class Settings:
    """What is maximised and how. The defaults of this class are the paper's; :data:`DEFAULT` is ours.

    All of them can be changed when a model is loaded; none needs a rebuild.
    """

    system: str = "pboh"  # which terms of Eq. (c2) are on, see SYSTEMS
    # candidates (section "Candidate Selection")
    layers: dict[str, float] = field(  # weight of each name layer, 0 = off
        default_factory=lambda: {layer: float(layer == "lower") for layer in LAYERS}
    )
    popularity: float = _ranged(0.0, 0, 10)  # exponent of an entity's links in layers made from titles
    fuzzy: bool = True  # rescue unknown names by letter-trigram Jaccard distance
    fuzzy_distance: float = _ranged(0.5, 0, 1)  # a name at this distance or farther is another name
    variants: bool = False  # try plural, possessive, "Corp.", umlaut spellings of unknown names
    followed: float = _ranged(0.0, 0, 10)  # exponent of p(a word follows at once given m, e) / p(… given m)
    top: int = _ranged(64, 1, 255)  # R: candidates by p(e|m)
    candidates: int = _ranged(10, 1, 255)  # kept by the local score
    coreference: float = _ranged(0.0, 0, 1e6)  # links that the candidates of a longer mention count as
    # context (section "Integrating Context")
    zeta: float = _ranged(0.075, 0, 1e3)  # ζ, weight of the context words
    xi: float = _ranged(0.5, 0, 1)  # ξ, discount of N(w,e)
    window: int = _ranged(50, 0, 10_000)  # content words on each side
    min_word_count: int = _ranged(3, 2, 3)  # smallest N(w,e) that counts: 2 or 3
    unmatched: float = _ranged(1.0, 0, 1e3)  # weight of the penalty for words an entity was never seen with
    clip: float = _ranged(inf, 0, inf)  # largest log ratio one word may bring
    floor: float = _ranged(0.0, 0, 1e6)  # smallest p(w|e)/p(w) that counts as a match
    few_words: float = _ranged(1.0, 0, 1e3)  # how much more a context of few words may weigh
    topic: float = _ranged(0.0, 0, 1e3)  # weight of the cosine of an entity's vector and the words around
    # pairs (sections "Parameter Calibration" and "Smoothing Empirical Probabilities")
    tau: float = _ranged(0.5, 0, 1e3)  # τ, weight of the pairs
    few_mentions: float = _ranged(0.0, 0, 1e6)  # added to n − 1 in 2τ/(n−1): pairs of few mentions weigh less
    delta: float = _ranged(0.5, 0, 1)  # δ, discount of N(e,e′)
    backoff: str = "paper"  # 1−μ = δ·D/N_ep; "authors": 1 − δ·D/N_ep, which does not sum to one
    self_pair: float = _ranged(0.01, 0, 1)  # share of an entity's marginal count added to N(e,e)
    kinship: float = _ranged(0.0, 0, 50)  # slope of λ in the cosine of two entities' vectors …
    kinship_from: float = _ranged(0.5, 0, 1)  # … from this cosine on
    # belief propagation (section "Belief Propagation")
    rounds: int = _ranged(15, 0, 10_000)  # at most
    epsilon: float = _ranged(1e-5, 0, 1)  # messages that change by less have converged
    # answers
    threshold: float = _ranged(0.0, 0, 1)  # answers of a lower probability are withheld

    def __post_init__(self) -> None:
        if self.system not in SYSTEMS:
            raise InputError(f"unknown system {self.system!r}", todo=f"Choose one of {', '.join(SYSTEMS)}")
        unknown = set(self.layers) - set(LAYERS)
        if unknown:
            raise InputError(
                f"unknown name layers {sorted(unknown)}", todo=f"Choose from {', '.join(LAYERS)}"
            )
        for item in fields(self):
            if item.metadata:
                least, most = item.metadata["range"]
                _check(item.name, getattr(self, item.name), least, most, whole=item.type == "int")
        for layer, weight in self.layers.items():
            _check(f"layers.{layer}", weight, 0, 1e6)
        if self.backoff not in ("paper", "authors"):
            raise InputError(f"unknown back-off {self.backoff!r}", todo="Choose paper or authors")

    def change(self, **changes: Any) -> Settings:
        """A copy with some values changed; ``layers`` may name only the layers that change."""
        known = {item.name for item in fields(self)}
        unknown = set(changes) - known
        if unknown:
            raise InputError(
                f"unknown settings {sorted(unknown)}", todo=f"Choose from {', '.join(sorted(known))}"
            )
        if "layers" in changes:
            changes["layers"] = {**self.layers, **changes["layers"]}
        return replace(self, **changes)

    def of_found(self) -> Settings:
        """These settings for mentions that a detector found, which need no link of their own to be right.

        Names are not rescued (an unknown name is mostly one nobody wrote about), few candidates are enough,
        and the words around count for less than around a link that somebody made for its context.
        """
        return self.change(fuzzy=False, top=min(self.top, FOUND_TOP), zeta=FOUND_ZETA * self.zeta)

    @property
    def context_weight(self) -> float:
        """ζ, or 0 in the systems without context."""
        return self.zeta if self.system in ("localcontext", "pboh", "learnedcontext") else 0.0

    @property
    def topic_weight(self) -> float:
        """Weight of the vectors in the context, 0 in the systems without context or with learned terms."""
        return self.topic if self.system in ("localcontext", "pboh") else 0.0

    @property
    def learned(self) -> bool:
        """Whether ρ and λ are those of ``pboh learn`` instead of counts."""
        return self.system.startswith("learned")

    def pair_weight(self, n: int) -> float:
        """Factor of λ for n linkable mentions: 1 (Unnorm), 2/(n−1) (Rescaled), 2τ/(n−1) (PBoH), 0 (local).

        Learned λ bring their own: see :meth:`pboh.inference.potentials.Potentials.pairs`.
        """
        if n < 2 or self.system in ("localmention", "localcontext"):
            return 0.0
        if self.learned:
            return 1.0
        pboh = 2.0 * self.tau / (n - 1 + self.few_mentions)
        return {"unnorm": 1.0, "rescaled": 2.0 / (n - 1), "pboh": pboh}[self.system]

    def record(self) -> dict[str, Any]:
        """All values, as a ``model.json`` holds them: what was fitted with them outlives our defaults."""
        return {name: min(v, _MOST) if isinstance(v, float) else v for name, v in asdict(self).items()}

    def differences(self, base: Settings) -> dict[str, Any]:
        """The recorded values in which these settings differ from others."""
        mine, others = self.record(), base.record()
        changed = {name: v for name, v in mine.items() if v != others[name]}
        if "layers" in changed:
            changed["layers"] = {k: v for k, v in self.layers.items() if v != base.layers.get(k)}
        return changed

    @classmethod
    def stored(cls, info: Mapping[str, Any]) -> Settings:
        """The settings of a ``model.json``: those recorded there, else ours."""
        recorded = info.get("settings") or {}
        return DEFAULT.change(**{name: inf if v == _MOST else v for name, v in recorded.items()})


def _check(name: str, value: Any, least: float, most: float, whole: bool = False) -> None:
    number = isinstance(value, Integral if whole else Real)
    if not number or not least <= float(value) <= most:  # nan is nowhere
        wanted = "Choose a whole number" if whole else "Choose a number"
        upto = f" to {most:,g}" if isfinite(most) else ""
        raise InputError(f"{name} cannot be {value}", todo=f"{wanted} from {least:,g}{upto}")


PAPER = Settings()
# The layers of disambiguation pages and acronyms gain nothing sure with a sample of Wikipedia, which has few
# of either; they stay because a whole Wikipedia has hundreds of thousands of both.
DEFAULT = PAPER.change(
    layers={
        "cased": 1.0, "lower": 0.3, "title": 0.1, "stripped": 0.02, "redirect": 0.1,
        "disambiguation": 0.02, "last": 0.02, "first": 0.02, "prefix": 0.02, "acronym": 0.02,
    },
    popularity=1.0,
    followed=0.8,
    variants=True,
    fuzzy_distance=0.3,
    coreference=10.0,
    window=25,
    min_word_count=2,
    unmatched=0.5,
    clip=4.0,
    floor=0.5,
    topic=3.5,
    few_words=2.0,
    few_mentions=1.0,
    threshold=0.3,
)  # fmt: skip


def parse_changes(assignments: list[str]) -> dict[str, Any]:
    """Settings written as text: ``tau=0.7``, ``fuzzy=false``, ``layers.last=0``."""
    types = {item.name: type(getattr(PAPER, item.name)) for item in fields(Settings)}
    changes: dict[str, Any] = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        name, _, layer = name.strip().partition(".")
        if not equals or name not in types or (name == "layers") != bool(layer):
            known = ", ".join(sorted(types))
            raise InputError(
                f"{text!r} is not a setting", todo=f"Write NAME=VALUE; names are {known} (layers.NAME)"
            )
        try:
            if layer:
                changes.setdefault("layers", {})[layer] = float(value)
            elif types[name] is bool:
                changes[name] = {"true": True, "1": True, "false": False, "0": False}[value.strip().lower()]
            else:
                changes[name] = types[name](value)
        except (ValueError, KeyError):
            wanted = {bool: "true or false", int: "a whole number", float: "a number"}
            todo = f"Write {wanted[float if layer else types[name]]}"
            raise InputError(f"{name} cannot be {value!r}", todo=todo) from None
    return changes
