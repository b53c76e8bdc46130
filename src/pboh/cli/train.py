"""``pboh train``: from dumps to a model in one command."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from pboh.cli import app, options
from pboh.files.progress import console, progress, summarise
from pboh.files.usage import gigabytes
from pboh.files.writing import parse_size, write_json


@app.command("train")
def train_command(
    dumps: options.Dumps,
    out: options.Out,
    memory: options.Memory = "4GB",
    workers: options.Workers = None,
    crosswikis: options.Crosswikis = None,
    red_links: options.RedLinks = "keep",
    language: options.Language = None,
    min_word_count: options.MinWordCount = 2,
    top: options.Top = 64,
    names_in_text: options.NamesInText = True,
    merge_twins: options.MergeTwins = False,
    word_rows: options.WordRows = 500_000_000,
    hold_out: Annotated[
        int | None,
        Option(min=0, metavar="PAGES", help="Pages to set aside.", show_default="1 in 20, at most 1000"),
    ] = None,
    gold: Annotated[
        list[str] | None,
        Option(metavar="DATASET", help="Texts of yours in which every name is annotated, to fit on as well."),
    ] = None,
    no_fit: Annotated[
        bool, Option("--no-fit", help="Set no pages aside, and leave the model as it is built.")
    ] = False,
    keep_work: Annotated[
        bool, Option(help="Keep corpus and counts in FOLDER.work, which makes changes cheap.")
    ] = False,
    json: options.Json = None,
) -> None:
    """Train a model from Wikipedia dumps: extract, count, build and fit in one go.

    Some pages, chosen by a hash of their id, are set aside and never counted. Probabilities, thresholds and
    the decision what to link are fitted on half of them; the summary says how good the model is on the other
    half. They are in FOLDER/held-out.jsonl.gz, which pboh evaluate reads. A general model of English is also
    fitted on annotated texts that come with pboh, unless you give your own with --gold.

    Before it starts, it says how much disk space it needs, up to three and a half times the compressed dumps
    beside the model itself, and refuses if that is not free.

    If the wiki's table page_props lies beside the dumps (pboh download fetches it), entities get their
    Wikidata ids.

    A stopped training run continues where it left off; after success, it does nothing. The single
    stages, pboh extract, pboh count and pboh build, have more options. The paper's model ignores words
    counted fewer than 3 times whatever --min-word-count says.

    \b
    Examples:
      pboh train simplewiki-latest-pages-articles.xml.bz2 --out model
      pboh train enwiki-*-multistream*.bz2 --out model --memory 8GB
    """
    from pboh.corpus.extract import Options, input_files
    from pboh.counts import CountOptions
    from pboh.model.build import BuildOptions
    from pboh.train import FitOptions, needed_disk, train

    counting = CountOptions(
        min_word_count=min_word_count, top=top, crosswikis=crosswikis, names_in_text=names_in_text
    )
    needed = needed_disk(input_files(dumps))
    console.print(
        f"needs up to {gigabytes(needed)} of disk space and {gigabytes(parse_size(memory))} of memory",
        soft_wrap=True,
    )
    with progress("training", continues=True) as report:
        made = train(
            dumps, out,
            extraction=Options(red_links=red_links, language=language, hold_out=hold_out), counting=counting,
            building=BuildOptions(entries_per_name=top, merge_twins=merge_twins, word_rows=word_rows),
            fitting=None if no_fit else FitOptions(gold=tuple(gold or ())),
            memory=parse_size(memory), workers=workers, keep_work=keep_work, report=report,
        )  # fmt: skip
    for problem in made.get("problems", ()):
        console.print(problem, style="yellow", soft_wrap=True, markup=False)
    title = f"trained {out}" if made["fresh"] else f"{out} is already trained like this: nothing to do"
    figures = {**made["totals"], "model_megabytes": made["model_megabytes"], "seconds": made["seconds"]}
    figures |= {name: made[name] for name in ("entities_with_an_id",) if name in made}
    if used := made.get("used"):
        for kind in ("memory", "disk"):
            figures[f"peak_{kind}_megabytes"] = max(stage[f"{kind}_megabytes"] for stage in used.values())
    summarise(title, figures)
    achieved = {name: made[name] for name in ("held_out", "found_names") if made.get(name)}
    if json is not None:
        write_json(json, figures | {"fitted": made.get("fitted", False)} | achieved | {"stages": used or {}})
    _show(**achieved)
    if not (no_fit or made["fitted"]):
        what = "not calibrated: there are too few pages to set aside"
        console.print(f"{what}; give documents of yours with --gold", soft_wrap=True)


def _show(held_out: dict[str, Any] | None = None, found_names: dict[str, float] | None = None) -> None:
    """Print what the model achieves on pages that it has not seen."""
    if held_out is not None:
        what = f"on {held_out['pages']:,} pages it has not seen ({held_out['links']:,} links)"
        figures = {f"given mentions, {name}": v for name, v in held_out["given_mentions"].items()}
        # pages leave most names unlinked, so their links say what was missed, not what is wrong
        summarise(what, figures | {"raw text, links found": held_out["raw_text"]["recall"]})
    if found_names is not None:
        summarise("names alone, in texts left out of the fit whose names are all known", found_names)
