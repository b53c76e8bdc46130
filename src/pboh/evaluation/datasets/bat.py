"""The older "Problems + RawTexts" XML of MSNBC, AQUAINT and ACE2004, as GERBIL and BAT have it."""

from __future__ import annotations

from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets.core import Annotation, Dataset, Problem
from pboh.evaluation.datasets.folders import (
    child_text,
    documents_from,
    needed_text_folder,
    parse_xml,
    xml_annotation,
)

_NAMES = ("SurfaceForm", "ChosenAnnotation", "Offset", "Length")


def problem_folder(folder: Path) -> Path | None:
    """The folder of annotation files: ``Problems``, ``ProblemsNoTranscripts`` …."""
    inside = [child for child in sorted(folder.iterdir()) if child.is_dir()] if folder.is_dir() else []
    return next((child for child in inside if child.name.lower().startswith("problems")), None)


def read_bat(path: Path) -> Dataset:
    """Read a folder that holds a folder of annotation files and a folder of raw texts."""
    folder = problem_folder(path)
    if folder is None:
        raise InputError("there is no folder named Problems", where=path)
    problems: list[Problem] = []
    annotated: dict[str, list[Annotation]] = {}
    for file in sorted(folder.iterdir()):
        if not file.is_file() or file.name.startswith("."):
            continue
        root = parse_xml(file, problems)
        name = child_text(root, "ReferenceFileName") or file.name
        found = (xml_annotation(a, _NAMES, name, problems) for a in root.iter("ReferenceInstance"))
        annotated.setdefault(name, []).extend(annotation for annotation in found if annotation)
    documents = documents_from(needed_text_folder(path), annotated, problems)
    return Dataset(path.name, tuple(documents), tuple(problems))
