"""Figures printed in the paper (Ganea et al., WWW 2016), to stand beside ours; percentages unless named."""

from __future__ import annotations

import re

GERBIL_DATASETS = (
    "ACE2004",
    "AIDA/CoNLL-Complete",
    "AIDA/CoNLL-Test A",
    "AIDA/CoNLL-Test B",
    "AIDA/CoNLL-Training",
    "AQUAINT",
    "DBpediaSpotlight",
    "IITB",
    "KORE50",
    "Microposts2014-Test",
    "Microposts2014-Train",
    "MSNBC",
    "N3-Reuters-128",
    "N3-RSS-500",
)

# Table "Micro and macro F1 scores reported by Gerbil", in the order of GERBIL_DATASETS: F1@MI, then F1@MA.
_GERBIL_MICRO = """
AGDISTIS            65.83 60.27 59.06 58.32 61.05 60.10 36.61 41.23 34.16 42.43 50.39 75.42 67.95 59.88
Babelfy             63.20 78.00 75.77 80.36 78.01 72.27 51.05 57.13 73.12 47.20 50.60 78.17 58.61 69.17
DBpedia Spotlight   70.38 58.84 54.90 57.69 60.04 74.03 69.27 65.44 37.59 56.43 56.26 69.27 56.44 57.63
Dexter              18.72 48.46 45.44 48.59 49.25 38.28 26.70 28.53 17.20 31.27 35.21 36.86 32.74 31.11
Entityclassifier.eu 12.74 46.60 44.13 44.02 47.83 21.67 22.59 18.46 27.97 29.12 32.69 41.24 28.40 21.77
Kea                 80.08 73.39 70.90 72.64 74.22 81.84 73.63 72.03 57.95 63.40 64.67 85.49 63.20 69.29
NERD-ML             54.89 54.62 52.85 52.59 55.55 49.68 46.80 51.08 29.96 38.65 39.83 64.03 54.96 61.22
TagMe 2             81.93 72.07 69.07 70.62 73.20 76.27 63.31 57.23 57.34 56.81 59.14 75.96 59.32 78.05
WAT                 80.00 83.82 81.82 84.34 84.21 76.82 65.18 61.14 58.99 59.56 61.96 77.72 64.38 68.21
Wikipedia Miner     77.14 64.72 61.65 60.71 66.48 75.96 62.57 58.59 41.63 54.88 55.93 64.25 60.05 64.54
PBoH                87.19 86.72 86.63 87.39 86.59 86.64 79.48 62.47 61.70 74.19 73.08 89.54 76.54 71.24
"""
_GERBIL_MACRO = """
AGDISTIS            77.63 56.97 53.36 58.03 57.53 58.62 33.25 43.38 30.20 61.08 62.87 73.82 75.52 70.80
Babelfy             76.71 73.81 71.26 74.52 74.22 73.23 51.97 55.36 69.77 62.11 61.02 75.73 59.87 76.00
DBpedia Spotlight   80.02 60.59 54.11 61.34 62.23 73.13 67.23 62.81 32.90 71.63 67.99 69.82 58.77 65.03
Dexter              16.97 45.29 42.17 46.20 45.85 38.15 22.75 28.48 12.54 44.02 42.07 39.42 31.85 33.55
Entityclassifier.eu 12.30 42.86 42.36 41.31 43.36 19.59 18.00 19.54 25.20 39.53 38.41 40.30 24.84 22.20
Kea                 87.57 73.26 67.91 73.31 74.47 81.27 76.60 70.52 53.17 76.54 74.32 87.40 64.45 75.93
NERD-ML             72.22 52.35 49.60 51.34 53.23 46.06 45.59 49.91 24.75 57.91 53.74 67.28 62.90 67.30
TagMe 2             89.09 71.19 66.50 70.38 72.45 75.12 65.10 55.80 54.67 71.66 70.45 77.05 67.55 83.20
WAT                 86.49 83.59 80.25 84.12 84.22 77.64 68.24 59.36 53.13 73.89 72.65 79.08 65.81 76.00
Wikipedia Miner     86.36 66.17 61.67 63.19 67.93 74.63 61.43 56.98 35.00 69.29 67.00 64.68 66.51 72.23
PBoH                90.40 86.85 85.48 86.32 87.30 86.14 80.13 61.04 55.83 84.48 81.25 89.62 83.31 78.33
"""


def _figures(table: str) -> dict[str, tuple[float, ...]]:
    rows = (line.rsplit(maxsplit=len(GERBIL_DATASETS)) for line in table.strip().splitlines())
    return {system: tuple(map(float, figures)) for system, *figures in rows}


GERBIL: dict[str, dict[str, tuple[float, float]]] = {
    system: dict(zip(GERBIL_DATASETS, zip(micro, macro, strict=True), strict=True))
    for (system, micro), macro in zip(
        _figures(_GERBIL_MICRO).items(), _figures(_GERBIL_MACRO).values(), strict=True
    )
}

# Table "AIDA test-a and AIDA test-b datasets results": R@MI, R@MA.
AIDA: dict[str, dict[str, tuple[float | None, float | None]]] = {
    "LocalMention": {"AIDA/CoNLL-Test A": (69.73, 69.30), "AIDA/CoNLL-Test B": (67.98, 72.75)},
    "TagMe reimpl.": {"AIDA/CoNLL-Test A": (76.89, 74.57), "AIDA/CoNLL-Test B": (78.64, 78.21)},
    "AIDA": {"AIDA/CoNLL-Test A": (79.29, 77.00), "AIDA/CoNLL-Test B": (82.54, 81.66)},
    "S & Y": {"AIDA/CoNLL-Test A": (None, 84.22), "AIDA/CoNLL-Test B": (None, None)},
    "Houlsby et al.": {"AIDA/CoNLL-Test A": (79.65, 76.61), "AIDA/CoNLL-Test B": (84.89, 83.51)},
    "PBoH": {"AIDA/CoNLL-Test A": (85.70, 85.26), "AIDA/CoNLL-Test B": (87.61, 86.44)},
}

# Table "Accuracy gains of individual PBoH components": R@MI, R@MA (PBoH differs from the table above).
ABLATION: dict[str, dict[str, tuple[float, float]]] = {
    "localmention": {"AIDA/CoNLL-Test A": (69.73, 69.30), "AIDA/CoNLL-Test B": (67.98, 72.75)},
    "unnorm": {"AIDA/CoNLL-Test A": (69.77, 69.95), "AIDA/CoNLL-Test B": (75.87, 75.12)},
    "rescaled": {"AIDA/CoNLL-Test A": (75.09, 74.25), "AIDA/CoNLL-Test B": (74.76, 78.28)},
    "localcontext": {"AIDA/CoNLL-Test A": (82.50, 81.56), "AIDA/CoNLL-Test B": (85.46, 84.08)},
    "pboh": {"AIDA/CoNLL-Test A": (85.53, 85.09), "AIDA/CoNLL-Test B": (87.51, 86.39)},
}

# Table "Results on the newer versions of the MSNBC, AQUAINT and ACE04 datasets": F1@MI, F1@MA.
CLEANED_DATASETS = ("new MSNBC", "new AQUAINT", "new ACE2004")
CLEANED: dict[str, dict[str, tuple[float, float]]] = {
    "LocalMention": {
        "new MSNBC": (73.64, 77.71),
        "new AQUAINT": (87.33, 86.80),
        "new ACE2004": (84.75, 85.70),
    },
    "Cucerzan": {"new MSNBC": (88.34, 87.76), "new AQUAINT": (78.67, 78.22), "new ACE2004": (79.30, 78.22)},
    "M & W": {"new MSNBC": (78.43, 80.37), "new AQUAINT": (85.13, 84.84), "new ACE2004": (81.29, 84.25)},
    "Han et al.": {"new MSNBC": (88.46, 87.93), "new AQUAINT": (79.46, 78.80), "new ACE2004": (73.48, 66.80)},
    "AIDA": {"new MSNBC": (78.81, 76.26), "new AQUAINT": (56.47, 56.46), "new ACE2004": (80.49, 84.13)},
    "GLOW": {"new MSNBC": (75.37, 77.33), "new AQUAINT": (83.14, 82.97), "new ACE2004": (81.91, 83.18)},
    "RI": {"new MSNBC": (90.22, 90.87), "new AQUAINT": (87.72, 87.74), "new ACE2004": (86.60, 87.13)},
    "REL-RW": {"new MSNBC": (91.37, 91.73), "new AQUAINT": (90.74, 90.58), "new ACE2004": (87.68, 89.23)},
    "PBoH": {"new MSNBC": (91.06, 91.19), "new AQUAINT": (89.27, 88.94), "new ACE2004": (88.71, 88.46)},
}

# Table "Loopy belief propagation statistics": mentions a document, convergence rate, ms a document, rounds.
# The paper's milliseconds are message passing alone; ours are end to end.
PROPAGATION: dict[str, tuple[float, float, float, float]] = {
    "AIDA/CoNLL-Test A": (22.18, 100.0, 445.56, 2.86),
    "AIDA/CoNLL-Test B": (19.41, 99.56, 203.66, 2.83),
    "new MSNBC": (32.8, 100.0, 371.65, 3.0),
    "new AQUAINT": (14.54, 100.0, 40.42, 2.56),
    "new ACE2004": (7.34, 100.0, 10.88, 2.25),
}

# Table "Average number of entities that appear in the graph": mentions a document, PBoH, REL-RW.
GRAPH: dict[str, tuple[float, float, float]] = {
    "MSNBC": (36.95, 247.19, 382773.6),
    "AQUAINT": (14.54, 95.38, 242443.1),
    "ACE2004": (8.68, 66.66, 256235.49),
}

# Documents and non-NIL mentions, from the paper and from the datasets' publishers.
STATISTICS: dict[str, tuple[int, int]] = {
    "AIDA/CoNLL-Test A": (216, 4791),
    "AIDA/CoNLL-Test B": (231, 4485),
    "new MSNBC": (20, 656),
    "new AQUAINT": (50, 727),
    "new ACE2004": (35, 257),
    "KORE50": (50, 144),
    "DBpediaSpotlight": (58, 330),
    "N3-Reuters-128": (128, 650),
    "N3-RSS-500": (500, 524),
}

_NAMES = (
    (r"kore50", "KORE50"),
    (r"spotlight", "DBpediaSpotlight"),
    (r"reuters128", "N3-Reuters-128"),
    (r"rss500", "N3-RSS-500"),
    (r"iitb", "IITB"),
    (r"micropost.*test", "Microposts2014-Test"),
    (r"micropost.*train", "Microposts2014-Train"),
    (r"(?:aida|conll).*testa", "AIDA/CoNLL-Test A"),
    (r"(?:aida|conll).*testb", "AIDA/CoNLL-Test B"),
    (r"(?:aida|conll).*train", "AIDA/CoNLL-Training"),
    (r"(?:aida|conll)", "AIDA/CoNLL-Complete"),
    (r"msnbc", "MSNBC"),
    (r"aquaint", "AQUAINT"),
    (r"ace(?:20)?04", "ACE2004"),
)


def paper_name(dataset: str, cleaned: bool = False) -> str | None:
    """The name the paper's tables use for a dataset of ours, or None when it is not in them.

    ``cleaned`` says that it is in the WNED form, where MSNBC, AQUAINT and ACE2004 are the newer versions.
    """
    bare = re.sub(r"[^a-z0-9]", "", dataset.lower())
    for pattern, name in _NAMES:
        if re.search(pattern, bare):
            return f"new {name}" if cleaned and f"new {name}" in CLEANED_DATASETS else name
    return None
