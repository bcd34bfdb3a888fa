"""Consumers say what they depend on; the state of a line decides how they are received."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, orders
from treaty.errors import InvalidDocument, NotAllowed, NotFound, Refused
from treaty.registry.model import SubscriptionAnswer
from treaty.registry.rules import RegistryRules, Unsuitable

HOURLY = {"property": "freshness", "value": 1, "unit": "h"}
GUIDE = "https://wiki.example.org/move"
NESTED: list[dict[str, Any]] = [
    ID,
    {
        "name": "customer",
        "logicalType": "object",
        "properties": [{"name": "email", "logicalType": "string"}, {"name": "name", "logicalType": "string"}],
    },
    {
        "name": "items",
        "logicalType": "array",
        "items": {"logicalType": "object", "properties": [{"name": "sku", "logicalType": "string"}]},
    },
    {"name": "payload", "logicalType": "object"},
]


def subscribe(registry: AnyRegistry, consumer: str = "dashboard", **more: Any) -> SubscriptionAnswer:
    given = {"line": "orders@1", "consumer_class": "operational_reporting", **more}
    return registry.consumers.subscribe(consumer, given.pop("line"), **given)


def names(registry: AnyRegistry, **asked: Any) -> list[tuple[str, str]]:
    return [(one.consumer, one.line) for one in registry.consumers.subscriptions(**asked).items]


def test_a_subscription_returns_what_was_declared(registry: AnyRegistry) -> None:
    registry.register(orders(slaProperties=[HOURLY]))

    answer = subscribe(
        registry, fields=["plan", "ltv", "plan"], purpose="weekly", latency="24h", contact="#bi", team="analytics"
    )

    assert answer.model_dump() == {
        "consumer": "dashboard",
        "line": "orders@1",
        "consumer_class": "operational_reporting",
        "fields": ["ltv", "plan"],
        "purpose": "weekly",
        "latency": "24h",
        "contact": "#bi",
        "team": "analytics",
        "since": datetime(2026, 3, 1, 12, tzinfo=UTC),
        "confirmed": True,
        "confirm_by": None,
        "warnings": [],
    }
    assert registry.consumers.subscriptions().items == [answer]


def test_a_field_that_the_line_does_not_have_is_refused(registry: AnyRegistry) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument, match="orders@1 has no field 'nope'"):
        subscribe(registry, fields=["ltv", "nope"])

    assert names(registry) == []


def test_unknown_fields_are_allowed_as_none(registry: AnyRegistry) -> None:
    registry.register(orders())

    assert subscribe(registry, fields=[]).fields == []


@pytest.mark.parametrize(
    "field", ["customer", "customer.email", "items", "items[].sku", "payload", "payload.whatever.it.holds"]
)
def test_subscriptions_may_name_nested_fields(registry: AnyRegistry, field: str) -> None:
    registry.register(orders(fields=NESTED))

    assert subscribe(registry, fields=[field]).fields == [field]


@pytest.mark.parametrize("field", ["customer.phone", "email", "items.sku", "items[].price", "id.x"])
def test_a_nested_field_that_is_not_there_is_refused(registry: AnyRegistry, field: str) -> None:
    registry.register(orders(fields=NESTED))

    with pytest.raises(InvalidDocument, match="has no field"):
        subscribe(registry, fields=[field])


def test_fields_are_those_of_the_newest_version_of_the_line(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[ID]))
    registry.register(orders("1.1.0", [ID, LTV]))

    assert subscribe(registry, fields=["ltv"]).fields == ["ltv"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"consumer_class": "curious"}, "curious|consumer_class"),
        ({"consumer": ""}, "name of a consumer|consumer"),
        ({"consumer": " dashboard"}, "name of a consumer"),
        ({"consumer": "a\nb"}, "name of a consumer"),
        ({"consumer": "x" * 201}, "name of a consumer|consumer"),
        ({"team": "  "}, "name of a team"),
        ({"line": "orders"}, "is not a line"),
        ({"fields": ["a..b"]}, "field path"),
        ({"purpose": "x" * 2_001}, "2,?000 characters"),
    ],
)
def test_what_cannot_be_understood_is_refused(registry: AnyRegistry, said: dict[str, Any], words: str) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument, match=words):
        subscribe(registry, **said)

    assert names(registry) == []


@pytest.mark.parametrize("line", ["orders@2", "nobody@1"])
def test_a_line_that_is_not_there_has_no_consumers(registry: AnyRegistry, line: str) -> None:
    registry.register(orders())

    with pytest.raises(NotFound, match=f"no line {line} is registered"):
        subscribe(registry, line=line)


def test_a_new_consumer_of_a_deprecated_line_is_warned(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)

    assert subscribe(registry).warnings == [
        f"orders@1 is deprecated; sunset on 2026-03-31, retirement from 2026-04-07. See {GUIDE}"
    ]


def test_a_new_consumer_of_a_draft_is_warned(registry: AnyRegistry) -> None:
    registry.register(orders(status="draft"))

    assert subscribe(registry).warnings == ["orders@1 is draft"]


def test_a_line_in_sunset_takes_no_new_consumers_and_keeps_those_it_has(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    subscribe(registry, "old")
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()

    with pytest.raises(Refused, match="orders@1 is sunset and takes no new consumers; new must use another line"):
        subscribe(registry, "new")

    assert subscribe(registry, "old", fields=["ltv"]).warnings == [
        f"orders@1 is sunset since 2026-03-31; retirement from 2026-04-07. Immediate migration required. See {GUIDE}"
    ]
    assert names(registry) == [("old", "orders@1")]


@pytest.mark.parametrize("gone", ["retired", "archived"])
def test_a_retired_line_takes_no_consumers(registry: AnyRegistry, gone: str) -> None:
    registry.register(orders())
    if gone == "retired":
        registry.retire(ORDERS, "1.0.0", override="gone")
    else:
        registry.archive(ORDERS, "1.0.0")

    with pytest.raises(Refused, match=f"orders@1 is {gone}"):
        subscribe(registry)


def test_who_left_a_line_in_sunset_does_not_come_back(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    subscribe(registry)
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()
    registry.consumers.unsubscribe("dashboard", "orders@1")

    with pytest.raises(Refused):
        subscribe(registry)


def test_subscribing_again_replaces_the_subscription(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    subscribe(registry, fields=["ltv"], purpose="weekly")
    clock.pass_days(3)

    again = subscribe(registry, fields=["plan"], consumer_class="decision_automation")

    assert (again.fields, again.purpose, again.consumer_class) == (["plan"], None, "decision_automation")
    assert again.since == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert registry.consumers.subscriptions().items == [again]


def test_consumer_that_needs_more_than_is_promised_is_warned(registry: AnyRegistry) -> None:
    intended = [{"name": "analysts", "class": "exploratory_analytics"}]
    registry.register(orders(slaProperties=[HOURLY], intended_consumers=intended))

    assert subscribe(registry, latency="15 min").warnings == [
        "dashboard needs 15 min, and orders@1 promises 1 h",
        "orders@1 is not intended for operational_reporting: its intended consumers are exploratory_analytics",
    ]
    assert subscribe(registry, "analysts", latency="2 h").warnings == []


def test_registry_may_refuse_consumers_that_a_contract_does_not_suit(
    open_backend: Callable[[RegistryRules], Backend],
) -> None:
    registry = open_backend(RegistryRules(unsuitable=Unsuitable.REFUSE)).acting_as("ana", "admin")
    registry.register(orders())

    with pytest.raises(Refused, match="needs 15 min, and orders@1 promises no latency; ask its owner"):
        subscribe(registry, latency="15 min")

    assert names(registry) == []
    assert subscribe(registry).warnings == []


POLICY: dict[str, Any] = {"id": "base", "tier": "enterprise", "slaProperties": [HOURLY]}
STATED = {"name": "stated", "for": "consumer", "where": {"class": "operational_reporting"}, "must": {"purpose": True}}


def test_an_inherited_service_level_is_what_a_consumer_is_promised(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[], **POLICY))
    registry.register(orders(parent="base"))

    assert subscribe(registry, latency="2 h").warnings == []
    assert subscribe(registry, latency="5 min").warnings == ["dashboard needs 5 min, and orders@1 promises 1 h"]
    kinds = [reason.kind for reason in registry.consumers.can_i_publish(orders("1.0.1", parent="base")).reasons]
    assert "consumer_latency_unmet" in kinds


def test_a_policy_says_for_what_a_contract_is_read(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[], require=[STATED], **POLICY))
    registry.register(orders(parent="base"))

    with pytest.raises(Refused, match=r"dashboard states no purpose \(from base 1.0.0\)"):
        subscribe(registry)

    assert names(registry) == []
    assert subscribe(registry, purpose="weekly review").warnings == []
    assert subscribe(registry, "notebook", consumer_class="exploratory_analytics").warnings == []


def test_a_rule_that_warns_refuses_no_consumer(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[], require=[{**STATED, "severity": "warning"}], **POLICY))
    registry.register(orders(parent="base"))

    assert subscribe(registry).warnings == [
        "the policy rule stated requires it: dashboard states no purpose (from base 1.0.0)"
    ]


def test_a_subscription_is_ended_once(registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry)

    assert registry.consumers.unsubscribe("dashboard", "orders@1").consumer == "dashboard"

    assert names(registry) == []
    with pytest.raises(NotFound, match="'dashboard' does not read orders@1"):
        registry.consumers.unsubscribe("dashboard", "orders@1")


def test_a_consumer_that_subscribes_again_starts_over(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    subscribe(registry, fields=["ltv"])
    registry.consumers.unsubscribe("dashboard", "orders@1")
    clock.pass_days(5)

    assert subscribe(registry).since == datetime(2026, 3, 6, 12, tzinfo=UTC)


def test_a_new_line_does_not_move_subscriptions(registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry)

    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    assert names(registry) == [("dashboard", "orders@1")]
    assert [(one.line, one.consumers) for one in registry.lines(ORDERS)] == [("orders@2", 0), ("orders@1", 1)]


def test_a_minor_version_requires_no_action_from_consumers(registry: AnyRegistry) -> None:
    registry.register(orders(fields=[ID]))
    subscribe(registry, fields=["id"])

    registry.register(orders("1.1.0", [ID, LTV]))

    assert names(registry) == [("dashboard", "orders@1")]
    assert registry.notices.notices(party="dashboard").items == []


def test_subscriptions_are_listed_by_contract_and_consumer(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders(id="refunds"))
    subscribe(registry, "b", line="refunds@1")
    subscribe(registry, "a")
    subscribe(registry, "b")

    assert names(registry) == [("a", "orders@1"), ("b", "orders@1"), ("b", "refunds@1")]
    assert names(registry, contract="orders") == [("a", "orders@1"), ("b", "orders@1")]
    assert names(registry, consumer="b") == [("b", "orders@1"), ("b", "refunds@1")]
    assert names(registry, contract="refunds", consumer="a") == []


def test_a_team_changes_only_its_own_subscriptions(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(orders())
    subscribe(registry, "scoring", team="risk")
    carl = backend.acting_as("carl", "contributor", "analytics")

    assert subscribe(carl, "dashboard", team="analytics").team == "analytics"
    assert subscribe(carl, "analytics").consumer == "analytics"
    for said in ({"consumer": "scoring", "team": "risk"}, {"consumer": "scoring", "team": "analytics"}):
        with pytest.raises(NotAllowed, match="carl may not subscribe"):
            subscribe(carl, **said)
    with pytest.raises(NotAllowed, match="carl may not subscribe"):
        carl.consumers.unsubscribe("scoring", "orders@1")
    with pytest.raises(NotAllowed):
        subscribe(backend.acting_as("vic", "viewer"), "dashboard2")
