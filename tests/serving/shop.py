"""A shop whose orders are published and served: its contract, its table of Iceberg, and who reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa  # type: ignore[import-untyped]
from pyiceberg.catalog import load_catalog

from tests.server.running import client_of, running
from treaty.contracts.versions import Line
from treaty.pipeline.tables.layout import TableNamespace
from treaty.pipeline.tables.table_catalog import TableCatalog
from treaty.policy.key_files import key_finder
from treaty.registry.notices.secret_box import SecretBox, new_key
from treaty.registry.service import Registry
from treaty.server.app import create_app, serve_rows
from treaty.server.settings import AccessSettings
from treaty.serving.cursors import CursorCodec
from treaty.serving.data_service import DataService, ServedPublication
from treaty.serving.published_table import LoadedTable, PublishedSnapshot, PublishedTable

ID = "shop.orders"
LINE = f"{ID}@1"
KEYS = {"TREATY_CUSTOMERS_KEY": "a:a secret of the tests of serving"}
POLICY: dict[str, Any] = {
    "classifications": {
        "restricted": {"mask": "hash", "key": "customers", "clear_for": ["support"]},
        "secret": {"mask": "redact", "text": "withheld", "clear_for": ["support"]},
    },
    "purposes": ["support", "analytics", "partner"],
}
ROWS: tuple[dict[str, Any], ...] = tuple(
    {
        "order_id": f"ORD-{number:04}",
        "placed_on": date(2026, 1, 1 + number % 28),
        "customer": f"customer {number % 7}",
        "email": f"mail{number}@example.org",
        "amount": Decimal(number * 5) / 4,
        "country": ("de", "us", "fr")[number % 3],
        "lines": [{"sku": f"S{number}", "note": f"note {number}"}],
    }
    for number in range(100)
)
SCHEMA = pa.schema(
    [
        ("order_id", pa.string()),
        ("placed_on", pa.date32()),
        ("customer", pa.string()),
        ("email", pa.string()),
        ("amount", pa.decimal128(12, 2)),
        ("country", pa.string()),
        ("lines", pa.list_(pa.struct([("sku", pa.string()), ("note", pa.string())]))),
    ]
)


def contract(version: str = "1.0.0", status: str = "active", policy: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the contract of the orders."""
    properties: list[dict[str, Any]] = [
        {
            "name": "order_id",
            "logicalType": "string",
            "primaryKey": True,
            "required": True,
            "description": "Its number.",
        },
        {"name": "placed_on", "logicalType": "date", "description": "The day on which the customer ordered."},
        {"name": "customer", "logicalType": "string", "classification": "restricted", "description": "Who ordered."},
        {"name": "email", "logicalType": "string", "classification": "secret", "description": "Where to write to."},
        {"name": "amount", "logicalType": "number", "physicalType": "decimal(12,2)", "description": "With tax."},
        {"name": "country", "logicalType": "string", "description": "Where the order was placed."},
        {
            "name": "lines",
            "logicalType": "array",
            "description": "What was ordered.",
            "items": {
                "logicalType": "object",
                "properties": [
                    {"name": "sku", "logicalType": "string", "description": "The article."},
                    {
                        "name": "note",
                        "logicalType": "string",
                        "classification": "secret",
                        "description": "What the customer wrote.",
                    },
                ],
            },
        },
    ]
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": ID,
        "name": "Orders",
        "version": version,
        "status": status,
        "owners": [{"team": "orders", "contact": "#orders"}],
        "description": {"purpose": "Orders of the shop."},
        "data_policy": dict(POLICY if policy is None else policy),
        "schema": [{"name": "orders", "description": "Orders.", "properties": properties}],
    }


@dataclass(frozen=True)
class Lake:
    """The table of the orders."""

    catalog: Any

    @classmethod
    def create(cls, folder: Path, schema: pa.Schema = SCHEMA, **properties: str) -> Lake:
        """Create the table, with row groups of 16 rows."""
        folder.mkdir(parents=True, exist_ok=True)
        catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{folder / 'lake.db'}", warehouse=f"file://{folder}")
        catalog.create_namespace("publications")
        settings = {"write.parquet.row-group-limit": "16", **properties}
        catalog.create_table("publications.orders_v1", schema, properties=settings)
        return cls(catalog)

    @property
    def table(self) -> Any:
        """The table of PyIceberg."""
        return self.catalog.load_table("publications.orders_v1")

    def publish(self, rows: Any, run: int, version: str = "1.0.0") -> None:
        """Append rows as a run does, with its stamp."""
        table = self.table
        data = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), table.schema().as_arrow())
        table.append(data, snapshot_properties={"treaty.run": str(run), "treaty.contract": f"{ID} {version}"})

    def service(
        self,
        region: str | None = None,
        key: tuple[str, ...] = ("order_id",),
        indexed: tuple[str, ...] = ("placed_on", "customer", "email", "country"),
        contract_id: str = ID,
    ) -> DataService:
        """Return the read API on the table."""
        tables = TableCatalog(TableNamespace("lake"), lambda: self.catalog)
        return service_on(tables, "publications.orders_v1", Line(contract_id, 1), key, indexed, region)


def service_on(
    tables: TableCatalog,
    name: str,
    line: Line,
    key: tuple[str, ...],
    indexed: tuple[str, ...] = (),
    region: str | None = None,
) -> DataService:
    """Return the read API on one published table."""

    def load() -> LoadedTable:
        loaded, stamps = tables.open_published(name)
        snapshots = (
            PublishedSnapshot(one.snapshot, one.run, one.contract.rpartition(" ")[2], one.committed_at)
            for one in stamps
        )
        return LoadedTable(loaded, tuple(snapshots))

    clock = iter(range(0, 10**9, 10))  # metadata is read again with every request
    table = PublishedTable(load, lambda: float(next(clock)))
    publication = ServedPublication(line, name, table, key, indexed)
    return DataService((publication,), CursorCodec(SecretBox([new_key()])), key_finder(KEYS), region)


SUBSCRIBERS = {
    "support": ("support-team", "support", ()),
    "analytics": ("analytics-team", "analytics", ()),
    "partner": ("partner-team", "partner", ("order_id", "placed_on", "country", "email")),
}
"""The team, purpose and fields of each consumer."""


class Shop:
    """A server on the orders, and a client for each consumer."""

    def __init__(self, registry: Registry, address: str, recorder: Any) -> None:
        self.registry = registry
        self.address = address
        self.recorder = recorder
        self._stack = ExitStack()
        self._clients: dict[str, httpx2.Client] = {}

    def token(self, name: str, role: str = "contributor", team: str | None = None) -> str:
        """Create an access token."""
        return self.registry.access.create_token(name, role=role, team=team).token

    def client(self, consumer: str) -> httpx2.Client:
        """Return the client of a consumer: somebody of its team."""
        if consumer not in self._clients:
            team = SUBSCRIBERS[consumer][0] if consumer in SUBSCRIBERS else consumer
            self._clients[consumer] = self.open(self.token(f"{consumer} of {team}", team=team))
        return self._clients[consumer]

    def open(self, token: str | None = None) -> httpx2.Client:
        """Return a client with a token."""
        return self._stack.enter_context(client_of(self.address, token))

    def close(self) -> None:
        """Close the clients."""
        self._stack.close()


@contextmanager
def open_shop(registry: Registry, service: DataService, document: Mapping[str, Any] | None = None) -> Iterator[Shop]:
    """Serve the orders of a registry with their contract and its consumers."""
    registry.register(dict(document or contract()))
    for consumer, (team, purpose, fields) in SUBSCRIBERS.items():
        registry.consumers.subscribe(
            consumer, LINE, consumer_class="operational_reporting", purpose=purpose, fields=fields, team=team
        )
    with serving_shop(registry, service) as shop:
        yield shop


@contextmanager
def serving_shop(registry: Registry, service: DataService) -> Iterator[Shop]:
    """Serve the rows of a registry whose contracts and consumers are there."""
    app = create_app(registry, AccessSettings(required=True))
    state = serve_rows(app, registry, service)
    with running(app) as address:
        shop = Shop(registry, address, state.recorder)
        try:
            yield shop
        finally:
            shop.close()
            state.recorder.close()
