"""The demo runs offline, tells its story in one page, and leaves a project in which its commands can be run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from treaty.spark.jars import default_jar_folder

ROOT = Path(__file__).parents[2]
_MAX_LINES = 80


def test_the_demo_tells_its_story_and_keeps_its_project(tmp_path: Path) -> None:
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    temporary.mkdir()
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "TMPDIR": str(temporary),
        "NO_COLOR": "1",
        "TREATY_SPARK_JARS": str(default_jar_folder()),
    }

    def run(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    ran = run("bash", "examples/retail/demo.sh", str(project))

    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr
    assert ran.stderr == ""
    for message in (
        "9 documents · 6 registered · 3 subscribed",
        "204 in · 198 accepted · 1 duplicate · 5 quarantined",
        "required:order_placed_at                          must have a value              null (1)",
        "may not merge: not compatible under full; refused",
        "✗ customer-self-service  through retail.products.order_capture@1 →\n"
        "              retail.publications.customer_order_timeline@1 · service_orchestration · critical",
        "✗ support-agent-desktop  through",
        "the 29 days before it are sample data",
        f"file://{project}/site/health/index.html",
    ):
        assert message in ran.stdout
    assert len(ran.stdout.splitlines()) <= _MAX_LINES
    assert list(temporary.iterdir()) == []

    health = (project / "site/health/index.html").read_text()
    assert "<title>Health · Retail demo (sample data)</title>" in health
    assert "sample data: 29 of 30 values" in health
    row = run("treaty", "quarantine", "show", "order_placed", "--rule", "required:order_placed_at", folder=project)
    assert "✗  order_placed_at       null" in row.stdout
    graph = run("treaty", "consumer", "graph", "retail.orders.order_placed@1", folder=project)
    assert "support-agent-desktop  consumer" in graph.stdout
    assert run("treaty", "check", "contracts", folder=project).returncode == 3


def test_the_demo_keeps_a_folder_that_exists(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["bash", "examples/retail/demo.sh", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (ran.returncode, ran.stderr) == (2, f"{tmp_path} exists; name a new folder\n")
