"""A published table without Spark: runs are stamped snapshots that PyIceberg writes, and a delivery sends them."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from treaty.contracts import Contract, contract_from
from treaty.contracts.versions import Line
from treaty.pipeline.project.declarations import Form, Publication, Records, Topic
from treaty.pipeline.sinks.topic import delivery as delivery_module
from treaty.pipeline.sinks.topic.delivery import SendStep, Sent, TopicDelivery, send_changes
from treaty.pipeline.tables import NewStamp, Stamp, TableCatalog
from treaty.spark.session_options import IcebergCatalog, SparkOptions

TABLE = "publications.releases_v1"
COLUMNS = pa.schema(
    [
        pa.field("order_id", pa.string()),
        pa.field("release", pa.int64()),
        pa.field("amount", pa.decimal128(10, 2)),
        pa.field("placed_at", pa.timestamp("us", tz="UTC")),
        pa.field("lines", pa.list_(pa.struct([("sku", pa.string()), ("pieces", pa.int32())]))),
    ]
)
PLACED_AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def releases(key: Iterable[str] = ("order_id", "release"), version: str = "1.0.0") -> Contract:
    """Return a contract of releases of orders, which are ordered by order and release."""
    key = tuple(key)
    types: dict[str, dict[str, Any]] = {
        "order_id": {"logicalType": "string", "required": True},
        "release": {"logicalType": "integer", "logicalTypeOptions": {"format": "i64"}, "required": True},
        "amount": {"logicalType": "number", "physicalType": "decimal(10,2)"},
        "placed_at": {"logicalType": "timestamp"},
        "lines": {
            "logicalType": "array",
            "items": {
                "logicalType": "object",
                "properties": [
                    {"name": "sku", "logicalType": "string"},
                    {"name": "pieces", "logicalType": "integer"},
                ],
            },
        },
    }
    properties = [{"name": name, **kind, "primaryKey": name in key} for name, kind in types.items()]
    return contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": "shop.releases",
            "version": version,
            "status": "active",
            "ordering": {"key": ["order_id"], "sequence": "release"},
            "schema": [{"name": "releases", "properties": properties}],
        }
    )


def release(order: str, number: int, amount: str = "10.00") -> dict[str, Any]:
    """Return a row."""
    return {
        "order_id": order,
        "release": number,
        "amount": Decimal(amount),
        "placed_at": PLACED_AT,
        "lines": [{"sku": "s-1", "pieces": 2}],
    }


@dataclass(frozen=True)
class PublishedTable:
    """The table in a folder, and the topic that it is sent to."""

    folder: Path
    topic: Topic
    contract: Contract = field(default_factory=releases)

    def catalog(self) -> TableCatalog:
        """Open the catalog."""
        lake = IcebergCatalog(f"jdbc:sqlite:{self.folder / 'lake.db'}", str(self.folder / "lake"), name="lake")
        return TableCatalog.from_options(SparkOptions(catalog=lake))

    def publish(self, run: int, rows: Iterable[Mapping[str, Any]] = (), delete: str | None = None) -> None:
        """Publish a run that deletes the rows with a condition and adds others, in one commit for readers."""
        catalog = self.catalog()
        catalog.create_namespace("publications")
        identifier = ("publications", "releases_v1")
        opened = catalog._open()
        table = opened.create_table_if_not_exists(identifier, COLUMNS, properties={"commit.retry.num-retries": "0"})
        stamp = NewStamp(run, {}, f"{self.contract.id} {self.contract.version}", "", {}).properties()
        with table.transaction() as transaction:
            if delete is not None:
                transaction.delete(delete, snapshot_properties=stamp)
            transaction.append(pa.Table.from_pylist(list(rows), COLUMNS), snapshot_properties=stamp)

    def stamp(self) -> Stamp:
        """Return the stamp of the published state."""
        return self.catalog().stamps(TABLE)[0]

    def delivery(self, **more: Any) -> TopicDelivery:
        """Return the delivery of the published state."""
        publication = Publication(
            "releases",
            Line(self.contract.id, 1),
            ("orders",),
            "releases_v1",
            form=Form.TOPIC,
            topic=self.topic,
            at="publications/releases.yaml:1",
        )
        given: dict[str, Any] = {"project": "shop", **more}
        return TopicDelivery(self.catalog(), TABLE, publication, self.contract, self.stamp(), **given)

    def send(self, **more: Any) -> Sent | None:
        """Send what the topic does not reflect yet."""
        return send_changes(self.delivery(**more))

    def with_records(self, records: Records) -> PublishedTable:
        """Return the table with other records."""
        return replace(self, topic=replace(self.topic, records=records))


def kill_at(number: int) -> Callable[[SendStep], None]:
    """Return what kills this process at the step with a number, as `kill -9` does."""
    steps: list[SendStep] = []

    def count(step: SendStep) -> None:
        steps.append(step)
        if len(steps) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return count


def send_until_killed(table: PublishedTable, number: int, records_per_transaction: int) -> None:
    """Send in this process, which is killed at a step; the process is one of its own, without Spark."""
    delivery_module.RECORDS_PER_TRANSACTION = records_per_transaction
    table.send(on_step=kill_at(number))
