"""What is taken out of a page before its links are read: comments, tags, templates, tables.

MediaWiki works in the same order: its preprocessor knows comments, extension tags and braces only, and the
parser proper never sees what they held. Each function is linear: repetitions are
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
    ``<ref>``, and n of them cost n steps; what is between them stays on the page.
    """
    end = rf"/?\{group}\b(?![^<>]*+/>)"
    return rf"(?i:({names})\b[^<>]*+>(?:(?<=/>)|((?:[^<]++|<(?!{end}))*+)</\{group}\s*+>))"


# Every alternative begins with a plain character: only then does `re` skip to the next one that can match.
_CUT = re.compile(
    (
        r"\{(\{[^{}<]*+\}\}(?!\}))"  # 1: a template with nothing inside
        r"|\{(\{++)"  # 2
        r"|\}(\}++)"  # 3
        r"|<(?=[!/A-Za-z])(?:!--[^-]*+(?:-(?!->)[^-]*+)*+(?:-->)?+"
        rf"|{_element(_DROPPED, 4)}"  # 4, 5
        rf"|{_element(_VERBATIM, 6)}"  # 6, 7
        rf"|{_element('gallery', 8)}"  # 8, 9
        rf"|/?+(?i:({_BLOCKS}))\b[^<>]*+>"  # 10
        rf"|/?+(?i:({_INLINE}|{_DROPPED}|{_VERBATIM}))\b[^<>]*+>)"
    ).encode()  # 11
)
_LEAF, _OPEN, _CLOSE, _NOWIKI, _GALLERY, _BLOCK, _INLINE_TAG = 1, 2, 3, 7, 9, 10, 11

NOTHING = b"&#0;"
"""An entity for no character: it is put where a tag was whose absence would make markup of what follows."""

CHARACTERS = {
    f"{{{name}}}}}".encode(): text.encode()
    for names, text in {
        "'": "&#39;", "'s": "&#39;s", "snd|spnd|spaced ndash|spaced en dash": " – ", "mdash|em dash|—": "—",
        "ndash|en dash|–": "–", "nbsp|space|thinsp|hairsp": " ", "·|dot|bull|•|middot": " · ", "=": "=",
    }.items()
    for name in names.split("|")
}  # fmt: skip
"""Templates that stand for a character: without it ``1914{{ndash}}1918`` would be one number."""

_LINE_MARKS = frozenset(b"{|!*#:;=-")  # behind a tag they begin no line: <td>{| opens no table

_SPECIAL = re.compile(rb"[\[\]{}|'<>=*#:;!_\n-]")


def cut(text: bytes) -> bytes:
    """``text`` without comments, tags and templates; ``<nowiki>`` is kept as entities, galleries as captions.

    Braces pair up as in MediaWiki: from the inside, three for a parameter before two for a template; those
    that find no partner are text. A comment without an end reaches to the end of the page.
    """
    cuts: list[tuple[int, int, bytes]] = []
    braces: list[tuple[int, int]] = []
    for match in _CUT.finditer(text):
        kind = match.lastindex
        start, end = match.span()
        if kind == _OPEN:
            braces.append((start, end - start))
        elif kind == _CLOSE:
            _close_braces(start, end - start, braces, cuts)
        elif kind == _LEAF:
            cuts.append((start, end, CHARACTERS.get(match[_LEAF], b"")))
        elif kind in (_BLOCK, _INLINE_TAG):
            blank = b" " if kind == _BLOCK else b""
            marked = end < len(text) and text[end] in _LINE_MARKS
            cuts.append((start, end, blank + NOTHING if marked else blank))
        elif kind == _NOWIKI:
            cuts.append((start, end, _SPECIAL.sub(lambda sign: b"&#%d;" % ord(sign[0]), match[_NOWIKI])))
        elif kind == _GALLERY:
            cuts.append((start, end, _captions(match[_GALLERY])))
        else:
            cuts.append((start, end, b""))
    if not cuts:
        return text
    kept: list[bytes] = []
    position, after_link = 0, False
    for start, end, instead in cuts:
        if position < start:
            kept.append(text[position:start])
            after_link = text.endswith(b"]", 0, start)
        if instead:
            kept.append(instead)
        elif (after_link and _LETTER.match(text, end)) or (
            text.startswith(b"]]", end) and text.endswith(b"|", 0, start)
        ):
            kept.append(NOTHING)
        position = end
    kept.append(text[position:])
    return b"".join(kept)


_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")


def _close_braces(
    position: int, count: int, braces: list[tuple[int, int]], cuts: list[tuple[int, int, bytes]]
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
        cuts.append((begin, position, b""))


_GALLERY_OPTION = re.compile(rb"\s*+(?:alt|link|lang|page|class)\s*+=[^|\[\n]*+\|")


def _captions(content: bytes) -> bytes:
    """The captions of a gallery, one a line: what follows the file's name and its options."""
    lines = []
    for line in cut(content).split(b"\n"):
        caption = line.partition(b"|")[2]
        while option := _GALLERY_OPTION.match(caption):
            caption = caption[option.end() :]
        if caption:
            lines.append(caption)
    return b"\n" + b"\n".join(lines) + b"\n" if lines else b""


_TABLE_EDGE = re.compile(rb"\n[ \t:]*+(?:(\{\|)|\|\})")
_HEADER_ROW = re.compile(rb"\n[ \t]*+!([^\n]*+)")
_ATTRIBUTES = rb"(?:[^\n|\[]*+\|(?!\|))?+"  # align="right" | 12 is 12; a bar in a link is not that of a cell
_LINE = re.compile(rb"\n[ \t:]*+(?:\{\|[^\n]*+|\|(?:-[^\n]*+|\}|\+)?+" + _ATTRIBUTES + rb")")
_CELL = re.compile(rb"\|\|" + _ATTRIBUTES)
_HEADER_MARK = re.compile(rb"!!|\|\|")
_BAR_OR_LINK = re.compile(rb"[|\[]")


def untable(text: bytes) -> bytes:
    """Tables as lines of tab-separated cells, without the attributes of tables, rows and cells."""
    pieces: list[bytes] = []
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
    return b"".join(pieces) + text[position:]


def _cells(table: bytes) -> bytes:
    return _CELL.sub(b"\t", _LINE.sub(b"\n", _HEADER_ROW.sub(_header_row, table)))


def _header_row(match: re.Match[bytes]) -> bytes:
    """The cells of ``! a !! b``; where the next bar is, is looked for once, not for every cell."""
    row, cells = match[1], []
    start, bar = 2 if _HEADER_MARK.match(row) else 0, -1
    while True:
        if bar < start:
            found = _BAR_OR_LINK.search(row, start)
            bar = found.start() if found else len(row)
        if row.startswith(b"|", bar) and not row.startswith(b"||", bar):
            start = bar + 1
        mark = _HEADER_MARK.search(row, start)
        cells.append(row[start : mark.start()] if mark else row[start:])
        if not mark:
            return b"\n" + b"\t".join(cells)
        start = mark.end()


_VARIANT = re.compile(rb"-\{([^{}]*+)\}-")


def one_variant(text: bytes) -> bytes:
    """``-{zh-hans:计算机; zh-hant:電腦}-`` with the first spelling only; rules without text vanish."""
    return _VARIANT.sub(_first_spelling, text)


def _first_spelling(match: re.Match[bytes]) -> bytes:
    flags, bar, rules = match[1].rpartition(b"|")
    if bar and set(b"HT-") & set(flags):
        return b""
    first = rules.partition(b";")[0]
    code, colon, spelling = first.partition(b":")
    return spelling.strip() if colon and code.strip().replace(b"-", b"").isalpha() else rules
