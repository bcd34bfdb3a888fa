"""`treaty cutover` and `treaty can-i-cut-over`: exit codes, reasons, and what is printed."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty, Write
from tests.documents import document
from treaty.consumers.subscriptions import ConsumerClass
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.differences import ComparisonResult
from treaty.legacy.scanned_reads import ScannedRead
from treaty.registry.service import Registry

FIELDS = [
    {"name": "order_id", "logicalType": "string", "required": True, "primaryKey": True},
    {"name": "day", "logicalType": "string"},
]
FEED = """\
owner: Finance Systems
table: warehouse.revenue
key: [order_no]
period: booked_on
consumers: [desk]
parallel:
  publication: sale
  columns: {order_no: order_id, booked_on: day}
cutover: {clean_runs: 2}
"""


@pytest.fixture
def project(write: Write, tmp_path: Path) -> Path:
    """A project with a feed, whose publication the consumer has subscribed to."""
    for name in ("sold", "orders", "sale"):
        write(f"contracts/{name}.yaml", {"id": f"shop.{name}", "status": "active", "fields": FIELDS})
    write("sources/sold.yaml", "contract: shop.sold@1\nfiles: landing/*.jsonl\n")
    write("products/orders.yaml", "contract: shop.orders@1\nfrom: [sold]\n")
    write("publications/sale.yaml", "contract: shop.sale@1\nfrom: [orders]\n")
    write("legacy/revenue.yaml", FEED)
    write("treaty.yaml", "name: shop\nregistry: registry.db\n")
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        for name in ("sold", "orders", "sale"):
            registry.register((tmp_path / f"contracts/{name}.yaml").read_text())
        registry.consumers.subscribe("desk", "shop.sale@1", consumer_class="operational_reporting", team="support")
    return tmp_path


def record_clean_runs(project: Path, count: int) -> None:
    with Registry.open(str(project / "registry.db")) as registry:
        for day in range(count):
            as_of = date(2026, 3, 1) + timedelta(days=day)
            result = ComparisonResult("revenue", "sale", as_of, 10, 10, {}, {})
            registry.parallel_runs.record("shop.sale@1", "Finance Systems", result)


def test_a_consumer_moves_when_the_gate_is_open_and_the_feed_is_retired(treaty: Treaty, project: Path) -> None:
    declared = treaty("cutover", "declare")
    assert declared.code == 0, declared.errors
    assert "1 legacy" in declared.output

    asked = treaty("can-i-cut-over", "desk")
    moved = treaty("cutover", "move", "revenue", "desk")
    assert (asked.code, moved.code) == (3, 3)
    assert "revenue: 0 of 2 clean runs in a row; 2 more needed" in asked.output
    assert "desk cannot cut over from revenue" in moved.errors

    record_clean_runs(project, 2)
    assert treaty("cutover", "acknowledge", "revenue", "desk", "--note", "agreed").code == 0
    assert treaty("can-i-cut-over", "desk", "--feed", "revenue").code == 0
    assert "cut over" in treaty("cutover", "move", "revenue", "desk").output
    back = treaty("cutover", "rollback", "revenue", "desk", "--reason", "wrong codes", "--format", "json")
    assert json.loads(back.output)["state"] == "parallel"

    refused = treaty("cutover", "retire", "revenue")
    assert (refused.code, "desk has not cut over; its state is parallel" in refused.errors) == (3, True)
    record_clean_runs(project, 2)
    treaty("cutover", "acknowledge", "revenue", "desk")
    treaty("cutover", "move", "revenue", "desk")
    retired = treaty("cutover", "retire", "revenue")
    assert retired.code == 0, retired.errors
    assert "Retired" in retired.output
    assert "1 retired" in treaty("cutover", "status").output


def test_the_plan_names_critical_consumers_that_read_directly(treaty: Treaty, project: Path) -> None:
    treaty("cutover", "declare")
    guess = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'close'")
    sources = ("warehouse.revenue", "shop.orders", "elsewhere.raw")
    with Registry.open(str(project / "registry.db")) as registry:
        registry.consumers.record_lineage("shop.orders@1", None, layer="product")
        registry.dependency_map.record_scan(
            "jobs", [ScannedRead("close", source, frozenset({"day"}), "sql", guess) for source in sources]
        )

    problems = json.loads(treaty("plan", "--format", "json").output)["problems"]

    reads = [(one["message"], one["hint"]) for one in problems if one["id"] == "consumer_reads_directly"]
    critical = "close is external_regulatory, and reads"
    assert sorted(reads) == [
        (
            f"{critical} shop.orders@1 directly (scanned), which is a product",
            "publish what it needs: no publication serves it",
        ),
        (f"{critical} warehouse.revenue directly (scanned), which is a legacy feed", "read shop.sale@1 instead"),
    ]


def test_the_plan_fails_if_a_policy_forbids_a_direct_read_by_now(treaty: Treaty, project: Path) -> None:
    rule = {"name": "edge", "for": "consumer", "from": "2020-01-01", "must": {"layer": "publication"}}
    guess = ClassGuess(ConsumerClass.EXTERNAL_REGULATORY, 0.8, "its name contains 'close'")
    orders = {"id": "shop.orders", "version": "1.1.0", "status": "active", "fields": FIELDS, "parent": "base"}
    with Registry.open(str(project / "registry.db")) as registry:
        registry.register(document({"id": "base", "tier": "enterprise", "require": [rule]}))
        registry.register(document(orders))
        registry.consumers.record_lineage("shop.orders@1", None, layer="product")
        registry.dependency_map.record_scan(
            "jobs", [ScannedRead("close", "shop.orders", frozenset({"day"}), "sql", guess)]
        )

    result = treaty("plan", "--format", "json")

    problems = json.loads(result.output)["problems"]
    reads = [one for one in problems if one["id"] == "consumer_reads_directly"]
    assert (result.code, [one["severity"] for one in reads]) == (3, ["error"])
    assert "close reads a product directly (from base 1.0.0)" in reads[0]["message"]
    assert [one["id"] for one in problems if one["severity"] == "error"] == ["consumer_reads_directly"]


def test_an_approval_is_shown_with_its_author(treaty: Treaty, project: Path) -> None:
    treaty("cutover", "declare")

    answer = treaty("cutover", "approve", "revenue", "desk", "--format", "json")

    assert (answer.code, json.loads(answer.output)["approved_by"]) == (0, "ada")
    shown = treaty("cutover", "acknowledge", "revenue", "desk").output
    assert re.search(r"Approved +\d{4}-\d\d-\d\d \d\d:\d\d UTC by ada\n", shown)
    assert "0 of 2" in treaty("cutover", "status", "revenue").output


def test_unknown_feeds_and_consumers_are_clear_errors(treaty: Treaty, project: Path) -> None:
    assert "no legacy feeds; declare them with: treaty cutover declare" in treaty("cutover", "status").output
    unknown = treaty("cutover", "status", "revenu")
    assert (unknown.code, "has no legacy feed 'revenu'" in unknown.errors) == (1, True)
    assert "is not a consumer of any legacy feed" in treaty("can-i-cut-over", "nobody").errors
