"""Every write leaves its entry, and nobody changes what was written without its being seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, orders
from treaty.errors import InvalidDocument, NotAllowed, TreatyError, Unavailable
from treaty.registry.documents import prepare
from treaty.registry.model import AuditAnswer
from treaty.registry.store.audit_log import NOTHING_BEFORE

GUIDE = "https://wiki.example.org/move"
CLASS = {"consumer_class": "operational_reporting"}
WAIVER: dict[str, Any] = {"owner": "sales", "reason": "for now", "until": "2026-12-31"}
BREAKING = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)

WRITES: list[tuple[str, str, Callable[[AnyRegistry], object]]] = [
    ("contract.register", "refunds 1.0.0", lambda it: it.register(orders(id="refunds"))),
    ("contract.register", "orders 2.0.0", lambda it: it.register(BREAKING)),
    ("contract.deprecated", "orders 1.0.0", lambda it: it.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)),
    ("contract.deprecated", "orders 1.0.0", lambda it: it.deprecate_line("orders@1", deprecation_uri=GUIDE)),
    ("contract.archived", "orders 1.0.0", lambda it: it.archive(ORDERS, "1.0.0")),
    ("contract.retired", "orders 1.0.0", lambda it: it.retire(ORDERS, "1.0.0", override="gone")),
    ("contract.retired", "orders 1.0.0", lambda it: it.retire_line("orders@1", override="gone")),
    ("contract.exception", "orders", lambda it: it.notices.report_breach(ORDERS, kind="exception", message="late")),
    ("subscription.put", "board -> orders@1", lambda it: it.consumers.subscribe("board", "orders@1", **CLASS)),
    ("waiver.grant", "sla_relaxed on *", lambda it: it.governance.waive("sla_relaxed", **WAIVER)),
    ("channel.add", "checkout by log", lambda it: it.notices.add_channel("checkout", kind="log", target="")),
    ("notice.retry", "*", lambda it: it.notices.retry()),
]


def entries(registry: AnyRegistry, **asked: Any) -> list[tuple[str, str, str]]:
    return [(one.actor, one.action, one.subject) for one in registry.access.audit(**asked).items]


@pytest.mark.parametrize(("action", "subject", "write"), WRITES, ids=[f"{one[0]} {n}" for n, one in enumerate(WRITES)])
def test_every_write_leaves_exactly_one_entry(
    backend: Backend, registry: AnyRegistry, action: str, subject: str, write: Callable[[AnyRegistry], object]
) -> None:
    registry.register(orders())

    write(backend.acting_as("vera", "admin"))

    assert entries(registry)[1:] == [("vera", action, subject)]
    assert registry.access.verify_audit().whole


def test_writes_that_follow_others_leave_one_entry_each(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders(status="draft"))
    registry.activate(ORDERS, "1.0.0")
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting")
    registry.consumers.unsubscribe("board", "orders@1")
    waiver = registry.governance.waive("sla_relaxed", **WAIVER)
    registry.governance.revoke_waiver(waiver.id)
    registry.governance.revoke_waiver(waiver.id)
    channel = registry.notices.add_channel("checkout", kind="log", target="")
    registry.notices.remove_channel(channel.id)
    token = registry.access.create_token("ci", role="viewer")
    registry.access.revoke_token(token.id)
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()

    assert [(action, subject) for _, action, subject in entries(registry)] == [
        ("contract.register", "orders 1.0.0"),
        ("contract.active", "orders 1.0.0"),
        ("subscription.put", "board -> orders@1"),
        ("subscription.end", "board -> orders@1"),
        ("waiver.grant", "sla_relaxed on *"),
        ("waiver.revoke", "sla_relaxed on *"),
        ("channel.add", "checkout by log"),
        ("channel.remove", "checkout by log"),
        ("token.create", token.id),
        ("token.revoke", token.id),
        ("contract.deprecated", "orders 1.0.0"),
        ("contract.sunset", "orders 1.0.0"),
    ]
    assert entries(registry)[-1][0] == "calendar"
    _follow_each_other(registry.access.audit().items[1:])  # of the document itself the first has the digest


def _follow_each_other(entries: list[AuditAnswer]) -> None:
    """See that every entry begins where the one before it about the same subject ended, and changes something."""
    stood: dict[str, str | None] = {}
    for entry in entries:
        assert entry.before != entry.after, entry.action
        if entry.subject in stood:
            assert entry.before == stood[entry.subject], entry.action
        stood[entry.subject] = entry.after


def test_an_entry_has_actor_time_and_change(backend: Backend, registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    clock.pass_days(2)
    backend.acting_as("olga", "owner", "checkout").register(orders("1.0.1", description={"purpose": "better"}))

    first, second = registry.access.audit().items

    assert (first.seq, first.previous, first.before) == (1, NOTHING_BEFORE, None)
    assert (second.seq, second.previous, second.at) == (2, first.hash, clock.now)
    assert (second.actor, second.before, second.after) == (
        "olga",
        prepare(orders()).digest,
        prepare(orders("1.0.1", description={"purpose": "better"})).digest,
    )


def test_reads_checks_and_failed_writes_leave_no_entry(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.check(BREAKING)
    registry.consumers.impact(BREAKING)
    registry.consumers.can_i_retire("orders@1")
    registry.governance.check_policies(BREAKING)
    registry.tick()
    registry.register(orders())
    for write in (
        lambda: registry.register(orders(fields=[ID])),
        lambda: registry.retire(ORDERS, "1.0.0"),
        lambda: registry.consumers.subscribe("board", "orders@9", **CLASS),
    ):
        with pytest.raises(TreatyError):
            write()

    assert entries(registry) == [("local", "contract.register", "orders 1.0.0")]


def test_the_log_is_read_by_subject_and_actor(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    backend.acting_as("vera", "admin").register(orders(id="orders_eu"))
    registry.register(orders(id="ordersXeu"))

    assert [one[2] for one in entries(registry, subject="orders ")] == ["orders 1.0.0"]
    assert [one[2] for one in entries(registry, subject="orders_")] == ["orders_eu 1.0.0"]
    assert [one[2] for one in entries(registry, actor="vera")] == ["orders_eu 1.0.0"]
    assert entries(registry, subject="orders_", actor="local") == []
    assert entries(registry, subject="%") == []


def test_an_empty_log_is_intact(registry: AnyRegistry) -> None:
    found = registry.access.verify_audit()

    assert (found.whole, found.entries, found.head, found.breaks) == (True, 0, f"0:{NOTHING_BEFORE}", [])


def some_entries(registry: AnyRegistry) -> str:
    registry.register(orders())
    registry.register(orders(id="refunds"))
    registry.register(orders(id="returns"))
    found = registry.access.verify_audit()
    assert (found.whole, found.entries) == (True, 3)
    return found.head


@pytest.mark.parametrize(
    ("statement", "breaks"),
    [
        ("UPDATE audit SET actor = 'nobody' WHERE seq = 2", [(2, "it was changed after it was written")]),
        ("UPDATE audit SET details = '{}' WHERE seq = 1", [(1, "it was changed after it was written")]),
        ("UPDATE audit SET at = at + 1 WHERE seq = 3", [(3, "it was changed after it was written")]),
        ("DELETE FROM audit WHERE seq = 2", [(3, "entry 2 is missing")]),
        ("DELETE FROM audit WHERE seq = 1", [(2, "entry 1 is missing")]),
    ],
)
def test_tampering_is_detected(
    backend: Backend, registry: AnyRegistry, statement: str, breaks: list[tuple[int, str]]
) -> None:
    some_entries(registry)

    backend.tamper("audit", statement)

    found = registry.access.verify_audit()
    assert not found.whole
    assert [(one.seq, one.reason) for one in found.breaks] == breaks


def test_a_recorded_head_is_found_again(registry: AnyRegistry) -> None:
    head = some_entries(registry)
    registry.register(orders(id="later"))

    assert registry.access.verify_audit(head=head).whole


def test_a_truncated_log_is_detected_with_a_recorded_head(backend: Backend, registry: AnyRegistry) -> None:
    head = some_entries(registry)

    backend.tamper("audit", "DELETE FROM audit WHERE seq = 3")

    found = registry.access.verify_audit()
    assert (found.breaks, found.whole) == ([], False)  # the rest of the log is intact, but a row has no entry
    assert "version returns 1.0.0" in [one.subject for one in found.differences]
    found = registry.access.verify_audit(head=head)
    assert [(one.seq, one.reason) for one in found.breaks] == [(3, "it is missing")]


def test_a_head_of_another_log_is_detected(registry: AnyRegistry) -> None:
    head = some_entries(registry)

    found = registry.access.verify_audit(head=head.partition(":")[0] + ":" + "f" * 64)

    assert [(one.seq, one.reason) for one in found.breaks] == [(3, "it is not the entry that was there")]


@pytest.mark.parametrize("head", ["", "nothing", "x:y", "-1:ab", ":"])
def test_an_invalid_head_is_refused(registry: AnyRegistry, head: str) -> None:
    with pytest.raises(InvalidDocument, match="is no head of an audit log"):
        registry.access.verify_audit(head=head)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET actor = 'nobody'",
        "DELETE FROM audit",
        "DELETE FROM versions",
        "UPDATE versions SET version = '9.9.9'",
        "UPDATE versions SET parsed = '{}'",
        "UPDATE versions SET registered_by = 'nobody'",
        "UPDATE versions SET digest = ''",
        "DELETE FROM notices",
    ],
)
def test_the_database_itself_refuses_to_change_history(backend: Backend, registry: AnyRegistry, statement: str) -> None:
    registry.register(orders())

    with pytest.raises(Unavailable, match="history does not change"):
        backend.database.change(lambda connection: connection.execute(text(statement)))

    assert registry.access.verify_audit().whole
    assert registry.get(ORDERS, "1.0.0").registered_by == "local"


def test_the_log_is_for_stewards(backend: Backend, registry: AnyRegistry) -> None:
    olga = backend.acting_as("olga", "owner", "checkout")
    for ask in (olga.access.audit, olga.access.verify_audit):
        with pytest.raises(NotAllowed):
            ask()

    assert backend.acting_as("stella", "steward").access.verify_audit().whole
