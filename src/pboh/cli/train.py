"""``pboh train``: from dumps to a model in one command."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from pboh.cli import app, options
from pboh.files.progress import console, progress, summarise
from pboh.files.writing import parse_size


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
    keep_work: Annotated[
        bool, Option(help="Keep corpus and counts in FOLDER.work, which makes changes cheap.")
    ] = True,
    json: options.Json = None,
) -> None:
    """Train a model from Wikipedia dumps: extract, count and build in one go.

    A stopped training continues where it left off; run again after success, it does nothing. The single
    stages, pboh extract, pboh count and pboh build, have more options. The paper's model ignores words
    counted fewer than 3 times whatever --min-word-count says.

    \b
    Examples:
      pboh train simplewiki-latest-pages-articles.xml.bz2 --out model
      pboh train enwiki-*-multistream*.bz2 --out model --memory 8GB --no-keep-work
    """
    from pboh.corpus.extract import Options
    from pboh.counts import CountOptions
    from pboh.model.build import BuildOptions
    from pboh.train import train

    counting = CountOptions(
        min_word_count=min_word_count, top=top, crosswikis=crosswikis, names_in_text=names_in_text
    )
    with progress("training", continues=True) as report:
        made = train(
            dumps, out,
            extraction=Options(red_links=red_links, language=language), counting=counting,
            building=BuildOptions(entries_per_name=top),
            memory=parse_size(memory), workers=workers, keep_work=keep_work, report=report,
        )  # fmt: skip
    for problem in made.get("problems", ()):
        console.print(problem, style="yellow", soft_wrap=True, markup=False)
    title = f"trained {out}" if made["fresh"] else f"{out} is already trained like this: nothing to do"
    figures = {**made["totals"], "model_megabytes": made["model_megabytes"], "seconds": made["seconds"]}
    summarise(title, figures, json)
