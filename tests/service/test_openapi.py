"""The description of the service and the service agree: schemathesis calls every address with everything."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.slow
def test_schemathesis_finds_nothing(address, tmp_path):
    pytest.importorskip("schemathesis")
    command = [
        sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()",
        "--config-file", str(HERE / "schemathesis.toml"),
        "run", f"{address}/openapi.json", "--checks", "all", "--phases", "examples,coverage,fuzzing",
        "--max-examples", "10", "--seed", "1", "--no-color",
    ]  # fmt: skip
    hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, **hooks}
    )
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr
    assert "29 selected / 29 total" in done.stdout, done.stdout


def test_every_operation_is_described(client):
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("/v1/link", "/v1/disambiguate", "/v1/batch", "/v1/entities/{title}", "/v1/info", "/nif"):
        assert path in paths
    for path, methods in paths.items():
        for method, operation in methods.items():
            assert operation.get("description"), f"{method} {path} says nothing of itself"
