"""WNED XML with a RawText folder: cleaned MSNBC, AQUAINT and ACE2004, CWEB, WIKI, AIDA in that form."""

from __future__ import annotations

from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Annotation, Dataset, Problem
from pboh.evaluation.datasets.folders import documents_from, needed_text_folder, parse_xml, xml_annotation

_NAMES = ("mention", "wikiName", "offset", "length")


def read_wned(path: Path) -> Dataset:
    """Read a folder with one annotation file and a RawText folder, or that annotation file."""
    file = path if path.is_file() else _annotation_file(path)
    problems: list[Problem] = []
    annotated: dict[str, list[Annotation]] = {}
    for document in parse_xml(file, problems).iter("document"):
        name = document.get("docName") or ""
        found = (xml_annotation(a, _NAMES, name, problems) for a in document.iter("annotation"))
        annotated.setdefault(name, []).extend(annotation for annotation in found if annotation)
    if not annotated:
        raise InputError("the file has no <document>", where=file)
    documents = documents_from(needed_text_folder(file.parent), annotated, problems)
    return Dataset(file.stem, tuple(documents), tuple(problems))


def _annotation_file(folder: Path) -> Path:
    files = sorted(folder.glob("*.xml"))
    if len(files) != 1:
        raise InputError(
            f"{len(files)} XML files are in the folder, one was expected",
            where=folder,
            todo="Name the file itself, such as wned:FOLDER/msnbc.xml",
        )
    return files[0]
