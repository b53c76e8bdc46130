"""What Prometheus is told: requests, latency, mentions, rounds, and mentions left unlinked."""

from __future__ import annotations

import os
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, multiprocess

from pboh.document import Document

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_ROUNDS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 15)


class Metrics:
    """The counters of one process; with several workers, their sum is what `/metrics` shows."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        counter, histogram = partial(Counter, registry=registry), partial(Histogram, registry=registry)
        labels = ("method", "route", "status")
        self.requests = counter("pboh_requests", "Requests answered.", labels)
        self.seconds = histogram(
            "pboh_request_seconds", "Time to answer a request.", ("route",), buckets=_SECONDS
        )
        self.documents = counter("pboh_documents", "Documents resolved.")
        self.mentions = counter("pboh_mentions", "Mentions in them.")
        self.unlinked = counter("pboh_unlinked_mentions", "Mentions left without an entity.")
        self.rounds = histogram("pboh_rounds", "Rounds of belief propagation per document.", buckets=_ROUNDS)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; ``route`` is a template such as `/v1/entities/{title}`, so labels stay few."""
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def document(self, document: Document) -> None:
        """Count one resolved document."""
        self.documents.inc()
        self.mentions.inc(len(document))
        self.unlinked.inc(sum(mention.entity is None for mention in document))
        self.rounds.observe(document.rounds)

    def page(self) -> bytes:
        """The text Prometheus reads."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
