"""Policies bind those below them: strengthen what they ask, never weaken it; a waiver sets that aside for a time."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, PLAN_FIELD, orders
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.registry.report import VersionRefused

ENTERPRISE, DOMAIN, PRODUCT = "policy/enterprise", "policy/sales", "sales.orders"
SECRET_ID = {**ID, "classification": "confidential"}
NEEDED_PLAN = {**PLAN_FIELD, "required": True}


def levels(freshness: int, retention: int) -> list[dict[str, Any]]:
    return [
        {"property": "freshness", "value": freshness, "unit": "h"},
        {"property": "retention", "value": retention, "unit": "d"},
    ]


def enterprise(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {
        "fields": [SECRET_ID],
        "slaProperties": levels(24, 365),
        "change_policy": {"compatibility": "backward"},
    }
    return orders(version, id=ENTERPRISE, tier="enterprise", **{**said, **changes})


def domain(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"fields": [SECRET_ID, NEEDED_PLAN], "slaProperties": levels(12, 365)}
    said |= {"change_policy": {"compatibility": "backward"}, "parent": ENTERPRISE}
    return orders(version, id=DOMAIN, tier="domain", **{**said, **changes})


def product(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"fields": [SECRET_ID, NEEDED_PLAN, LTV], "slaProperties": levels(6, 730)}
    said |= {"change_policy": {"compatibility": "full"}, "parent": DOMAIN, "tier": "product"}
    return orders(version, id=PRODUCT, **{**said, **changes})


@pytest.fixture
def governed(registry: AnyRegistry) -> AnyRegistry:
    registry.register(enterprise())
    registry.register(domain())
    return registry


def test_a_child_stricter_than_its_policy_is_registered(governed: AnyRegistry) -> None:
    answer = governed.register(product())

    assert answer.compatibility.issues == []
    found = governed.governance.check_policies(product())
    assert (found.policies, found.violations, found.is_met) == ([f"{DOMAIN} 1.0.0", f"{ENTERPRISE} 1.0.0"], [], True)


@pytest.mark.parametrize(
    ("weaker", "found"),
    [
        pytest.param(
            {"slaProperties": levels(18, 365)},
            [(DOMAIN, "sla_relaxed", "sla.freshness", "service level sla.freshness is relaxed: 12 h -> 18 h")],
            id="freshness below the domain's",
        ),
        pytest.param(
            {"slaProperties": levels(48, 365)},
            [
                (DOMAIN, "sla_relaxed", "sla.freshness", "service level sla.freshness is relaxed: 12 h -> 48 h"),
                (ENTERPRISE, "sla_relaxed", "sla.freshness", "service level sla.freshness is relaxed: 24 h -> 48 h"),
            ],
            id="freshness below both",
        ),
        pytest.param(
            {"slaProperties": levels(6, 30)},
            [
                (DOMAIN, "retention_shortened", "sla.retention", "retention shortened: 365 d -> 30 d"),
                (ENTERPRISE, "retention_shortened", "sla.retention", "retention shortened: 365 d -> 30 d"),
            ],
            id="retention",
        ),
        pytest.param(
            {"fields": [SECRET_ID, {**NEEDED_PLAN, "required": False}, LTV]},
            [
                (
                    DOMAIN,
                    "field_required_removed",
                    "plan",
                    "field 'plan' was required, now optional; readers may see rows without it",
                )
            ],
            id="required field",
        ),
        pytest.param(
            {"fields": [{**ID, "classification": "public"}, NEEDED_PLAN]},
            [
                (
                    name,
                    "field_classification_changed",
                    "id",
                    "field 'id' classification changed: confidential -> public",
                )
                for name in (DOMAIN, ENTERPRISE)
            ],
            id="classification",
        ),
        pytest.param(
            {"change_policy": {"compatibility": "none"}},
            [
                (
                    name,
                    "change_policy_changed",
                    "change_policy.compatibility",
                    "change_policy.compatibility changed: backward -> none",
                )
                for name in (DOMAIN, ENTERPRISE)
            ],
            id="mode",
        ),
        pytest.param(
            {"owners": None},
            [(name, "owner_missing", "owners", "the contract has no owner") for name in (DOMAIN, ENTERPRISE)],
            id="owners",
        ),
    ],
)
def test_a_weakened_term_is_named_with_the_policy_it_came_from(
    governed: AnyRegistry, weaker: dict[str, Any], found: list[tuple[str, str, str, str]]
) -> None:
    check = governed.governance.check_policies(product(**weaker))
    with pytest.raises(VersionRefused) as refused:
        governed.register(product(**weaker))

    assert [(one.policy, one.kind, one.path, one.message) for one in check.violations] == [
        (f"{policy} 1.0.0", kind, path, message) for policy, kind, path, message in found
    ]
    assert not check.is_met
    said = {(one.kind, one.field, one.message) for one in refused.value.report.errors}
    assert said >= {(kind, path, f"{message} (from {policy} 1.0.0)") for policy, kind, path, message in found}


def test_a_domain_may_not_weaken_the_enterprise(registry: AnyRegistry) -> None:
    registry.register(enterprise())

    with pytest.raises(VersionRefused, match=f"from {ENTERPRISE} 1.0.0"):
        registry.register(domain(slaProperties=levels(48, 365)))


def test_a_parent_must_be_registered(registry: AnyRegistry) -> None:
    for ask in (registry.register, registry.check, registry.governance.check_policies):
        with pytest.raises(InvalidDocument, match=f"inherits from '{DOMAIN}', which is not registered; register it"):
            ask(product())


def test_a_parent_must_be_a_policy(registry: AnyRegistry) -> None:
    registry.register(orders())

    with pytest.raises(InvalidDocument, match="inherits from 'orders', which is no policy"):
        registry.register(product(parent="orders"))


def test_a_circle_of_parents_is_refused(governed: AnyRegistry) -> None:
    with pytest.raises(InvalidDocument, match="inherits from itself"):
        governed.register(enterprise("1.0.1", parent=DOMAIN))
    with pytest.raises(InvalidDocument, match="inherits from itself"):
        governed.register(orders(id="policy/self", tier="domain", parent="policy/self"))


def test_policies_are_listed(governed: AnyRegistry) -> None:
    governed.register(product())

    assert [(one.id, one.tier, one.parent) for one in governed.governance.policies().items] == [
        (ENTERPRISE, "enterprise", None),
        (DOMAIN, "domain", ENTERPRISE),
    ]


def test_a_stricter_policy_lists_the_children_it_breaks_and_notifies_their_owners(governed: AnyRegistry) -> None:
    governed.register(product(owners=[{"team": "sales"}]))
    stricter = enterprise("1.1.0", slaProperties=levels(8, 365))

    check = governed.governance.check_policies(stricter)
    answer = governed.register(stricter)

    broken = f"{DOMAIN} 1.0.0 would violate this policy: service level sla.freshness is relaxed: 8 h -> 12 h"
    assert [(one.contract, one.version, [v.kind for v in one.violations]) for one in check.children] == [
        (DOMAIN, "1.0.0", ["sla_relaxed"])
    ]
    assert [(one.kind, one.message) for one in answer.compatibility.warnings] == [("policy_breaks_child", broken)]
    told = [one for one in governed.notices.notices().items if one.kind == "policy.breached"]
    assert [(one.contract, one.version, one.parties) for one in told] == [(DOMAIN, "1.0.0", ["checkout"])]
    assert told[0].headline == f"{DOMAIN} 1.0.0 is weaker than {ENTERPRISE} 1.1.0 asks"


def test_a_policy_reaches_those_below_its_children(governed: AnyRegistry) -> None:
    governed.register(product(owners=[{"team": "sales"}]))

    governed.register(enterprise("1.1.0", slaProperties=levels(1, 365)))

    told = {one.contract: one.parties for one in governed.notices.notices().items if one.kind == "policy.breached"}
    assert told == {DOMAIN: ["checkout"], PRODUCT: ["sales"]}
    with pytest.raises(VersionRefused, match=f"from {ENTERPRISE} 1.1.0"):
        governed.register(product("1.0.1"))


def test_a_retired_policy_binds_no_contracts(governed: AnyRegistry) -> None:
    governed.archive(DOMAIN, "1.0.0")

    with pytest.raises(InvalidDocument, match="which is not registered"):
        governed.register(product())


def test_policies_are_for_stewards(backend: Backend, governed: AnyRegistry) -> None:
    with pytest.raises(NotAllowed, match="olga may not govern"):
        backend.acting_as("olga", "owner", "checkout").register(enterprise("1.0.1"))

    assert backend.acting_as("stella", "steward").register(enterprise("1.0.1")).status == "registered"


LATE: dict[str, Any] = {"slaProperties": levels(18, 365)}
WAIVER: dict[str, Any] = {"owner": "sales", "reason": "the source is daily for now", "until": date(2026, 3, 31)}


def test_a_waiver_sets_a_violation_aside_until_its_day_and_not_after(governed: AnyRegistry, clock: Clock) -> None:
    granted = governed.governance.waive("sla_relaxed", contract=PRODUCT, path="sla.freshness", **WAIVER)
    assert (granted.rule, granted.contract, granted.until) == ("sla_relaxed", PRODUCT, date(2026, 3, 31))
    assert (granted.granted_by, granted.revoked_at) == ("local", None)
    clock.pass_days(30)

    answer = governed.register(product(**LATE))

    assert [(one.severity, one.message) for one in answer.compatibility.issues] == [
        (
            "warning",
            f"service level sla.freshness is relaxed: 12 h -> 18 h (from {DOMAIN} 1.0.0)"
            "; waived by sales until 2026-03-31",
        )
    ]
    assert [one.waived_by for one in governed.governance.check_policies(product(**LATE)).violations] == ["sales"]
    assert governed.governance.check_policies(product(**LATE)).is_met
    clock.pass_days(1)
    assert not governed.governance.check_policies(product(**LATE)).is_met
    with pytest.raises(VersionRefused):
        governed.register(product("1.0.1", **LATE))


@pytest.mark.parametrize(
    "elsewhere",
    [{"contract": "other"}, {"path": "sla.retention"}, {"rule": "retention_shortened"}],
    ids=["contract", "path", "rule"],
)
def test_a_waiver_for_something_else_does_not_help(governed: AnyRegistry, elsewhere: dict[str, str]) -> None:
    said = {"rule": "sla_relaxed", "contract": PRODUCT, **WAIVER, **elsewhere}
    governed.governance.waive(said.pop("rule"), **said)

    with pytest.raises(VersionRefused):
        governed.register(product(**LATE))


def test_a_waiver_may_be_revoked(governed: AnyRegistry, clock: Clock) -> None:
    granted = governed.governance.waive("sla_relaxed", **WAIVER)
    assert governed.check(product(**LATE)).admissible

    revoked = governed.governance.revoke_waiver(granted.id)

    assert revoked.revoked_at == clock.now
    assert governed.governance.waivers().items == [revoked]
    assert not governed.check(product(**LATE)).admissible
    with pytest.raises(NotFound, match="no waiver 999"):
        governed.governance.revoke_waiver(999)


@pytest.mark.parametrize(
    "said",
    [
        {"rule": "whatever"},
        {"until": date(2026, 2, 28)},
        {"until": "soon"},
        {"owner": ""},
        {"reason": ""},
    ],
    ids=lambda said: next(iter(said)),
)
def test_a_waiver_needs_a_rule_an_owner_a_reason_and_a_day_to_come(registry: AnyRegistry, said: dict[str, Any]) -> None:
    asked = {"rule": "sla_relaxed", **WAIVER, **said}

    with pytest.raises(InvalidDocument):
        registry.governance.waive(asked.pop("rule"), **asked)

    assert registry.governance.waivers().items == []


def test_waivers_are_for_stewards(backend: Backend, registry: AnyRegistry) -> None:
    with pytest.raises(NotAllowed):
        backend.acting_as("olga", "owner", "checkout").governance.waive("sla_relaxed", **WAIVER)

    assert backend.acting_as("stella", "steward").governance.waive("sla_relaxed", **WAIVER).granted_by == "stella"
