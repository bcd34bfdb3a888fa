"""`treaty map`: scan files, describe consumers, show and export the map."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty

DAG = 'from airflow import DAG\nDAG("close", schedule="@daily")\nrun("SELECT net FROM warehouse.legacy_revenue")\n'


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "jobs"
    (folder / "finance").mkdir(parents=True)
    (folder / "finance" / "close.py").write_text(DAG)
    (folder / "support").mkdir()
    (folder / "support" / "orders.sql").write_text("SELECT status FROM raw.orders")
    (folder / "CODEOWNERS").write_text("finance/ @acme/accounting\n")
    return folder


def test_a_scan_fills_the_map_and_people_correct_it(treaty: Treaty, jobs: Path) -> None:
    scanned = treaty("map", "scan", str(jobs))
    described = treaty("map", "describe", "support/orders", "--class", "operational_reporting", "--latency", "1m")
    shown = treaty("map", "--format", "json")

    assert (scanned.code, described.code) == (0, 0)
    assert "2 files: 2 consumers, 2 dependencies; stored as jobs" in scanned.output
    entries = json.loads(shown.output)["items"]
    assert [(one["consumer"], one["team"], one["source"], one["direct"], one["critical"]) for one in entries] == [
        ("close", "accounting", "warehouse.legacy_revenue", True, True),
        ("support/orders", "support", "raw.orders", True, False),
    ]
    assert (entries[1]["consumer_class"], entries[1]["class_confidence"]) == ("operational_reporting", None)
    assert "legacy, direct" in treaty("map", "--team", "accounting").output


def test_the_map_is_exported_as_csv(treaty: Treaty, jobs: Path) -> None:
    treaty("map", "scan", str(jobs), "--name", "=nightly")
    rows = list(csv.DictReader(io.StringIO(treaty("map", "--format", "csv").output)))

    assert [(row["consumer"], row["class"], row["critical"], row["columns"]) for row in rows] == [
        ("close", "external_regulatory", "yes", "net"),
        ("support/orders", "operational_reporting", "no", "status"),
    ]


def test_a_dry_run_stores_nothing(treaty: Treaty, jobs: Path) -> None:
    assert "nothing stored" in treaty("map", "scan", str(jobs), "--dry-run").output
    assert not (jobs.parent / ".treaty").exists()


def test_missing_paths_and_folders_without_jobs_are_clear_errors(treaty: Treaty, jobs: Path) -> None:
    (jobs.parent / "empty").mkdir()

    missing, empty = treaty("map", "scan", "nowhere"), treaty("map", "scan", "empty")

    assert (missing.code, empty.code) == (1, 1)
    assert "there is no file or folder nowhere" in missing.errors
    assert "empty contains no file to scan" in empty.errors


def test_hidden_dependencies_of_a_scanned_consumer_are_findings(treaty: Treaty, jobs: Path) -> None:
    gym = Path(__file__).parents[2] / "examples" / "gym"
    treaty("register", str(gym / "contracts" / "gym.scheduling.class_published.yaml"))
    line = "gym.scheduling.class_published@1"
    treaty("consumer", "subscribe", "waitlist", line, "--class", "service_orchestration", "--field", "classId")
    before = treaty("consumer", "hidden")
    treaty("map", "scan", str(gym / "consumers"))

    found = treaty("consumer", "hidden", "--contract", "gym.scheduling.class_published")
    answer = json.loads(treaty("consumer", "hidden", "--consumer", "waitlist", "--format", "json").output)

    assert (before.code, before.output) == (0, "no hidden dependencies\n")
    assert found.code == 3
    assert "reads internalnotes, which the contract excludes: Notes and markings of administrators" in found.output
    assert [(one["kind"], one["subject"]) for one in answer["items"]] == [
        ("excluded_field", "internalnotes"),
        ("producer_table", "scheduling.class_rules"),
        ("parsed_identifier", "classId"),
        ("undeclared_field", "capacity"),
    ]
