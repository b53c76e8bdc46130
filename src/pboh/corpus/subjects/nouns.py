"""The type that the noun of a phrase says: of "a social and political philosopher from Ulm", philosopher."""

from __future__ import annotations

import re

from pboh.corpus.subjects.language import Language

_PHRASE, _CLAUSE = 300, 120  # characters of a definition in which a noun is looked for, and mostly found
_WORD = re.compile(r"[^\W_]++(?:['’.&-][^\W_]++)*+|[,;:]")
_PARTS = re.compile("[、，,・]")
_BETWEEN = frozenset([",", ";", ":", "and", "or", "but"])


def noun_of(phrase: str, table: Language) -> str:
    """The type that the noun of a defining phrase says."""
    if not phrase:
        return ""
    if table.head == "end":
        parts = _PARTS.split(phrase[:200])
        return next((found for part in parts if (found := table.noun(part.rstrip("。 である")[-12:]))), "")
    if table.head == "last":
        written = _WORD.findall(phrase[:_CLAUSE])
        words = " ".join(written).lower().split(" ")
        if len(phrase) > _CLAUSE and table.ends.isdisjoint(words):
            written = _WORD.findall(phrase[:_PHRASE])
            words = " ".join(written).lower().split(" ")
        return _last_noun(words, written, table)
    words = _WORD.findall(phrase[:_PHRASE])
    for word in map(str.lower, words[:12]):
        if found := table.noun(word):
            return found
    return ""


def _last_noun(words: list[str], written: list[str], table: Language) -> str:
    """Of "social and political philosopher from …": philosopher; a person if any noun of several is one."""
    parts: list[list[str]] = [[]]
    otherwise, several, named = "", False, ""
    of, ends, verbal = table.of, table.ends, table.verbal
    for here, word in enumerate(words):
        part = parts[-1]
        if word == of and part:
            for end in (4, 3, 2) if part[-1] in table.before_of else ():
                if said := table.nouns.get(" ".join(words[here - 1 : here + end])):
                    return said  # a prisoner of war camp
            if part[-1] in table.partitives and not (part[1:] and " ".join(part[-2:]) in table.nouns):
                said = _noun(part, table)
                if said == "species":
                    return said
                if said == "person":  # a member of the genus
                    rest = _last_noun(words[here + 1 :], written[here + 1 :], table)
                    known = any(table.noun(one) == "species" for one in written[here + 1 : here + 5])
                    return "species" if known or rest == "species" else said
                several = said == "organisation"
                parts, otherwise = [[]], "" if several else said
                named = said if _follows(written, here, table)[:1].isupper() else ""
                continue
            if part[-1] in table.abstract and _follows(written, here, table)[:1].islower():
                return "other"  # a state of inactivity
            if _is_rank(part, table) and not _noun(part, table):  # the most common of the minerals
                parts[-1] = []
                continue
            break
        if (
            (part or len(parts) > 1)
            and (word in ends or verbal(word))
            and _is_end(words, written, here, part, table)
        ):
            if word in table.founded and _noun(part, table) == "person":
                return "organisation"  # a maker founded in Ulm
            break
        if word in _BETWEEN:
            if word == "but" and words[here + 1 : here + 2] and words[here + 1] in table.articles:
                break
            parts.append([])
        elif part and written[here][0].isupper() and _is_name(words, written, here, part, table):
            break
        elif not part and len(parts) > 1 and word in table.articles and _is_told(parts, table):
            break  # another phrase: a city, the seat of a bishop
        elif part or word not in table.fillers:
            part.append(word)
            if named and written[here][0].islower():
                named = ""
    if named not in ("", "other"):  # a body of the United States
        return named
    if len(parts) == 1:
        said = _noun(parts[0], table)
        return "organisation" if several and said == "person" else said or otherwise
    parts = [part for part in parts if part]
    *others, last = parts or [[]]
    parts = [*(part for part in others if part[-1] not in table.adjectives), last]
    found = [said for part in parts if (said := _noun(part, table))]
    if "person" in found:
        return "organisation" if several else "person"  # a group of philosophers
    # "business, cultural and tourism city" is no business: a word alone may go with a noun further on
    return next((said for said in reversed(found) if said != "other"), "other") if found else otherwise


def _follows(written: list[str], here: int, table: Language) -> str:
    """The next word but articles."""
    return next((one for one in written[here + 1 :] if one not in table.articles), "")


def _is_end(words: list[str], written: list[str], here: int, part: list[str], table: Language) -> bool:
    """Whether a word ends the phrase, and describes no noun that follows: the largest *known* mammal."""
    if words[here] not in table.ends:
        return _is_verb(words[here : here + 4], part, table)
    if not table.verbal(words[here]) or not part or here + 1 >= len(words):
        return True
    following = words[here + 1]
    if (
        following in table.ends
        or following in table.articles
        or following in _BETWEEN
        or following == table.of
    ):
        return True
    if written[here - 1][0].isupper() and written[here + 1][0].islower():
        return False  # a New York City based artist
    named = written[here + 1][0].isupper() and not (_is_rank(part, table) or part[-1].endswith("ly"))
    return named or not following[0].isalpha() or following.endswith("ly") or _noun(part, table) != ""


def _is_rank(part: list[str], table: Language) -> bool:
    """Whether words only say which one of many: the most common, the third."""
    return table.superlative(part[-1]) or (len(part) > 1 and part[-2] in table.degrees)


def _is_told(parts: list[list[str]], table: Language) -> bool:
    return any(_noun(part, table) not in ("", "other") for part in parts)


def _is_name(words: list[str], written: list[str], here: int, part: list[str], table: Language) -> bool:
    """Whether a capital begins the name of what was said: the television show *Big Brother*."""
    before = written[here - 1]
    if len(part) < 2 or before in table.fillers or not before[0].islower():
        return False
    if table.noun(words[here]) or _noun(part, table) in ("", "other"):
        return False
    after = next((word for k, word in enumerate(words) if k > here and not written[k][0].isupper()), ",")
    return after in _BETWEEN or after in table.ends or after == table.of


def _is_verb(words: list[str], before: list[str], table: Language) -> bool:
    """Whether a participle ends a phrase: a character *portrayed* by, but not motor *racing* driver."""
    if not table.verbal(words[0]) or words[0] in table.partitives:
        return False
    if words[0].endswith("ly") and not _noun(before, table):
        return False  # the most densely populated island
    ended = len(words) < 2 or words[1] in table.ends or words[1] in table.articles or words[1] in _BETWEEN
    if words[1:2] and words[1] in _BETWEEN and words[0].endswith("ing"):
        return False  # a horse racing, motor racing and community facility
    if (
        ended and len(before) > 1 and _noun(before, table) == "person"
    ):  # a cyclist *riding* for, and not an electoral riding
        return True
    if table.noun(words[0]) or table.noun(" ".join(words[:2])):
        return False
    if len(words) < 2 or _noun(before, table) == "person":  # scientist combining physics and philosophy
        return True
    if table.verbal(words[1]):
        return not any(_noun(words[1:end], table) for end in (3, 4))  # multitasking operating system
    return ended


def _noun(words: list[str], table: Language) -> str:
    """What the last words of a part say, the longest phrase that is known first: region *spanning much*."""
    if not words:
        return ""
    nouns = table.nouns
    said = nouns.get(" ".join(words[-3:])) or nouns.get(" ".join(words[-2:])) or table.noun(words[-1])
    if said and (said != "other" or words[-1] in table.nouns or not words[-1].endswith("s")):
        return said
    if words[-1] in table.degrees or words[-1] in table.fillers:  # the author most famous for
        return _noun(words[:-1], table)
    verb = next((k for k, word in enumerate(words) if k and table.verbal(word)), 0)
    return (_noun(words[:verb], table) if verb else "") or said  # a ceremony honouring achievements
