"""Parallel runs in a registry: findings keep their disposition while their pattern holds, and new ones come first."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ID, PLAN_FIELD, orders
from treaty.errors import InvalidDocument, NotFound
from treaty.legacy.differences import (
    ComparisonResult,
    DifferenceClass,
    Example,
    Finding,
    PeriodCount,
    TotalEffect,
)

DAY = date(2026, 3, 1)
CANCELLED = Finding(
    DifferenceClass.STATUS,
    "state",
    "S means RECOGNIZED, new has CANCELLED",
    1204,
    {"net": Decimal("-38110.50")},
    {"net": Decimal("38110.50")},
    (Example("ORD-1", "2026-03-01", "S", "CANCELLED"),),
)
DROPPED = Finding(DifferenceClass.MISSING_IN_LEGACY, "", "state RECOGNIZED", 3, {"net": Decimal("12.00")})


def record(registry: AnyRegistry, day: int, *findings: Finding) -> None:
    registry.parallel_runs.record(
        "orders@1",
        "Finance Systems",
        ComparisonResult(
            feed="legacy_revenue",
            publication="recognized_sale",
            as_of=DAY + timedelta(days=day),
            legacy_rows=1000,
            new_rows=960,
            legacy_sums={"net": Decimal("100.00")},
            new_sums={"net": Decimal("61.89")},
            findings=findings,
            periods=tuple(PeriodCount(DAY, one.difference_class, one.count) for one in findings),
            totals=(TotalEffect(("DE", "2026-03-01"), {"net": Decimal("-38.11")}),),
        ),
    )


@pytest.fixture
def registry_with_orders(registry: AnyRegistry) -> AnyRegistry:
    registry.register(orders())
    return registry


def test_a_run_is_kept_with_its_findings(registry_with_orders: AnyRegistry) -> None:
    record(registry_with_orders, 0, CANCELLED)

    run = registry_with_orders.parallel_runs.get("legacy_revenue")

    assert (run.line, run.owner, run.differences, run.undisposed, run.clean) == (
        "orders@1",
        "Finance Systems",
        1204,
        1,
        False,
    )
    (finding,) = run.findings
    assert (finding.title, finding.effects, finding.state, finding.first_seen) == (
        "a status interpreted differently of state: S means RECOGNIZED, new has CANCELLED",
        {"net": Decimal("-38110.50")},
        "new",
        DAY,
    )
    assert [(one.key, one.legacy, one.new) for one in finding.examples] == [("ORD-1", "S", "CANCELLED")]
    assert run.totals[0].effects == {"net": Decimal("-38.11")}


def test_a_disposition_carries_over_while_the_pattern_holds_and_new_findings_come_first(
    registry_with_orders: AnyRegistry,
) -> None:
    runs = registry_with_orders.parallel_runs
    record(registry_with_orders, 0, CANCELLED)
    runs.dispose(
        "legacy_revenue",
        CANCELLED.fingerprint,
        disposition="semantic_disagreement",
        owner="Group Accounting",
        reason="cancelled orders are no revenue",
        term="plan",
    )
    record(registry_with_orders, 1, CANCELLED, DROPPED)
    second = runs.get("legacy_revenue")
    record(registry_with_orders, 2, CANCELLED, DROPPED)
    third = runs.get("legacy_revenue")

    assert [(one.fingerprint, one.state) for one in second.findings] == [
        (DROPPED.fingerprint, "new"),
        (CANCELLED.fingerprint, "disposed"),
    ]
    assert [(one.state, one.first_seen) for one in third.findings] == [
        ("open", DAY + timedelta(days=1)),
        ("disposed", DAY),
    ]
    decided = third.findings[1].disposition
    assert decided is not None
    assert (decided.disposition, decided.owner, decided.term) == ("semantic_disagreement", "Group Accounting", "plan")
    assert [(run.as_of - DAY).days for run in runs.list(feed="legacy_revenue").items] == [2, 1, 0]


def test_a_fixed_defect_that_is_found_again_is_new(registry_with_orders: AnyRegistry) -> None:
    runs = registry_with_orders.parallel_runs
    decision = {"owner": "Finance", "reason": "the join drops rows"}
    record(registry_with_orders, 0, DROPPED, CANCELLED)
    runs.dispose("legacy_revenue", DROPPED.fingerprint, disposition="defect_in_new", **decision)
    runs.dispose("legacy_revenue", CANCELLED.fingerprint, disposition="accepted", **decision)
    record(registry_with_orders, 1)
    record(registry_with_orders, 2, DROPPED, CANCELLED)

    found = {one.fingerprint: one.state for one in runs.get("legacy_revenue").findings}

    assert found == {DROPPED.fingerprint: "new", CANCELLED.fingerprint: "disposed"}
    earlier = runs.get("legacy_revenue", as_of=DAY)
    assert {one.state for one in earlier.findings} == {"disposed"}


@pytest.mark.parametrize(
    ("term", "accepted"),
    [("plan", True), ("no plan is empty", True), ("status", False), ("a rule of nobody", False)],
)
def test_a_disagreement_is_linked_to_a_term_of_the_contract(registry: AnyRegistry, term: str, accepted: bool) -> None:
    rule = {"name": "no plan is empty", "type": "library", "metric": "nullValues", "mustBe": 0}
    fields = [ID, {**PLAN_FIELD, "quality": [rule]}]
    registry.register(orders(fields=fields))
    record(registry, 0, CANCELLED)
    decision = {"disposition": "semantic_disagreement", "owner": "Finance", "reason": "cancelled is no revenue"}

    if accepted:
        found = registry.parallel_runs.dispose("legacy_revenue", CANCELLED.fingerprint, term=term, **decision)
        assert found.disposition is not None
        assert found.disposition.term == term
    else:
        with pytest.raises(InvalidDocument, match="has no field, quality rule or measure"):
            registry.parallel_runs.dispose("legacy_revenue", CANCELLED.fingerprint, term=term, **decision)


def test_each_run_is_reported_to_the_owners(registry_with_orders: AnyRegistry) -> None:
    record(registry_with_orders, 0, DROPPED)
    record(registry_with_orders, 1, DROPPED)
    record(registry_with_orders, 2)

    headlines = [one.headline for one in registry_with_orders.notices.notices().items if one.kind == "parallel.report"]
    assert sorted(headlines) == [
        "legacy_revenue and orders@1 up to 2026-03-02: 3 differences; 1 undecided, none new",
        "legacy_revenue and orders@1 up to 2026-03-03: 0 differences; clean",
    ]


def test_a_run_is_clean_when_everything_is_decided(registry_with_orders: AnyRegistry) -> None:
    runs = registry_with_orders.parallel_runs
    record(registry_with_orders, 0, DROPPED)

    runs.dispose(
        "legacy_revenue",
        DROPPED.fingerprint,
        disposition="defect_in_legacy",
        owner="Finance",
        reason="known since 2019",
    )

    assert (runs.get("legacy_revenue").clean, runs.list().items[0].undisposed) == (True, 0)


def test_the_owners_are_notified_of_new_findings_once(registry_with_orders: AnyRegistry) -> None:
    record(registry_with_orders, 0, DROPPED)
    record(registry_with_orders, 1, DROPPED)

    (notice,) = [one for one in registry_with_orders.notices.notices().items if one.kind == "parallel.findings"]
    assert notice.headline == (
        "legacy_revenue and orders@1: 1 new finding up to 2026-03-01; "
        "the first: rows that the legacy feed dropped silently: state RECOGNIZED"
    )


def test_runs_are_listed_in_pages(registry_with_orders: AnyRegistry) -> None:
    for day in range(3):
        record(registry_with_orders, day)
    runs = registry_with_orders.parallel_runs

    first = runs.list(limit=2)
    rest = runs.list(limit=2, cursor=first.next)

    assert [(run.as_of - DAY).days for run in (*first.items, *rest.items)] == [2, 1, 0]
    assert rest.next is None
    assert runs.get("legacy_revenue", as_of=DAY).as_of == DAY


def test_bad_input_is_refused(registry_with_orders: AnyRegistry) -> None:
    runs = registry_with_orders.parallel_runs
    record(registry_with_orders, 0, DROPPED)
    decision = {"owner": "a", "reason": "b"}

    with pytest.raises(NotFound, match="no parallel run of 'other'"):
        runs.get("other")
    with pytest.raises(NotFound, match="has no finding '0000'"):
        runs.dispose("legacy_revenue", "0000", disposition="accepted", **decision)
    with pytest.raises(InvalidDocument, match="name the term of the contract"):
        runs.dispose("legacy_revenue", DROPPED.fingerprint, disposition="semantic_disagreement", **decision)
    with pytest.raises(NotFound, match="orders"):
        registry_with_orders.parallel_runs.record("orders@7", "x", ComparisonResult("f", "p", DAY, 1, 1, {}, {}))
