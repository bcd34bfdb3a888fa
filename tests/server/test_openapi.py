"""The API as its OpenAPI document says it: every operation is asked with what fits it and what does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.server.contracts import USERS, odcs, short
from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app

SETTINGS = """
[checks.positive_data_acceptance]
# What fits its schema may still be refused: a cursor that nobody gave out, a step that a version cannot take.
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 413, 422]

[checks.negative_data_rejection]
# A list that is too long may be refused for the size of the whole before anybody counts.
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 415, 422]
"""
ANYTHING = ""
WHAT_IS_THERE = f"""
[parameters]
"path.dataset_id" = "{USERS}"
"path.contract" = "{USERS}"
"path.version" = "1.0.0"
"path.line" = "{USERS}@1"
"query.line" = "{USERS}@1"
"query.node" = "{USERS}"
"""


@pytest.mark.parametrize(
    ("database", "about"), [("sqlite", ANYTHING), ("postgresql", WHAT_IS_THERE)], indirect=["database"]
)
def test_every_answer_is_as_described(tmp_path: Path, database: str, about: str) -> None:
    (tmp_path / "schemathesis.toml").write_text(SETTINGS + about)
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file=schemathesis.toml", "run"]
    options = ["--checks=all", "--max-examples=4", "--generation-deterministic", "--continue-on-failure", "--no-color"]
    with Registry.open(database) as registry:
        registry.register(short())
        registry.register(odcs())
        registry.consumers.subscribe("ltv-dashboard", f"{USERS}@1", consumer_class="operational_reporting")
        token = registry.access.create_token("tester", role="admin").token
        with running(create_app(registry)) as address:
            signed_in = ["--header", f"Authorization: Bearer {token}"]
            found = subprocess.run(
                [*command, f"{address}/openapi.json", *options, *signed_in],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=150,
            )
        whole = registry.access.verify_audit().whole

    assert found.returncode == 0, f"{found.stdout}\n{found.stderr}"
    assert whole
