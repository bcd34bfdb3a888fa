"""`treaty migrate`: plan, proof and progress of a migration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.cli.conftest import Treaty, Write
from tests.documents import CASES
from treaty.contracts.text.writer import write_yaml

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORY = yaml.safe_load((CASES / "migrations" / "customers.yaml").read_text(encoding="utf-8"))
READERS = """
subscriptions:
  - {consumer: mailer, line: customers@1, class: service_orchestration, fields: [mail, full_name]}
  - {consumer: maps, line: customers@1, class: operational_reporting, fields: [address.zip]}
  - {consumer: other, line: customers@2, class: operational_reporting, fields: [email]}
"""


@pytest.fixture
def story(write: Write, tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "readers.yaml").write_text(READERS)
    return write("before.yaml", write_yaml(STORY["before"])), write("after.yaml", write_yaml(STORY["after"]))


def test_plan_shows_both_directions_views_and_guides(treaty: Treaty, story: tuple[str, str]) -> None:
    result = treaty("migrate", "plan", *story, "--consumers", "readers.yaml")

    assert result.code == 0
    for said in (
        "customers  1.4.0 → 2.0.0",
        "The old schema from rows of the new line  8 exact, 1 lossy, 1 impossible",
        "The new schema from rows of the old line  9 exact, 1 lossy",
        "✗ fax ",
        "the new line has no such field: NULL",
        "CREATE OR REPLACE VIEW `customers_v1`.`customers` AS",
        "Guide for maps  customers@1 → customers@2  its field changes",
        "read address.postcode instead of address.zip",
        "Guide for mailer  customers@1 → customers@2  all 2 of its fields change",
    ):
        assert said in result.output
    assert "Guide for other" not in result.output


def test_one_consumer_is_asked_for(treaty: Treaty, story: tuple[str, str]) -> None:
    result = treaty("migrate", "plan", *story, "--consumers", "readers.yaml", "--consumer", "maps", "-f", "json")
    unknown = treaty("migrate", "plan", *story, "--consumers", "readers.yaml", "--consumer", "map")

    (guide,) = json.loads(result.output)["guides"]
    assert (guide["consumer"], [one["before"] for one in guide["fields"]]) == ("maps", ["address.zip"])
    assert unknown.code == 1
    assert "'map' does not read the old line; its consumers are: mailer, maps" in unknown.errors


def test_without_consumers_there_is_one_guide_for_all(treaty: Treaty, story: tuple[str, str]) -> None:
    output = treaty("migrate", "plan", *story).output

    assert "No registry knows the consumers of the old line; this guide lists all its fields." in output
    assert "Guide for all consumers" in output


def test_a_plan_is_written_as_files(treaty: Treaty, story: tuple[str, str], tmp_path: Path) -> None:
    result = treaty("migrate", "plan", *story, "--consumers", "readers.yaml", "--output", "out", "-f", "markdown")

    files = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*"))
    assert files == [
        "customers_v1.customers_from_customers_v2.py",
        "customers_v1.customers_from_customers_v2.sql",
        "customers_v2.customers_from_customers_v1.py",
        "customers_v2.customers_from_customers_v1.sql",
        "guides/mailer.md",
        "guides/maps.md",
    ]
    assert result.errors.count("wrote out/") == 6
    guide = (tmp_path / "out" / "guides" / "maps.md").read_text()
    assert "| `address.zip` | string | address.postcode string | read address.postcode instead" in guide
    assert "full_name" not in guide
    assert "## Guide for maps" in result.output


def test_a_shape_that_cannot_be_served_is_a_finding(treaty: Treaty, write: Write) -> None:
    before = write("before.yaml", [{"name": "a", "logicalType": "string", "required": True}])
    after = write("after.yaml", {"version": "2.0.0", "fields": [{"name": "b", "logicalType": "string"}]})

    result = treaty("migrate", "plan", before, after)

    assert result.code == 3
    assert "cannot serve the old schema from rows of the new line: no value for a" in result.output


def test_no_migration_path_between_two_contracts(treaty: Treaty, write: Write) -> None:
    fields = [{"name": "a", "logicalType": "string"}]

    result = treaty("migrate", "plan", write("a.yaml", fields), write("b.yaml", {"id": "stock", "fields": fields}))

    assert result.code == 1
    assert "'orders' and 'stock' are different contracts; give two versions of one contract" in result.errors


def test_sql_that_may_not_run_is_refused(treaty: Treaty, write: Write) -> None:
    fields = [{"name": "a", "logicalType": "string"}]
    plan: dict[str, Any] = {"guide": "g", "window": "9 d", "owner": "o"}
    plan["fields"] = [{"field": "a", "sql": "reflect('java.lang.System', 'exit', 1)"}]
    after = write("after.yaml", {"version": "2.0.0", "fields": fields, "migration": plan})

    result = treaty("migrate", "plan", write("before.yaml", fields), after)

    assert result.code == 1
    assert "the SQL that migration declares over orders" in result.errors


def test_shims_are_proven_and_the_proof_is_kept(treaty: Treaty, story: tuple[str, str], spark: SparkSession) -> None:
    treaty("register", story[0])
    treaty("consumer", "subscribe", "mailer", "customers@1", "--class", "operational_reporting", "--field", "mail")
    treaty("register", story[1])

    result = treaty("migrate", "prove", *story, "--rows", "20", "--record")

    assert result.code == 0
    assert "✓ proven: exact fields returned unchanged" in result.output
    assert "20 rows of customers 2.0.0, generated from the contract" in result.output
    assert result.errors == "stored with migration 4\n"
    board = json.loads(treaty("migrate", "status", "4", "--format", "json").output)
    assert (board["proven"], board["proof"]["shims"][0]["rows"]["used"]) == (True, 20)


def test_migration_is_tracked_from_proposal_to_last_move(treaty: Treaty, story: tuple[str, str]) -> None:
    treaty("register", story[0])
    treaty("consumer", "subscribe", "mailer", "customers@1", "--class", "service_orchestration", "--field", "mail")
    treaty("consumer", "subscribe", "maps", "customers@1", "--class", "operational_reporting", "--field", "address.zip")

    proposed = treaty("register", story[1])
    waiting = treaty("migrate", "status", "5")
    known = treaty("migrate", "acknowledge", "5", "mailer", "--note", "we move in May")
    moved = treaty("migrate", "move", "5", "mailer")
    waived = treaty("migrate", "waive", "5", "maps", "--reason", "switched off", "--until", "2999-12-31")
    listed = treaty("migrate", "status")

    assert proposed.code == 0
    assert "it waits for the acknowledgement of mailer: treaty migrate status --contract customers" in proposed.output
    assert "treaty migrate acknowledge 5 mailer" in waiting.output
    assert "migration 5  customers@1 → customers@2  open" in known.output
    assert "acknowledged  mailer" in known.output
    assert "moved    mailer" in moved.output
    assert "switched off · until 2999-12-31" in waived.output
    assert "1 moved, 1 waived" in listed.output
    subscriptions = json.loads(treaty("consumer", "list", "--consumer", "mailer", "-f", "json").output)["items"]
    assert [(one["line"], one["fields"]) for one in subscriptions] == [("customers@2", ["email"])]


def test_invalid_date_is_reported(treaty: Treaty) -> None:
    result = treaty("migrate", "waive", "1", "maps", "--reason", "x", "--until", "soon")

    assert result.code == 2
    assert "is not a date" in result.errors
