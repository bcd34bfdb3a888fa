"""The registry of the retail example: contracts, consumers, an open migration, a deprecated line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from tests.catalog.contract_registry import read_event
from treaty.consumers.dependencies import FieldMapping, MadeFrom
from treaty.consumers.subscriptions import ConsumerClass
from treaty.contracts.paths import parse_path
from treaty.contracts.versions import Line
from treaty.errors import Refused
from treaty.events.drift import Profile
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Example, Finding, TotalEffect
from treaty.legacy.scanned_reads import ScannedRead
from treaty.observability.evidence import REFUSED, BrokenRule, refusal_details
from treaty.observability.measures import Measure
from treaty.registry.service import Registry

RETAIL = Path(__file__).parents[2] / "examples" / "retail"
FINANCE = "retail.publications.finance_recognized_sale"
PLACED = "retail.orders.order_placed"
CAPTURE = "retail.products.order_capture"
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

LEGACY = "legacy_revenue"
_CANCELLED = Finding(
    DifferenceClass.STATUS,
    "state",
    "S means RECOGNIZED, new has CANCELLED",
    1204,
    {"net": Decimal("-38110.50")},
    {"net": Decimal("38110.50")},
    (Example("ORD-01-0012", "2026-02-20", "S", "CANCELLED"), Example("ORD-01-0044", "2026-02-20", "S", "CANCELLED")),
)
_DROPPED = Finding(DifferenceClass.MISSING_IN_NEW, "", "state S", 31, {"net": Decimal("-1922.00")})
_REPEATED = Finding(
    DifferenceClass.DUPLICATE_IN_LEGACY,
    "",
    "state S",
    12,
    {"net": Decimal("-733.90")},
    examples=(Example("ORD-07-0003", "2026-02-27", "2 rows", "1 rows"),),
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
    _compare_legacy_revenue(registry, clock)
    clock.now = NOW
    _profile_orders(registry)
    _measure(registry)
    _trace(registry)
    _observe_reads(registry)
    _scan_jobs(registry)
    return registry


def _profile_orders(registry: Registry) -> None:
    """Record two weeks of profiles: one default that is explained, and amounts in cents in the newest run."""
    line = f"{PLACED}@1"
    for day in range(15):
        began = NOW - timedelta(days=15 - day)
        stores = {-1: 6_000, 116: 4_000} if day < 13 else {-1: 100, 116: 4_000, 117: 5_900}
        amounts = {25: 2_500, 26: 4_500, 27: 3_000} if day < 14 else {33: 2_500, 34: 4_500, 35: 3_000}
        taken = Profile(
            version="1.2.0",
            run=100 + day,
            at=began,
            events=10_000,
            received=10_000,
            event_time="order_placed_at",
            first=began - timedelta(hours=24),
            last=began,
            histograms={"field:store_number": stores, "field:order_total.gross_amount": amounts},
        )
        report = registry.drift.record(line, taken)
        if day == 13:
            registry.drift.explain(
                line,
                report.findings[0].fingerprint,
                owner="Order Capture",
                reason="orders of the web shop name the store that ships them while the warehouse moves",
                until=(NOW + timedelta(days=30)).date(),
            )


def _compare_legacy_revenue(registry: Registry, clock: Clock) -> None:
    """Record a week of parallel runs: a defect that was fixed, a disagreement that was settled, and a new finding."""
    line = f"{FINANCE}@1"
    readers = ["group-ledger", "tax-reporting", "revenue-dashboard"]
    registry.cutovers.declare(
        LEGACY,
        line,
        "Finance Systems",
        names=["warehouse.legacy_revenue"],
        consumers=readers,
        produced="daily by 04:00",
    )
    for day in range(8):
        clock.now = NOW - timedelta(days=10 - day)
        findings = [_CANCELLED, *([_DROPPED] if day < 3 else []), *([_REPEATED] if day == 7 else [])]
        effect = sum((one.effects["net"] for one in findings), Decimal(0))
        registry.parallel_runs.record(
            line,
            "Finance Systems",
            ComparisonResult(
                feed=LEGACY,
                publication="finance_recognized_sale",
                as_of=clock.now.date(),
                legacy_rows=9_000 + 1_000 * day,
                new_rows=8_960 + 1_000 * day,
                legacy_sums={"net": Decimal("412000.00")},
                new_sums={"net": Decimal("412000.00") + effect},
                findings=tuple(findings),
                totals=(TotalEffect(("DE", "2026-02-20"), {"net": Decimal("-38.11")}),),
            ),
        )
        if day == 0:
            decide = registry.parallel_runs.dispose
            decide(
                LEGACY,
                _CANCELLED.fingerprint,
                disposition="semantic_disagreement",
                owner="Group Accounting",
                reason="cancelled orders are no revenue",
                term="financial_recognition_status",
            )
            decide(
                LEGACY,
                _DROPPED.fingerprint,
                disposition="defect_in_new",
                owner="Finance Data Products",
                reason="the join drops orders without a payment",
            )
        if day == 6:
            for consumer in ("revenue-dashboard", "group-ledger"):
                registry.cutovers.acknowledge(LEGACY, consumer)
            registry.cutovers.cut_over(LEGACY, "revenue-dashboard")


def _scan_jobs(registry: Registry) -> None:
    """Record a scan of jobs: a critical consumer reads a product and the legacy feed."""
    guess = ClassGuess(ConsumerClass.DECISION_AUTOMATION, 0.75, "its name contains 'fraud'")
    found = [
        ScannedRead(
            "fraud-scores",
            source,
            frozenset({"order_id", "sales_channel"}),
            "airflow",
            guess,
            "Risk",
            "1h",
            "holding orders",
            ("risk/dags/fraud_scores.py:14",),
        )
        for source in (CAPTURE, "warehouse.legacy_revenue")
    ]
    registry.dependency_map.record_scan("jobs", found)


def _observe_reads(registry: Registry) -> None:
    """Record reads of recognized sales: by a consumer, by one that stopped, and by a job without a subscription."""
    line = f"{FINANCE}@1"
    registry.lineage.record(
        [
            read_event("group-ledger", line, NOW - timedelta(days=2), "gross_sale_amount", "sales_channel", run=1),
            read_event("tax-reporting", line, NOW - timedelta(days=120), "gross_sale_amount", run=2),
            read_event("store-forecast", line, NOW - timedelta(hours=5), "gross_sale_amount", run=3),
        ]
    )


def _trace(registry: Registry) -> None:
    """Record the lineage by column that a run would: of the timeline to captured orders, of these to placed ones."""
    for line, upstream, columns, layer in (
        (CAPTURE, PLACED, {"order_id": "order_id", "sales_channel": "sales_channel"}, "product"),
        (TIMELINE, CAPTURE, {"order_id": "order_id", "sales_channel": "sales_channel"}, "publication"),
    ):
        mappings = [FieldMapping(parse_path(target), (parse_path(source),)) for target, source in columns.items()]
        made_from = MadeFrom(Line(line, 1), Line(upstream, 1), (parse_path("order_id"),), tuple(mappings))
        registry.consumers.record_lineage(f"{line}@1", [made_from], layer=layer)


def _run_of_capture(back: int, at: datetime) -> list[Measure]:
    """Return what a run measures of captured orders; the newest is refused."""
    run = 30 - back
    details: dict[str, object] = {"run": run}
    if back == 0:
        rule = BrokenRule("home_delivery_has_destination", 0.43, 0.1)
        details[REFUSED] = refusal_details("order_capture", [rule])
    return [
        Measure(CAPTURE, "run", at, 0.0 if back == 0 else 1.0, details=details),
        Measure(CAPTURE, "duration", at, 41.0 + run, details={"run": run}),
        Measure(CAPTURE, "rows_in", at, 200.0 + run, details={"run": run}),
        Measure(CAPTURE, "volume", at, 198.0 + run, details={"run": run}),
        Measure(CAPTURE, "quarantined_rows", at, 2.0, details={"run": run}),
    ]


def _measure(registry: Registry) -> None:
    """Record a month of measures: two late days, some rows in quarantine, and a week without measures.

    On the last day, the audit of captured orders refuses the run, which blocks what is made from them.
    """
    measures = []
    for back in (day for day in range(30) if not 12 <= day < 19):
        at = NOW - timedelta(days=back, hours=1)
        late = back in (0, 5)
        measures += [
            Measure(FINANCE, "freshness", at, 90_000.0 if late else 30_000.0 + 600 * back),
            Measure(FINANCE, "volume", at, 900.0 + 37 * (back % 7)),
            Measure(TIMELINE, "freshness", at, 1_800.0),
            *_run_of_capture(back, at),
            Measure("retail.orders.order_placed", "quarantined_rows", at, float(back % 4)),
            Measure("retail.orders.order_placed", "quarantined_share", at, 0.1 * (back % 4)),
        ]
    measures.append(Measure("retail.reconciliation.commercial_order", "exceptions_open", NOW, 21.0))
    registry.measures.record(measures)
