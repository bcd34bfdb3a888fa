"""A registry with a contract that has several versions, two lines, consumers and hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.documents import document
from tests.server.conftest import Clock
from tests.server.running import running
from treaty.registry.service import Registry
from treaty.server.app import create_app

ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
BIDI = "\u202egnp.exe"
LONG = "N" * 5_000
GUIDE = "https://wiki.example.org/guide"


@dataclass(frozen=True)
class Shop:
    """The registry, and where it is served."""

    registry: Registry
    address: str


@contextmanager
def shop(folder: Path) -> Iterator[Shop]:
    """Make all of it, and serve it."""
    with ExitStack() as stack:
        registry = stack.enter_context(Registry.open(str(folder / "registry.db"), clock=Clock()))
        _orders(registry)
        registry.register(_made_from_orders())
        registry.register(_hostile())
        yield Shop(registry, stack.enter_context(running(create_app(registry))))


def field(name: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "logicalType": kind, **more}


def _orders(it: Registry) -> None:
    first = document(
        {
            "name": "Order placed",
            "description": {"purpose": "One row per order.", "usage": "Join on order_id.", "limitations": "No drafts."},
            "owners": [{"team": "checkout", "contact": "checkout@example.org"}, {"team": "pager", "contact": "#pager"}],
            "domain": "sales",
            "slaProperties": [{"property": "retention", "value": 2, "unit": "y"}],
            "exclusions": [{"what": "Carts", "why": "They are no orders."}],
            "fields": [
                field("order_id", primaryKey=True, required=True, unique=True, businessName="Order number"),
                field("email", classification="pii", description="Where the receipt goes."),
                field("total", "number", logicalTypeOptions={"minimum": 0}, unit="EUR"),
                field("state", enum=[{"value": "open", "description": "Not shipped."}, {"value": "done"}]),
                field(
                    "lines",
                    "array",
                    items={"logicalType": "object", "properties": [field("sku"), field("amount", "integer")]},
                ),
            ],
        }
    )
    it.register(first)
    second = deepcopy(first) | {"version": "1.1.0"}
    second["schema"][0]["properties"].append(field("coupon", description="Code of a promotion."))
    it.register(second)
    third = deepcopy(second) | {"version": "1.2.0"}
    third["schema"][0]["properties"][1] |= {"deprecated": True, "description": "Ask the customer service instead."}
    it.register(third)
    for name, fields in (("ledger", ["order_id", "total"]), ("picker", ["lines[].sku"]), ("notebook", [])):
        it.consumers.subscribe(
            name,
            "orders@1",
            consumer_class="operational_reporting",
            fields=fields,
            team=f"{name}s",
            contact=f"{name}@example.org",
        )
    plan = {"guide": GUIDE, "window": "60d", "owner": "checkout"}
    fourth = deepcopy(third) | {"version": "2.0.0", "migration": plan}
    del fourth["schema"][0]["properties"][2]
    it.register(fourth)
    it.deprecate_line("orders@1", deprecation_uri=GUIDE)


def read_event(job: str, line: str, at: datetime, *fields: str, run: int = 1) -> dict[str, Any]:
    """Return a lineage event of a job that read a line, and fields of it."""
    dataset = {"namespace": "treaty", "name": line}
    columns = {
        "_producer": "https://airflow.example.org",
        "_schemaURL": "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json",
        "fields": {
            f"column_{number}": {"inputFields": [{**dataset, "field": name}]} for number, name in enumerate(fields)
        },
    }
    return {
        "eventType": "COMPLETE",
        "eventTime": at.isoformat(),
        "producer": "https://airflow.example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=run))},
        "job": {"namespace": "airflow", "name": job},
        "inputs": [dataset],
        "outputs": [
            {"namespace": "file", "name": "/reports/daily", "facets": {"columnLineage": columns} if fields else {}}
        ],
    }


def _made_from_orders() -> dict[str, Any]:
    lineage = [{"contract": "orders", "fields": ["state"]}]
    return document({"id": "revenue", "name": "Revenue", "lineage": lineage, "fields": [field("day", "date")]})


def _hostile() -> dict[str, Any]:
    return document(
        {
            "id": "hostile",
            "name": LONG,
            "description": {"purpose": ATTACK, "usage": BIDI},
            "owners": [{"team": ATTACK, "contact": "javascript:alert(1)"}],
            "domain": ATTACK,
            "tags": [ATTACK],
            "fields": [
                field(ATTACK, description=ATTACK, enum=[{"value": ATTACK, "description": ATTACK}]),
                field(LONG, description=LONG * 2, businessName=BIDI, classification=ATTACK),
                field("x", authoritativeDefinitions=[{"type": ATTACK, "url": 'https://a.example/"onclick="alert(1)'}]),
            ],
        }
    )
