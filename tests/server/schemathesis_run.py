"""Runs schemathesis on a server: every operation of the OpenAPI document with what fits it and what does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.server.contracts import USERS, odcs, short
from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app

SETTINGS = """
[checks.positive_data_acceptance]
# What fits its schema may still be refused: an unknown cursor, a step that a version cannot take.
expected-statuses = ["2xx", 400, 401, 403, 404, 409, 413, 422]

[checks.negative_data_rejection]
# A list that is too long may be refused for the size of the request before its items are counted.
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
"""Names of registered contracts and lines, so that requests reach them."""

ALL_PHASES = "examples,coverage,fuzzing,stateful"


def run_schemathesis(
    folder: Path, database: str, parameters: str, phases: str, max_examples: int, timeout_s: float
) -> None:
    """Check all responses against the OpenAPI document with all checks; then check that the audit log is complete."""
    (folder / "schemathesis.toml").write_text(SETTINGS + parameters)
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file=schemathesis.toml", "run"]
    options = ["--checks=all", f"--phases={phases}", f"--max-examples={max_examples}"]
    options += ["--generation-deterministic", "--continue-on-failure", "--no-color"]
    with Registry.open(database) as registry:
        registry.register(short())
        registry.register(odcs())
        registry.consumers.subscribe("ltv-dashboard", f"{USERS}@1", consumer_class="operational_reporting")
        token = registry.access.create_token("tester", role="admin").token
        app = create_app(registry)
        app.openapi()  # schemathesis waits for it for ten seconds only, which a busy machine exceeds
        with running(app) as address:
            signed_in = ["--header", f"Authorization: Bearer {token}"]
            ran = subprocess.run(
                [*command, f"{address}/openapi.json", *options, *signed_in],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=timeout_s,
            )
        audit = registry.access.verify_audit()

    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    assert audit.whole
