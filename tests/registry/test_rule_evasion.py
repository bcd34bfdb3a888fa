"""Attempts to evade the rules of a registry, all of which are refused."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import Conflict, InvalidDocument, NotAllowed, Refused
from treaty.registry.rules import Approval, RegistryRules

GUIDE = "https://wiki.example.org/move"
POLICY: dict[str, Any] = {"id": "rules", "tier": "enterprise"}


def reads(registry: AnyRegistry, consumer: str, *fields: str, **more: Any) -> None:
    registry.consumers.subscribe(consumer, "orders@1", consumer_class="operational_reporting", fields=fields, **more)


def effects(registry: AnyRegistry, document: dict[str, Any]) -> dict[str, str]:
    return {consumer.name: consumer.effect for consumer in registry.consumers.impact(document).affected}


def test_only_owners_may_request_a_weaker_mode(backend: Backend) -> None:
    backend.local.register(orders())
    removal = orders("2.0.0", [ID, PLAN_FIELD])

    with pytest.raises(NotAllowed):
        backend.acting_as("carl", "contributor", "checkout").register(removal, compatibility="none")
    backend.acting_as("olga", "owner", "checkout").register(removal, compatibility="none")


def test_a_breaking_change_waits_for_approval_under_any_mode(open_backend: Any) -> None:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    backend.local.register(orders())

    answer = backend.local.register(orders("2.0.0", [ID, PLAN_FIELD]), compatibility="none")

    assert answer.status == "proposed"


def test_a_contributor_cannot_change_the_owners(backend: Backend) -> None:
    backend.local.register(orders())
    given = orders("1.0.1", owners=[{"team": "others"}])

    with pytest.raises(NotAllowed):
        backend.acting_as("carl", "contributor", "checkout").register(given)
    backend.acting_as("olga", "owner", "checkout").register(given)


def test_only_stewards_may_turn_a_policy_into_a_contract(backend: Backend) -> None:
    backend.local.register(orders(**POLICY))
    owner = backend.acting_as("olga", "owner", "checkout")

    with pytest.raises(NotAllowed):
        owner.register(orders("1.1.0", id="rules"))
    with pytest.raises(NotAllowed):
        owner.archive("rules", "1.0.0")


def test_only_stewards_may_remove_the_parent_policy(backend: Backend) -> None:
    backend.local.register(orders(**POLICY))
    backend.local.register(orders(parent="rules"))

    with pytest.raises(NotAllowed):
        backend.acting_as("olga", "owner", "checkout").register(orders("1.0.1"))
    backend.acting_as("stella", "steward").register(orders("1.0.1"))


def test_a_child_cannot_leave_a_field_of_its_policy_out_by_making_it_optional(registry: AnyRegistry) -> None:
    registry.register(orders(**POLICY))

    with pytest.raises(Refused, match="from rules"):
        registry.register(orders(fields=[{**ID, "required": False}], parent="rules"))


def test_an_edge_contract_needs_an_expiry_date(registry: AnyRegistry) -> None:
    with pytest.raises(Refused, match="an edge contract needs an end"):
        registry.register(orders(tier="edge"))


def test_a_line_that_others_are_made_from_is_not_retired_or_archived(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.register(made_from("margins", f"{ORDERS}:ltv"))
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(40)
    registry.tick()

    assert not registry.consumers.can_i_retire("orders@1").answer
    for end in (registry.retire, registry.archive):
        with pytest.raises(Refused, match="margins@1"):
            end(ORDERS, "1.0.0")


def test_downstream_owners_are_notified_of_a_deprecation(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("margins", f"{ORDERS}:ltv", owners=[{"team": "pricing"}]))

    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)

    assert "pricing" in registry.notices.notices().items[-1].parties


def test_lineage_without_fields_is_never_safe(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(made_from("margins", ORDERS, f"{ORDERS}:plan"))

    assert effects(registry, orders("2.0.0", [ID, PLAN_FIELD]))["margins@1"] == "unknown"


def test_lineage_to_a_line_and_to_its_contract_is_merged(registry: AnyRegistry) -> None:
    registry.register(made_from("margins", f"{ORDERS}@1:ltv", f"{ORDERS}:plan"))
    registry.register(orders())

    assert effects(registry, orders("2.0.0", [ID, PLAN_FIELD]))["margins@1"] == "hit"


def test_a_consumer_belongs_to_its_team_on_every_line(backend: Backend) -> None:
    backend.local.register(orders())
    backend.local.register(orders("2.0.0", [ID, LTV], migration=PLAN))
    analytics = backend.acting_as("ada", "contributor", "analytics")
    reads(analytics, "dashboard", "ltv", team="analytics")

    with pytest.raises(NotAllowed):
        backend.acting_as("eve", "contributor", "evil").consumers.subscribe(
            "dashboard", "orders@2", consumer_class="operational_reporting", team="evil"
        )
    reads(analytics, "dashboard", "plan")
    assert analytics.consumers.subscriptions(consumer="dashboard").items[0].team == "analytics"
    analytics.consumers.unsubscribe("dashboard", "orders@1")


def test_an_announced_sunset_cannot_be_moved_into_the_past(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    today = clock.now.date()
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=today + timedelta(days=300))
    clock.pass_days(60)

    with pytest.raises(Refused, match="the sunset was announced for"):
        registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=today + timedelta(days=31))
    found = registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=today + timedelta(days=90))
    assert found.sunset_on == today + timedelta(days=90)


def test_a_draft_activated_late_still_gets_the_minimum_notice_period(registry: AnyRegistry, clock: Clock) -> None:
    sunset = clock.now.date() + timedelta(days=30)
    registry.register(orders(status="draft", deprecation={"sunset_date": str(sunset)}))
    clock.pass_days(100)

    registry.activate(ORDERS, "1.0.0")
    registry.tick()

    found = registry.get(ORDERS, "1.0.0")
    assert (found.status, found.sunset_on) == ("deprecated", clock.now.date() + timedelta(days=30))


def test_a_line_in_sunset_takes_no_new_versions_or_consumers(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(orders())
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE)
    clock.pass_days(30)
    registry.tick()

    with pytest.raises(Refused, match="the line orders@1 is sunset"):
        registry.register(orders("1.0.1"))
    assert not registry.consumers.can_i_publish(orders("1.0.1")).answer


@pytest.mark.parametrize(
    "details",
    [
        pytest.param({"text": "x" * 20_000}, id="too much"),
        pytest.param({"a": [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]}, id="too deep"),
    ],
)
def test_large_or_nested_breach_details_are_refused(registry: AnyRegistry, details: dict[str, Any]) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument):
        registry.notices.report_breach(ORDERS, kind="sla_breach", message="late", details=details)
    assert [one.kind for one in registry.notices.notices().items] == ["contract.registered"]


def test_teams_see_their_own_channels(backend: Backend) -> None:
    backend.local.notices.add_channel("growth", kind="log", target="growth")
    backend.local.notices.add_channel("others", kind="log", target="others")

    found = backend.acting_as("carl", "contributor", "growth").notices.channels().items

    assert [one.party for one in found] == ["growth"]


@pytest.mark.parametrize("name", ["calendar", "local", "ops"])
def test_token_names_are_unique(registry: AnyRegistry, name: str) -> None:
    registry.access.create_token("ops", role="viewer")

    with pytest.raises(Conflict, match="is taken"):
        registry.access.create_token(name, role="admin")


def test_consumers_of_a_deprecated_line_see_a_warning(registry: AnyRegistry) -> None:
    registry.register(orders())
    reads(registry, "dashboard", "ltv")
    registry.deprecate(ORDERS, "1.0.0", deprecation_uri=GUIDE, sunset_on=date(2099, 1, 1))

    assert "orders@1 is deprecated" in registry.consumers.subscriptions(consumer="dashboard").items[0].warnings[0]
