"""A publication on Spark that delivers to consumers, with the policies and subscriptions of a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]

from treaty.contracts import Contract
from treaty.contracts.paths import FieldPath, parse_path
from treaty.contracts.versions import parse_line
from treaty.errors import NotFound
from treaty.pipeline.project.declarations import ConsumerDelivery, Publication
from treaty.pipeline.sinks import SinkEnvironment
from treaty.pipeline.sinks.consumer_delivery import PublishedRows, deliver_to_consumer
from treaty.pipeline.tables import NewStamp, Stamp, Tables
from treaty.policy import EffectiveView, effective_view
from treaty.policy.key_files import key_finder
from treaty.registry.model import AccessReport
from treaty.spark.schema import select_object, struct_type

TABLE = "publications.orders_v1"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Reader:
    """A consumer with its declared fields and purpose."""

    consumer: str
    fields: tuple[FieldPath, ...] = ()
    purpose: str | None = None

    @classmethod
    def of(cls, consumer: str, purpose: str | None = None, *fields: str) -> Reader:
        """Return a consumer that reads some fields, or all."""
        return cls(consumer, tuple(map(parse_path, fields)), purpose)


@dataclass
class Publisher:
    """A publication with its table, from which consumers get their part."""

    tables: Tables
    contract: Contract
    deliveries: tuple[ConsumerDelivery, ...]
    readers: Mapping[str, Reader]
    keys: Mapping[str, str]
    accesses: list[AccessReport] = field(default_factory=list)
    runs: int = 0

    def publish(self, rows: pa.Table) -> Stamp:
        """Publish rows in place of all earlier ones, as a run does."""
        self.runs += 1
        self.tables.ensure(TABLE, struct_type(select_object(self.contract)), {})
        staged = self.tables.stage(TABLE, self.runs)
        staged.delete_all()
        frame = self.tables.spark.createDataFrame(rows)
        staged.append(frame, NewStamp(self.runs, {}, f"{self.contract.id} {self.contract.version}", "d", {}))
        return staged.publish()

    def deliver(self, now: datetime = NOW) -> dict[str, tuple[str, ...]]:
        """Deliver to every consumer in a run of its own; return the remarks by consumer."""
        self.runs += 1
        stamp = self.tables.stamp(TABLE)
        assert stamp is not None
        publication = Publication("orders", parse_line(f"{self.contract.id}@1"), (), "orders_v1")
        environment = SinkEnvironment({}, None, {}, self._find_view, key_finder(self.keys), self.accesses.extend)
        rows = PublishedRows(publication, self.contract, TABLE, stamp, "shop", self.runs, now, self.tables, environment)
        return {one.consumer: deliver_to_consumer(rows, one) for one in self.deliveries}

    def _find_view(self, contract: Contract, consumer: str, region: str | None) -> EffectiveView:
        if consumer not in self.readers:
            raise NotFound(f"{consumer} has no subscription")
        return effective_view(contract, self.readers[consumer], region=region)


def feed_files(folder: Path, consumer: str) -> list[Path]:
    """Return the data files of the newest delivery to a consumer."""
    runs = sorted((folder / consumer / "orders_v1").glob("run=*"), key=lambda path: int(path.name.partition("=")[2]))
    return sorted(path for path in runs[-1].iterdir() if path.name != "manifest.json")
