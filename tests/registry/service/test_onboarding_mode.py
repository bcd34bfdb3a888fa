"""Mode none is for onboarding: it ends when something depends on the line, unless a steward allows it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend
from tests.registry.offers import ID, ORDERS, made_from, orders, users, without
from treaty.errors import NotAllowed
from treaty.registry.report import VersionRefused

NARROWED = [ID]
WAIVER: dict[str, Any] = {"owner": "governance", "reason": "the pilot starts over", "until": "2026-04-01"}
READS: dict[str, Any] = {"consumer_class": "operational_reporting", "fields": ["ltv"]}


def test_before_anyone_depends_on_it_neither_bump_nor_plan_is_required(registry: AnyRegistry) -> None:
    registry.register(orders("1.0.0"))

    answer = registry.register(orders("1.0.1", NARROWED), compatibility="none")

    assert (answer.status, answer.compatibility.issues) == ("registered", [])
    assert registry.diff(ORDERS, "1.0.0", "1.0.1", compatibility="none").required_version == "2.0.0"


def test_once_consumers_depend_on_it_the_mode_is_refused_with_their_names(registry: AnyRegistry) -> None:
    registry.register(orders("1.0.0"))
    registry.consumers.subscribe("ledger", f"{ORDERS}@1", **READS)
    registry.consumers.subscribe("billing", f"{ORDERS}@1", **READS)

    with pytest.raises(VersionRefused) as refused:
        registry.register(orders("1.0.1", NARROWED), compatibility="none")

    assert [(one.severity, one.kind, one.message) for one in refused.value.report.issues] == [
        (
            "error",
            "mode_none_refused",
            "mode none is for onboarding, and billing, ledger depend on orders@1; "
            "use another mode, or ask a steward for a waiver of mode_none_refused",
        )
    ]
    assert registry.latest(ORDERS).version == "1.0.0"
    assert not registry.consumers.can_i_publish(orders("1.0.1", NARROWED), compatibility="none").answer


def test_a_derived_contract_depends_on_it_too(registry: AnyRegistry) -> None:
    registry.register(orders("1.0.0"))
    registry.register(made_from("totals", f"{ORDERS}@1:ltv"))

    with pytest.raises(VersionRefused, match="totals@1 depends on orders@1"):
        registry.register(orders("1.0.1", NARROWED), compatibility="none")


def test_after_the_last_consumer_left_it_is_onboarding_again(registry: AnyRegistry) -> None:
    registry.register(orders("1.0.0"))
    registry.consumers.subscribe("ledger", f"{ORDERS}@1", **READS)
    registry.consumers.unsubscribe("ledger", f"{ORDERS}@1")

    assert registry.register(orders("1.0.1", NARROWED), compatibility="none").status == "registered"


def test_a_steward_allows_it_and_the_audit_log_says_why(backend: Backend) -> None:
    owner, steward = backend.acting_as("ann", "owner", "checkout"), backend.acting_as("sam", "steward")
    steward.register(orders("1.0.0"))
    steward.consumers.subscribe("ledger", f"{ORDERS}@1", **READS)

    with pytest.raises(NotAllowed):
        owner.governance.waive("mode_none_refused", contract=ORDERS, **WAIVER)
    steward.governance.waive("mode_none_refused", contract=ORDERS, **WAIVER)
    answer = owner.register(orders("1.0.1", NARROWED), compatibility="none")

    (issue,) = answer.compatibility.issues
    assert (issue.severity, issue.kind) == ("warning", "mode_none_refused")
    assert issue.message.endswith("allowed by governance until 2026-04-01: the pilot starts over")
    (entry,) = steward.access.audit(subject="orders 1.0.1").items
    assert entry.details["override"] == {
        "rule": "mode_none_refused",
        "owner": "governance",
        "reason": "the pilot starts over",
    }


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        pytest.param({"version": "0.9.0"}, "version_not_increasing", id="version"),
        pytest.param({"version": "1.0.1", "primary_key": ["plan"]}, "primary_key_changed", id="key"),
        pytest.param({"version": "1.0.1", "owners": []}, "owner_missing", id="owner"),
    ],
)
def test_version_key_and_owner_are_checked_under_none_too(
    registry: AnyRegistry, changes: dict[str, Any], kind: str
) -> None:
    registry.register(users())

    with pytest.raises(VersionRefused, match=kind):
        registry.register(users(**changes), compatibility="none")


def test_a_new_line_under_none_needs_no_plan_while_nobody_depends(registry: AnyRegistry) -> None:
    registry.register(users())

    assert registry.register(without("ltv", "2.0.0"), compatibility="none").status == "registered"
