"""The status follows from the dates whenever it is asked; ticks only send notices, and the future can be shown."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.registry.backends import START, AnyRegistry, Backend, Clock
from tests.registry.offers import ORDERS, orders
from treaty.errors import InvalidDocument, NotFound, Refused
from treaty.governance.lifecycle import Status, status_on
from treaty.registry.model.contract_answers import Query

GUIDE = "https://wiki.example.org/move"
LAST_DAY = datetime(2026, 3, 30, 23, 59, tzinfo=UTC)
SUNSET = datetime(2026, 3, 31, tzinfo=UTC)
RETIREMENT = datetime(2026, 4, 7, tzinfo=UTC)


@pytest.fixture
def ending(registry: AnyRegistry) -> AnyRegistry:
    """Return a registry with a deprecated contract that a dashboard reads."""
    registry.register(orders())
    registry.consumers.subscribe("dashboard", "orders@1", consumer_class="operational_reporting", fields=["plan"])
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    return registry


def test_every_answer_follows_the_clock_without_a_tick(ending: AnyRegistry, clock: Clock) -> None:
    clock.pass_days(30)

    assert ending.get(ORDERS, "1.0.0").status == "sunset"
    assert ending.get(ORDERS, "1.0.0").document["status"] == "sunset"
    assert [version.status for version in ending.history(ORDERS).items] == ["sunset"]
    assert [line.status for line in ending.lines(ORDERS)] == ["sunset"]
    assert [found.status for found in ending.search(Query(status="sunset")).items] == ["sunset"]
    assert ending.search(Query(status="deprecated")).items == []
    assert ending.overview().statuses == {"sunset": 1}
    assert [node.status for node in ending.consumers.layout("orders").nodes if node.kind == "line"] == ["sunset"]
    with pytest.raises(Refused, match="takes no new consumers"):
        ending.consumers.subscribe("new", "orders@1", consumer_class="operational_reporting")
    with pytest.raises(Refused, match="is sunset and cannot become active"):
        ending.activate(ORDERS, "1.0.0")


def test_an_announced_day_ends_the_latest(backend: Backend, registry: AnyRegistry, clock: Clock) -> None:
    notice = {"announced": "2026-03-10", "sunset_date": "2026-05-01", "migration_guide": GUIDE}
    registry.register(orders(deprecation=notice))
    assert backend.local.latest_json(ORDERS)
    clock.pass_days(9)

    with pytest.raises(NotFound, match="has no active version"):
        registry.latest(ORDERS)
    with pytest.raises(NotFound, match="has no active version"):
        backend.local.latest_json(ORDERS)


def test_an_edge_contract_expires_without_a_tick(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders(tier="edge", expires="2026-03-10"))
    clock.pass_days(9)
    assert registry.get(ORDERS, "1.0.0").status == "deprecated"

    clock.pass_days(30)

    assert registry.get(ORDERS, "1.0.0").status == "sunset"
    with pytest.raises(Refused, match="cannot become active"):
        registry.activate(ORDERS, "1.0.0")


def test_a_tick_only_sends_notices(ending: AnyRegistry, clock: Clock) -> None:
    clock.pass_days(30)
    before = ending.get(ORDERS, "1.0.0")

    steps = ending.tick()

    assert [(step.before, step.after) for step in steps] == [("deprecated", "sunset")]
    assert ending.get(ORDERS, "1.0.0") == before
    assert [notice.kind for notice in ending.notices.notices(party="dashboard").items] == [
        "contract.deprecated",
        "contract.sunset",
    ]
    assert ending.tick() == []


@pytest.mark.parametrize("late", [0, 5, 20])
def test_a_late_tick_leaves_consumers_their_seven_days(ending: AnyRegistry, clock: Clock, late: int) -> None:
    clock.pass_days(30 + late)
    ending.tick()

    told = date(2026, 3, 31) + timedelta(days=late)
    assert ending.get(ORDERS, "1.0.0").retire_on == told + timedelta(days=7)


def test_consumers_who_were_not_told_of_a_sunset_block_the_retirement(ending: AnyRegistry, clock: Clock) -> None:
    clock.pass_days(50)

    reasons = [reason.message for reason in ending.consumers.can_i_retire("orders@1").reasons]

    assert reasons == [
        "orders 1.0.0 is in sunset and may be retired on 2026-04-27, not on 2026-04-20",
        "dashboard still reads orders@1",
    ]


@pytest.mark.parametrize(
    ("now", "status"),
    [(LAST_DAY, "deprecated"), (SUNSET, "sunset"), (datetime(2026, 3, 31, 1, tzinfo=UTC), "sunset")],
)
def test_the_future_is_shown_without_a_trace(ending: AnyRegistry, now: datetime, status: str) -> None:
    log = len(ending.access.audit().items)

    shown = ending.at(now)

    assert shown.get(ORDERS, "1.0.0").status == status
    assert [line.status for line in shown.lines(ORDERS)] == [status]
    assert ending.get(ORDERS, "1.0.0").status == "deprecated"
    assert len(ending.access.audit().items) == log


@pytest.mark.parametrize(
    ("now", "reasons"),
    [
        (LAST_DAY, ["orders 1.0.0 is deprecated until its sunset on 2026-03-31"]),
        (SUNSET, ["orders 1.0.0 is in sunset and may be retired on 2026-04-07, not on 2026-03-31"]),
        (RETIREMENT, []),
    ],
)
def test_it_shows_when_a_line_can_be_retired(ending: AnyRegistry, now: datetime, reasons: list[str]) -> None:
    ending.consumers.unsubscribe("dashboard", "orders@1")

    decision = ending.at(now).consumers.can_i_retire("orders@1")

    assert [reason.message for reason in decision.reasons] == reasons
    assert decision.answer is (not reasons)


def test_what_a_tick_would_announce_is_shown_and_not_sent(ending: AnyRegistry, clock: Clock) -> None:
    assert ending.due() == []

    due = ending.at(SUNSET).due()

    assert [(step.version, step.before, step.after) for step in due] == [("1.0.0", "deprecated", "sunset")]
    assert [notice.kind for notice in ending.notices.notices(party="dashboard").items] == ["contract.deprecated"]
    clock.pass_days(30)
    assert ending.tick() == due


def test_nothing_is_changed_at_another_time(ending: AnyRegistry) -> None:
    shown = ending.at(SUNSET)

    for change in (shown.tick, lambda: shown.activate(ORDERS, "1.0.0"), lambda: shown.register(orders("1.0.1"))):
        with pytest.raises(InvalidDocument, match="nothing can be changed then"):
            change()


@given(
    recorded=st.sampled_from(Status),
    start=st.none() | st.dates(date(2026, 1, 1), date(2026, 12, 31)),
    length=st.integers(0, 90),
    days=st.lists(st.dates(date(2025, 1, 1), date(2028, 1, 1)), min_size=2, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_a_status_never_goes_back(recorded: Status, start: date | None, length: int, days: list[date]) -> None:
    sunset = start + timedelta(days=length) if start else None
    order = [Status.ACTIVE, Status.DEPRECATED, Status.SUNSET]

    seen = [status_on(recorded, start, sunset, day) for day in sorted(days)]

    if recorded in (Status.ACTIVE, Status.DEPRECATED):
        assert seen == sorted(seen, key=order.index)
        assert seen[0] is not Status.ACTIVE or recorded is Status.ACTIVE
    else:
        assert set(seen) == {recorded}


def test_the_clock_of_the_tests_starts_where_they_think() -> None:
    assert START.date() == date(2026, 3, 1)
