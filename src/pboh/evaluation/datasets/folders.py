"""XML annotations beside a folder of raw texts: what WNED, BAT and IITB have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from pboh.errors import InputError
from pboh.evaluation.datasets.core import (
    Annotation,
    GoldDocument,
    Problem,
    build_document,
    read_text,
    with_best_line_ends,
)
from pboh.evaluation.datasets.identifiers import written_title

_BARE_AMPERSAND = re.compile(rb"&(?!#?\w+;)")
TEXT_FOLDERS = ("rawtext", "rawtexts", "rawtextsnotranscripts", "crawleddocs", "texts", "text")


def text_folder(folder: Path) -> Path | None:
    """The folder of raw texts inside (or beside the annotations in) ``folder``."""
    inside = [child for child in sorted(folder.iterdir()) if child.is_dir()] if folder.is_dir() else []
    return next((child for name in TEXT_FOLDERS for child in inside if child.name.lower() == name), None)


def needed_text_folder(folder: Path) -> Path:
    """The folder of raw texts, or an error that says what was looked for."""
    found = text_folder(folder)
    if found is None:
        raise InputError(
            "there is no folder with the raw texts",
            where=folder,
            todo="Put them in a folder named RawText beside the annotations",
        )
    return found


def parse_xml(path: Path, problems: list[Problem]) -> etree._Element:
    """The root of an XML file; a damaged one is read as far as it goes and reported."""
    try:
        raw = path.read_bytes()
    except OSError as reason:
        raise InputError(f"the file cannot be read ({reason.strerror})", where=path) from None
    try:
        return etree.fromstring(raw, _parser(recover=False))
    except etree.XMLSyntaxError as reason:
        # Most often an ampersand that nobody escaped: "AT&T".
        root = etree.fromstring(_BARE_AMPERSAND.sub(b"&amp;", raw), _parser(recover=True))
        if root is None:
            raise InputError(f"not XML ({reason})", where=path) from None
        problems.append(Problem("text", path.name, f"damaged XML, read as far as possible ({reason})"))
        return root


def _parser(recover: bool) -> etree.XMLParser:
    """No entities, no network: annotation files come from anywhere."""
    return etree.XMLParser(resolve_entities=False, no_network=True, recover=recover, huge_tree=False)


def child_text(element: etree._Element, name: str) -> str | None:
    """The trimmed text of a child element, None when it is not there."""
    child = element.find(name)
    return None if child is None else (child.text or "").strip()


def xml_annotation(
    element: etree._Element, names: tuple[str, str, str, str], where: str, problems: list[Problem]
) -> Annotation | None:
    """One annotation from its children (surface form, title, offset, length); None if it is incomplete."""
    surface, title, offset, length = (child_text(element, name) for name in names)
    try:
        start, size = int(offset or ""), int(length or "")
    except ValueError:
        line = f"{where}, line {element.sourceline}"
        what = f"offset {offset!r} and length {length!r} are no numbers"
        problems.append(Problem("lost", line, what, where))
        return None
    gold = written_title(title)
    return Annotation(start, start + size, surface or None, (gold,) if gold else (), title or None)


def documents_from(
    texts: Path, annotated: dict[str, list[Annotation]], problems: list[Problem]
) -> Iterator[GoldDocument]:
    """Each annotated document with its raw text; a missing text costs its annotations, and is reported."""
    for name, found in annotated.items():
        path = _text_file(texts, name)
        if path is None:
            lost = f"there is no text {name!r} in {texts.name}"
            problems.extend(Problem("lost", f"{name}, mention at {a.start}", lost, name) for a in found)
            continue
        text = with_best_line_ends(read_text(path, problems), found)
        yield build_document(name, text, found, problems, name)


def _text_file(folder: Path, name: str) -> Path | None:
    """The file of a document: the very name, or the name with or without .txt (never outside the folder)."""
    for candidate in (name, f"{name}.txt", name.removesuffix(".txt")):
        path = folder / Path(candidate).name
        if path.is_file():
            return path
    return None
