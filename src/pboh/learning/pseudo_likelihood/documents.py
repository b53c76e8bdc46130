"""Training data: the links of a corpus as arrays of names and entities, some pages held out.

Names are the model's lower-cased ones with the entities it keeps for them; all counts that learning uses are
taken from the training pages alone, so a held-out page influences neither a starting point nor which
parameters exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pboh.errors import CorpusError, InputError
from pboh.files.progress import Report, silent
from pboh.files.writing import read_json
from pboh.learning.pseudo_likelihood.kernels import Array, Documents, Names
from pboh.model.names import Layer
from pboh.model.store import Model
from pboh.model.tables import run_starts
from pboh.text.folding import squeeze
from pboh.text.hashing import look_up


@dataclass(frozen=True, slots=True)
class DataOptions:
    """Which documents to learn from; recorded with the result."""

    held_out: int = 1000  # pages kept for early stopping (at most a tenth of all)
    pages: int = 0  # learn from a sample of this many pages, 0 = all
    seed: int = 0


@dataclass(slots=True)
class TrainingData:
    """Documents to learn from and held-out ones, over one table of names.

    ``entry`` is each ρ parameter's place in the model's name table, ``counts`` its links in training pages.
    """

    train: Documents
    held: Documents
    names: Names
    entry: Array
    counts: Array
    entities: int
    figures: dict[str, int]


def read_training_data(
    corpus: Path, model: Model, options: DataOptions, report: Report = silent
) -> TrainingData:
    """Read the links of a corpus folder and lay them out for learning."""
    info = read_json(corpus / "corpus.json", "the corpus' description", CorpusError)
    if not isinstance(info, dict) or info.get("format") != "pboh-corpus":
        raise CorpusError(
            "this is not a corpus folder", where=corpus, todo="Make one with: pboh extract DUMP"
        )
    page, entry = _links(corpus, model, report)
    links = page.size
    page, entry = page[entry >= 0], entry[entry >= 0]
    if page.size == 0:
        raise InputError(
            "no link of the corpus is a name and an entity of the model",
            where=corpus,
            todo="Pass the corpus the model was counted from",
        )
    held = _chosen_pages(page, options)
    role = held[page]
    page, entry, role = page[role >= 0], entry[role >= 0], role[role >= 0]
    data = _laid_out(page, entry, role == 1, model)
    data.figures = {"links": links, "links_of_the_model": int((role >= 0).sum()), **data.figures}
    return data


def _links(corpus: Path, model: Model, report: Report) -> tuple[Array, Array]:
    """Page and place in the model's name table (−1 = none) of all links on articles and lists, in order."""
    articles = _readable_pages(corpus)
    known = _model_entities(corpus, model)
    key, place = _lower_entries(model)
    pages, entries = [], []
    files = _table(corpus, "links").fragments
    for done, fragment in enumerate(files):
        table = fragment.to_table(columns=["page", "anchor", "entity"])
        table = table.filter(pa.array(articles[table.column("page").to_numpy()]))
        names = [squeeze(anchor).lower() for anchor in table.column("anchor").to_pylist()]
        name = look_up(model["name_hash"], model["name_buckets"], names)
        entity = known[table.column("entity").to_numpy()]
        wanted = np.where((name >= 0) & (entity >= 0), name * model.entities + entity, -1)
        at = np.searchsorted(key, wanted)
        entries.append(np.where(key[at] == wanted, place[at], -1))
        pages.append(table.column("page").to_numpy())
        report(done, len(files), "reading links")
    return np.concatenate(pages), np.concatenate(entries)


def _lower_entries(model: Model) -> tuple[Array, Array]:
    """(name, entity) of the model's lower-cased names as ascending numbers, and their places in its table."""
    lower = np.flatnonzero(model["name_layer"] == Layer.LOWER)
    name = np.searchsorted(model["name_offsets"], lower, side="right") - 1
    key = name * model.entities + model["name_entity"][lower]
    order = np.argsort(key)
    return np.append(key[order], np.iinfo(np.int64).max), np.append(lower[order], -1)


def _table(corpus: Path, name: str) -> pq.ParquetDataset:
    try:
        return pq.ParquetDataset(corpus / name)
    except (OSError, pa.ArrowInvalid) as reason:
        todo = "Run pboh extract again"
        raise CorpusError(f"the table {name} cannot be read ({reason})", where=corpus, todo=todo) from reason


def _readable_pages(corpus: Path) -> Array:
    """Which pages are articles or lists: the only ones whose links are documents."""
    table = _table(corpus, "pages").read(columns=["page", "kind"])
    page, kind = table.column("page").to_numpy(), table.column("kind").to_pylist()
    out = np.zeros(int(page.max(initial=-1)) + 1, bool)
    out[page] = [k in ("article", "list") for k in kind]
    return out


def _model_entities(corpus: Path, model: Model) -> Array:
    """The model's number of every entity of the corpus, by title; −1 where it has none."""
    table = _table(corpus, "entities").read(columns=["entity", "title"])
    entity = table.column("entity").to_numpy()
    at = look_up(model["title_hash"], model["title_buckets"], table.column("title").to_pylist())
    out = np.full(int(entity.max(initial=-1)) + 1, -1, np.int64)
    if model["title_entity"].size:
        out[entity] = np.where(at >= 0, model["title_entity"][np.maximum(at, 0)].astype(np.int64), -1)
    return out


def _chosen_pages(page: Array, options: DataOptions) -> Array:
    """Role of every page: 0 = train, 1 = held out, −1 = not used; pages with a single link teach nothing."""
    links = np.bincount(page)
    usable = np.random.default_rng(options.seed).permutation(np.flatnonzero(links > 1))
    if usable.size < 2:
        raise InputError("the corpus has no two pages with two links that the model knows")
    held = min(max(options.held_out, 1), max(usable.size // 10, 1))
    stop = usable.size if options.pages == 0 else min(held + options.pages, usable.size)
    role = np.full(links.size, -1, np.int8)
    role[usable[:held]] = 1
    role[usable[held:stop]] = 0
    return role


def _laid_out(page: Array, entry: Array, held: Array, model: Model) -> TrainingData:
    """Number names and parameters by the training links; held-out links without a parameter fall away."""
    counts = np.bincount(entry[~held], minlength=model["name_entity"].size)
    kept = np.flatnonzero(counts)
    owner = np.searchsorted(model["name_offsets"], kept, side="right") - 1
    # The model orders a name's entities by counts that include held-out pages: among equals the right one
    # would come first more often than not, and the first of equals is the answer.
    kept = kept[np.lexsort((model["name_entity"][kept], -counts[kept], owner))]
    number = np.full(counts.size, -1, np.int32)
    number[kept] = np.arange(kept.size, dtype=np.int32)
    _, starts, name_of = np.unique(owner, return_index=True, return_inverse=True)
    names = Names(np.append(starts, kept.size), model["name_entity"][kept].astype(np.int32))
    name_of = name_of.astype(np.int32)
    train = _documents(page[~held], number[entry[~held]], name_of)
    answerable = number[entry[held]] >= 0
    test = _documents(page[held][answerable], number[entry[held]][answerable], name_of)
    figures = {
        "documents": train.offsets.size - 1,
        "training_links": train.gold.size,
        "held_out_documents": test.offsets.size - 1,
        "held_out_links": test.gold.size,
        "held_out_links_unanswerable": int((~answerable).sum()),
        "names": int(starts.size),
        "rho_parameters": int(kept.size),
    }
    return TrainingData(train, test, names, kept, counts[kept].astype(np.float64), model.entities, figures)


def _documents(page: Array, gold: Array, name_of: Array) -> Documents:
    """Cut a row of links into pages."""
    starts = run_starts(page) if page.size else np.empty(0, np.int64)
    return Documents(np.append(starts, page.size).astype(np.int64), name_of[gold], gold.astype(np.int32))
