"""Linked documents to look at: one self-contained HTML page, and what a notebook shows of our objects."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from pboh.document import Contribution, Document, Entity, Explanation, Mention
from pboh.formats.identifiers import wikipedia

SHOWN = 5  # candidates, words and neighbours of a mention

_STYLE = """
:root { color-scheme: light dark;
  --ink: #1d2330; --soft: #667085; --paper: #fff; --card: #fff; --line: #e4e7ec }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8ee; --soft: #98a2b3; --paper: #14171f; --card: #1e2330; --line: #2f3646 }
}
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 18px/1.75 Georgia, 'Times New Roman', serif }
main { max-width: 44rem; margin: 0 auto; padding: 3rem 1.25rem 14rem }
header { font: 14px/1.5 system-ui, sans-serif; color: var(--soft); border-bottom: 1px solid var(--line);
  margin-bottom: 2rem; padding-bottom: .75rem }
header b { color: var(--ink) }
.text { white-space: pre-wrap; overflow-wrap: break-word }
.m { position: relative; border-radius: .25em; padding: .05em .15em; text-decoration: none; color: inherit;
  background: hsl(var(--hue) 85% 50% / calc(.10 + .22 * var(--sure)));
  box-shadow: inset 0 -.12em hsl(var(--hue) 70% 50% / calc(.3 + .7 * var(--sure))) }
.m.nil { box-shadow: none; background: none; border-bottom: 1px dotted var(--soft) }
.m:focus { outline: 2px solid hsl(var(--hue) 70% 50%) }
.why { display: none; position: absolute; left: 0; top: 1.7em; z-index: 9; width: 21rem; max-width: 80vw;
  background: var(--card); color: var(--ink); border: 1px solid var(--line); border-radius: .6rem;
  box-shadow: 0 8px 28px rgb(0 0 0 / .22); padding: .7rem .9rem; font: 13px/1.5 system-ui, sans-serif;
  white-space: normal }
.m:hover .why, .m:focus .why, .m:focus-within .why { display: block }
.why b { font-size: 15px } .why small { color: var(--soft) }
.why table { border-collapse: collapse; width: 100%; margin: .35rem 0 }
.why td { padding: .05rem .3rem .05rem 0; vertical-align: baseline }
.why td.n { text-align: right; width: 3.2rem }
.bar { display: block; height: 3px; border-radius: 2px; background: hsl(var(--hue) 70% 50%) }
.plus { color: #16803c } .minus { color: #b42318 }
@media print { .why { display: none !important } }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head>
<body><main><header>{count}. The stronger the colour, the surer the answer; point at a mention for
its candidates and reasons.</header>
<div class="text" dir="auto">{text}</div></main></body></html>
"""


def to_html(document: Document, title: str = "Linked text", explain: bool = True) -> str:
    """The page. ``explain`` adds the terms of every answer's score."""

    def draw(mention: Mention, hue: int) -> str:
        return _mention(mention, hue, mention.explain() if explain and mention.entity else None)

    text, _ = _drawn(document, draw)
    return _encodable(_PAGE.format(title=escape(title), style=_STYLE, count=_count(document), text=text))


def _drawn(
    document: Document, draw: Callable[[Mention, int], str], characters: int | None = None
) -> tuple[str, int]:
    """The text with its mentions drawn, each entity in a colour of its own; and where it was cut."""
    hues: dict[str, int] = {}
    parts, at, end = [], 0, len(document.text) if characters is None else characters
    for mention in document:
        if mention.start < at:  # an overlapping one cannot be drawn inside another
            continue
        if mention.end > end:
            break
        hue = 0
        if mention.entity:  # colours of neighbours are far apart
            hue = hues.setdefault(mention.entity.title, 137 * (len(hues) + 1) % 360)
        parts += [escape(document.text[at : mention.start]), draw(mention, hue)]
        at = mention.end
    parts.append(escape(document.text[at:end]))
    return "".join(parts), max(at, end)


def _encodable(page: str) -> str:
    return page.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


def _count(document: Document) -> str:
    linked = [mention.entity.title for mention in document if mention.entity]
    return (
        f"<b>{len(linked):,}</b> mention{'s'[: len(linked) != 1]} of <b>{len(set(linked)):,}</b> "
        f"entit{'y' if len(set(linked)) == 1 else 'ies'} in {len(document.text):,} characters"
    )


def _mention(mention: Mention, hue: int, why: Explanation | None) -> str:
    surface = escape(mention.text)
    if mention.entity is None:
        why_not = f'<span class="why">{_candidates(mention)}</span>'
        return f'<span class="m nil" tabindex="0">{surface}{why_not}</span>'
    address = _address(mention, mention.entity)
    return (
        f'<span class="m" tabindex="0" style="--hue:{hue};--sure:{mention.probability:.2f}">{surface}'
        f'<span class="why"><b><a href="{escape(address)}">{escape(mention.entity.title)}</a></b> '
        f"<small>{mention.probability:.0%} sure</small>{_candidates(mention)}{_reasons(why)}</span></span>"
    )


def _address(mention: Mention, entity: Entity) -> str:
    """The article in the Wikipedia of the model's language."""
    return wikipedia(entity.title, mention.part.language if mention.part else "en")


def _candidates(mention: Mention) -> str:
    if not mention.candidates:
        return "<small>no candidate</small>"
    rows = "".join(
        f'<tr><td>{escape(c.entity.title)}<i class="bar" style="width:{100 * c.probability:.0f}%"></i></td>'
        f'<td class="n">{c.probability:.1%}</td></tr>'
        for c in mention.candidates[:SHOWN]
    )
    more = len(mention.candidates) - SHOWN
    return f"<table>{rows}</table>" + (f"<small>and {more} more</small>" if more > 0 else "")


def _reasons(why: Explanation | None) -> str:
    if why is None:
        return ""
    lines = [f"<tr><td>the name alone</td>{_signed(why.prior)}</tr>"]
    if why.coreference:
        lines.append(f"<tr><td>a longer name in the text</td>{_signed(why.coreference)}</tr>")
    if why.words or why.context:
        lines.append(f"<tr><td>words around: {_best(why.words)}</td>{_signed(why.context)}</tr>")
    if why.neighbours:
        total = sum(term.value for term in why.neighbours)
        lines.append(f"<tr><td>seen with: {_best(why.neighbours)}</td>{_signed(total)}</tr>")
    return f"<small>why (log scores)</small><table>{''.join(lines)}</table>"


def _best(terms: tuple[Contribution, ...]) -> str:
    labels = dict.fromkeys(term.label for term in terms if term.value > 0)
    return escape(", ".join(list(labels)[:SHOWN])) or "nothing"


def _signed(value: float) -> str:
    kind = "plus" if value > 0 else "minus"
    return f'<td class="n {kind}">{value:+.2f}</td>'


# What notebooks show. Styles stand beside what they style and colours are transparent or inherited: so it
# looks right on light and dark, and still reads well where a viewer removes all styles.

NOTEBOOK_CHARACTERS = 20_000
_TABLE = "border:0;color:inherit;font:inherit"
_CELL = "text-align:left;vertical-align:middle;white-space:nowrap;padding:.1em .8em .1em 0"
_NUMBER = "text-align:right;vertical-align:middle;padding:.1em .8em .1em 0;font-variant-numeric:tabular-nums"


def document_in_notebook(document: Document) -> str:
    """The text with its mentions coloured; point at one for its candidates."""
    text, end = _drawn(document, _coloured, NOTEBOOK_CHARACTERS)
    more = len(document.text) - end
    rest = f"; {more:,} of them not shown" if more > 0 else ""
    return _encodable(
        f'<div class="pboh" dir="auto" style="white-space:pre-wrap;line-height:1.9;max-width:50em">'
        f'{text}</div><div style="opacity:.65;font-size:85%">{_count(document)}{rest}</div>'
    )


def _coloured(mention: Mention, hue: int) -> str:
    others = [f"{c.entity.title}  {c.probability:.1%}" for c in mention.candidates[:SHOWN]]
    if mention.entity is None:
        hint = "\n".join(["no entity", *others])
        return f'<span title="{escape(hint)}" style="border-bottom:1px dotted">{escape(mention.text)}</span>'
    hint = "\n".join([f"{mention.entity.title}: {mention.probability:.0%} sure", *others])
    sure = mention.probability
    return (
        f'<a href="{escape(_address(mention, mention.entity))}" title="{escape(hint)}" style="color:inherit;'
        f"text-decoration:none;border-radius:.25em;padding:.05em .15em;"
        f"background:hsla({hue},85%,50%,{0.1 + 0.22 * sure:.2f});"
        f'box-shadow:inset 0 -.12em hsla({hue},70%,50%,{0.3 + 0.7 * sure:.2f})">{escape(mention.text)}</a>'
    )


def mention_in_notebook(mention: Mention) -> str:
    """The answer, and the candidates as a table."""
    answer = (
        f"{escape(mention.entity.title)}</b>, {mention.probability:.0%} sure"
        if mention.entity
        else "no entity</b>"
    )
    rows = [
        f'<tr><td style="{_CELL}">{escape(c.entity.title)}</td>'
        f'<td style="{_CELL}">{_bar(c.probability, "hsla(210,70%,50%,.75)")}</td>'
        + "".join(
            f'<td style="{_NUMBER}">{n}</td>'
            for n in (f"{c.probability:.1%}", f"{c.prior:.1%}", f"{c.score:.2f}")
        )
        + "</tr>"
        for c in mention.candidates
    ]
    heads = ("candidate", "", "probability", "by name alone", "score")
    styles = (_CELL, _CELL, _NUMBER, _NUMBER, _NUMBER)
    head = "".join(f'<th style="{style}">{name}</th>' for name, style in zip(heads, styles, strict=True))
    table = f'<table style="{_TABLE}"><tr>{head}</tr>{"".join(rows)}</table>' if rows else ""
    return _encodable(f'<div class="pboh">“{escape(mention.text)}” → <b>{answer}{table}</div>')


def explanation_in_notebook(why: Explanation) -> str:
    """The terms of a score as bars; the numbers sum to the score."""
    terms = [("the name alone", why.prior)]
    if why.coreference:
        terms.append(("a longer name in the text", why.coreference))
    terms += _largest(why.words, "the word", "words")
    if why.unmatched:
        terms.append(("words it was not seen with", why.unmatched))
    terms += _largest(why.neighbours, "seen with", "mentions")
    longest = max(abs(value) for _, value in terms) or 1.0
    rows = "".join(
        f'<tr><td style="{_CELL}">{escape(label)}</td><td style="{_NUMBER}">{value:+.2f}</td>'
        f'<td style="{_CELL}">{_bar(abs(value) / longest, _SIGNS[value > 0])}</td></tr>'
        for label, value in terms
    )
    total = (
        f'<tr><th style="{_CELL}">score of {escape(why.entity.title)}</th>'
        f'<th style="{_NUMBER}">{why.score:+.2f}</th><th></th></tr>'
    )
    return _encodable(f'<table class="pboh" style="{_TABLE}">{rows}{total}</table>')


_SIGNS = {True: "hsla(150,65%,40%,.8)", False: "hsla(5,75%,50%,.8)"}


def _bar(share: float, colour: str) -> str:
    return f'<div style="height:.7em;width:{9 * share:.2f}em;border-radius:.15em;background:{colour}"></div>'


def _largest(terms: tuple[Contribution, ...], what: str, others: str) -> list[tuple[str, float]]:
    """The terms that matter most by name, the rest of them as one."""
    order = sorted(terms, key=lambda term: -abs(term.value))
    rows = [(f"{what} {term.label}", term.value) for term in order[: 2 * SHOWN]]
    rest = order[2 * SHOWN :]
    if rest:
        rows.append((f"{len(rest)} more {others}", sum(term.value for term in rest)))
    return rows
