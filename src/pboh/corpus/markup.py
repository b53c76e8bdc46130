"""What is taken out of a page before its links are read: comments, tags, templates, tables, line markup.

MediaWiki works in the same order: its preprocessor knows comments, extension tags and braces only, and the
parser proper never sees what they held. Each function is one sweep in linear time: repetitions are
possessive, and an attempt that fails ends where the next one can begin.
"""

from __future__ import annotations

import re

_DROPPED = (
    "ref|math|chem|ce|syntaxhighlight|source|timeline|score|hiero|graph|mapframe|maplink|imagemap|inputbox"
    "|templatedata|templatestyles|categorytree|section|includeonly|indicator|phonos|style|script"
)
_VERBATIM = "nowiki|pre"
_BLOCKS = (
    "br|p|div|li|ul|ol|dl|dd|dt|tr|td|th|table|caption|tbody|thead|center|blockquote|hr|gallery|h[1-6]|poem"
)
_INLINE = (
    "abbr|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|noinclude|onlyinclude|q|rb|references"
    "|rp|rt|rtc|ruby|s|samp|small|span|strike|strong|sub|sup|time|translate|tt|tvar|u|var|wbr"
)


def _element(names: str, group: int) -> str:
    """A tag with its content, or a self-closing one; two groups: the name, the content.

    The content holds no other start of the same tag. So an attempt at an unclosed ``<ref>`` ends at the next
    ``<ref>``, and n of them cost n steps; what stands between them stays on the page.
    """
    end = rf"/?\{group}\b(?![^<>]*+/>)"
    return rf"(?i:({names})\b[^<>]*+>(?:(?<=/>)|((?:[^<]++|<(?!{end}))*+)</\{group}\s*+>))"


# Every alternative begins with a plain character: only then does `re` skip to the next one that can match.
_CUT = re.compile(
    r"\{(\{[^{}<]*+\}\}(?!\}))"  # 1: a template with nothing inside
    r"|\{(\{++)"  # 2
    r"|\}(\}++)"  # 3
    r"|<(?=[!/A-Za-z])(?:!--[^-]*+(?:-(?!->)[^-]*+)*+(?:-->)?+"
    rf"|{_element(_DROPPED, 4)}"  # 4, 5
    rf"|{_element(_VERBATIM, 6)}"  # 6, 7
    rf"|{_element('gallery', 8)}"  # 8, 9
    rf"|/?+(?i:({_BLOCKS}))\b[^<>]*+>"  # 10
    rf"|/?+(?i:({_INLINE}|{_DROPPED}|{_VERBATIM}))\b[^<>]*+>)"  # 11
)
_LEAF, _OPEN, _CLOSE, _NOWIKI, _GALLERY, _BLOCK, _INLINE_TAG = 1, 2, 3, 7, 9, 10, 11

NOTHING = "&#0;"
"""An entity for no character: it stands where a tag was whose absence would make markup of what follows."""

CHARACTERS = {
    f"{{{name}}}}}": text
    for names, text in {
        "'": "&#39;", "'s": "&#39;s", "snd|spnd|spaced ndash|spaced en dash": " – ", "mdash|em dash|—": "—",
        "ndash|en dash|–": "–", "nbsp|space|thinsp|hairsp": " ", "·|dot|bull|•|middot": " · ", "=": "=",
    }.items()
    for name in names.split("|")
}  # fmt: skip
"""Templates that stand for a character: without it ``1914{{ndash}}1918`` would be one number."""

_LINE_MARKS = frozenset("{|!*#:;=-")  # behind a tag they begin no line: <td>{| opens no table

_SPECIAL = re.compile(r"[\[\]{}|'<>=*#:;!_\n-]")


def cut(text: str) -> str:
    """``text`` without comments, tags and templates; ``<nowiki>`` is kept as entities, galleries as captions.

    Braces pair up as in MediaWiki: from the inside, three for a parameter before two for a template; those
    that find no partner are text. A comment without an end reaches to the end of the page.
    """
    cuts: list[tuple[int, int, str]] = []
    braces: list[tuple[int, int]] = []
    for match in _CUT.finditer(text):
        kind = match.lastindex
        start, end = match.span()
        if kind == _OPEN:
            braces.append((start, end - start))
        elif kind == _CLOSE:
            _close_braces(start, end - start, braces, cuts)
        elif kind == _LEAF:
            cuts.append((start, end, CHARACTERS.get(match[_LEAF], "")))
        elif kind in (_BLOCK, _INLINE_TAG):
            blank = " " if kind == _BLOCK else ""
            cuts.append((start, end, blank + NOTHING if text[end : end + 1] in _LINE_MARKS else blank))
        elif kind == _NOWIKI:
            cuts.append((start, end, _SPECIAL.sub(_as_entity, match[_NOWIKI])))
        elif kind == _GALLERY:
            cuts.append((start, end, _captions(match[_GALLERY])))
        else:
            cuts.append((start, end, ""))
    if not cuts:
        return text
    kept: list[str] = []
    position, after_link = 0, False
    for start, end, instead in cuts:
        if position < start:
            kept.append(text[position:start])
            after_link = text[start - 1] == "]"
        if instead:
            kept.append(instead)
        elif after_link and text[end : end + 1].isalpha():
            kept.append(NOTHING)
        position = end
    kept.append(text[position:])
    return "".join(kept)


def _as_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _close_braces(
    position: int, count: int, braces: list[tuple[int, int]], cuts: list[tuple[int, int, str]]
) -> None:
    """Pair ``count`` closing braces with the open ones; a cut swallows the cuts inside it."""
    while count >= 2 and braces:
        start, opened = braces.pop()
        pair = min(opened, count, 3)
        begin = start + opened - pair
        position += pair
        count -= pair
        if opened - pair >= 2:
            braces.append((start, opened - pair))
        while cuts and cuts[-1][0] >= begin:
            cuts.pop()
        cuts.append((begin, position, ""))


_GALLERY_OPTION = re.compile(r"\s*+(?:alt|link|lang|page|class)\s*+=[^|\[\n]*+\|")


def _captions(content: str) -> str:
    """The captions of a gallery, one a line: what follows the file's name and its options."""
    lines = []
    for line in cut(content).split("\n"):
        caption = line.partition("|")[2]
        while option := _GALLERY_OPTION.match(caption):
            caption = caption[option.end() :]
        if caption:
            lines.append(caption)
    return "\n" + "\n".join(lines) + "\n" if lines else ""


_TABLE_EDGE = re.compile(r"\n[ \t:]*+(?:(\{\|)|\|\})")
_HEADER_ROW = re.compile(r"\n[ \t]*+!([^\n]*+)")
_ATTRIBUTES = r"(?:[^\n|\[]*+\|(?!\|))?+"  # align="right" | 12 is 12; a bar in a link is not that of a cell
_LINE = re.compile(rf"\n[ \t:]*+(?:\{{\|[^\n]*+|\|(?:-[^\n]*+|\}}|\+)?+{_ATTRIBUTES})")
_CELL = re.compile(rf"\|\|{_ATTRIBUTES}")
_HEADER_CELL = re.compile(rf"(?:!!|\|\||^){_ATTRIBUTES}")


def untable(text: str) -> str:
    """Tables as lines of tab-separated cells, without the attributes of tables, rows and cells."""
    pieces: list[str] = []
    position = begin = depth = 0
    for edge in _TABLE_EDGE.finditer(text):
        if edge[1]:
            begin = begin if depth else edge.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                pieces += [text[position:begin], _cells(text[begin : edge.end()])]
                position = edge.end()
    if depth:
        pieces += [text[position:begin], _cells(text[begin:])]
        position = len(text)
    return "".join(pieces) + text[position:]


def _cells(table: str) -> str:
    return _CELL.sub("\t", _LINE.sub("\n", _HEADER_ROW.sub(_header_row, table)))


def _header_row(match: re.Match[str]) -> str:
    return "\n" + _HEADER_CELL.sub("\t", match[1]).removeprefix("\t")


_HEADING = re.compile(r"\n(={1,6}+)([^\n]++)")
_LINE_START = re.compile(r"\n(?:[*#:;]++[ \t]*+|-{4,}+)")
_BLANK_LINES = re.compile(r"\n\n\n++")
_QUOTES = re.compile(r"'''''(?!')|'''(?!')|''(?!')")
_SWITCH = re.compile(r"__[A-Z]{3,24}__")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftps?|ircs?|news|git|gopher|telnet|nntp|worldwind|svn|mms):)?//[^\s\[\]]*+"
    r"(?:[ \t]++([^\[\]\n]*+))?+(\])?+"
)
_QUOTE_RUN = re.compile("'{2,}+")
_APOSTROPHE = re.compile(r"'''(?<=[\w\]]''')(?=[\w\[])")
_QUOTES_AFTER_LINK = re.compile(r"\]\]''(?='*+[^\W\d_])")


def unformat(text: str) -> str:
    """``text`` without headings' signs, list marks, rules, bold and italics, addresses of external links."""
    if "\n=" in text:
        text = _HEADING.sub(_heading, text)
    text = _LINE_START.sub("\n", text)
    if "__" in text:
        text = _SWITCH.sub("", text)
    if "''" in text:
        if _APOSTROPHE.search(text):
            text = _elided(text)
        text = _QUOTES.sub("", _QUOTES_AFTER_LINK.sub(f"]]{NOTHING}''", text))
    if "//" in text:
        text = _EXTERNAL.sub(_external, text)
    return _BLANK_LINES.sub("\n\n", text)


def _heading(match: re.Match[str]) -> str:
    signs, line = match.groups()
    line = line.rstrip()
    level = min(len(signs), len(line) - len(line.rstrip("=")))
    if not level:
        return match[0]
    return "\n" + (signs[level:] + line[:-level]).strip()


def _external(match: re.Match[str]) -> str:
    label, closed = match.groups()
    if closed:
        return label or ""
    return f"[{label}" if label else match[0]


def _elided(text: str) -> str:
    """``l'''Iliade''`` is an l, an apostrophe and italics: no bold begins that nothing bold ends.

    As an entity the apostrophe is safe from being taken for markup. Only lines where it can matter are read.
    """
    pieces: list[str] = []
    position = 0
    for match in _APOSTROPHE.finditer(text):
        if match.start() < position:
            continue
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        begin = max(position, text.rfind("\n", position, match.start()))
        runs = list(_QUOTE_RUN.finditer(text, begin, end))
        bold = False
        for run, following in zip(runs, [*runs[1:], None], strict=True):
            if bold or (following and len(following[0]) > 2) or not _APOSTROPHE.match(text, run.start()):
                bold = bold != (len(run[0]) > 2)
            else:
                pieces += [text[position : run.start()], "&#39;"]
                position = run.start() + 1
        pieces.append(text[position:end])
        position = end
    return "".join(pieces) + text[position:]


_VARIANT = re.compile(r"-\{([^{}]*+)\}-")


def one_variant(text: str) -> str:
    """``-{zh-hans:计算机; zh-hant:電腦}-`` with the first spelling only; rules without text vanish."""
    return _VARIANT.sub(_first_spelling, text)


def _first_spelling(match: re.Match[str]) -> str:
    flags, bar, rules = match[1].rpartition("|")
    if bar and {"H", "T", "-"} & set(flags):
        return ""
    first = rules.partition(";")[0]
    code, colon, spelling = first.partition(":")
    return spelling.strip() if colon and code.strip().replace("-", "").isalpha() else rules
