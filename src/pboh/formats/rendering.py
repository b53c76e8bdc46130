"""HTML from templates: every value is escaped, and numbers are written as Python's ``format`` does."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@cache
def templates(folder: str) -> Environment:
    """The templates in a folder of the package, such as ``formats/templates``."""
    environment = Environment(
        loader=PackageLoader("pboh", folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["as"] = format
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return environment
