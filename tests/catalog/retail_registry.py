"""The registry of the retail example: contracts, consumers, an open migration, a deprecated line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from treaty.errors import Refused
from treaty.observability.measures import Measure
from treaty.registry.service import Registry

RETAIL = Path(__file__).parents[2] / "examples" / "retail"
FINANCE = "retail.publications.finance_recognized_sale"
TIMELINE = "retail.publications.customer_order_timeline"
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
_CONTRACTS = RETAIL / "contracts"
_ORDER = ("policies", "events", "products", "reconciliation", "publications")
_READERS: Sequence[tuple[str, str, str, str, Sequence[str]]] = (
    ("group-ledger", FINANCE, "external_regulatory", "Group Accounting", ("gross_sale_amount", "accounting_period")),
    ("tax-reporting", FINANCE, "external_regulatory", "Group Tax", ("booking_country_code", "gross_sale_amount")),
    ("revenue-dashboard", FINANCE, "operational_reporting", "Revenue Controlling", ("sales_channel",)),
    ("sales-notebook", FINANCE, "exploratory_analytics", "Sales Analytics", ()),
    ("support-agent-desktop", TIMELINE, "operational_reporting", "Customer Support", ("entry_headline",)),
)


class Clock:
    """Tells the time that the test says it is."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def open_retailer(path: Path) -> Registry:
    """Make the retailer's registry in a new file: what happened stands on the days before `NOW`."""
    clock = Clock(NOW - timedelta(days=20))
    registry = Registry.open(str(path), actor="Data Platform", clock=clock)
    for room in _ORDER:
        for file in sorted((_CONTRACTS / room).glob("*.yaml")):
            if ".v2." not in file.name:
                registry.register(file.read_bytes())
    for consumer, contract, kind, team, fields in _READERS:
        registry.consumers.subscribe(
            consumer,
            f"{contract}@1",
            consumer_class=kind,
            fields=fields,
            team=team,
            contact=f"#{consumer}",
            purpose="Monthly reporting of revenue",
        )
    clock.now = NOW - timedelta(days=10)
    with suppress(Refused):
        registry.register((RETAIL / "changes" / "finance_recognized_sale.refused.yaml").read_bytes())
    registry.register((RETAIL / "changes" / "customer_order_timeline.compatible.yaml").read_bytes())
    clock.now = NOW - timedelta(days=3)
    registry.register((_CONTRACTS / "publications" / f"{FINANCE}.v2.yaml").read_bytes())
    for migration in registry.migrations.list().items:
        for consumer in migration.missing:
            registry.migrations.acknowledge(migration.id, consumer, note="we move with the next closing")
    registry.deprecate_line(f"{FINANCE}@1", deprecation_uri="https://contracts.example.com/guides/finance-2")
    clock.now = NOW
    _measure(registry)
    return registry


def _measure(registry: Registry) -> None:
    """Record a month of measures: two late days, some rows in quarantine, and a week without measures."""
    measures = []
    for back in (day for day in range(30) if not 12 <= day < 19):
        at = NOW - timedelta(days=back, hours=1)
        late = back in (0, 5)
        measures += [
            Measure(FINANCE, "freshness", at, 90_000.0 if late else 30_000.0 + 600 * back),
            Measure(FINANCE, "volume", at, 900.0 + 37 * (back % 7)),
            Measure(TIMELINE, "freshness", at, 1_800.0),
            Measure("retail.orders.order_placed", "quarantined_rows", at, float(back % 4)),
            Measure("retail.orders.order_placed", "quarantined_share", at, 0.1 * (back % 4)),
        ]
    measures.append(Measure("retail.reconciliation.commercial_order", "exceptions_open", NOW, 21.0))
    registry.measures.record(measures)
