"""A kiosk with orders and payments: the smallest project with every layer, and helpers to deliver events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession

from tests.kafka import Kafka
from tests.pipeline.projects import laid_out
from treaty.contracts import Contract, contract_from
from treaty.contracts.versions import Line
from treaty.pipeline.project import read_project
from treaty.pipeline.run import RunEnvironment, RunOptions, RunSummary, StepProgress, run_project
from treaty.pipeline.tables import Tables

PARTITIONS = 3
"""Partitions of each topic."""
NOW = datetime(2026, 3, 1, tzinfo=UTC)
_TEXT: dict[str, Any] = {"logicalType": "string"}
_WHOLE: dict[str, Any] = {"logicalType": "integer"}
_AMOUNT: dict[str, Any] = {
    "logicalType": "number",
    "physicalType": "decimal(10,2)",
    "logicalTypeOptions": {"minimum": 0},
}

FILES = {
    "sources/ordered.yaml": "contract: kiosk.ordered@1\nfiles: landing/ordered/*.jsonl\nidentity: [event]\n",
    "sources/paid.yaml": "contract: kiosk.paid@1\nfiles: landing/paid/*.jsonl\nidentity: [event]\n",
    "products/orders.yaml": "contract: kiosk.orders@1\nfrom: [ordered]\ndeleted_when: withdrawn\n",
    "products/payments.yaml": "contract: kiosk.payments@1\nfrom: [paid]\nsql: payments.sql\n",
    "payments.sql": "SELECT order_id, sum(amount) AS amount, count(*) AS payments FROM paid GROUP BY order_id\n",
    "reconciliations/sales.yaml": """
contract: kiosk.sales@1
owner: Bookkeeping
claims:
  order: {product: orders}
  payment: {product: payments}
attributes:
  amount: {authority: [order, payment], agree: exact, owner: Till}
  is_paid: {derived: "payment.order_id IS NOT NULL"}
assertions:
  order_is_known: {holds: "order.order_id IS NOT NULL", otherwise: missing}
""",
    "publications/books.yaml": "contract: kiosk.books@1\nfrom: [sales]\nsql: books.sql\n",
    "books.sql": "SELECT order_id, amount, is_paid FROM sales WHERE amount < 1000\n",
}


def _contract(name: str, fields: Mapping[str, Mapping[str, Any]], key: str | None = None, **more: Any) -> Contract:
    properties = [
        {"name": field, **terms, **({"primaryKey": True, "required": True} if field == key else {})}
        for field, terms in fields.items()
    ]
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": f"kiosk.{name}",
        "version": "1.0.0",
        "status": "active",
        "schema": [{"name": name, "properties": properties, **more.pop("object", {})}],
        **more,
    }
    return contract_from(document)


def contracts(**changed: Contract) -> dict[Line, Contract]:
    """Return the contracts of the project, some of them changed."""
    by_name = {
        "ordered": _contract(
            "ordered",
            {
                "event": {**_TEXT, "required": True},
                "order_id": {**_TEXT, "required": True},
                "number": {**_WHOLE, "required": True},
                "amount": _AMOUNT,
                "withdrawn": {"logicalType": "boolean"},
            },
            ordering={"key": ["order_id"], "sequence": "number"},
        ),
        "paid": _contract(
            "paid",
            {
                "event": {**_TEXT, "required": True},
                "order_id": _TEXT,
                "amount": _AMOUNT,
                "till": _TEXT,
                "receipt": _WHOLE,
            },
            ordering={"key": ["till"], "sequence": "receipt"},
        ),
        "orders": _contract("orders", {"order_id": _TEXT, "amount": _AMOUNT}, "order_id"),
        "payments": _contract("payments", {"order_id": _TEXT, "amount": _AMOUNT, "payments": _WHOLE}, "order_id"),
        "sales": _contract(
            "sales",
            {"order_id": _TEXT, "amount": {**_AMOUNT, "required": True}, "is_paid": {"logicalType": "boolean"}},
            "order_id",
        ),
        "books": books(),
        **changed,
    }
    return {Line(contract.id, 1): contract for contract in by_name.values()}


def books(most: int = 500, **more: Any) -> Contract:
    """Return the contract of the publication; amounts above `most` violate it."""
    amount = {**_AMOUNT, "logicalTypeOptions": {"minimum": 0, "maximum": most}}
    fields: dict[str, dict[str, Any]] = {"order_id": _TEXT, "amount": amount, "is_paid": {"logicalType": "boolean"}}
    return _contract("books", fields, "order_id", **more)


def ordered(event: int, order: str, number: int, amount: Any, withdrawn: bool | None = None) -> dict[str, Any]:
    """Return the event of an order."""
    event_fields = {"event": f"o{event}", "order_id": order, "number": number, "amount": amount, "withdrawn": withdrawn}
    return {name: value for name, value in event_fields.items() if value is not None}


def paid(event: int, order: str, amount: Any) -> dict[str, Any]:
    """Return the event of a payment; receipts of a till are numbered across orders."""
    return {"event": f"p{event}", "order_id": order, "amount": amount, "till": f"t{event % 2}", "receipt": event}


def deliver(folder: Path, source: str, number: int, events: Iterable[dict[str, Any] | str]) -> None:
    """Write a file of events into the landing folder of a project."""
    path = folder / "landing" / source / f"{number:04}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in events))


@dataclass
class Kiosk:
    """The project in a folder, with its own tables."""

    folder: Path
    tables: Tables
    contracts: dict[Line, Contract] = field(default_factory=contracts)
    runs: int = 0
    files: int = 0
    progress: list[StepProgress] = field(default_factory=list)
    """The phases that the steps of the last run have reached."""

    def deliver(self, source: str, events: Iterable[dict[str, Any] | str]) -> None:
        """Write a file of events."""
        self.files += 1
        deliver(self.folder, source, self.files, events)

    def run(self, wish: RunOptions | None = None, stop_at: int | None = None) -> RunSummary:
        """Run once; `stop_at` aborts the run at the phase with that number, as if the process were killed."""
        self.runs += 1
        self.progress.clear()

        def tell(happening: StepProgress) -> None:
            self.progress.append(happening)
            if len(self.progress) == stop_at:
                raise Killed

        project = read_project(self.folder)
        now = NOW + timedelta(minutes=self.runs)
        asked = wish or RunOptions(max_parallel_steps=1)
        return run_project(self.tables, project, self.contracts, asked, RunEnvironment(tell), now)

    def rows(self, table: str, *columns: str) -> list[tuple[Any, ...]]:
        """Return the published rows of a table, in order."""
        frame = self.tables.read(table)
        return sorted(tuple(map(str, row)) for row in frame.select(*(columns or frame.columns)).collect())

    def current_rows(self, table: str) -> list[tuple[Any, ...]]:
        """Return the rows that the next step reads, without columns that depend on the run."""
        frame = self.tables.current_rows(table)
        kept = [name for name in frame.columns if name not in ("_run", "first_seen", "last_seen")]
        return sorted(tuple(map(str, row)) for row in frame.select(*kept).collect())

    def everything(self) -> dict[str, list[tuple[Any, ...]]]:
        """Return the rows of every derived table, which a replay must reproduce."""
        derived = [f"events.{name}" for name in ("ordered", "paid")] + ["products.orders", "products.payments"]
        state = {
            table: self.current_rows(table) for table in (*derived, "reconciliation.sales", "publications.books_v1")
        }
        doubts = self.tables.read("reconciliation.sales_exceptions").where("state <> 'resolved'")
        state["doubts"] = sorted(
            tuple(map(str, row)) for row in doubts.drop("_run", "first_seen", "last_seen").collect()
        )
        return state


class Killed(BaseException):
    """Simulates kill -9: must not be caught."""


def open_kiosk(spark: SparkSession, folder: Path, name: str) -> Kiosk:
    """Write the project, with tables in a separate namespace."""
    laid_out(folder, FILES)
    (folder / "treaty.yaml").write_text(yaml.safe_dump({"name": "kiosk"}))
    spark.sql(f"CREATE NAMESPACE IF NOT EXISTS lake.{name}")
    return Kiosk(folder, Tables(spark, f"lake.{name}"))


def open_topic_kiosk(spark: SparkSession, folder: Path, name: str, kafka: Kafka) -> tuple[Kiosk, dict[str, str]]:
    """Write the project with topics as its sources; return it with the topic of each source."""
    kiosk = open_kiosk(spark, folder, name)
    topics = {source: kafka.create_topic(source, PARTITIONS) for source in ("ordered", "paid")}
    for source, topic in topics.items():
        declared = f"contract: kiosk.{source}@1\ntopic: {topic}\nbootstrap: {kafka.bootstrap}\nidentity: [event]\n"
        (folder / "sources" / f"{source}.yaml").write_text(declared)
    return kiosk, topics
