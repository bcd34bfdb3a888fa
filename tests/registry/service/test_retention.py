"""Old notices and measures are deleted in batches; what was not delivered, and the history, are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from tests.registry.backends import RULES, START, Backend, Clock
from tests.registry.offers import orders
from treaty.contracts.versions import Line
from treaty.errors import NotAllowed, Unavailable
from treaty.observability.measures import Measure
from treaty.registry.model import RetentionAnswer
from treaty.registry.rules import Retention
from treaty.registry.service.lineage_events import record_accesses
from treaty.registry.service.retention import count_expired, delete_expired
from treaty.registry.store.data_accesses import DataAccess
from treaty.schema_registry.subjects import Subject
from treaty.schema_registry.usage import UsageRecorder

MONTH = replace(RULES, retention=Retention(notices=timedelta(days=30), measures=timedelta(days=60)))


@pytest.fixture
def month(open_backend: Callable[..., Backend]) -> Backend:
    """Open a registry that keeps notices for 30 days and measures for 60, with a contract and a channel."""
    backend = open_backend(MONTH)
    backend.local.notices.add_channel("checkout", kind="log", target="")
    backend.local.register(orders())
    return backend


def breach(backend: Backend, count: int = 1) -> None:
    for number in range(count):
        backend.local.notices.report_breach("orders", kind="sla_breach", message=f"late {number}")


def set_deliveries(backend: Backend, state: str) -> None:
    statement = text("UPDATE deliveries SET state = :state")
    backend.database.change(lambda connection: connection.execute(statement, {"state": state}))


def counts(backend: Backend) -> tuple[int, int]:
    [(notices, deliveries)] = backend.rows("SELECT (SELECT count(*) FROM notices), (SELECT count(*) FROM deliveries)")
    return notices, deliveries


def result(**values: Any) -> RetentionAnswer:
    return RetentionAnswer(**{"dry_run": False, "notices": 0, "deliveries": 0, "measures": 0, "secrets": 0, **values})


def test_delivered_notices_are_deleted_after_their_time(month: Backend, clock: Clock) -> None:
    breach(month, 3)
    set_deliveries(month, "delivered")
    clock.pass_days(30)
    assert delete_expired(month.local.context) == result()
    clock.pass_days(1)
    breach(month)

    assert count_expired(month.local.context) == result(dry_run=True, notices=4, deliveries=4)
    assert counts(month) == (5, 5)
    assert delete_expired(month.local.context, batch=3) == result(notices=4, deliveries=4)
    assert counts(month) == (1, 1)
    assert delete_expired(month.local.context) == result()

    entries = [entry for entry in month.local.access.audit().items if entry.action == "notices.delete"]
    before = (START + timedelta(days=1)).replace(hour=0).isoformat()
    assert [(entry.actor, entry.details) for entry in entries] == [
        ("calendar", {"notices": 3, "deliveries": 3, "before": before}),
        ("calendar", {"notices": 1, "deliveries": 1, "before": before}),
    ]
    assert month.local.access.verify_audit().whole


@pytest.mark.parametrize("state", ["pending", "dead"])
def test_a_notice_that_was_not_delivered_is_kept(month: Backend, clock: Clock, state: str) -> None:
    breach(month, 2)
    set_deliveries(month, state)
    clock.pass_days(1_000)
    breach(month)

    assert delete_expired(month.local.context) == result()
    assert counts(month) == (4, 4)


def test_a_notice_that_waits_for_a_removed_channel_is_deleted(month: Backend, clock: Clock) -> None:
    [channel] = month.local.notices.channels().items
    breach(month)
    month.local.notices.remove_channel(channel.id)
    clock.pass_days(31)
    breach(month)

    assert delete_expired(month.local.context) == result(notices=2, deliveries=2)


def test_the_newest_notice_is_kept_so_that_numbers_go_on(month: Backend, clock: Clock) -> None:
    breach(month, 2)
    set_deliveries(month, "delivered")
    clock.pass_days(1_000)

    delete_expired(month.local.context)
    breach(month)

    assert [row[0] for row in month.rows("SELECT seq FROM notices ORDER BY seq")] == [3, 4]


@pytest.mark.parametrize(
    ("statement", "said"),
    [("DELETE FROM deliveries", "deliveries_are_made"), ("DELETE FROM notices WHERE seq = 2", "notices_are_kept")],
)
def test_the_database_refuses_to_delete_waiting_deliveries_and_the_newest_notice(
    month: Backend, statement: str, said: str
) -> None:
    breach(month)
    if "notices" in statement:
        set_deliveries(month, "delivered")
        month.database.change(lambda connection: connection.execute(text("DELETE FROM deliveries")))

    with pytest.raises(Unavailable, match=said):
        month.database.change(lambda connection: connection.execute(text(statement)))


def test_measures_are_deleted_after_their_time(month: Backend, clock: Clock) -> None:
    for day in range(5):
        measures = [Measure("orders", name, START + timedelta(days=day), 12) for name in ("rows", "lag")]
        clock.now = START + timedelta(days=day)
        month.local.measures.record(measures)
    clock.now = START + timedelta(days=63)

    assert count_expired(month.local.context).measures == 6
    assert delete_expired(month.local.context, batch=4).measures == 6
    assert month.rows("SELECT count(*) FROM measures")[0][0] == 4
    assert len(month.local.measures.current(contract="orders").items) == 2


def test_accesses_are_deleted_after_their_time_and_the_audit_log_says_so(
    open_backend: Callable[..., Backend], clock: Clock
) -> None:
    backend = open_backend(replace(RULES, retention=Retention(accesses=timedelta(days=60))))
    backend.local.register(orders())
    for day in range(5):
        clock.now = START + timedelta(days=day)
        record_accesses(
            backend.local.context, [DataAccess(clock.now, "ann", "report", Line("orders", 1), "served")] * 2
        )
    clock.now = START + timedelta(days=63)
    assert count_expired(backend.local.context).accesses == 0  # the last 30 days of a log that is not written any more
    newest = DataAccess(clock.now, "ann", "report", Line("orders", 1), "served")
    record_accesses(backend.local.context, [newest])

    assert count_expired(backend.local.context).accesses == 6
    assert delete_expired(backend.local.context, batch=4).accesses == 6
    assert backend.rows("SELECT count(*) FROM data_accesses") == [(5,)]
    deleted = [one.details for one in backend.local.access.audit().items if one.action == "accesses.delete"]
    assert [one["accesses"] for one in deleted] == [4, 2]
    assert backend.local.access.verify_audit().whole


def test_the_database_refuses_to_delete_accesses_of_the_last_30_days(month: Backend, clock: Clock) -> None:
    for day in (0, 30, 31):
        at = START + timedelta(days=day)
        record_accesses(month.local.context, [DataAccess(at, "ann", f"day {day}", Line("orders", 1), "served")])

    def delete(consumer: str) -> None:
        statement = text("DELETE FROM data_accesses WHERE consumer = :consumer")
        month.database.change(lambda connection: connection.execute(statement, {"consumer": consumer}))

    with pytest.raises(Unavailable, match=r"data_accesses_are_kept|append-only"):
        delete("day 30")
    delete("day 0")

    assert month.rows("SELECT consumer FROM data_accesses ORDER BY seq") == [("day 30",), ("day 31",)]


def test_uses_of_schemas_are_deleted_with_the_measures(month: Backend, clock: Clock) -> None:
    usage = UsageRecorder(month.database)
    for day in range(5):
        for client in ("billing", "audit"):
            usage.count_read(client, Subject(".", "orders-value"), 1, (START + timedelta(days=day)).date())
    usage.flush()
    clock.now = START + timedelta(days=63)

    assert count_expired(month.local.context).schema_uses == 6
    assert delete_expired(month.local.context, batch=4).schema_uses == 6
    assert month.rows("SELECT count(*) FROM schema_usage")[0][0] == 4


def test_replaced_secrets_are_deleted(month: Backend, clock: Clock) -> None:
    secret, newer = "whsec-0123456789", "whsec-9876543210"
    channel = month.local.notices.add_channel("checkout", kind="log", target="", secret=secret)
    month.local.notices.rotate_secret(channel.id, secret=newer, days=3)
    clock.pass_days(4)

    assert count_expired(month.local.context) == result(dry_run=True, secrets=1)
    assert delete_expired(month.local.context) == result(secrets=1)
    assert month.rows("SELECT count(*) FROM channels WHERE previous_secret IS NOT NULL")[0][0] == 0


def test_only_who_may_advance_the_calendar_may_delete(month: Backend) -> None:
    if month.url is not None:
        return
    viewer = month.acting_as("vic", "viewer")

    with pytest.raises(NotAllowed):
        delete_expired(viewer.context)  # type: ignore[union-attr]


def test_activity_is_shown_for_its_time_and_stays_in_the_audit_log(
    open_backend: Callable[..., Backend], clock: Clock
) -> None:
    backend = open_backend(replace(RULES, retention=Retention(activity=timedelta(days=90))))
    backend.local.register(orders())
    clock.pass_days(60)
    backend.local.register(orders("1.0.1"))
    clock.pass_days(30)
    before = [one.version for one in backend.local.activity().items]
    clock.pass_days(1)
    after = [one.version for one in backend.local.activity().items]
    longer = [one.version for one in backend.local.activity(since=START.date()).items]

    assert (before, after, longer) == (["1.0.1", "1.0.0"], ["1.0.1"], ["1.0.1"])
    entries = [entry.subject for entry in backend.local.access.audit().items if entry.action == "contract.register"]
    assert entries == ["orders 1.0.0", "orders 1.0.1"]
