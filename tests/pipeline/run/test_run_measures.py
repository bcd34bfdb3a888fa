"""Two real runs record what they measured in a registry, and a monitor measures their tables between runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.pipeline.run.kiosk import FILES, Kiosk, contracts, open_kiosk, ordered, paid
from tests.pipeline.run.kiosk import _contract as kiosk_contract
from treaty.contracts import Contract
from treaty.contracts.odcs import write_odcs
from treaty.contracts.text.writer import write_json
from treaty.contracts.versions import Line
from treaty.observability import State
from treaty.pipeline.plan import plan
from treaty.pipeline.project import read_project
from treaty.pipeline.run import RunOptions, run_project
from treaty.pipeline.run.monitoring import monitor_tables
from treaty.pipeline.run.registry_records import record_measures
from treaty.registry.model import MeasureAnswer
from treaty.registry.service import Registry

TEXT, WHOLE = {"logicalType": "string"}, {"logicalType": "integer"}
AMOUNT = {"logicalType": "number", "physicalType": "decimal(10,2)", "logicalTypeOptions": {"minimum": 0}}
OWNED = {"team": {"name": "kiosk"}}


def timed_orders() -> Contract:
    """Return the contract of ordered events with a time, a promised latency and a measured rule."""
    fields: dict[str, dict[str, Any]] = {
        "event": {**TEXT, "required": True},
        "order_id": {**TEXT, "required": True},
        "number": {**WHOLE, "required": True},
        "amount": {**AMOUNT, "quality": [{"name": "small", "type": "sql", "query": "amount < 900", "mustBe": True}]},
        "withdrawn": {"logicalType": "boolean"},
        "placed_at": {"logicalType": "timestamp", "logicalTypeOptions": {"timezone": True}},
    }
    return kiosk_contract(
        "ordered",
        fields,
        ordering={"key": ["order_id"], "sequence": "number"},
        latency={"within": "10 min", "percentile": 50},
        slaProperties=[{"property": "freshness", "value": 1, "unit": "h", "element": "ordered.placed_at"}],
        measures=[{"name": "large_orders_pct", "rule": "small", "unit": "%", "target": {"at_most": 5}}],
    )


def measured_sales() -> Contract:
    """Return the contract of the reconciliation with a measure by an expression."""
    return kiosk_contract(
        "sales",
        {"order_id": TEXT, "amount": {**AMOUNT, "required": True}, "is_paid": {"logicalType": "boolean"}},
        "order_id",
        measures=[
            {
                "name": "unpaid_pct",
                "expression": "100.0 * count_if(NOT coalesce(is_paid, false)) / count(*)",
                "unit": "percent",
                "target": {"at_most": 40},
                "owner": "kiosk",
                "meaning": "Orders that are not paid.",
            }
        ],
    )


def order(event: int, name: str, amount: float, placed_at: datetime, **more: Any) -> dict[str, Any]:
    return {**ordered(event, name, 1, amount), "placed_at": placed_at.isoformat(), **more}


def test_two_runs_record_their_measures(spark: SparkSession, tmp_path: Path) -> None:
    kiosk = open_kiosk(spark, tmp_path / "project", "measured")
    source = tmp_path / "project/sources/ordered.yaml"
    source.write_text(FILES["sources/ordered.yaml"] + "count_by: [order_id]\n")
    kiosk.contracts = contracts(ordered=timed_orders(), sales=measured_sales())
    with Registry.open(str(tmp_path / "registry.db"), actor="kiosk") as registry:
        for contract in kiosk.contracts.values():
            registry.register(write_json({**write_odcs(contract), **OWNED}))
        now = datetime.now(UTC)
        kiosk.deliver("ordered", [order(1, "A", 10, now - timedelta(days=30)), order(2, "B", 20, now)])
        kiosk.deliver("paid", [paid(1, "A", 10)])
        first = run_and_record(kiosk, tmp_path / "registry.db", now)

        assert values(registry, "ordered") == {
            "run": 1.0,
            "rows_in": 2.0,
            "volume": 2.0,
            "quarantined_rows": 0.0,
            "quarantined_share": 0.0,
            "duplicates": 0.0,
            "files_set_apart": 0.0,
            "schema_drift": 0.0,
            "large_orders_pct": 0.0,
        }
        sales = measures(registry, "sales")
        assert (sales["unpaid_pct"].value, sales["unpaid_pct"].promise, sales["unpaid_pct"].state) == (
            50.0,
            40.0,
            "failing",
        )

        placed = now - timedelta(minutes=30)
        kiosk.deliver(
            "ordered",
            [
                order(3, "C", 10, placed, coupon="SPRING"),
                order(3, "C", 10, placed, coupon="SPRING"),
                order(4, "D", 5_000, placed),
                order(5, "C", 12, placed) | {"number": 3},
            ],
        )
        kiosk.deliver("paid", [paid(2, "B", 20), paid(3, "C", 12), paid(5, "X", 5)])
        second = run_and_record(kiosk, tmp_path / "registry.db", now)

        ordered_measures = measures(registry, "ordered")
        assert values(registry, "ordered") == {
            "run": 1.0,
            "rows_in": 4.0,
            "volume": 2.0,
            "quarantined_rows": 1.0,
            "quarantined_share": 25.0,
            "duplicates": 1.0,
            "files_set_apart": 0.0,
            "schema_drift": 1.0,
            "large_orders_pct": 100 / 3,
        }
        lag = ordered_measures["lag"]
        assert 1_800 <= lag.value < 2_400
        assert (lag.promise, lag.state, lag.details["percentile"]) == (600.0, "failing", 50)
        assert ordered_measures["rows_in"].details["sources"] == {"ordered": 4}
        assert ordered_measures["rows_in"].details["by"] == {"order_id": {"C": 3}}
        assert ordered_measures["quarantined_share"].details["rules"] == {"sql:amount#small": 25.0}
        assert ordered_measures["schema_drift"].details["changes"] == [
            {"field": "coupon", "kind": "field_added", "severity": "info"}
        ]
        assert (ordered_measures["schema_drift"].state, ordered_measures["large_orders_pct"].state) == (
            "warning",
            "failing",
        )
        sales = measures(registry, "sales")
        assert (sales["unpaid_pct"].value, sales["unpaid_pct"].state) == (0.0, "healthy")
        assert (sales["exceptions_open"].value, sales["exceptions_opened"].value) == (1.0, 1.0)
        assert (sales["exceptions_closed"].value, sales["exceptions_oldest_age"].value) == (0.0, 0.0)
        orders = measures(registry, "orders")
        assert (orders["out_of_order"].value, orders["gaps"].value) == (0.0, 1.0)
        assert (orders["duration"].unit, orders["schema_drift"].value) == ("s", 0.0)
    assert (first, second) == (None, None)

    steps = plan(read_project(kiosk.folder), kiosk.contracts).steps
    report = monitor_tables(steps, kiosk.tables.catalog, "kiosk", now + timedelta(hours=2))
    checks = {check.table: check for check in report.checks}
    assert report.state is State.FAILING
    assert set(checks) == {
        *("events.ordered", "events.paid", "products.orders", "products.payments"),
        *("reconciliation.sales", "publications.books_v1"),
    }
    assert (checks["events.ordered"].age, checks["events.ordered"].measured_by) == (7_200.0, "placed_at")
    late = report.measured(checks["events.ordered"], "freshness")
    assert late is not None
    assert (late.promise, late.state) == (3_600.0, State.FAILING)
    assert {check.drift for check in report.checks} == {()}
    assert 3_600 < (checks["publications.books_v1"].age or 0) <= 7_200

    wider = {**kiosk.contracts, Line("kiosk.books", 1): kiosk_contract("books", {"order_id": TEXT, "vat": AMOUNT})}
    drifted = monitor_tables(plan(read_project(kiosk.folder), wider).steps, kiosk.tables.catalog, "kiosk", now)
    books = next(check for check in drifted.checks if check.table == "publications.books_v1")
    assert sorted((one.field, one.kind) for one in books.drift or ()) == [
        ("amount", "field_added"),
        ("is_paid", "field_added"),
        ("vat", "field_removed"),
    ]


def run_and_record(kiosk: Kiosk, place: Path, now: datetime) -> str | None:
    project = read_project(kiosk.folder)
    summary = run_project(kiosk.tables, project, kiosk.contracts, RunOptions(max_parallel_steps=1), None, now)
    assert summary.succeeded, summary.as_data()
    return record_measures(summary, lambda: Registry.open(str(place), actor="kiosk"))


def measures(registry: Registry, name: str) -> dict[str, MeasureAnswer]:
    return {one.name: one for one in registry.measures.current(contract=f"kiosk.{name}@1").items}


def values(registry: Registry, name: str) -> dict[str, float]:
    varying = ("duration", "freshness", "lag")
    return {one: found.value for one, found in measures(registry, name).items() if one not in varying}
