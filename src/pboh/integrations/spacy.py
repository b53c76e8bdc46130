"""The spaCy component ``pboh``: finds and links names in a blank pipeline, or links what an NER has found.

spaCy imports this module whenever a pipeline is made, so whatever needs numba is imported when it is used;
and it reads the annotations of registered functions at run time, so they are kept as objects.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from pboh.document import Mention
from pboh.errors import InputError, MissingExtraError
from pboh.formats.types import TABLE, check_types

try:
    from spacy import util
    from spacy.kb import KnowledgeBase
    from spacy.language import Language
    from spacy.pipeline import Pipe
    from spacy.scorer import Scorer
    from spacy.tokens import Doc, Span
    from spacy.training import Example
    from spacy.vocab import Vocab
except ImportError:
    raise MissingExtraError.of("spacy", "spacy") from None

from pboh.integrations.spacy_answers import (
    Run,
    data_of,
    displacy_ents,
    document_of,
    forget,
    key,
    link,
    mention_of,
    open_linker,
    plain,
)

if TYPE_CHECKING:
    from pboh.linker import Linker

__all__ = ["PbohLinker", "displacy_ents", "make_kb", "make_link_scorer", "make_pboh"]

_log = logging.getLogger("pboh.spacy")

HINT = 0.9  # score of a hint that has none
CHOICES = {
    "detect": ("auto", True, False),
    "mentions": ("names", "all"),
    "alignment_mode": ("strict", "contract", "expand"),
    "kb_id": ("title", "id"),
}


# -- models ------------------------------------------------------------------------------------------------


def _fingerprint(linker: "Linker") -> str:
    from pboh.model.store import fingerprint  # noqa: PLC0415

    return fingerprint(linker.model.folder)


def warn_of_another_model(linker: "Linker", stored: dict[str, Any]) -> None:
    """Say so when a pipeline meets another model than the one it was saved with."""
    if stored.get("sha256") != _fingerprint(linker):
        _log.warning(
            "%s is not the model this pipeline was saved with; answers may differ", linker.model.folder
        )


def _labels(otherwise: str, changed: dict[str, str]) -> dict[str | None, str]:
    """The label of a found entity by its type; ``otherwise`` where spaCy has none, or the model no type."""
    check_types(changed)
    labels: dict[str | None, str] = {None: otherwise}
    labels |= {row.name: row.spacy[0] if row.spacy else otherwise for row in TABLE}
    return labels | changed


class _Hint(NamedTuple):
    score: float
    label: str


def _score(span: Span) -> float:
    """The score that a recogniser such as GLiNER left on a span."""
    known = span._.score if Span.has_extension("score") else None
    return HINT if known is None else float(known)


class StoredAsBytes:
    """Something that a saved pipeline keeps as a file of the bytes that it is written to."""

    to_bytes: Callable[..., bytes]
    from_bytes: Callable[..., Any]

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """The same as ``to_bytes``, in a file."""
        Path(path).write_bytes(self.to_bytes(exclude=exclude))

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> Any:
        """The same as ``from_bytes``, from a file."""
        return self.from_bytes(Path(path).read_bytes(), exclude=exclude)


# -- the component -----------------------------------------------------------------------------------------


class PbohLinker(StoredAsBytes, Pipe):
    """Resolves the entities of a document together; see ``docs/how-to/spacy.md`` for the options.

    ``alignment`` counts detected mentions: ``exact`` on token boundaries, ``moved`` to them, ``lost``.
    """

    def __init__(
        self,
        vocab: Vocab,
        name: str = "pboh",
        *,
        scorer: Callable[..., dict[str, Any]] | None = None,
        **options: Any,
    ) -> None:
        self.vocab, self.name, self.scorer = vocab, name, scorer
        self.alignment: Counter[str] = Counter()
        self._configure({**DEFAULTS, **options})

    def _configure(self, cfg: dict[str, Any]) -> None:
        unknown = set(cfg) - set(DEFAULTS)
        if unknown:
            raise InputError(f"{self.name} has no options {sorted(unknown)}")
        for option, allowed in CHOICES.items():
            if cfg[option] not in allowed:
                raise InputError(
                    f"{self.name}: {option} is {cfg[option]!r}",
                    todo=f"Choose one of {', '.join(map(str, allowed))}",
                )
        for option in ("threshold", "detect_threshold"):
            if cfg[option] is not None and not 0 <= cfg[option] <= 1:
                raise InputError(f"{self.name}: {option} is {cfg[option]}, not between 0 and 1")
        settings = dict(cfg["settings"])
        if cfg["threshold"] is not None:
            settings["threshold"] = cfg["threshold"]
        self.linker = open_linker(cfg["model"], settings)
        model = self.linker.model
        if cfg["kb_id"] == "id" and "entity_id" not in model and not model.overlays:
            todo = "Add those of Wikidata with: pboh entities ids page_props.sql.gz --model MODEL"
            raise InputError("the model has no ids for its entities", where=model.folder, todo=todo)
        self.cfg = {**cfg, "labels_discard": list(cfg["labels_discard"])}
        self._labels = _labels(cfg["label"], cfg["labels"])
        self._run: Run = {
            "model": cfg["model"],
            "settings": settings,
            "entities": cfg["entities"],
            "types": None if cfg["types"] is None else list(check_types(cfg["types"])),
            "detect": False,
            "threshold": cfg["detect_threshold"],
            "mentions": cfg["mentions"],
        }
        self._only = None if cfg["entities"] is None else self.linker.only(cfg["entities"])
        if cfg["types"] is not None:
            from pboh.inference.entities import TypedSet  # noqa: PLC0415

            TypedSet(model, cfg["types"])  # it may refuse, before the first document

    def __call__(self, doc: Doc) -> Doc:
        """Link the entities of a document, detecting them first if that is wanted."""
        forget(doc)
        detect = self._detects(doc)
        hinted = self._hints(doc) if detect else {}
        known = [ent for ent in doc.ents if ent.label_ not in self.cfg["labels_discard"]]
        if not detect and not known:
            self._set_kb_ids(doc, {})
            return doc
        hints = [[*place, hint.score] for place, hint in hinted.items()]
        run = {**self._run, "detect": detect, "hints": hints}
        given = {(ent.start_char, ent.end_char): self._clamp(ent) for ent in known}
        text = doc.text  # put together from tokens whenever it is asked for
        answers = {(m.start, m.end): m for m in link(self.linker, text, given, run, self._only)}
        if detect:
            answers = self._add_entities(doc, answers, set(given), hinted)
        for place, mention in answers.items():
            data_of(doc)[key(*place)] = plain(mention, place in given, self.cfg["candidates"])
        data_of(doc)[key(0, len(text), "pboh_run")] = run
        self._set_kb_ids(doc, answers)
        return doc

    def _detects(self, doc: Doc) -> bool:
        """With ``auto``: unless a component before this one has looked for entities, found some or not."""
        if self.cfg["detect"] == "auto":
            return self.cfg["hints"] is not None or not doc.has_annotation("ENT_IOB")
        return bool(self.cfg["detect"])

    def _hints(self, doc: Doc) -> dict[tuple[int, int], "_Hint"]:
        """Spans to be weighed: those of a span group, or the entities themselves, which are then removed."""
        group = self.cfg["hints"]
        if group is None:
            return {}
        if group == "ents":
            spans = [ent for ent in doc.ents if ent.label_ not in self.cfg["labels_discard"]]
            doc.ents = [ent for ent in doc.ents if ent.label_ in self.cfg["labels_discard"]]
            scores = [HINT] * len(spans)
        else:
            spans = list(doc.spans.get(group, ()))
            scores = list(doc.spans[group].attrs.get("scores", ())) if spans else []
            scores = scores if len(scores) == len(spans) else [_score(span) for span in spans]
        return {
            (span.start_char, span.end_char): _Hint(min(max(float(score), 0.0), 1.0), span.label_)
            for span, score in zip(spans, scores, strict=True)
        }

    def _clamp(self, ent: Span) -> str | None:
        """The entity an annotation before this component has given, when it is to be kept."""
        if (
            self.cfg["overwrite"]
            or self.cfg["kb_id"] != "title"
            or ent.kb_id_ in ("", "NIL", self.cfg["nil"])
        ):
            return None
        return self.linker.resolve(ent.kb_id_)

    def _add_entities(
        self,
        doc: Doc,
        answers: dict[tuple[int, int], Mention],
        given: set[tuple[int, int]],
        hinted: dict[tuple[int, int], "_Hint"],
    ) -> dict[tuple[int, int], Mention]:
        """Add detected mentions to ``doc.ents``, the surest first; returns answers by their final places."""
        ents = list(doc.ents)
        taken = {i for ent in ents for i in range(ent.start, ent.end)}
        placed = {place: mention for place, mention in answers.items() if place in given}
        discarded = {(e.start_char, e.end_char) for e in ents} - given
        for place, mention in sorted(answers.items(), key=lambda item: (-item[1].detection, item[0])):
            if place in given or any(place[0] < end and start < place[1] for start, end in discarded):
                continue
            label = self._labels[mention.entity.type if mention.entity else None]
            label = (place in hinted and hinted[place].label) or label
            span = doc.char_span(*place, label=label, alignment_mode=self.cfg["alignment_mode"])
            if span is None or not taken.isdisjoint(range(span.start, span.end)):
                self.alignment["lost"] += 1
                level = logging.WARNING if self.alignment["lost"] == 1 else logging.DEBUG
                what = "%s: %r at %d does not fall on tokens and was left out (alignment counts these)"
                _log.log(level, what, self.name, mention.text, mention.start)
                continue
            taken.update(range(span.start, span.end))
            self.alignment["exact" if (span.start_char, span.end_char) == place else "moved"] += 1
            ents.append(span)
            placed[span.start_char, span.end_char] = mention
        doc.ents = sorted(ents, key=lambda span: span.start)
        return placed

    def _set_kb_ids(self, doc: Doc, answers: dict[tuple[int, int], Mention]) -> None:
        """Write ``ent.kb_id_`` on every token of an entity, as spaCy's entity_linker does."""
        for ent in doc.ents:
            mention = answers.get((ent.start_char, ent.end_char))
            entity = mention.entity if mention else None
            answer = entity and (entity.title if self.cfg["kb_id"] == "title" else entity.id)
            for token in ent:
                if token.ent_kb_id == 0 or self.cfg["overwrite"]:
                    token.ent_kb_id_ = answer or self.cfg["nil"]

    # -- scores and storage ------------------------------------------------------------------------

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """spaCy's link scores; with ``use_gold_ents`` of the answers to the gold entities."""
        if self.cfg["use_gold_ents"]:
            examples = [self._with_gold(example) for example in examples]
        return super().score(examples, **kwargs)

    def _with_gold(self, example: Example) -> Example:
        ents, _ = example.get_aligned_ents_and_ner()
        copy = example.copy()
        copy.predicted.ents = ents
        copy.predicted = self(copy.predicted)
        return copy

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Options, and the model's place and checksum; not the model."""
        stored = {"cfg": self.cfg, "sha256": _fingerprint(self.linker)}
        return util.to_bytes({"cfg": lambda: msgspec.json.encode(stored)}, exclude)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "PbohLinker":
        """What :meth:`to_bytes` has written; the model must be where it was."""
        util.from_bytes(data, {"cfg": self._restore}, exclude)
        return self

    def _restore(self, data: bytes) -> None:
        """Options that this component was given (that are not the defaults) go before stored ones."""
        stored = msgspec.json.decode(data)
        own = {option: value for option, value in self.cfg.items() if value != DEFAULTS[option]}
        self._configure({**DEFAULTS, **stored["cfg"], **own})
        warn_of_another_model(self.linker, stored)


# -- what spaCy's registry knows ---------------------------------------------------------------------------


def link_score(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """``nel_micro_f`` and the others of ``Scorer.score_links``, over entities both sides have."""
    negative = ["", "NIL", kwargs.get("nil", "NIL")]
    return Scorer.score_links(examples, negative_labels=negative, **kwargs)


@util.registry.scorers("pboh.link_scorer.v1")
def make_link_scorer() -> Callable[..., dict[str, Any]]:
    """The scorer of the component."""
    return link_score


@util.registry.misc("pboh.KnowledgeBase.v1")
def make_kb(
    model: str | None = None, candidates: int = 10, settings: dict[str, Any] | None = None
) -> Callable[..., KnowledgeBase]:
    """The knowledge base of spaCy's ``entity_linker``: its ``generate_empty_kb``, or a ``kb_loader``."""
    from pboh.integrations.spacy_kb import PbohKnowledgeBase  # noqa: PLC0415

    return partial(PbohKnowledgeBase, model=model, candidates=candidates, settings=settings)


def make_pboh(
    nlp: Language,
    name: str,
    model: str | None = None,
    settings: dict[str, Any] = {},  # noqa: B006  (spaCy copies defaults)
    entities: list[str] | None = None,
    types: list[str] | None = None,
    detect: bool | Literal["auto"] = "auto",
    mentions: Literal["names", "all"] = "names",
    hints: str | None = None,
    detect_threshold: float | None = None,
    label: str = "ENTITY",
    labels: dict[str, str] = {},  # noqa: B006
    alignment_mode: str = "expand",
    labels_discard: list[str] = [],  # noqa: B006
    overwrite: bool = True,
    threshold: float | None = None,
    candidates: int = 5,
    kb_id: str = "title",
    nil: str = "NIL",
    use_gold_ents: bool = False,
    *,
    scorer: Callable[..., Any] | None,
) -> PbohLinker:
    """Make the component from its configuration."""
    return PbohLinker(
        nlp.vocab, name, model=model, settings=settings, entities=entities, types=types, detect=detect,
        mentions=mentions, hints=hints, detect_threshold=detect_threshold, label=label, labels=labels,
        alignment_mode=alignment_mode, labels_discard=labels_discard, overwrite=overwrite,
        threshold=threshold, candidates=candidates, kb_id=kb_id, nil=nil, use_gold_ents=use_gold_ents,
        scorer=scorer,
    )  # fmt: skip


_OPTIONS = signature(make_pboh).parameters
DEFAULTS = {name: option.default for name, option in _OPTIONS.items() if option.default is not option.empty}
Language.factory(
    "pboh",
    default_config={**DEFAULTS, "scorer": {"@scorers": "pboh.link_scorer.v1"}},
    assigns=[
        "doc.ents", "token.ent_iob", "token.ent_type", "token.ent_kb_id",
        "span._.pboh", "doc._.pboh_document",
    ],
    default_score_weights={"nel_micro_f": 1.0, "nel_micro_r": None, "nel_micro_p": None},
    func=make_pboh,
)  # fmt: skip
Span.set_extension("pboh", getter=mention_of, force=True)  # for documents that were read back as well
Doc.set_extension("pboh_document", getter=document_of, force=True)
