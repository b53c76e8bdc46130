"""XML annotations beside a folder of raw texts: the forms of WNED, BAT and IITB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pboh.errors import InputError
from pboh.evaluation.datasets.core import (
    Annotation,
    GoldDocument,
    Problem,
    build_document,
    read_bytes,
    read_text,
    with_best_line_ends,
)
from pboh.formats.identifiers import written_title

if TYPE_CHECKING:
    from lxml import etree

_BARE_AMPERSAND = re.compile(rb"&(?!#?\w+;)")
TEXT_FOLDERS = ("rawtext", "rawtexts", "rawtextsnotranscripts", "crawleddocs", "texts", "text")
Fields = tuple[str, str, str, str]
"""Elements that hold surface form, title, offset and length of an annotation."""

_WNED: Fields = ("mention", "wikiName", "offset", "length")
_BAT: Fields = ("SurfaceForm", "ChosenAnnotation", "Offset", "Length")
IITB_POLICY = ("The format has no surface forms: an offset is only checked to lie inside its text.",)


def _inside(folder: Path) -> dict[str, Path]:
    """The folders inside a folder by their lower-cased names, in order."""
    return {child.name.lower(): child for child in sorted(folder.iterdir()) if child.is_dir()}


def problem_folder(folder: Path) -> Path | None:
    """The folder of BAT's annotation files: ``Problems``, ``ProblemsNoTranscripts`` …."""
    inside = _inside(folder) if folder.is_dir() else {}
    return next((child for name, child in inside.items() if name.startswith("problems")), None)


def read_bat(path: Path, problems: list[Problem]) -> Iterator[GoldDocument]:
    """The older "Problems + RawTexts" form of MSNBC, AQUAINT and ACE2004, as GERBIL and BAT have it."""
    folder = problem_folder(path)
    if folder is None:
        raise InputError("there is no folder named Problems", where=path)
    found = _Found(problems)
    for file in sorted(folder.iterdir()):
        if file.is_file() and not file.name.startswith("."):
            root = parse_xml(file, problems)
            name = child_text(root, "ReferenceFileName") or file.name
            found.add(name, root.iter("ReferenceInstance"), _BAT)
    return found.documents(path)


def wned_file(path: Path) -> Path:
    """The one annotation file of a WNED folder, or the file itself."""
    files = [path] if path.is_file() else sorted(path.glob("*.xml"))
    if len(files) != 1:
        raise InputError(
            f"{len(files)} XML files are in the folder, one was expected",
            where=path,
            todo="Pass the file itself, such as wned:FOLDER/msnbc.xml",
        )
    return files[0]


def read_wned(path: Path, problems: list[Problem]) -> Iterator[GoldDocument]:
    """WNED's form, one annotation file and a RawText folder: cleaned MSNBC, AQUAINT, ACE2004, CWEB, WIKI."""
    file, found = wned_file(path), _Found(problems)
    for document in parse_xml(file, problems).iter("document"):
        found.add(document.get("docName") or "", document.iter("annotation"), _WNED)
    if not found.annotated:
        raise InputError("the file has no <document>", where=file)
    return found.documents(file.parent)


def read_iitb(path: Path, problems: list[Problem]) -> Iterator[GoldDocument]:
    """IITB's CSAW form: annotations without surface forms, beside a folder of crawled texts."""
    files = [path] if path.is_file() else sorted(path.glob("*.xml"))
    if not files:
        raise InputError("the folder has no XML files", where=path)
    found = _Found(problems)
    for file in files:
        for element in parse_xml(file, problems).iter("annotation"):
            name = child_text(element, "docName")
            if name:
                found.add(name, [element], _WNED)
            else:
                where = f"{file.name}, line {element.sourceline}"
                problems.append(Problem("lost", where, "the annotation names no document"))
    return found.documents(files[0].parent)


@dataclass(slots=True)
class _Found:
    """The annotations of each document as they are read, and the problems met."""

    problems: list[Problem]
    annotated: dict[str, list[Annotation]] = field(default_factory=dict)

    def add(self, name: str, elements: Iterable[etree._Element], fields: Fields) -> None:
        """The annotations of a document; incomplete ones are reported."""
        read = (_annotation(element, fields, name, self.problems) for element in elements)
        self.annotated.setdefault(name, []).extend(annotation for annotation in read if annotation)

    def documents(self, folder: Path) -> Iterator[GoldDocument]:
        """Each annotated document with its text; a missing one costs its annotations, and is reported."""
        inside = _inside(folder)
        texts = next((inside[known] for known in TEXT_FOLDERS if known in inside), None)
        if texts is None:
            raise InputError(
                "there is no folder with the raw texts",
                where=folder,
                todo="Put them in a folder named RawText beside the annotations",
            )
        for document, found in self.annotated.items():
            path = _text_file(texts, document)
            if path is None:
                lost = f"there is no text {document!r} in {texts.name}"
                places = (f"{document}, mention at {a.start}" for a in found)
                self.problems.extend(Problem("lost", place, lost, document) for place in places)
            else:
                text = with_best_line_ends(read_text(path, self.problems), found)
                yield build_document(document, text, found, self.problems, document)


def parse_xml(path: Path, problems: list[Problem]) -> etree._Element:
    """The root of an XML file; a damaged one is read as far as it goes and reported."""
    from lxml import etree  # noqa: PLC0415  (other formats do without)

    # no entities, no network: annotation files come from anywhere
    parser = partial(etree.XMLParser, resolve_entities=False, no_network=True, huge_tree=False)
    raw = read_bytes(path)
    try:
        return etree.fromstring(raw, parser(recover=False))
    except etree.XMLSyntaxError as reason:
        # Most often an ampersand that nobody escaped: "AT&T".
        root = etree.fromstring(_BARE_AMPERSAND.sub(b"&amp;", raw), parser(recover=True))
        if root is None:
            raise InputError(f"not XML ({reason})", where=path) from None
        problems.append(Problem("text", path.name, f"damaged XML, read as far as possible ({reason})"))
        return root


def child_text(element: etree._Element, name: str) -> str | None:
    """The trimmed text of a child element, None when it is not there."""
    child = element.find(name)
    return None if child is None else (child.text or "").strip()


def _annotation(
    element: etree._Element, fields: Fields, where: str, problems: list[Problem]
) -> Annotation | None:
    """One annotation from its children; None if it is incomplete."""
    surface, title, offset, length = (child_text(element, name) for name in fields)
    try:
        start, size = int(offset or ""), int(length or "")
    except ValueError:
        line = f"{where}, line {element.sourceline}"
        what = f"offset {offset!r} and length {length!r} are not numbers"
        problems.append(Problem("lost", line, what, where))
        return None
    gold = written_title(title)
    return Annotation(start, start + size, surface or None, (gold,) if gold else (), title or None)


def _text_file(folder: Path, name: str) -> Path | None:
    """The file of a document: the very name, or the name with or without .txt (never outside the folder)."""
    for candidate in (name, f"{name}.txt", name.removesuffix(".txt")):
        path = folder / Path(candidate).name
        if path.is_file():
            return path
    return None
