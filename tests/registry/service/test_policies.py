"""Contracts inherit from their policies: named, by default, and only from those that hold on the day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.registry.backends import RULES, AnyRegistry, Backend, Clock
from tests.registry.offers import ID, LTV, orders
from treaty.governance.policy_chain import parse_default_policies
from treaty.observability.measures import Measure
from treaty.registry.model.contract_answers import Query
from treaty.registry.report import VersionRefused
from treaty.registry.rules import RegistryRules

BASE, FINANCE = "enterprise.base", "finance.policy"


def fresh(hours: int) -> list[dict[str, Any]]:
    return [{"property": "freshness", "value": hours, "unit": "h"}]


def base(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"slaProperties": fresh(24), "delivery": {"guarantee": "at_least_once"}}
    return orders(version, [], id=BASE, tier="enterprise", **{**said, **changes})


def finance(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"fields": [{**ID, "classification": "confidential"}], "parent": BASE}
    return orders(version, id=FINANCE, tier="domain", **{**said, **changes})


def ledger(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    return orders(version, id="finance.ledger", tier="product", **{"fields": [ID, LTV], "parent": FINANCE, **changes})


@pytest.fixture
def governed(registry: AnyRegistry) -> AnyRegistry:
    registry.register(base())
    registry.register(finance())
    return registry


def test_a_silent_contract_is_registered_and_has_the_values_of_its_policies(governed: AnyRegistry) -> None:
    assert governed.register(ledger()).compatibility.issues == []

    answer = governed.effective("finance.ledger", "1.0.0")

    assert answer.policies == [f"{FINANCE} 1.0.0", f"{BASE} 1.0.0"]
    assert [(one.path, one.value, one.origin) for one in answer.values if one.origin] == [
        ("sla.freshness", "24 h", f"{BASE} 1.0.0"),
        ("delivery.guarantee", "at_least_once", f"{BASE} 1.0.0"),
        ("id#classification", "confidential", f"{FINANCE} 1.0.0"),
    ]
    assert answer.document["slaProperties"] == fresh(24)
    assert "slaProperties" not in governed.get("finance.ledger", "1.0.0").document


def test_measures_are_judged_by_the_inherited_service_level(governed: AnyRegistry, clock: Clock) -> None:
    governed.register(ledger())

    governed.measures.record([Measure("finance.ledger", "freshness", clock.now, 30 * 3_600, unit="s")])

    (measure,) = governed.measures.current(contract="finance.ledger").items
    assert (measure.promise, measure.state) == (24 * 3_600, "failing")


def test_the_mode_that_a_policy_pins_holds_for_its_children(registry: AnyRegistry) -> None:
    registry.register(base(change_policy={"compatibility": "full"}))
    registry.register(ledger(parent=BASE))

    assert registry.check(ledger("1.1.0", parent=BASE)).mode == "full"


@pytest.fixture
def by_default(open_backend: Callable[[RegistryRules], Backend]) -> Backend:
    defaults = parse_default_policies({"pay.": "pay.policy", "domain:finance": FINANCE, "*": BASE})
    return open_backend(replace(RULES, default_policies=defaults))


@pytest.mark.parametrize(
    ("contract", "policies"),
    [
        pytest.param({"id": "shop.orders"}, [BASE], id="all"),
        pytest.param({"id": "shop.costs", "domain": "finance"}, [FINANCE, BASE], id="domain"),
        pytest.param({"id": "pay.refunds", "domain": "finance"}, ["pay.policy", BASE], id="prefix"),
        pytest.param({"id": "shop.own", "parent": "lax.policy"}, ["lax.policy", BASE], id="a lax parent of its own"),
        pytest.param(
            {"id": "finance.own", "domain": "finance", "tier": "domain"}, [FINANCE, BASE], id="a policy below"
        ),
        pytest.param({"id": FINANCE, "version": "2.0.0", "domain": "finance", "tier": "domain"}, [BASE], id="its own"),
        pytest.param({"id": BASE, "version": "2.0.0", "tier": "enterprise"}, [], id="the policy itself"),
    ],
)
def test_no_product_escapes_the_default_policies(
    by_default: Backend, contract: dict[str, Any], policies: list[str]
) -> None:
    registry = by_default.acting_as("sam", "steward")
    registry.register(base())
    registry.register(finance())
    registry.register(orders(fields=[], id="pay.policy", tier="domain", parent=BASE))
    registry.register(orders(fields=[], id="lax.policy", tier="domain", slaProperties=fresh(24)))

    found = registry.governance.check_policies({**orders(), **contract})

    assert [name.partition(" ")[0] for name in found.policies] == policies


def test_a_contract_that_says_less_than_its_default_policy_is_refused(by_default: Backend) -> None:
    registry = by_default.acting_as("sam", "steward")
    registry.register(base())

    with pytest.raises(VersionRefused, match=r"freshness is relaxed: 24 h -> 48 h \(from enterprise.base 1.0.0\)"):
        registry.register(orders(slaProperties=fresh(48)))


def test_children_by_default_are_named_before_a_stricter_policy_is_registered(by_default: Backend) -> None:
    registry = by_default.acting_as("sam", "steward")
    registry.register(base())
    registry.register(orders(slaProperties=fresh(12)))

    report = registry.check(base("2.0.0", slaProperties=fresh(6)))

    assert [one.message for one in report.warnings if one.kind == "policy_breaks_child"] == [
        "orders 1.0.0 would violate this policy: service level sla.freshness is relaxed: 6 h -> 12 h"
    ]
    decision = registry.consumers.can_i_publish(base("2.0.0", slaProperties=fresh(6)))
    assert "policy_breaks_child" in [reason.kind for reason in decision.reasons]


def test_a_default_policy_that_is_not_registered_is_a_warning(by_default: Backend) -> None:
    answer = by_default.acting_as("sam", "steward").register(orders())

    assert [(one.severity, one.kind) for one in answer.compatibility.issues] == [("warning", "policy_unknown")]


def test_a_draft_binds_nobody_but_those_above_it_do(registry: AnyRegistry) -> None:
    registry.register(base())
    registry.register(finance(status="draft", slaProperties=fresh(1)))

    registry.register(ledger(slaProperties=fresh(12)))

    assert registry.effective("finance.ledger", "1.0.0").policies == [f"{BASE} 1.0.0"]
    with pytest.raises(VersionRefused, match="24 h -> 48 h"):
        registry.register(ledger("1.1.0", slaProperties=fresh(48)))


def test_a_draft_lists_the_children_it_would_break_and_tells_nobody(registry: AnyRegistry) -> None:
    registry.register(base())
    registry.register(ledger(parent=BASE, slaProperties=fresh(12)))

    answer = registry.register(base("1.1.0", status="draft", slaProperties=fresh(6)))

    (issue,) = answer.compatibility.issues
    assert issue.message.startswith("finance.ledger 1.0.0 would violate this policy once it is active: ")
    assert registry.access.audit(subject="finance.ledger 1.0.0").items[-1].action == "contract.register"


def test_a_policy_holds_from_its_date(backend: Backend, clock: Clock) -> None:
    registry = backend.acting_as("sam", "steward")
    registry.register(base())
    registry.register(ledger(parent=BASE, slaProperties=fresh(12)))
    later = (clock.now + timedelta(days=30)).date().isoformat()

    answer = registry.register(base("1.1.0", slaProperties=fresh(6), effective_from=later))

    (issue,) = answer.compatibility.issues
    assert issue.message.startswith(f"finance.ledger 1.0.0 would violate this policy from {later}: ")
    assert registry.effective("finance.ledger", "1.0.0").policies == [f"{BASE} 1.0.0"]
    assert registry.check(ledger("1.0.1", parent=BASE, slaProperties=fresh(12))).compatible

    clock.pass_days(30)

    assert registry.effective("finance.ledger", "1.0.0").policies == [f"{BASE} 1.1.0"]
    with pytest.raises(VersionRefused, match="6 h -> 12 h"):
        registry.register(ledger("1.0.1", parent=BASE, slaProperties=fresh(12)))


@pytest.mark.parametrize("scope", [{"tier": "edge"}, {"tier": "product", "sharing": "edge"}], ids=["tier", "sharing"])
def test_an_edge_contract_needs_an_expiry(registry: AnyRegistry, scope: dict[str, Any]) -> None:
    with pytest.raises(VersionRefused, match="expiry_missing"):
        registry.register(orders(**scope))

    registry.register(orders(**scope, expires="2026-12-31"))
    assert [one.id for one in registry.search(Query(tier="edge")).items] == ["orders"]


RULE = {"name": "described", "for": "field", "must": {"description": True}, "message": "every field is described"}


def test_a_rule_of_a_policy_refuses_a_contract_with_its_name_and_can_be_waived(backend: Backend) -> None:
    registry = backend.acting_as("sam", "steward")
    registry.register(base(require=[RULE]))

    with pytest.raises(VersionRefused) as refused:
        registry.register(ledger(parent=BASE, fields=[ID]))

    assert [(one.severity, one.kind, one.field, one.message) for one in refused.value.report.issues] == [
        (
            "error",
            "policy_rule_violated",
            "id",
            "every field is described: field 'id' has no description (from enterprise.base 1.0.0)",
        )
    ]
    assert not registry.governance.check_policies(ledger(parent=BASE, fields=[ID])).is_met
    waiver = {"owner": "finance", "reason": "the ledger is old", "until": "2026-12-31"}
    registry.governance.waive("policy_rule_violated", contract="finance.ledger", path="id", **waiver)
    assert registry.register(ledger(parent=BASE, fields=[ID])).status == "registered"


def test_a_rule_that_only_warns_refuses_nothing_and_children_are_listed_before(registry: AnyRegistry) -> None:
    registry.register(base())
    registry.register(ledger(parent=BASE, fields=[ID]))

    report = registry.check(base("1.1.0", require=[{**RULE, "severity": "warning"}]))
    registry.register(base("1.1.0", require=[{**RULE, "severity": "warning"}]))
    later = registry.check(ledger("1.1.0", parent=BASE, fields=[ID, LTV]))

    assert [one.message for one in report.warnings if one.kind == "policy_breaks_child"] == [
        "finance.ledger 1.0.0 would violate this policy: every field is described: field 'id' has no description"
    ]
    assert later.compatible
    assert [one.field for one in later.warnings if one.kind == "policy_rule_violated"] == ["id", "ltv"]
