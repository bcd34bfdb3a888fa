"""Thirty days of three products in a chain give exactly the expected incidents, notices and states.

There is a late day, a refused audit, a volume drop, a schema drift, a line of which nothing is measured any more, and a
consumer that stops reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.registry.backends import RULES, AnyRegistry, Backend
from tests.registry.offers import made_from, orders
from treaty.observability.evidence import BrokenRule, refusal_details
from treaty.observability.measures import Measure
from treaty.registry.rules import RegistryRules

MONTH = datetime(2026, 4, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CAPTURE, PUBLISHED, REVENUE = "order_capture", "orders_published", "revenue"
CHAIN = (CAPTURE, PUBLISHED, REVENUE)
DAILY = [{"property": "freshness", "value": 24, "unit": "h"}]
LATE, REFUSED, FIXED, DROP, DRIFT, SILENT_FROM = 6, (12, 13), 14, 20, (23, 24), 27
REFUSAL = refusal_details(CAPTURE, [BrokenRule("home_delivery_has_destination", 0.43, 0.1)])


def moment(day: int, hour: float) -> datetime:
    """Return a time of the month; its first day is 1."""
    return MONTH + (day - 1) * DAY + hour * HOUR


def run_of_day(day: int, hour: float = 6) -> list[Measure]:
    """Return what the run of a day measures."""
    at = moment(day, hour)
    lines = CHAIN if day < SILENT_FROM else CHAIN[:2]
    if day in REFUSED:
        refused = Measure(CAPTURE, "run", at, 0.0, details={"run": day, "refused": REFUSAL})
        waiting = [Measure(name, "run", at, 0.0, details={"run": day}) for name in CHAIN[1:]]
        late = [Measure(name, "freshness", at, (day - REFUSED[0] + 1) * 86_400.0 + 1_800) for name in CHAIN]
        return [*waiting, refused, *late]
    measures: list[Measure] = []
    for name in lines:
        rows = 1_200.0 if (day, name) == (DROP, PUBLISHED) else 10_000.0 + 137 * (day * 7 % 11)
        measures += [
            Measure(name, "run", at, 1.0, details={"run": day}),
            Measure(name, "freshness", at, 1_800.0),
            Measure(name, "volume", at, rows),
        ]
    drifted = {"fields": ["plan"], "kinds": ["field_type_changed"]} if day in DRIFT else {}
    measures.append(Measure(CAPTURE, "schema_drift", at, 1.0 if drifted else 0.0, details=drifted))
    return measures


def read_event(consumer: str, day: int) -> dict[str, object]:
    """Return the OpenLineage event of a job that reads the captured orders."""
    return {
        "eventType": "COMPLETE",
        "eventTime": moment(day, 9).isoformat(),
        "producer": "https://airflow.example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(UUID(int=len(consumer) * 100 + day))},
        "job": {"namespace": "airflow", "name": consumer},
        "inputs": [{"namespace": "treaty", "name": f"{CAPTURE}@1"}],
        "outputs": [],
    }


@pytest.fixture
def backend(open_backend: Callable[[RegistryRules], Backend]) -> Backend:
    return open_backend(replace(RULES, usage_window=timedelta(days=14)))


States = dict[tuple[int, int], tuple[str, ...]]


def play_month(backend: Backend, registry: AnyRegistry) -> States:
    """Play the month, and return the sentences of the three contracts by day and hour."""
    clock = backend.clock
    clock.now = MONTH
    registry.register({**orders(slaProperties=DAILY), "id": CAPTURE, "owners": [{"team": "checkout"}]})
    registry.register(made_from(PUBLISHED, CAPTURE, slaProperties=DAILY, owners=[{"team": "sales"}]))
    registry.register(made_from(REVENUE, PUBLISHED, slaProperties=DAILY, owners=[{"team": "finance"}]))
    subscribe = registry.consumers.subscribe
    subscribe("fraud-score", f"{CAPTURE}@1", consumer_class="decision_automation", fields=["ltv"], team="risk")
    subscribe("campaigns", f"{CAPTURE}@1", consumer_class="operational_reporting", fields=["plan"], team="growth")
    subscribe("store-dashboard", f"{PUBLISHED}@1", consumer_class="operational_reporting")
    subscribe("ledger", f"{REVENUE}@1", consumer_class="external_regulatory", team="finance")
    seen: States = {}
    for day in range(1, 31):
        for hour in range(0, 24, 3):
            clock.now = moment(day, hour)
            if hour == (18 if day == LATE else 6):
                registry.measures.record(run_of_day(day, hour))
            if (day, hour) == (LATE, 9):  # a monitor measures between runs, the last product first
                clock.now = moment(day, 11)
                registry.measures.record(
                    [Measure(name, "freshness", clock.now, 29.5 * 3_600) for name in reversed(CHAIN)]
                )
            if hour == 9:
                names = ("campaigns", "fraud-score") if day == 1 else ("campaigns",)
                registry.lineage.record([read_event(name, day) for name in names])
            registry.tick()
            shown = {one.contract: one.sentence for one in registry.incidents.overview().items}
            seen[day, hour] = tuple(shown.get(name, "") for name in CHAIN)
    return seen


def test_a_month_gives_exactly_the_expected_incidents_notices_and_states(
    backend: Backend, registry: AnyRegistry
) -> None:
    states = play_month(backend, registry)

    check_incidents(registry)
    check_notices(registry)
    check_states(registry, states)
    audit = registry.access.verify_audit()
    assert (audit.whole, audit.rows["incidents"]) == (True, 5)


def check_incidents(registry: AnyRegistry) -> None:
    incidents = registry.incidents.list().items

    assert [
        (one.line, one.measure, one.severity, one.first_seen, one.closed_at, one.cause) for one in reversed(incidents)
    ] == [
        ("order_capture@1", "freshness", "failing", moment(6, 11), moment(6, 18), "freshness 29.5 h > 24 h"),
        (
            "order_capture@1",
            "run",
            "failing",
            moment(12, 6),
            moment(14, 6),
            "audit of order_capture refused run 13: rule home_delivery_has_destination 0.43 % > 0.1 %",
        ),
        (
            "orders_published@1",
            "volume",
            "warning",
            moment(20, 6),
            moment(21, 6),
            "volume 1,200 rows; usual at this time: 8,720 to 13,093",
        ),
        (
            "order_capture@1",
            "schema_drift",
            "warning",
            moment(23, 6),
            moment(25, 6),
            "schema drift: 1 field differs (plan)",
        ),
        (
            "revenue@1",
            "silence",
            "failing",
            moment(27, 12),
            None,
            "nothing was measured since 2026-04-26 06:00 UTC; a freshness of 1 d is promised",
        ),
    ]
    assert [one.blocked for one in reversed(incidents)] == [
        ["orders_published@1", "revenue@1"],
        ["orders_published@1", "revenue@1"],
        [],
        [],
        [],
    ]
    assert incidents[3].consumers == {
        "decision_automation": ["fraud-score"],
        "external_regulatory": ["ledger"],
        "operational_reporting": ["campaigns", "store-dashboard"],
    }


def check_notices(registry: AnyRegistry) -> None:
    everyone = [
        "campaigns",
        "checkout",
        "finance",
        "fraud-score",
        "growth",
        "ledger",
        "risk",
        "sales",
        "store-dashboard",
    ]
    notices = [one for one in registry.notices.notices(limit=500).items if one.kind.startswith("incident.")]

    assert [(one.kind, one.contract, one.at, one.parties) for one in sorted(notices, key=lambda one: one.at)] == [
        ("incident.opened", CAPTURE, moment(6, 11), everyone),
        ("incident.closed", CAPTURE, moment(6, 18), everyone),
        ("incident.opened", CAPTURE, moment(12, 6), everyone),
        ("incident.escalated", CAPTURE, moment(13, 6), everyone),
        ("incident.closed", CAPTURE, moment(14, 6), everyone),
        ("incident.opened", PUBLISHED, moment(20, 6), ["sales", "store-dashboard"]),
        ("incident.closed", PUBLISHED, moment(21, 6), ["sales", "store-dashboard"]),
        ("incident.opened", CAPTURE, moment(23, 6), ["campaigns", "checkout", "growth"]),
        ("incident.escalated", CAPTURE, moment(24, 6), ["campaigns", "checkout", "growth"]),
        ("incident.closed", CAPTURE, moment(25, 6), ["campaigns", "checkout", "growth"]),
        ("incident.opened", REVENUE, moment(27, 12), ["finance", "ledger"]),
        ("incident.escalated", REVENUE, moment(28, 12), ["finance", "ledger"]),
    ]
    headlines = {one.at: one.headline for one in notices}
    assert headlines[moment(12, 6)] == (
        "order_capture@1: audit of order_capture refused run 12: rule home_delivery_has_destination 0.43 % > 0.1 %; "
        "blocked: orders_published, revenue"
    )


def check_states(registry: AnyRegistry, states: States) -> None:
    refused = "failing: audit of order_capture refused run {}: rule home_delivery_has_destination 0.43 % > 0.1 %"
    blocked, well = "blocked by order_capture", "healthy"
    silent = "failing: nothing was measured since 2026-04-26 06:00 UTC; a freshness of 1 d is promised"
    drift = "warning: schema drift: 1 field differs (plan)"
    unwell = {when: shown for when, shown in states.items() if when > (1, 3) and shown != (well, well, well)}

    expected: States = {}
    for hour in (9, 12, 15):
        expected[6, hour] = ("failing: freshness 29.5 h > 24 h", blocked, blocked)
    for day, hours in ((12, range(6, 24, 3)), (13, range(0, 24, 3)), (14, range(0, 6, 3))):
        for hour in hours:
            run = 12 if (day, hour) < (13, 6) else 13
            expected[day, hour] = (refused.format(run), blocked, blocked)
    for day, hours in ((20, range(6, 24, 3)), (21, range(0, 6, 3))):
        for hour in hours:
            expected[day, hour] = (well, "warning: volume 1,200 rows; usual at this time: 8,720 to 13,093", well)
    for day, hours in ((23, range(6, 24, 3)), (24, range(0, 24, 3)), (25, range(0, 6, 3))):
        for hour in hours:
            expected[day, hour] = (drift, well, well)
    for day, hours in ((27, range(12, 24, 3)), (28, range(0, 24, 3)), (29, range(0, 24, 3)), (30, range(0, 24, 3))):
        for hour in hours:
            expected[day, hour] = (well, well, silent)
    assert unwell == expected
    readers = {node.name: node.usage for node in registry.consumers.graph(f"{CAPTURE}@1", depth=1).nodes}
    assert (readers["campaigns"], readers["fraud-score"]) == ("read", "silent")
