"""pboh: entity linking by counting hyperlinks and resolving all names of a document together."""

from pboh.warmup import ensure_kernel_cache

ensure_kernel_cache()  # before the first kernel is imported

from pboh.document import Candidate, Contribution, Document, Entity, Explanation, Mention  # noqa: E402
from pboh.errors import PbohError  # noqa: E402

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
