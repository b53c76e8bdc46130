"""Structured logs: one JSON object a line on standard error, or the same facts for human eyes."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any

import msgspec


class JsonFormatter(logging.Formatter):
    """Time, level, logger, message, and whatever the caller passed as ``extra={"facts": {...}}``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; JSON escapes whatever a client wrote, so nobody can forge a second line."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": record.process,
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(entry).decode()


class TextFormatter(logging.Formatter):
    """The same on one readable line."""

    def format(self, record: logging.LogRecord) -> str:
        """Message first, then the facts."""
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        facts = " ".join(f"{name}={value!r}" for name, value in getattr(record, "facts", {}).items())
        line = f"{time} {record.levelname.lower():7} {record.getMessage()} {facts}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def unless_offered(record: logging.LogRecord) -> bool:
    """Clients may offer HTTP/2 or a WebSocket with every request; uvicorn warns of each, twice."""
    return not record.getMessage().startswith(("Unsupported upgrade", "No supported WebSocket"))


def log_config(form: str, level: str) -> dict[str, Any]:
    """Configuration for :mod:`logging`; the server's own access log is off, ours says more."""
    formatter = {"json": JsonFormatter, "text": TextFormatter}[form]
    quiet = {"handlers": ["stderr"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{formatter.__module__}.{formatter.__qualname__}"}},
        "filters": {"offers": {"()": lambda: unless_offered}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["offers"]}
        },
        "loggers": {
            "pboh": quiet,
            "uvicorn": quiet,
            "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }
