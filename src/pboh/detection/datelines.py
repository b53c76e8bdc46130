"""Datelines: where a report was written (*MILAN, March 3 (Reuters) -*), not what it is about."""

from __future__ import annotations

import re

_LINE = r"^(?!.?[a-z])"  # most lines begin with a word that is not in capitals
_PLACE = r"(?P<place>[^\W\d_](?:[^\W\d_]|[ .'’-]){1,30}?)(?P<region>, [^\W\d_][^\W\d_.]{1,20}\.?)?"
_DATE = r"(?:,? (?:[^\W\d_]{3,9}\.? \d{1,2}|(?P<date>\d{4}-\d\d-\d\d)))?"
_AGENCY = r"(?: \([^()\n]{2,20}\))?"
_DATELINE = re.compile(_LINE + _PLACE + _DATE + _AGENCY + r"(?(date)(?:\s|$)| (?:--?|–|—) )", re.MULTILINE)


def datelines(text: str) -> list[tuple[int, int]]:
    """Where the places of datelines begin and end: one in capitals, perhaps with a region behind it."""
    found = (line for line in _DATELINE.finditer(text) if line["place"].isupper())
    return [(line.start(), line.end("region" if line["region"] else "place")) for line in found]
