"""`treaty lint`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.conftest import Treaty, Write
from treaty.consumers.dependencies import MadeFrom
from treaty.consumers.subscriptions import parse_fields
from treaty.contracts.versions import Line
from treaty.registry.service import Registry

CLEAR: dict[str, Any] = {
    "description": {"purpose": "Every order that checkout accepted."},
    "slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}],
    "fields": [{"name": "order_id", "logicalType": "string", "description": "Identifies an order for ever."}],
}
UNCLEAR = {**CLEAR, "fields": [{"name": "status", "logicalType": "string"}]}


def test_a_legible_contract_passes_in_one_line(treaty: Treaty, write: Write) -> None:
    result = treaty("lint", write("orders.yaml", CLEAR))

    assert result.code == 0
    assert result.output == "1 contract · no findings · 1 of 1 field understandable\n"


def test_findings_name_line_severity_rule_and_what_to_do(treaty: Treaty, write: Write) -> None:
    result = treaty("lint", write("orders.yaml", UNCLEAR))

    assert result.code == 3
    assert "orders.yaml  orders 1.0.0 · score 0 %" in result.output
    assert "error    field status has no description" in result.output
    assert "describe what it means to the business" in result.output
    assert "description-missing" in result.output
    assert "1 contract · 1 error · 1 warning · 0 of 1 field understandable" in result.output


def test_warnings_pass_unless_asked_to_be_strict(treaty: Treaty, write: Write) -> None:
    field = {"name": "status", "logicalType": "string", "description": "Where fulfilment stands with the order."}
    file = write("orders.yaml", {**CLEAR, "fields": [field]})

    assert treaty("lint", file).code == 0
    assert treaty("lint", "--strict", file).code == 3


def test_a_folder_is_searched_for_contracts_and_nothing_else(treaty: Treaty, write: Write) -> None:
    write("a/orders.yaml", CLEAR)
    write("a/b/users.yml", {**CLEAR, "id": "users"})
    write("a/compose.yaml", "services: {web: {image: nginx}}\n")
    write("a/.hidden/orders.yaml", UNCLEAR)
    write("a/package.json", '{"name": "x"}')

    result = treaty("lint", "a")

    assert result.code == 0
    assert result.output.startswith("2 contracts")


def test_a_broken_document_is_a_finding_and_the_others_are_still_judged(treaty: Treaty, write: Write) -> None:
    write("c/bad.yaml", "apiVersion: v3.2.0\nkind: DataContract\nid: a\nid: b\n")
    write("c/good.yaml", CLEAR)

    result = treaty("lint", "c")

    assert result.code == 3
    assert "the key 'id' occurs twice" in result.output
    assert "2 contracts · 1 error" in result.output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["lint", "nothing.yaml"], 1, "error: there is no file nothing.yaml; check the path"),
        (["lint"], 2, "Missing argument"),
        (["lint", ".", "--format", "xml"], 2, "--format"),
        (["lint", "."], 1, "no contracts found in .; create one with: treaty init"),
        (["lint", "git:HEAD"], 1, "write git:REF:path"),
        (["lint", ".", "--config", "nothing.yaml"], 1, "no project file at nothing.yaml"),
        (["lint", ".", "--config", "."], 1, ". is a folder; give its project file: treaty.yaml"),
        (["lint", ".", "--now", "soon"], 2, "2026-12-31"),
    ],
)
def test_a_mistake_gets_one_clear_error(treaty: Treaty, arguments: list[str], code: int, said: str) -> None:
    result = treaty(*arguments)

    assert result.code == code
    assert said in result.errors
    assert "Traceback" not in result.errors


def test_json_has_every_finding_with_its_place(treaty: Treaty, write: Write) -> None:
    result = treaty("lint", "--format", "json", write("orders.yaml", UNCLEAR))

    (report,) = json.loads(result.output)["contracts"]
    assert report["legibility"] == 0
    assert {one["id"] for one in report["findings"]} == {"description-missing", "name-bare"}
    assert {(one["source"], type(one["line"])) for one in report["findings"]} == {("orders.yaml", int)}


def test_sarif_points_to_file_and_line(treaty: Treaty, write: Write) -> None:
    log = json.loads(treaty("lint", "--format", "sarif", write("orders.yaml", UNCLEAR)).output)

    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"description-missing", "name-bare"}
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "orders.yaml"
    assert location["region"]["startLine"] > 1


def test_markdown_is_a_table_for_a_comment(treaty: Treaty, write: Write) -> None:
    output = treaty("lint", "--format", "markdown", write("orders.yaml", UNCLEAR)).output

    assert "**Treaty lint**: 1 contract · 1 error" in output
    assert "`description-missing` |" in output


def test_rules_are_regraded_and_waived_in_the_project_file(treaty: Treaty, write: Write) -> None:
    waiver = '{rule: description-missing, owner: checkout, reason: next sprint, until: "2026-06-30"}'
    write("treaty.yaml", f"lint: {{rules: {{name-bare: 'off'}}}}\nwaivers:\n  - {waiver}\n")
    file = write("orders.yaml", UNCLEAR)

    assert treaty("lint", file, "--now", "2026-06-30").code == 0
    waived = treaty("lint", file, "--now", "2026-06-30").output
    assert "waived by checkout until 2026-06-30: next sprint" in waived
    assert "1 waived" in waived
    assert treaty("lint", file, "--now", "2026-07-01").code == 3


WIDE = {
    **CLEAR,
    "event": {"type": "OrderPlaced", "meaning": "The order was accepted."},
    "fields": [
        {"name": f"part_{number}", "logicalType": "string", "description": "One of many parts."}
        for number in range(1, 22)
    ],
}
UNREAD = "the event has 21 fields, and no consumer reads part_1, part_2"


@pytest.mark.parametrize("place", ["file", "server"])
def test_a_registry_knows_which_fields_of_a_wide_event_nobody_reads(
    treaty: Treaty, write: Write, served: str, place: str
) -> None:
    registry = ("--registry", served if place == "server" else "registry.db")
    file = write("orders.yaml", WIDE)
    fields = [part for number in range(3, 22) for part in ("--field", f"part_{number}")]
    assert treaty("register", file, *registry).code == 0
    subscribed = ("consumer", "subscribe", "ledger", "orders@1", "--class", "operational_reporting")
    assert treaty(*subscribed, *fields, *registry).code == 0

    assert UNREAD in treaty("lint", file, *registry).output
    assert UNREAD not in treaty("lint", file).output


def test_a_consumer_that_did_not_name_its_fields_may_read_all(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", WIDE)
    assert treaty("register", file).code == 0
    assert treaty("consumer", "subscribe", "ledger", "orders@1", "--class", "operational_reporting").code == 0

    assert "no consumer reads" not in treaty("lint", file, "--registry", ".treaty/registry.db").output


def test_a_line_that_is_derived_from_the_event_reads_the_fields_of_its_lineage(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", WIDE)
    taken = [f"part_{number}" for number in range(3, 22)]
    derived = {**CLEAR, "id": "totals", "lineage": [{"contract": "orders@1", "fields": taken}]}
    assert treaty("register", file, write("totals.yaml", derived)).code == 0

    assert UNREAD in treaty("lint", file, "--registry", ".treaty/registry.db").output


def test_fields_that_runs_were_seen_to_read_count_as_read(treaty: Treaty, write: Write) -> None:
    file = write("orders.yaml", WIDE)
    derived = {**CLEAR, "id": "totals", "lineage": [{"contract": "orders@1"}]}
    assert treaty("register", file, write("totals.yaml", derived)).code == 0
    before = treaty("lint", file, "--registry", ".treaty/registry.db").output
    seen = parse_fields([f"part_{number}" for number in range(3, 22)])

    with Registry.open(".treaty/registry.db") as registry:
        registry.consumers.record_lineage("totals@1", [MadeFrom(Line("totals", 1), Line("orders", 1), seen)])

    assert "no consumer reads" not in before  # which fields it uses was not known
    assert UNREAD in treaty("lint", file, "--registry", ".treaty/registry.db").output


def test_a_key_of_a_table_and_its_description_are_leaks(treaty: Treaty, write: Write) -> None:
    field = {"name": "order_pk", "logicalType": "integer", "description": "Primary key of the table in Postgres."}

    output = treaty("lint", write("orders.yaml", {**CLEAR, "fields": [field]})).output

    assert "order_pk looks like a database row id of the producer" in output
    assert "refers to the producer's storage" in output
