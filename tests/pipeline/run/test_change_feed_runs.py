"""Runs of a project with a change feed: deletes reach the products, and a rebuild gives the same tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.pipeline.layers.arrivals import contract
from tests.pipeline.projects import laid_out
from tests.pipeline.run.kiosk import Kiosk
from treaty.contracts.versions import Line
from treaty.observability.lineage_events import as_data
from treaty.pipeline.plan import plan
from treaty.pipeline.project import read_project
from treaty.pipeline.run import RunOptions, RunSummary
from treaty.pipeline.run.run_events import run_ended, tables_below
from treaty.pipeline.tables import Tables

FILES = {
    "treaty.yaml": "name: crm\n",
    "sources/customer_rows.yaml": """
contract: shop.customer_rows@1
files: landing/customer_rows/*.jsonl
change_feed: debezium
envelope: {lsn: source.lsn}
""",
    "products/customers.yaml": "contract: shop.customers@1\nfrom: [customer_rows]\n",
    "products/all_customers.yaml": """
contract: shop.all_customers@1
from: [customer_rows]
on_delete: {mark: is_gone}
""",
}
_NUMBER: dict[str, Any] = {"logicalType": "integer", "logicalTypeOptions": {"format": "i64"}}
_ID: dict[str, Any] = {"logicalType": "integer", "required": True}
_KEY = {**_ID, "primaryKey": True}
_CONTRACTS = (
    contract(
        "customer_rows",
        {"id": _ID, "name": {"required": True}, "lsn": _NUMBER},
        ordering={"key": ["id"], "sequence": "lsn"},
    ),
    contract("customers", {"id": _KEY, "name": {"required": True}}),
    contract("all_customers", {"id": _KEY, "name": {"required": True}, "is_gone": {"logicalType": "boolean"}}),
)


def _change(op: str, lsn: int, identity: int, name: str | None = None) -> dict[str, Any]:
    row = {"id": identity, "name": name}
    before, after = (row, None) if op == "d" else (None, row)
    return {"before": before, "after": after, "source": {"lsn": lsn}, "op": op}


def _customers(crm: Kiosk) -> list[tuple[str, ...]]:
    return [row[:2] for row in crm.current_rows("products.customers")]


def _described(crm: Kiosk, summary: RunSummary) -> dict[str, str]:
    """Return the descriptions of contracts in the lineage events of a run."""
    planned = plan(read_project(crm.folder), crm.contracts)
    events = as_data(run_ended("shop", planned, summary, tables_below("s3://lake", "crm")))
    outputs = [output["facets"] for event in events for output in event["outputs"]]
    return {
        facets["treaty_contract"]["contract"]: facets["documentation"]["description"]
        for facets in outputs
        if "documentation" in facets and "treaty_contract" in facets
    }


def test_deletes_reach_products_and_a_rebuild_gives_the_same(spark: SparkSession, tmp_path: Path) -> None:
    laid_out(tmp_path, FILES)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.crm")
    crm = Kiosk(tmp_path, Tables(spark, "lake.crm"), {Line(one.id, 1): one for one in _CONTRACTS})
    begin = {"status": "BEGIN", "id": "1"}
    crm.deliver("customer_rows", [begin, _change("r", 1, 1, "Ada"), _change("r", 1, 2, "Bo"), _change("r", 1, 3, "Cy")])

    first = crm.run()

    assert first.succeeded, [step.reasons for step in first.steps]
    events = next(step for step in first.steps if step.layer == "events").counts
    assert (events.rows_in, events.accepted, events.control) == (4, 3, 1)
    assert _customers(crm) == [("1", "Ada"), ("2", "Bo"), ("3", "Cy")]
    assert _described(crm, first) == {"shop.customer_rows": "change feed, not a business contract"}

    late = _change("u", 5, 2, "Bo, late")
    crm.deliver("customer_rows", [_change("u", 6, 1, "Ada L."), _change("d", 7, 2), "null", json.dumps({"op": "t"})])
    crm.deliver("customer_rows", [late, _change("u", 6, 1, "Ada L."), _change("d", 8, 3), _change("c", 9, 3, "Cy 2")])
    second = crm.run()

    assert second.succeeded, [step.reasons for step in second.steps]
    counts = next(step for step in second.steps if step.layer == "events").counts
    assert (counts.accepted, counts.duplicate, counts.quarantined, counts.control) == (5, 1, 1, 1)
    assert _customers(crm) == [("1", "Ada L."), ("3", "Cy 2")]
    assert [row[:3] for row in crm.current_rows("products.all_customers")] == [
        ("1", "Ada L.", "False"),
        ("2", "Bo, late", "True"),
        ("3", "Cy 2", "False"),
    ]
    before = {table: crm.current_rows(table) for table in ("products.customers", "products.all_customers")}

    replayed = crm.run(RunOptions(rebuild=True, from_raw=True))

    assert replayed.succeeded
    assert {table: crm.current_rows(table) for table in before} == before
