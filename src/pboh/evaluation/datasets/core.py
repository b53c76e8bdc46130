"""What every dataset reader returns: gold documents, their mentions, and a record of what was repaired."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pboh.errors import InputError

NEAR = 12
"""A surface form this many characters away from its offset is taken to be the one that was meant."""

ProblemKind = Literal["repaired", "lost", "merged", "unmapped", "text"]

DATASET_POLICY = (
    "Offsets count Unicode code points; an offset that does not slice to its surface form is moved to the "
    f"nearest occurrence within {NEAR} characters, otherwise the mention is left out and reported.",
    "The same span annotated twice is one mention; when the golds differ, either counts as right.",
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a reader repaired, merged or could not use: what kind, where it is, what it was.

    ``document`` is the id of the document it belongs to, None when it concerns the file.
    """

    kind: ProblemKind
    where: str
    what: str
    document: str | None = None

    def __str__(self) -> str:
        return f"{self.where}: {self.what} ({self.kind})"


@dataclass(frozen=True, slots=True)
class GoldMention:
    """A span of a gold document and the title it means; ``gold`` is None for NIL.

    ``also`` holds further titles that count as right (several identifiers of one entity, or annotators
    who disagree); ``uri`` is the identifier as the dataset writes it.
    """

    start: int
    end: int
    text: str
    gold: str | None
    also: tuple[str, ...] = ()
    uri: str | None = None

    @property
    def golds(self) -> tuple[str, ...]:
        """Every title that counts as right; empty for NIL."""
        return () if self.gold is None else (self.gold, *self.also)


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A text with its gold mentions in text order; ``whole`` is the text it was cut from, if it was.

    ``genre`` and ``language`` are None where the dataset does not say.
    """

    id: str
    text: str
    mentions: tuple[GoldMention, ...]
    whole: str | None = None
    genre: str | None = None
    language: str | None = None

    @property
    def origin(self) -> str:
        """The text that this one is, or was cut from."""
        return self.whole or self.text

    @property
    def linked(self) -> tuple[GoldMention, ...]:
        """The mentions that are not NIL: the only ones a D2KB evaluation looks at."""
        return tuple(mention for mention in self.mentions if mention.gold is not None)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Documents with gold mentions, the problems met while reading them, and the rules they were read by."""

    name: str
    documents: tuple[GoldDocument, ...]
    problems: tuple[Problem, ...] = ()
    policy: tuple[str, ...] = DATASET_POLICY
    source: str = ""
    format: str = ""

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[GoldDocument]:
        return iter(self.documents)

    @property
    def mentions(self) -> int:
        """How many mentions are not NIL."""
        return sum(len(document.linked) for document in self.documents)

    @property
    def nil(self) -> int:
        """How many mentions are NIL."""
        return sum(len(document.mentions) for document in self.documents) - self.mentions

    def problem_counts(self) -> dict[str, int]:
        """How often each kind of problem occurred."""
        return dict(Counter(problem.kind for problem in self.problems))


@dataclass(frozen=True, slots=True)
class Annotation:
    """One annotation as the file has it, before it is checked against the text.

    ``surface`` is None in formats that do not repeat it (IITB, JSON lines).
    """

    start: int
    end: int
    surface: str | None
    golds: tuple[str, ...] = ()
    uri: str | None = None


def build_document(
    id: str, text: str, annotations: Iterable[Annotation], problems: list[Problem], where: str
) -> GoldDocument:
    """Check every annotation against the text, repair or report it, and put the mentions in text order."""

    def note(kind: ProblemKind, what: str) -> None:
        problems.append(Problem(kind, f"{where}, mention at {annotation.start}", what, id))

    mentions: dict[tuple[int, int], GoldMention] = {}
    drift = 0
    for annotation in annotations:
        old = annotation.start, annotation.end
        span = locate(text, annotation, drift)
        if span is None:
            shown = annotation.surface if annotation.surface is not None else f"{annotation.end} as its end"
            note("lost", f"the text does not have {shown!r} there")
            continue
        if span != old:
            drift = span[0] - annotation.start
            note("repaired", f"moved from {old} to {span}")
        first, *rest = annotation.golds or (None,)
        mention = GoldMention(*span, text[slice(*span)], first, tuple(filter(None, rest)), annotation.uri)
        if span in mentions:
            note("merged", f"{mention.text!r} is annotated more than once")
            mention = _merged(mentions[span], mention)
        mentions[span] = mention
    return GoldDocument(id, text, tuple(sorted(mentions.values(), key=lambda m: (m.start, m.end))))


def _merged(first: GoldMention, second: GoldMention) -> GoldMention:
    """One mention out of two on the same span; a real entity wins over NIL, two entities both count."""
    golds = tuple(dict.fromkeys((*first.golds, *second.golds)))
    kept = first if first.gold is not None else second
    return replace(kept, gold=golds[0] if golds else None, also=golds[1:])


def locate(text: str, annotation: Annotation, drift: int = 0) -> tuple[int, int] | None:
    """Where the annotation really is, or None; ``drift`` is how far the one before had to be moved."""
    start, end, surface = annotation.start, annotation.end, annotation.surface
    inside = 0 <= start < end <= len(text)
    if surface is None:
        return (start, end) if inside and text[start:end].strip() else None
    if inside and text[start:end] == surface:
        return start, end
    escaped, unescaped = html.escape(surface, quote=False), html.unescape(surface)
    for wanted in dict.fromkeys((surface, unescaped, escaped)):
        found = _nearest(text, wanted, start, drift)
        if found is not None:
            return found
    return None


def _nearest(text: str, surface: str, start: int, drift: int) -> tuple[int, int] | None:
    """The occurrence of ``surface`` closest to ``start`` or to where drift puts it; blanks may differ."""
    if not surface.strip():
        return None
    # Joined and split by any white space: datasets wrap lines inside a mention.
    pattern = re.compile(r"\s+".join(map(re.escape, surface.split())))
    best: tuple[int, tuple[int, int]] | None = None
    for centre in {start, start + drift}:
        low = max(0, centre - NEAR)
        # The match may start NEAR characters late and hold a few more blanks than the surface form.
        window = text[low : max(0, centre + NEAR + len(surface) + NEAR)]
        for match in pattern.finditer(window):
            distance = abs(low + match.start() - centre)
            if distance <= NEAR and (best is None or distance < best[0]):
                best = distance, (low + match.start(), low + match.end())
    return best[1] if best else None


def read_bytes(path: Path) -> bytes:
    """What a file holds, or one sentence on why it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as reason:
        raise InputError(f"the file cannot be read ({reason.strerror})", where=path) from None


def read_text(path: Path, problems: list[Problem]) -> str:
    """The text of a file: UTF-8 without byte order mark, else Windows-1252 with a report; line ends kept."""
    raw = read_bytes(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        where = f"{path.name}, byte {reason.start}"
        problems.append(Problem("text", where, "not UTF-8, read as Windows-1252"))
        return raw.decode("cp1252", errors="replace")


def with_best_line_ends(text: str, annotations: Sequence[Annotation]) -> str:
    """The text with the line ends its offsets were counted with (tools differ on ``\\r\\n``)."""
    if "\r" not in text:
        return text
    unix = text.replace("\r\n", "\n").replace("\r", "\n")

    def hits(candidate: str) -> int:
        return sum(candidate[a.start : a.end] == a.surface for a in annotations)

    return text if hits(text) > hits(unix) else unix
