"""Gold-standard datasets in the formats they really come in: ``read_dataset("aida:FILE#testb")``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from pboh.errors import InputError
from pboh.evaluation.datasets import aida, microposts, xml_folders
from pboh.evaluation.datasets.core import DATASET_POLICY, Dataset, GoldDocument, GoldMention, Problem
from pboh.evaluation.datasets.derived import as_sentences, in_capitals, thinned, with_later_mentions
from pboh.evaluation.datasets.jsonl import read_jsonl
from pboh.evaluation.datasets.nif import read_nif
from pboh.files.compression import DAMAGE, decoded

__all__ = ["FORMATS", "Dataset", "GoldDocument", "GoldMention", "Problem", "read_dataset"]

Reader = Callable[[Path, list[Problem]], Iterable[GoldDocument]]
"""Reads documents from a file or folder, and notes what it could not use."""

FORMATS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    # each with what its policy adds to that of all datasets
    "aida": (aida.read_aida, aida.POLICY),
    "wned": (xml_folders.read_wned, ()),
    "bat": (xml_folders.read_bat, ()),
    "nif": (read_nif, ()),
    "iitb": (xml_folders.read_iitb, xml_folders.IITB_POLICY),
    "microposts": (microposts.read_microposts, microposts.POLICY),
    "jsonl": (read_jsonl, ()),
}
DERIVED: dict[str, Callable[[Dataset], Dataset]] = {
    "later": with_later_mentions, "sentences": as_sentences, "capitals": in_capitals, "thinned": thinned,
}  # fmt: skip
_SLICE = re.compile(r"(\d*):(\d*)")
_SUFFIXES = {".ttl": "nif", ".nt": "nif", ".nif": "nif", ".jsonl": "jsonl", ".json": "jsonl"}


def read_dataset(spec: str | Path) -> Dataset:
    """Read a dataset named by its path, with an optional format before it and a part or slice behind.

    ``kore50.ttl``, ``aida:AIDA-YAGO2-dataset.tsv#testb``, ``wned:MSNBC``, ``validation.jsonl.gz#150:1000``
    (documents 151 to 1000, as Python slices count). ``later:`` before all of it adds the later mentions of
    names that are linked once, ``sentences:`` makes every sentence a document, ``capitals:`` writes all in
    capitals, ``thinned:`` leaves out half of the words around mentions; they can be combined.
    """
    prefix, _, rest = str(spec).partition(":")
    if prefix in DERIVED:
        return replace(DERIVED[prefix](read_dataset(rest)), source=str(spec))
    form, path, part = _parsed(str(spec))
    if not path.exists():
        raise InputError("there is no such dataset", where=path)
    form = form or recognise(path)
    if part is not None and form != "aida" and not _SLICE.fullmatch(part):
        todo = "Write a slice such as #150:1000"
        raise InputError(f"the part {part!r} is not understood", where=path, todo=todo)
    read, policy = FORMATS[form]
    problems: list[Problem] = []
    documents = tuple(read(path, problems))
    name = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    if form == "wned":
        name = xml_folders.wned_file(path).stem
    if part is not None:
        documents, name = _part(documents, part, path), f"{name}#{part}"
        kept = {None, *(document.id for document in documents)}
        problems = [problem for problem in problems if problem.document in kept]
    if not documents:
        raise InputError("the dataset has no documents", where=path)
    return Dataset(name, documents, tuple(problems), (*DATASET_POLICY, *policy), str(spec), form)


def _parsed(spec: str) -> tuple[str | None, Path, str | None]:
    """Format, path and part of a dataset's name; an existing file of that very name wins."""
    form, colon, rest = spec.partition(":")
    if not colon or form not in FORMATS:
        form, rest = "", spec
    path, hash_sign, part = rest.rpartition("#")
    if not hash_sign or Path(rest).exists():
        path, part = rest, ""
    return form or None, Path(path).expanduser(), part or None


def _part(documents: tuple[GoldDocument, ...], part: str, path: Path) -> tuple[GoldDocument, ...]:
    """The documents of a slice, or of a part of AIDA (a file may hold one alone, and say so by its name)."""
    if _SLICE.fullmatch(part):
        low, high = (int(number) if number else None for number in part.split(":"))
        return documents[low:high]
    if part not in aida.PARTS:
        raise InputError(
            f"AIDA has no part {part!r}", where=path, todo=f"Choose one of {', '.join(aida.PARTS)}"
        )
    chosen = tuple(document for document in documents if aida.part_of(document.id) == part)
    if not chosen and part not in path.stem.lower().replace("-", "").replace("_", ""):
        raise InputError(f"the file has no documents of the part {part}", where=path)
    return chosen or documents


def recognise(path: Path) -> str:
    """The name of the format of a file or folder, from its name and its beginning."""
    if path.is_dir():
        if xml_folders.problem_folder(path) is not None:
            return "bat"
        files = sorted(path.glob("*.xml"))
        form = _of_content(files[0]) if files else None
    else:
        bare = path.with_suffix("") if path.suffix == ".gz" else path
        form = _SUFFIXES.get(bare.suffix.lower()) or _of_content(path)
    if form is None:
        raise InputError(
            "the format of the dataset is not recognised",
            where=path,
            todo=f"Say which, such as nif:{path}; the formats are {', '.join(FORMATS)}",
        )
    return form


def _of_content(path: Path) -> str | None:
    """The format a file's first bytes speak of."""
    try:
        with path.open("rb") as file:
            head = decoded(file).read(4096).decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    except DAMAGE:
        return None
    line = head.partition("\n")[0]
    if head.startswith("-DOCSTART-"):
        return "aida"
    if head.startswith("{"):
        return "jsonl"
    if re.match(r"@prefix|@base|#.*\n\s*@prefix|<https?://[^>]*>\s+<|prefix\s", head, re.IGNORECASE):
        return "nif"
    if "CSAW" in head or re.search(r"<annotation>\s*<docName>", head):
        return "iitb"
    if re.search(r"<document\s[^>]*docName", head) or "entityAnnotation" in head:
        return "wned"
    if re.match(r'"?[\w\-]+"?[\t,]', line) and not head.startswith("<"):
        return "microposts"
    return None
