"""A linked document as one self-contained HTML page: coloured mentions, candidates and reasons on hover."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from pboh.document import Contribution, Document, Explanation, Mention

EXPLAINED = 300  # mentions of a page whose reasons are shown; each costs about as much as the whole document
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
    hues: dict[str, int] = {}
    parts, at = [], 0
    for number, mention in enumerate(document):
        if mention.start < at:  # an overlapping one cannot be drawn inside another
            continue
        parts.append(escape(document.text[at : mention.start]))
        hue = hues.setdefault(mention.entity.title, 137 * (len(hues) + 1) % 360) if mention.entity else 0
        why = mention.explain() if explain and number < EXPLAINED and mention.entity else None
        parts.append(_mention(mention, hue, why))
        at = mention.end
    parts.append(escape(document.text[at:]))
    linked = sum(mention.entity is not None for mention in document)
    count = (
        f"<b>{linked:,}</b> mentions of <b>{len(hues):,}</b> entities in {len(document.text):,} characters"
    )
    page = _PAGE.format(title=escape(title), style=_STYLE, count=count, text="".join(parts))
    return page.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


def _mention(mention: Mention, hue: int, why: Explanation | None) -> str:
    surface = escape(mention.text)
    if mention.entity is None:
        why_not = f'<span class="why">{_candidates(mention)}</span>'
        return f'<span class="m nil" tabindex="0">{surface}{why_not}</span>'
    address = "https://en.wikipedia.org/wiki/" + quote(
        mention.entity.title.replace(" ", "_"), errors="replace"
    )
    return (
        f'<span class="m" tabindex="0" style="--hue:{hue};--sure:{mention.probability:.2f}">{surface}'
        f'<span class="why"><b><a href="{escape(address)}">{escape(mention.entity.title)}</a></b> '
        f"<small>{mention.probability:.0%} sure</small>{_candidates(mention)}{_reasons(why)}</span></span>"
    )


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
