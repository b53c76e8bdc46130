"""The description of the service and the service agree: schemathesis calls every address with everything."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import InvalidArgument, Unsatisfiable

schemathesis = pytest.importorskip("schemathesis")

QUICK = settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)


def excluded():
    """Checks that ask for more than HTTP does: what is wrong may be said in several ways."""
    from schemathesis.specs.openapi import checks

    # Values that fit the schema may still be wrong: spans outside the text, unknown titles, no text.
    names = ("positive_data_acceptance", "unsupported_method")
    return [getattr(checks, name) for name in names if hasattr(checks, name)]


def check(case, address):
    case.call_and_validate(base_url=address, excluded_checks=excluded())
    return case.operation.label


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_every_address_does_what_it_says(client, address, mode):
    schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
    called = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        strategy = operation.as_strategy(generation_mode=getattr(schemathesis.GenerationMode, mode))
        try:
            QUICK(given(strategy)(lambda case: called.add(check(case, address))))()
        except (
            InvalidArgument,
            Unsatisfiable,
        ) as reason:  # an address without parameters cannot be called wrongly
            if mode == "POSITIVE":
                raise AssertionError(operation.label) from reason
    assert {"POST /v1/disambiguate", "POST /nif", "POST /rest/annotate"} <= called


def test_every_operation_is_described(client):
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("/v1/link", "/v1/disambiguate", "/v1/batch", "/v1/entities/{title}", "/v1/info", "/nif"):
        assert path in paths
    for path, methods in paths.items():
        for method, operation in methods.items():
            assert operation.get("description"), f"{method} {path} says nothing of itself"
