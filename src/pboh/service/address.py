"""An address of the service: who answers there, and its part of the OpenAPI description."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.responses import Response

import pboh
from pboh.service.call import Call, json_response

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
STRING = {"type": "string"}
Shape = Any  # a type that msgspec describes, or a JSON schema
REFERENCE = "#/components/schemas/{name}"
_REFUSALS = {
    400: "The request cannot be read.",
    408: "The request was sent too slowly.",
    413: "More than the limits of this server allow.",
    415: "The body is of another media type.",
    422: "A value is wrong; the sentence says which.",
    503: "The model is still loading, or too many requests are waiting.",
}


class Problem(msgspec.Struct):
    """Why there is no answer."""

    error: str


@dataclass(frozen=True)
class Address:
    """A method of an address.

    ``answer`` returns a response, or a value that is sent as JSON; it runs on a computing thread unless it is
    ``instant``.
    """

    method: str
    path: str
    answer: Callable[[Call], Any]
    tag: str
    takes: Mapping[str, Shape] = field(default_factory=dict)  # bodies by media type
    gives: Mapping[str, Shape] = field(default_factory=dict)  # answers by media type
    parameters: tuple[dict[str, Any], ...] = ()
    refuses: Mapping[int, str] = field(default_factory=dict)  # statuses beyond the usual ones
    example: Any = None  # of a body
    bodiless: bool = False  # whether the body may be left out
    instant: bool = False

    def response(self, call: Call) -> Response:
        """The answer to a request."""
        found = self.answer(call)
        return found if isinstance(found, Response) else json_response(found)

    def described(self) -> dict[str, Any]:
        """The operation as OpenAPI writes it."""
        refusals = {} if self.instant else {**_REFUSALS, **self.refuses}
        operation: dict[str, Any] = {
            "tags": [self.tag],
            "description": inspect.getdoc(self.answer),
            "responses": {"200": {"description": "The answer.", "content": _content(self.gives)}}
            | {
                str(status): {"description": why, "content": _content({JSON: Problem})}
                for status, why in refusals.items()
            },
        }
        if self.parameters:
            operation["parameters"] = list(self.parameters)
        if self.takes:
            content = _content(self.takes)
            for media in content.values() if self.example else ():
                media["example"] = self.example
            operation["requestBody"] = {"required": not self.bodiless, "content": content}
        return operation


def parameter(
    name: str, description: str, *, place: str = "query", required: bool = False, **schema: Any
) -> dict[str, Any]:
    """A parameter as OpenAPI writes it, a string unless ``type`` or ``anyOf`` says otherwise."""
    shape = schema if "anyOf" in schema else {**STRING, **schema}
    return {"name": name, "in": place, "required": required, "description": description, "schema": shape}


FIND = parameter("find", "What is found: names, or concepts too (all).", enum=["names", "all"])
TYPED = parameter("types", "The only types that answers may have, with commas between.", format="types")


def form(*parameters: dict[str, Any]) -> dict[str, Shape]:
    """A body that holds parameters as the fields of a form."""
    fields = {given["name"]: given.get("schema", STRING) for given in parameters}
    required = [given["name"] for given in parameters if given["required"]]
    return {FORM: {"type": "object", "properties": fields, "required": required}}


def openapi(addresses: Iterable[Address]) -> dict[str, Any]:
    """The description of the whole service."""
    listed = [address for address in addresses if address.gives]
    shapes = [shape for address in listed for shape in (*address.takes.values(), *address.gives.values())]
    types = [Problem, *(shape for shape in shapes if not isinstance(shape, dict))]
    _, components = msgspec.json.schema_components(types, ref_template=REFERENCE)
    paths: dict[str, dict[str, Any]] = {}
    for address in listed:
        operations = paths.setdefault(address.path.replace(":path}", "}"), {})
        operations[address.method.lower()] = address.described()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "pboh",
            "summary": "Entity linking: all names of a document resolved together, with a probability and"
            " a reason.",
            "version": pboh.__version__,
        },
        "paths": paths,
        "components": {"schemas": components},
    }


def _content(shapes: Mapping[str, Shape]) -> dict[str, dict[str, Any]]:
    """Schemas by media type, types as references to the components."""
    described = {}
    for kind, shape in shapes.items():
        if not isinstance(shape, dict):
            [shape], _ = msgspec.json.schema_components([shape], ref_template=REFERENCE)  # noqa: PLW2901
        described[kind] = {"schema": shape}
    return described
