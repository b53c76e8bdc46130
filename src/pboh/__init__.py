"""pboh: entity linking by counting hyperlinks and resolving all names of a document together."""

from pboh.document import Candidate, Contribution, Document, Entity, Explanation, Mention
from pboh.errors import PbohError

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Contribution",
    "Document",
    "Entity",
    "Explanation",
    "Mention",
    "PbohError",
    "__version__",
]
