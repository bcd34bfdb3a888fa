"""The pull request example: refused with the affected consumers, then fixed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.workflows import ROOT, environment


def test_the_pull_request_example_fails_with_both_consumers_and_passes_after_the_fix(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["bash", "examples/pull-request/demo.sh"],
        cwd=ROOT,
        env=environment({"TMPDIR": str(tmp_path)}),
        capture_output=True,
        text=True,
        check=False,
    )

    refused, _, passed = ran.stdout.partition("With the version it needs")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "delivery-planner  service_orchestration · critical · #planning\n            reads delivery_city" in refused
    assert "group-ledger  external_regulatory · critical · #ledger\n            reads gross_total" in refused
    assert "→ delivery_city: read ship_to_city instead of delivery_city" in passed
    assert "all may merge" in passed
    assert list(tmp_path.iterdir()) == []
