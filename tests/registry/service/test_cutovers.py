"""Cut-over in a registry: consumers leave a legacy feed one by one, and reads of a retired feed are incidents."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.registry.backends import START, AnyRegistry, Backend
from tests.registry.offers import orders
from treaty.consumers.subscriptions import ConsumerClass
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused
from treaty.legacy.consumer_guess import ClassGuess
from treaty.legacy.cutover import Gate
from treaty.legacy.differences import ComparisonResult, DifferenceClass, Finding
from treaty.legacy.scanned_reads import ScannedRead

FEED, LINE = "legacy_revenue", "orders@1"
DROPPED = Finding(DifferenceClass.MISSING_IN_LEGACY, "", "state RECOGNIZED", 3, {"net": Decimal("12.00")})
OBSERVED = {
    "eventType": "COMPLETE",
    "producer": "https://airflow.example.org",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "job": {"namespace": "airflow", "name": "board_report"},
    "inputs": [{"namespace": "hive://warehouse", "name": "warehouse.legacy_revenue"}],
    "outputs": [],
}


def observed_read(at: datetime, number: int = 1) -> dict[str, Any]:
    return {**OBSERVED, "eventTime": at.isoformat(), "run": {"runId": str(UUID(int=number))}}


def record_run(registry: AnyRegistry, day: int, *findings: Finding) -> None:
    effect = sum((one.effects["net"] for one in findings), Decimal(0))
    result = ComparisonResult(
        feed=FEED,
        publication="sale",
        as_of=date(2026, 3, 1) + timedelta(days=day),
        legacy_rows=10,
        new_rows=10,
        legacy_sums={"net": Decimal(100)},
        new_sums={"net": Decimal(100) + effect},
        findings=findings,
    )
    registry.parallel_runs.record(LINE, "Finance Systems", result)


def scan(registry: AnyRegistry, *consumers: str) -> None:
    guess = ClassGuess(ConsumerClass.OPERATIONAL_REPORTING, 0.6, "its name")
    reads = [
        ScannedRead(consumer, "lake.warehouse.legacy_revenue", frozenset({"net"}), "sql", guess, places=("a.sql:1",))
        for consumer in consumers
    ]
    registry.dependency_map.record_scan("jobs", reads)


def declare(registry: AnyRegistry, *consumers: str, clean_runs: int = 2) -> None:
    registry.cutovers.declare(
        FEED,
        LINE,
        "Finance Systems",
        names=["warehouse.legacy_revenue"],
        consumers=consumers,
        gate=Gate(clean_runs),
    )


@pytest.fixture
def feed(registry: AnyRegistry) -> AnyRegistry:
    """Return a registry with a feed that finance (critical) and support read."""
    registry.register(orders())
    registry.consumers.subscribe("close", LINE, consumer_class="external_regulatory", team="finance")
    registry.consumers.subscribe("desk", LINE, consumer_class="operational_reporting", team="support")
    declare(registry, "close", "desk")
    return registry


def state(registry: AnyRegistry, consumer: str) -> str:
    return {one.consumer: one.state.value for one in registry.cutovers.get(FEED).consumers}[consumer]


def kinds(registry: AnyRegistry) -> list[str]:
    notices = registry.notices.notices(limit=500).items
    return sorted(one.kind for one in notices if one.kind.startswith(("cutover.", "legacy_feed.", "incident.")))


def move(registry: AnyRegistry, consumer: str) -> None:
    registry.cutovers.acknowledge(FEED, consumer)
    registry.cutovers.approve(FEED, consumer)
    registry.cutovers.cut_over(FEED, consumer)


def test_consumers_leave_a_feed_one_after_the_other_until_it_is_retired(feed: AnyRegistry, backend: Backend) -> None:
    cutovers = feed.cutovers
    assert state(feed, "close") == "legacy"
    assert cutovers.can_i_cut_over("close").answer is False

    record_run(feed, 0, DROPPED)
    backend.clock.pass_days(1)
    record_run(feed, 1, DROPPED)
    assert state(feed, "close") == "parallel"
    with pytest.raises(Refused, match="0 of 2 clean runs in a row"):
        cutovers.cut_over(FEED, "close")

    decision = {"disposition": "defect_in_legacy", "owner": "Finance", "reason": "known since 2019"}
    feed.parallel_runs.dispose(FEED, DROPPED.fingerprint, **decision)
    cutovers.acknowledge(FEED, "close", note="the figures agree with our books")
    answer = cutovers.can_i_cut_over("close")
    assert [reason.message for reason in answer.reasons] == [
        "legacy_revenue: close is critical, and its owner has not approved the cut-over"
    ]
    cutovers.approve(FEED, "close")
    assert (state(feed, "close"), cutovers.can_i_cut_over("close", feed=FEED).answer) == ("ready", True)
    assert cutovers.cut_over(FEED, "close").state == "cut_over"
    with pytest.raises(Refused, match="desk has not cut over; its state is parallel"):
        cutovers.retire(FEED)

    backend.clock.pass_days(1)
    cutovers.roll_back(FEED, "close", reason="the old account codes are needed")
    assert (state(feed, "close"), state(feed, "desk")) == ("parallel", "parallel")
    backend.clock.pass_days(1)
    record_run(feed, 2)
    backend.clock.pass_days(1)
    record_run(feed, 3)
    move(feed, "close")
    move(feed, "desk")
    retired = cutovers.retire(FEED)

    assert [one.state.value for one in retired.consumers] == ["retired", "retired"]
    assert (retired.retired_at, retired.reasons) == (START + timedelta(days=4), [])
    assert kinds(feed) == [
        "cutover.done",
        "cutover.done",
        "cutover.done",
        "cutover.rolled_back",
        "legacy_feed.retired",
    ]
    with pytest.raises(Conflict, match="legacy_revenue has been retired since 2026-03-05"):
        cutovers.retire(FEED)


def test_a_run_with_a_defect_in_new_or_unexplained_totals_is_not_clean(feed: AnyRegistry) -> None:
    record_run(feed, 0, DROPPED)
    record_run(feed, 1, DROPPED)
    decision = {"disposition": "defect_in_new", "owner": "Finance", "reason": "the join drops rows"}
    feed.parallel_runs.dispose(FEED, DROPPED.fingerprint, **decision)

    (close, _) = feed.cutovers.get(FEED).consumers
    assert close.reasons[1] == (
        "the run up to 2026-03-02 is not clean: 1 defect in new, not fixed yet; "
        "net differs by 12.00 beyond what decided findings explain; 0.00 is allowed"
    )


def test_readers_that_nobody_declared_keep_a_feed_from_being_retired(feed: AnyRegistry) -> None:
    declare(feed)
    scan(feed, "weekly_board")
    feed.lineage.record([observed_read(START)])

    consumers = {one.consumer: one.evidence for one in feed.cutovers.get(FEED).consumers}

    assert consumers == {"board_report": ["observed"], "weekly_board": ["scanned"]}
    with pytest.raises(Refused, match="board_report has not cut over; its state is legacy; weekly_board has not"):
        feed.cutovers.retire(FEED)


READS: dict[str, Callable[[AnyRegistry, datetime], object]] = {
    "observed": lambda registry, at: registry.lineage.record([observed_read(at)]),
    "scanned": lambda registry, _: scan(registry, "board_report"),
    "declared": lambda registry, _: declare(registry, "close", "desk", "board_report"),
}


@pytest.mark.parametrize("evidence", READS)
def test_a_read_of_a_retired_feed_is_an_incident(feed: AnyRegistry, backend: Backend, evidence: str) -> None:
    record_run(feed, 0)
    record_run(feed, 1)
    move(feed, "close")
    move(feed, "desk")
    feed.cutovers.retire(FEED)
    assert feed.incidents.list().items == []

    backend.clock.pass_days(1)
    READS[evidence](feed, backend.clock.now)

    (incident,) = feed.incidents.list(state="open").items
    assert (incident.line, incident.measure, incident.severity, incident.title) == (
        LINE,
        "legacy_reads",
        "failing",
        "Reads of retired feeds",
    )
    assert incident.cause == "board_report reads legacy_revenue, which has been retired since 2026-03-01"
    assert "incident.opened" in kinds(feed)


def test_the_incident_ends_when_nobody_reads_the_feed_any_more(feed: AnyRegistry, backend: Backend) -> None:
    record_run(feed, 0)
    record_run(feed, 1)
    move(feed, "close")
    move(feed, "desk")
    feed.cutovers.retire(FEED)
    backend.clock.pass_days(1)
    scan(feed, "board_report")
    backend.clock.pass_days(1)
    scan(feed)

    (incident,) = feed.incidents.list().items
    assert incident.state == "closed"


def test_a_consumer_that_still_reads_after_its_cut_over_keeps_the_feed(feed: AnyRegistry, backend: Backend) -> None:
    record_run(feed, 0)
    record_run(feed, 1)
    move(feed, "close")
    move(feed, "desk")
    backend.clock.pass_days(1)
    scan(feed, "desk")

    with pytest.raises(Refused, match="desk was seen reading the legacy feed on 2026-03-02, after its cut-over"):
        feed.cutovers.retire(FEED)


def test_only_the_team_of_a_consumer_moves_it_and_only_an_owner_approves(feed: AnyRegistry, backend: Backend) -> None:
    member = backend.acting_as("ann", "contributor", "finance").cutovers
    owner = backend.acting_as("olga", "owner", "finance").cutovers
    stranger = backend.acting_as("sam", "owner", "support").cutovers

    for ask in (stranger.acknowledge, stranger.approve, stranger.cut_over, member.approve):
        with pytest.raises(NotAllowed, match="may not"):
            ask(FEED, "close")
    assert member.acknowledge(FEED, "close").acknowledged_by == "ann"
    assert owner.approve(FEED, "close").approved_by == "olga"
    with pytest.raises(NotAllowed, match="may not advance contract 'orders'"):
        owner.retire(FEED)


def test_a_declaration_replaces_the_one_before_and_keeps_the_steps(feed: AnyRegistry) -> None:
    feed.cutovers.acknowledge(FEED, "close")
    declare(feed, "close", clean_runs=5)

    answer = feed.cutovers.get(FEED)
    (listed,) = feed.cutovers.list().items
    assert listed == answer
    assert (answer.names, answer.gate.clean_runs, answer.owner) == (["warehouse.legacy_revenue"], 5, "Finance Systems")
    (close,) = answer.consumers
    assert (close.team, close.critical, close.acknowledged_by) == ("finance", True, "local")


def test_bad_input_is_refused(feed: AnyRegistry) -> None:
    cutovers = feed.cutovers

    with pytest.raises(NotFound, match="has no legacy feed 'other'"):
        cutovers.get("other")
    with pytest.raises(NotFound, match="'nobody' is not a consumer of legacy_revenue"):
        cutovers.acknowledge(FEED, "nobody")
    with pytest.raises(NotFound, match="'nobody' is not a consumer of any legacy feed"):
        cutovers.can_i_cut_over("nobody")
    with pytest.raises(Conflict, match="desk cannot be rolled back: for legacy_revenue, its state is legacy"):
        cutovers.roll_back(FEED, "desk", reason="no")
    with pytest.raises(NotFound, match="orders@7"):
        cutovers.declare("f", "orders@7", "x")
    with pytest.raises(InvalidDocument, match="clean"):
        cutovers.declare("f", LINE, "x", gate=Gate(0))
    with pytest.raises(InvalidDocument):
        cutovers.roll_back(FEED, "desk", reason=" ")
