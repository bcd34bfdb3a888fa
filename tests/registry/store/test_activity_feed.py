"""What happened is told to everybody who may read, in words; what is secret is not."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import InvalidDocument, NotAllowed
from treaty.registry.report import VersionRefused
from treaty.registry.store.transaction import Transaction

REPORTING = {"consumer_class": "operational_reporting"}
SMALLER = orders("1.0.1", [ID])
NEXT_LINE = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)


def told(registry: AnyRegistry, **asked: Any) -> list[tuple[str, str]]:
    return [(one.did, one.headline) for one in registry.activity(**asked).items]


def refuse(backend: Backend, registry: AnyRegistry, document: dict[str, Any]) -> None:
    """Hand in what is refused, and let the note of it be written."""
    with pytest.raises(VersionRefused):
        registry.register(document)
    backend.database.write(_nothing)


def _nothing(_: Transaction) -> None:
    """Wait for what was handed in before."""


def test_registrations_describe_the_effect_on_consumers(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", fields=["ltv"], team="bi", **REPORTING)
    registry.register(orders("1.0.1"))
    registry.register(NEXT_LINE)

    assert told(registry, kind="registration") == [
        ("registered", "local registered 2.0.0: a new line next to line 1; affects 1 consumer"),
        ("registered", "local registered 1.0.1: compatible with 1.0.0"),
        ("registered", "local registered 1.0.0, the first version"),
    ]
    assert told(registry, kind="migration") == [
        ("opened", "local opened the migration from line 1 to line 2; consumers to move: board")
    ]
    assert told(registry, kind="subscription") == [("subscribed", "local subscribed board to line 1: 1 field")]


def test_each_step_of_a_migration_is_described(registry: AnyRegistry) -> None:
    registry.register(orders())
    for name in ("board", "ledger"):
        registry.consumers.subscribe(name, "orders@1", fields=["ltv"], **REPORTING)
    registry.register(NEXT_LINE)
    (migration,) = registry.migrations.list().items
    registry.migrations.acknowledge(migration.id, "board", note="in March")
    registry.migrations.waive(migration.id, "ledger", reason="switched off", until=date(2030, 1, 31))

    steps = registry.activity(kind="migration").items
    assert [one.headline for one in steps[:2]] == [
        "local waived ledger in the migration from line 1 to line 2 until 31 Jan 2030: switched off",
        "local acknowledged the migration from line 1 to line 2 for board: in March",
    ]
    assert {(one.contract, one.line, one.migration) for one in steps} == {("orders", "orders@1", migration.id)}


def test_lifecycle_steps_are_described_with_their_dates(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri="https://wiki.example.org/move")
    clock.pass_days(30)
    registry.tick()

    sunset, deprecated = told(registry, kind="lifecycle")
    assert sunset == ("sunset", "The calendar put 1.0.0 into sunset: no new consumers can subscribe")
    assert deprecated[1].startswith("local deprecated 1.0.0: sunset on ")


def test_tokens_and_channels_are_not_in_the_feed(registry: AnyRegistry) -> None:
    registry.access.create_token("ci", role="viewer")
    registry.notices.add_channel("checkout", kind="log", target="")

    assert registry.activity().items == []


def test_readers_may_see_the_feed(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())

    assert len(backend.acting_as("vera", "viewer").activity().items) == 1
    with pytest.raises(NotAllowed):
        backend.acting_as("vera", "viewer").access.audit()


def test_the_feed_is_narrowed_by_contract_and_team(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders(id="orders_daily", owners=[{"team": "sales", "contact": "#sales"}]))
    registry.consumers.subscribe("board", "orders@1", team="bi", **REPORTING)

    assert [one.kind for one in registry.activity(contract=ORDERS).items] == ["subscription", "registration"]
    assert [one.kind for one in registry.activity(team="bi").items] == ["subscription", "registration"]
    assert [one.contract for one in registry.activity(team="sales").items] == ["orders_daily"]
    assert registry.activity(team="nobody").items == []


def test_the_feed_of_a_team_includes_lines_it_reads(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", team="bi", **REPORTING)
    registry.consumers.subscribe("ledger", "orders@1", team="finance", **REPORTING)
    registry.register(NEXT_LINE)
    registry.deprecate_line("orders@1", deprecation_uri="https://wiki.example.org/move")

    steps = [(one.did, one.consumer) for one in registry.activity(team="bi").items]
    assert ("deprecated", None) in steps
    assert ("subscribed", "board") in steps
    assert ("subscribed", "ledger") not in steps


def test_the_feed_of_a_team_includes_upstream_contracts(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("report", "orders:ltv", owners=[{"team": "sales", "contact": "#sales"}]))
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri="https://wiki.example.org/move")

    assert ORDERS in {one.contract for one in registry.activity(team="sales", kind="lifecycle").items}
    assert {one.line for one in registry.upcoming(team="sales", days=400).items} == {"orders@1"}
    assert registry.upcoming(team="nobody", days=400).items == []


def test_the_feed_is_paginated(registry: AnyRegistry, clock: Clock) -> None:
    for number in range(5):
        registry.register(orders(f"1.0.{number}"))
        clock.pass_days(1)

    first = registry.activity(limit=2)
    second = registry.activity(limit=2, cursor=first.next)
    last = registry.activity(limit=2, cursor=second.next)

    assert [one.version for part in (first, second, last) for one in part.items] == [
        f"1.0.{n}" for n in (4, 3, 2, 1, 0)
    ]
    assert last.next is None
    since = first.items[1].at.date()
    assert [one.version for one in registry.activity(since=since).items] == ["1.0.4", "1.0.3"]


def test_a_page_searches_a_limited_number_of_entries(registry: AnyRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.registry.store.activity_feed._LOOKED_AT", 3)
    registry.register(orders(id="seldom"))
    for number in range(5):
        registry.register(orders(f"1.0.{number}"))

    first = registry.activity(contract="seldom")
    second = registry.activity(contract="seldom", cursor=first.next)

    assert (first.items, [one.contract for one in second.items], second.next) == ([], ["seldom"], None)


def test_an_unknown_kind_is_refused(registry: AnyRegistry) -> None:
    with pytest.raises(InvalidDocument):
        registry.activity(kind="gossip")


def test_a_refused_version_is_described_with_its_reasons(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", fields=["ltv"], **REPORTING)

    refuse(backend, registry, SMALLER)

    (one,) = registry.activity(kind="refusal").items
    assert (one.actor, one.contract, one.version) == ("local", "orders", "1.0.1")
    headline = (
        "local tried to register 1.0.1, which was refused: field removed; "
        "would affect 1 consumer; the change requires 2.0.0"
    )
    assert one.headline == headline
    assert registry.access.verify_audit().whole


def test_the_same_refusal_is_recorded_once_per_actor(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    for _ in range(3):
        refuse(backend, registry, SMALLER)
    refuse(backend, backend.acting_as("vera", "admin"), SMALLER)
    refuse(backend, registry, orders("1.0.1", [PLAN_FIELD]))

    assert [one.actor for one in registry.activity(kind="refusal").items] == ["local", "vera", "local"]


def test_a_registration_without_permission_is_not_recorded(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    with pytest.raises(NotAllowed):
        backend.acting_as("vera", "viewer").register(SMALLER)
    backend.database.write(_nothing)

    assert registry.activity(kind="refusal").items == []


def test_a_refusal_is_raised_even_if_it_cannot_be_recorded(
    backend: Backend, registry: AnyRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("treaty.registry.service.refusals.record_refusal", fail)
    registry.register(orders())

    refuse(backend, registry, SMALLER)

    assert registry.activity(kind="refusal").items == []


def test_upcoming_dates_are_listed_by_line_nearest_first(registry: AnyRegistry, clock: Clock) -> None:
    for version in ("1.0.0", "1.0.1"):
        registry.register(orders(version))
    registry.consumers.subscribe("board", "orders@1", fields=["ltv"], team="bi", **REPORTING)
    registry.deprecate_line("orders@1", deprecation_uri="https://wiki.example.org/move")
    expires = date(2026, 12, 1)
    registry.register(orders(id="edge", tier="edge", expires=str(expires)))

    near = registry.upcoming(days=400).items

    assert sorted((one.line, one.kind) for one in near) == [
        ("edge@1", "expiry"),
        ("orders@1", "retirement"),
        ("orders@1", "sunset"),
    ]
    assert [one.on for one in near] == sorted(one.on for one in near)
    sunset = next(one for one in near if one.kind == "sunset")
    assert (sorted(sunset.versions), sunset.consumers) == (["1.0.0", "1.0.1"], 1)
    assert {one.line for one in registry.upcoming(team="bi", days=400).items} == {"orders@1"}
    assert registry.upcoming(contract="edge", days=400).items[0].on == expires
    assert registry.upcoming(days=1).items == []
    first = registry.upcoming(days=400, limit=2)
    rest = registry.upcoming(days=400, limit=2, cursor=first.next)
    assert ([*first.items, *rest.items], rest.next) == (near, None)


def test_the_end_of_a_migration_window_is_upcoming(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", fields=["ltv"], **REPORTING)
    registry.register(NEXT_LINE)

    (one,) = registry.upcoming(days=120).items

    assert (one.kind, one.line, one.consumers) == ("migration", "orders@1", 1)
    assert one.migration == registry.migrations.list().items[0].id


def test_teams_own_or_read_something(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", fields=["ltv"], team="bi", **REPORTING)
    registry.consumers.subscribe("alone", "orders@1", fields=["plan"], **REPORTING)
    registry.register(NEXT_LINE)

    found = {one.team: one for one in registry.teams().items}

    assert (found["bi"].owns, found["bi"].reads, found["bi"].consumers, found["bi"].waiting) == (0, 1, 1, 1)
    assert (found["alone"].reads, found["checkout"].owns) == (1, 1)
    assert [one.consumer for one in registry.consumers.subscriptions(team="bi").items] == ["board"]
    assert [one.contract for one in registry.migrations.list(team="bi").items] == ["orders"]
    assert registry.migrations.list(team="sales").items == []
    first = registry.teams(limit=1)
    assert [one.team for one in registry.teams(limit=1, cursor=first.next).items] == [list(found)[1]]
