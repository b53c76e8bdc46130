"""IITB CSAW XML: a flat list of annotations without surface forms, beside a folder of crawled texts."""

from __future__ import annotations

from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets.core import DATASET_POLICY, Annotation, Dataset, Problem
from pboh.evaluation.datasets.folders import (
    child_text,
    documents_from,
    needed_text_folder,
    parse_xml,
    xml_annotation,
)

_NAMES = ("mention", "wikiName", "offset", "length")
POLICY = (
    *DATASET_POLICY,
    "The format has no surface forms: an offset is only checked to lie inside its text.",
)


def read_iitb(path: Path) -> Dataset:
    """Read a folder with the annotation file and the texts, or that annotation file."""
    files = [path] if path.is_file() else sorted(path.glob("*.xml"))
    if not files:
        raise InputError("no XML file is in the folder", where=path)
    problems: list[Problem] = []
    annotated: dict[str, list[Annotation]] = {}
    for file in files:
        for element in parse_xml(file, problems).iter("annotation"):
            name = child_text(element, "docName")
            if not name:
                where = f"{file.name}, line {element.sourceline}"
                problems.append(Problem("lost", where, "the annotation names no document"))
                continue
            annotation = xml_annotation(element, _NAMES, name, problems)
            annotated.setdefault(name, []).extend([annotation] if annotation else [])
    documents = documents_from(needed_text_folder(files[0].parent), annotated, problems)
    return Dataset(path.stem, tuple(documents), tuple(problems), POLICY)
