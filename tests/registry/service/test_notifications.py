"""Who is told what: once each, and on every channel of those it is for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.registry.model import NoticeAnswer

GUIDE = "https://wiki.example.org/move"
SECRET = "a-secret-of-sixteen-signs"  # noqa: S105


def reads(registry: AnyRegistry, consumer: str, *fields: str, **more: Any) -> None:
    registry.consumers.subscribe(consumer, "orders@1", consumer_class="operational_reporting", fields=fields, **more)


def told(registry: AnyRegistry, **asked: Any) -> list[tuple[str, str | None, list[str]]]:
    return [(one.kind, one.version, one.parties) for one in registry.notices.notices(**asked).items]


def last(registry: AnyRegistry) -> NoticeAnswer:
    return registry.notices.notices().items[-1]


def test_owners_are_notified_of_a_first_version(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())

    one = last(registry)

    assert (one.kind, one.contract, one.version, one.parties) == (
        "contract.registered",
        ORDERS,
        "1.0.0",
        ["checkout"],
    )
    assert (one.headline, one.at, one.deliveries) == ("orders 1.0.0 was registered", clock.now, [])


def test_only_affected_consumers_are_notified_of_a_change(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "ltv", team="analytics")
    reads(registry, "planner", "plan")
    reads(registry, "somebody")

    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    one = last(registry)
    assert (one.kind, one.version) == ("line.opened", "2.0.0")
    assert one.parties == ["analytics", "checkout", "dashboard", "somebody"]
    assert one.headline == "orders 2.0.0 opens the line orders@2"
    assert one.details["migration"] == PLAN
    assert {name: effect["effect"] for name, effect in one.details["consumers"].items()} == {
        "dashboard": "hit",
        "somebody": "unknown",
    }


def test_a_compatible_change_notifies_only_the_owners(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[ID]))
    reads(registry, "somebody")

    registry.register(orders("1.1.0", [ID, LTV], owners=[{"team": "growth"}]))

    assert told(registry)[-2:] == [
        ("contract.changed", "1.1.0", ["checkout", "growth"]),
        ("contract.transferred", "1.1.0", ["checkout", "growth", "somebody"]),
    ]


def test_consumers_are_notified_of_each_lifecycle_step(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "plan", team="analytics")
    before = len(told(registry))

    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    registry.activate(ORDERS, "1.0.0")
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()
    registry.retire(ORDERS, "1.0.0", override="gone")

    everybody = ["analytics", "checkout", "dashboard"]
    assert told(registry)[before:] == [
        (f"contract.{status}", "1.0.0", everybody)
        for status in ("deprecated", "active", "deprecated", "sunset", "retired")
    ]
    assert registry.notices.notices().items[-2].details == {
        "line": "orders@1",
        "versions": ["1.0.0"],
        "announced_on": "2026-03-01",
        "sunset_on": "2026-03-31",
        "retire_on": "2026-04-07",
        "replacement": None,
        "deprecation_uri": GUIDE,
        "reason": None,
    }


def test_owners_are_notified_once_of_each_subscription_change(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard")
    reads(registry, "dashboard", "ltv")
    registry.consumers.unsubscribe("dashboard", "orders@1")

    assert [(one.kind, one.parties, one.headline) for one in registry.notices.notices().items[1:]] == [
        ("subscription.started", ["checkout"], "dashboard reads orders@1"),
        ("subscription.ended", ["checkout"], "dashboard no longer reads orders@1"),
    ]


@pytest.mark.parametrize("kind", ["sla_breach", "exception"])
def test_a_breach_notifies_owners_and_consumers(registry: AnyRegistry, kind: str) -> None:
    registry.register(orders())
    reads(registry, "dashboard", team="analytics")

    one = registry.notices.report_breach(ORDERS, kind=kind, message="31 h late", details={"hours": [31, None]})

    assert (one.kind, one.version, one.headline) == (f"contract.{kind}", "1.0.0", "31 h late")
    assert (one.parties, one.details) == (["analytics", "checkout", "dashboard"], {"hours": [31, None]})
    assert last(registry) == one


def test_a_breach_without_a_message_is_refused(registry: AnyRegistry) -> None:
    registry.register(orders())

    for kind, message in (("fire", "it burns"), ("exception", "  "), ("exception", "x" * 2_001)):
        with pytest.raises(InvalidDocument):
            registry.notices.report_breach(ORDERS, kind=kind, message=message)
    with pytest.raises(NotFound):
        registry.notices.report_breach("nobody", kind="exception", message="lost")
    assert len(told(registry)) == 1


def test_a_refused_write_sends_no_notices(registry: AnyRegistry) -> None:
    registry.register(orders())
    with pytest.raises(Exception, match="refused"):
        registry.register(orders("1.0.1", [ID]))

    assert told(registry) == [("contract.registered", "1.0.0", ["checkout"])]


def test_a_notice_waits_on_each_channel_of_its_parties_and_of_everybody(registry: AnyRegistry, clock: Clock) -> None:
    mine = registry.notices.add_channel("checkout", kind="log", target="team")
    twice = registry.notices.add_channel("checkout", kind="log", target="mail")
    other = registry.notices.add_channel("growth", kind="log", target="")
    everybody = registry.notices.add_channel("*", kind="log", target="all")

    registry.register(orders())

    assert [(one.channel, one.state, one.attempts, one.next_at) for one in last(registry).deliveries] == [
        (mine.id, "pending", 0, clock.now),
        (twice.id, "pending", 0, clock.now),
        (everybody.id, "pending", 0, clock.now),
    ]
    assert other.id not in {one.channel for one in last(registry).deliveries}


def test_a_channel_receives_only_later_notices(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.notices.add_channel("checkout", kind="log", target="")
    assert last(registry).deliveries == []


def test_a_channel_does_not_show_its_secret_or_the_path_of_its_address(backend: Backend, registry: AnyRegistry) -> None:
    target = "https://93.184.215.14/hooks/T0/very-private"

    added = registry.notices.add_channel("checkout", kind="webhook", target=target, secret=SECRET)

    assert (added.target, added.signed, added.added_by) == ("https://93.184.215.14/…", True, "local")
    assert registry.notices.channels().items == [added]
    shown = str(registry.access.audit().items) + added.model_dump_json()
    assert SECRET not in shown
    assert "very-private" not in shown


@pytest.mark.parametrize(
    "said",
    [
        {"kind": "pigeon"},
        {"kind": "email", "target": "nobody"},
        {"kind": "webhook", "target": "ftp://example.org/x"},
        {"kind": "webhook", "target": "http://127.0.0.1/x"},
        {"kind": "slack", "target": "https://169.254.169.254/latest/meta-data"},
        {"kind": "webhook", "target": "https://93.184.215.14/x", "secret": "short"},
        {"party": " "},
    ],
    ids=lambda said: " ".join(said.values()),
)
def test_a_channel_that_leads_nowhere_good_is_refused(registry: AnyRegistry, said: dict[str, str]) -> None:
    asked: dict[str, Any] = {"party": "checkout", "kind": "log", "target": "", **said}

    with pytest.raises(InvalidDocument):
        registry.notices.add_channel(asked.pop("party"), **asked)

    assert registry.notices.channels().items == []


def test_removing_a_channel_cancels_its_deliveries(registry: AnyRegistry) -> None:
    channel = registry.notices.add_channel("checkout", kind="log", target="")
    registry.register(orders())

    assert registry.notices.remove_channel(channel.id) == channel

    assert [one.state for one in last(registry).deliveries] == ["dead"]
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    assert last(registry).deliveries == []
    assert registry.notices.channels().items == []
    with pytest.raises(NotFound, match=f"no channel {channel.id}"):
        registry.notices.remove_channel(channel.id)
    with pytest.raises(NotFound):
        registry.notices.retry(channel=channel.id)


def test_failed_deliveries_can_be_retried(backend: Backend, registry: AnyRegistry) -> None:
    channel = registry.notices.add_channel("checkout", kind="log", target="")
    registry.register(orders())
    backend.tamper("deliveries", "UPDATE deliveries SET state = 'dead', next_at = NULL, attempts = 9")
    assert [one.state for one in last(registry).deliveries] == ["dead"]

    assert registry.notices.retry(channel=channel.id) == 1
    assert registry.notices.retry() == 0

    assert [one.state for one in last(registry).deliveries] == ["pending"]


def test_notices_are_listed_by_contract_and_party(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders(id="refunds", owners=[{"team": "growth"}]))
    reads(registry, "dashboard")
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)

    assert [one.contract for one in registry.notices.notices(contract="refunds").items] == ["refunds"]
    assert [one.kind for one in registry.notices.notices(party="dashboard").items] == ["contract.deprecated"]
    assert [one.contract for one in registry.notices.notices(party="growth").items] == ["refunds"]
    assert registry.notices.notices(party="nobody").items == []
    assert len({one.id for one in registry.notices.notices().items}) == 4


def test_teams_have_their_own_channels(backend: Backend, registry: AnyRegistry) -> None:
    carl = backend.acting_as("carl", "contributor", "checkout")
    channel = carl.notices.add_channel("checkout", kind="log", target="")

    for party in ("growth", "*"):
        with pytest.raises(NotAllowed):
            carl.notices.add_channel(party, kind="log", target="")
    with pytest.raises(NotAllowed):
        backend.acting_as("gus", "owner", "growth").notices.remove_channel(channel.id)
    with pytest.raises(NotAllowed):
        carl.notices.retry()


def test_owners_of_lines_derived_from_a_broken_field_are_notified(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("margins", f"{ORDERS}:ltv", owners=[{"team": "pricing"}]))
    registry.register(made_from("plans", f"{ORDERS}:plan", owners=[{"team": "planning"}]))

    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    one = last(registry)
    assert one.parties == ["checkout", "pricing"]
    assert one.details["lines"] == ["margins@1"]
