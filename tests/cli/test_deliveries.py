"""Deliveries to consumers from a project with a registry: refused by `treaty plan`, made and recorded by a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.cli.conftest import Treaty, Write
from tests.documents import document
from tests.pipeline.tables.orders import place_of
from treaty.cli.pipeline_project import open_project
from treaty.cli.sink_environment import sink_environment
from treaty.pipeline.run import RunEnvironment, run_project
from treaty.pipeline.tables import Tables

FIELDS = [
    {"name": "order_id", "logicalType": "string", "required": True, "primaryKey": True},
    {"name": "seq", "logicalType": "integer"},
    {"name": "customer", "logicalType": "string", "classification": "restricted"},
    {"name": "country", "logicalType": "string"},
]
POLICY = {
    "classifications": {"restricted": {"mask": "redact", "clear_for": ["support"]}},
    "purposes": ["support", "delivery"],
    "residency": {"column": "country", "serve": {"DE": ["eu"], "US": ["us"]}},
}
PUBLICATION = """
contract: shop.orders@1
from: [placed]
for:
  partner: {region: eu, feed: {folder: feeds, format: csv}}
  support: {region: us, table: orders}
"""
EVENTS = (
    {"order_id": "O-1", "seq": 1, "customer": "anna", "country": "DE"},
    {"order_id": "O-2", "seq": 1, "customer": "ben", "country": "US"},
)


@pytest.fixture
def project(treaty: Treaty, write: Write, tmp_path: Path) -> Path:
    """A project with a registry, and two consumers of its publication."""
    iceberg = f"{{name: lake, uri: 'jdbc:sqlite:{tmp_path}/lake.db', warehouse: {tmp_path}/lake}}"
    write("treaty.yaml", f"name: shop\nregistry: registry.db\nspark: {{iceberg: {iceberg}}}\n")
    write("sources/placed.yaml", "contract: shop.placed@1\nfiles: landing/*.jsonl\n")
    write("landing/1.jsonl", "".join(json.dumps(event) + "\n" for event in EVENTS))
    write("publications/orders.yaml", PUBLICATION)
    ordering = {"key": ["order_id"], "sequence": "seq"}
    placed = document({"id": "shop.placed", "fields": FIELDS, "ordering": ordering})
    orders = document({"id": "shop.orders", "fields": FIELDS, "data_policy": POLICY})
    for name, contract in (("placed", placed), ("orders", orders)):
        assert treaty("register", write(f"{name}.yaml", contract), "--registry", "registry.db").code == 0
    for consumer, purpose in (("partner", "delivery"), ("support", "support"), ("ads", "advertising")):
        options = ("--class", "operational_reporting", "--purpose", purpose, "--team", consumer, "--field", "order_id")
        more = ("--field", "customer", "--field", "country")
        assert treaty("consumer", "subscribe", consumer, "shop.orders@1", *options, *more).code == 0
    return tmp_path


def test_plan_refuses_what_the_policy_does_not_allow(treaty: Treaty, write: Write, project: Path) -> None:
    fine = treaty("plan", "--format", "json")
    write(
        "publications/orders.yaml",
        "contract: shop.orders@1\nfrom: [placed]\nfor:\n"
        "  partner: {region: asia, feed: {folder: feeds, format: csv}}\n"
        "  support: {table: orders}\n"
        "  ads: {region: eu, table: orders}\n"
        "  strangers: {region: eu, table: orders}\n",
    )
    refused = treaty("plan", "--format", "json")
    problems = [(one["id"], one["severity"]) for one in json.loads(refused.output)["problems"]]
    text = " ".join(treaty("plan").output.split())

    assert (fine.code, json.loads(fine.output)["problems"]) == (0, [])
    assert refused.code == 3
    assert sorted(problems) == [
        ("delivery-refused", "error"),
        ("delivery-refused", "error"),
        ("delivery-region", "error"),
        ("delivery-region", "warning"),
    ]
    assert "data_policy.residency of shop.orders 1.0.0 allows no rows in the region asia" in text
    assert "the purpose 'advertising' is not allowed" in text
    assert "strangers has no subscription to shop.orders@1" in text


def test_plan_lists_deliveries_with_consumer_and_region(treaty: Treaty, write: Write, project: Path) -> None:
    topic = "\n  models: {topic: {bootstrap: 'broker:9092'}, view: orders}\n"
    write("publications/orders.yaml", PUBLICATION.rstrip() + topic)

    text = treaty("plan").output
    steps = json.loads(treaty("plan", "--format", "json").output)["steps"]

    listed = [" ".join(line.split()) for line in text.partition("deliveries")[2].splitlines() if " for " in line][:3]
    assert listed == [
        "● orders for partner in eu files in feeds/partner/orders_v1",
        "● orders for support in us table support.orders",
        "● orders for models no region topic shop.orders.v1.models; table models.orders_v1; view models.orders",
    ]
    assert {step["name"]: step["deliveries"] for step in steps if step["deliveries"]} == {
        "orders": [
            {"consumer": "partner", "region": "eu", "feed": f"{project}/feeds/partner/orders_v1"},
            {"consumer": "support", "region": "us", "table": "support.orders"},
            {
                "consumer": "models",
                "region": None,
                "topic": "shop.orders.v1.models",
                "table": "models.orders_v1",
                "view": "models.orders",
            },
        ],
    }


def test_a_run_delivers_to_each_consumer_and_records_it(
    treaty: Treaty, project: Path, spark: SparkSession, request: pytest.FixtureRequest, write: Write
) -> None:
    opened = open_project(project, None)
    tables = Tables(spark, place_of(request))
    environment = RunEnvironment(sinks=sink_environment(opened))

    def run() -> Any:
        summary = run_project(tables, opened.project, dict(opened.contracts.by_line), environment=environment)
        return next(step for step in summary.steps if step.name == "orders")

    first, second = run(), run()
    (file,) = (project / "feeds/partner/orders_v1").glob("run=*/*.csv")
    accesses = json.loads(treaty("consumer", "accesses", "--contract", "shop.orders", "-f", "json").output)
    listed = accesses["items"] if isinstance(accesses, dict) else accesses

    assert first.remarks == (f"delivered 1 row to {file.parent}", "wrote 1 row to support.orders")
    assert (second.outcome.value, second.remarks) == ("nothing new", ())
    assert file.read_text() == "order_id,customer,country\nO-1,***,DE\n"
    assert [tuple(row) for row in tables.read("support.orders").collect()] == [("O-2", "ben", "US")]
    assert [(one["consumer"], one["decision"], one["rows"], one["actor"]) for one in listed] == [
        ("support", "delivered", 1, "ada"),
        ("partner", "delivered", 1, "ada"),
    ]

    treaty("consumer", "unsubscribe", "support", "shop.orders@1")
    write("landing/2.jsonl", json.dumps({"order_id": "O-3", "seq": 1, "customer": "cleo", "country": "DE"}) + "\n")
    third = run()

    assert third.outcome.value == "failed"
    assert third.reasons[0].startswith("support has no subscription to shop.orders@1")
    assert third.remarks[0].startswith("delivered 2 rows to ")
    assert tables.read("publications.orders_v1").count() == 3
