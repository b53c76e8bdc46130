"""Side by side with spaCy's own EntityLinker: the same names, documents and mentions, the same metric.

spaCy's linker is trained on pages of the corpus the model was counted from ($PBOH_CORPUS, or what
``pboh train`` left beside the model), with our names, p(e|m) and entity vectors as its knowledge base. Both
get documents with their mentions as ``doc.ents`` and write ``ent.kb_id_``. Each system runs in a process of
its own, for its memory.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as pds

from benchmarks.common import DATA, ROOT, sample_model, save, shared, table

PAGES, CHARACTERS, EPOCHS, LENGTH = 6000, 2000, 3, 256
BATCH = 32
VALIDATION = "150:350"  # pages that chose no setting; spaCy needs minutes for these 200
SYSTEMS = {
    "prior": "spaCy, prior alone",
    "spacy": "spaCy entity_linker",
    "pboh": "pboh component",
    "pboh-always": "the same, always answering",
}


def corpus(model: Path) -> Path:
    return Path(os.environ.get("PBOH_CORPUS", model.with_name(model.name + ".work") / "corpus"))


def datasets() -> dict[str, str]:
    folder = shared()
    if folder is None:
        return {"world": str(ROOT / "tests" / "data" / "world.jsonl")}
    marks = folder / "benchmarks"
    return {
        "validation": f"{folder}/corpus/validation.jsonl.gz#{VALIDATION}",
        "KORE50": f"{marks}/kore50-nif.ttl",
        "Spotlight": f"{marks}/dbpedia-spotlight-nif.ttl",
        "Reuters-128": f"{marks}/Reuters-128.ttl",
        "RSS-500": f"{marks}/RSS-500.ttl",
    }


# -- documents ---------------------------------------------------------------------------------------------


def make_doc(nlp: Any, text: str, mentions: list[tuple[int, int, str]]) -> Any:
    """A Doc whose tokens end where mentions do; of overlapping mentions the first is kept."""
    from spacy.tokens import Doc, Span

    edges = sorted({edge for start, end, _ in mentions for edge in (start, end)})
    words, spaces = [], []
    for token in nlp.make_doc(text):
        first, last = token.idx, token.idx + len(token)
        cuts = (
            [first, *(e for e in edges[np.searchsorted(edges, first, "right") :] if e < last)]
            if edges
            else [first]
        )
        words += [text[a:b] for a, b in zip(cuts, [*cuts[1:], last], strict=True)]
        spaces += [False] * (len(cuts) - 1) + [bool(token.whitespace_)]
    doc = Doc(nlp.vocab, words=words, spaces=spaces)
    ents: list[Any] = []
    for start, end, title in sorted(mentions):
        span = doc.char_span(start, end)
        if span is not None and (not ents or span.start >= ents[-1].end):
            ents.append(Span(doc, span.start, span.end, label="ENTITY", kb_id=title))
    doc.ents = ents
    return nlp.get_pipe("sentencizer")(doc)


def training_pages(model: Path) -> Iterator[tuple[str, list[tuple[int, int, str]]]]:
    """The beginnings of article pages drawn at random, with their links."""
    folder = corpus(model)
    read = lambda name: pds.dataset(folder / name, format="parquet")  # noqa: E731
    pages = read("pages").to_table(columns=["page"], filter=pc.field("kind") == "article")["page"].to_numpy()
    drawn = np.sort(np.random.default_rng(0).permutation(pages)[:PAGES])
    texts = read("texts").to_table(filter=pc.field("page").isin(drawn)).to_pydict()
    links = (
        read("links")
        .to_table(columns=["page", "start", "end", "entity"], filter=pc.field("page").isin(drawn))
        .to_pydict()
    )
    wanted = sorted(set(links["entity"]))
    named = (
        read("entities")
        .to_table(columns=["entity", "title"], filter=pc.field("entity").isin(wanted))
        .to_pydict()
    )
    titles = dict(zip(named["entity"], named["title"], strict=True))
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for page, start, end, entity in zip(*links.values(), strict=True):
        if end <= CHARACTERS:
            spans.setdefault(page, []).append((start, end, titles[entity]))
    for page, text in zip(texts["page"], texts["text"], strict=True):
        if page in spans:
            yield text[:CHARACTERS], spans[page]


# -- spaCy's linker ----------------------------------------------------------------------------------------


def pipeline(model: Path, context: bool = True) -> Any:
    """A blank pipeline with spaCy's linker in its default configuration over our knowledge base."""
    import spacy

    nlp = spacy.blank("en")
    nlp.max_length = 10**8
    nlp.add_pipe("sentencizer")
    kb = {"@misc": "pboh.KnowledgeBase.v1", "model": str(model), "candidates": 10}
    config = {"generate_empty_kb": kb, "entity_vector_length": LENGTH, "incl_context": context}
    nlp.add_pipe("entity_linker", config=config)
    return nlp


def train(model: Path, out: Path) -> dict[str, Any]:
    import spacy
    from spacy.training import Example

    spacy.util.fix_random_seed(0)
    nlp = pipeline(model)
    examples = []
    for text, mentions in training_pages(model):
        gold = make_doc(nlp, text, mentions)
        plain = gold.copy()
        plain.ents = []
        examples.append(Example(plain, gold))
    mentions = sum(len(example.reference.ents) for example in examples)
    words = sum(len(example.reference) for example in examples)
    optimizer = nlp.initialize(lambda: examples)
    began, losses = process_time(), []
    for epoch in range(EPOCHS):
        random.shuffle(examples)
        loss: dict[str, float] = {}
        for k in range(0, len(examples), BATCH):
            nlp.update(examples[k : k + BATCH], sgd=optimizer, drop=0.2, losses=loss)
        losses.append(loss["entity_linker"] / (len(examples) / BATCH))
        print(
            f"epoch {epoch + 1}: loss {losses[-1]:.4f}, {process_time() - began:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    nlp.to_disk(out)
    return {
        "pages": len(examples), "mentions": mentions, "tokens": words, "characters_per_page": CHARACTERS,
        "epochs": EPOCHS, "entity_vector_length": LENGTH, "losses": losses,
        "cpu_seconds": process_time() - began,
    }  # fmt: skip


# -- one system on all datasets ----------------------------------------------------------------------------


def system(name: str, model: Path, trained: Path) -> tuple[Any, Any]:
    """The pipeline that makes documents, and the component that is measured."""
    import spacy

    if name == "spacy":
        nlp = spacy.load(trained)
        nlp.max_length = 10**8
        return nlp, nlp.get_pipe("entity_linker")
    if name == "prior":
        nlp = pipeline(model, context=False)
        return nlp, nlp.get_pipe("entity_linker")
    nlp = spacy.blank("en")
    nlp.max_length = 10**8
    nlp.add_pipe("sentencizer")
    threshold = 0.0 if name == "pboh-always" else None
    return nlp, nlp.add_pipe("pboh", config={"model": str(model), "threshold": threshold})


def answers(nlp: Any, component: Any, dataset: Any) -> tuple[list[Any], float]:
    """Answers to the mentions of a dataset, and the CPU seconds of the component."""
    from pboh.evaluation.metrics import Answer, AnsweredDocument

    docs = [make_doc(nlp, d.text, [(m.start, m.end, "") for m in d.linked]) for d in dataset]
    random.seed(0)
    began = process_time()
    docs = list(component.pipe(docs))
    spent = process_time() - began
    answered = []
    for document, doc in zip(dataset, docs, strict=True):
        said = {(ent.start_char, ent.end_char): ent.kb_id_ for ent in doc.ents}
        entities = [said.get((m.start, m.end), "NIL") for m in document.linked]
        answered.append(AnsweredDocument(tuple(Answer(None if e == "NIL" else e) for e in entities)))
    return answered, spent


def measure(name: str, model: Path, trained: Path) -> dict[str, Any]:
    from pboh.evaluation.datasets import read_dataset
    from pboh.evaluation.metrics import judge, summarise_judgement
    from pboh.linker import load

    nlp, component = system(name, model, trained)
    resolve = cache(load(model).resolve)
    results: dict[str, Any] = {}
    for short, spec in datasets().items():
        dataset = read_dataset(spec)
        if not results:
            list(component.pipe([make_doc(nlp, "Paris is in France.", [(0, 5, "")])]))  # compiles, opens
        answered, spent = answers(nlp, component, dataset)
        row = summarise_judgement(judge(dataset, answered, resolve, name))
        results[short] = {
            "documents": row.documents, "mentions": row.mentions, "precision": row.micro.precision,
            "recall": row.micro.recall, "f1": row.micro.f1, "macro_f1": row.macro.f1,
            "f1_interval": row.intervals.get("micro"), "cpu_seconds": spent,
            "documents_per_second": row.documents / spent,
        }  # fmt: skip
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"datasets": results, "peak_bytes": peak, "own_bytes": own_memory()}


def own_memory() -> int:
    """Bytes of this process that are not pages of mapped files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def apart(*arguments: str) -> Any:
    """Run a part of this benchmark in a process of its own; returns what it prints last."""
    command = [sys.executable, "-m", "benchmarks.spacy_linker", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def trained_on(model: Path, folder: Path) -> dict[str, Any]:
    """Figures of the training, which is done once for a model and a recipe."""
    recipe = {
        "model": str(model),
        "pages": PAGES,
        "characters": CHARACTERS,
        "epochs": EPOCHS,
        "length": LENGTH,
    }
    record = folder / "training.json"
    if record.exists() and (known := json.loads(record.read_text()))["recipe"] == recipe:
        return dict(known["figures"])
    figures = apart("train", str(model), str(folder))
    record.write_text(json.dumps({"recipe": recipe, "figures": figures}))
    return dict(figures)


def main() -> dict[str, Any]:
    model = sample_model().resolve()
    trained = DATA / f"spacy-{model.name}"
    results: dict[str, Any] = {"training": trained_on(model, trained)}
    began = perf_counter()
    for name, title in SYSTEMS.items():
        results[name] = apart(name, str(model), str(trained))
        print(f"{title}: {perf_counter() - began:.0f} s", flush=True)
    show(results)
    return save("spacy_linker", results)


def show(results: dict[str, Any]) -> None:
    names = list(results["pboh"]["datasets"])
    rows = []
    for name, title in SYSTEMS.items():
        scores = [results[name]["datasets"][dataset] for dataset in names]
        rows.append([title, *(f"{100 * row['f1']:.1f} ({100 * row['recall']:.1f})" for row in scores)])
    table("Micro F1 (and recall) in %, mentions given", ("", *names), rows)
    first = names[0]
    ours = results["pboh"]["datasets"][first]["documents_per_second"]
    speed = []
    for name, title in SYSTEMS.items():
        rate = results[name]["datasets"][first]["documents_per_second"]
        memory = [f"{results[name][kind] / 2**20:.0f} MiB" for kind in ("own_bytes", "peak_bytes")]
        speed.append([title, f"{rate:.1f}", f"{ours / rate:.1f}", *memory])
    columns = ("", "documents/s", "pboh is faster by", "own memory", "peak, mapped files included")
    table(f"Speed on {first} (CPU time of the component alone) and memory", columns, speed)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        step, model_folder, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
        answer = train(model_folder, folder) if step == "train" else measure(step, model_folder, folder)
        print(json.dumps(answer))
    else:
        main()
