"""The sample month of the demo: exactly the incidents that it is meant to show."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from examples.retail.sample_month import DAYS, record_sample_month
from treaty.registry.service import Registry

RETAIL = Path(__file__).parents[2] / "examples" / "retail" / "contracts"
NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
_CONTRACTS = (
    "policies/retail.policy.enterprise.yaml",
    "policies/retail.policy.sales_domain.yaml",
    "events/retail.orders.order_placed.yaml",
    "events/retail.orders.order_cancelled.yaml",
    "products/retail.products.order_capture.yaml",
    "publications/retail.publications.customer_order_timeline.yaml",
)


def test_the_sample_month_shows_incidents_that_end(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db"), clock=lambda: NOW) as registry:
        for file in _CONTRACTS:
            registry.register((RETAIL / file).read_bytes())

        recorded = record_sample_month(registry, NOW)
        incidents = registry.incidents.list().items

    assert recorded == DAYS * 4 * 8
    seen = [
        (one.contract.rpartition(".")[2], one.measure, one.severity, one.state, (NOW - one.first_seen).days)
        for one in reversed(incidents)
    ]
    assert seen == [
        ("order_placed", "schema_drift", "warning", "closed", 18),
        ("order_placed", "volume", "warning", "closed", 13),
        ("order_capture", "freshness", "failing", "closed", 9),
        ("order_capture", "run", "failing", "closed", 4),
    ]
    assert incidents[0].blocked == ["retail.publications.customer_order_timeline@1"]
    assert incidents[0].cause == (
        "audit of order_capture refused run 27: rule home_delivery_has_destination 0.43 % > 0.1 %"
    )
