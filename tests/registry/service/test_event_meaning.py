"""The meaning of an event is a term: a change of it needs a new line, unless an owner declares it editorial."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry
from tests.registry.offers import ID, PLAN, orders
from treaty.registry.report import VersionRefused

CREATED = "A class was created."
DRIFTED = "A class was created, or updated significantly."


def published(version: str, meaning: str, **changes: Any) -> dict[str, Any]:
    """Return the contract of an event with a meaning."""
    event = {"type": "ClassPublished", "meaning": meaning}
    return orders(version, id="gym.class_published", fields=[ID], event=event, **changes)


def editorial(owner: str) -> list[dict[str, Any]]:
    return [{"version": "1.0.1", "changes": ["Reworded the meaning."], "editorial": True, "owner": owner}]


def test_an_event_that_comes_to_mean_more_is_refused_on_its_line(registry: AnyRegistry) -> None:
    registry.register(published("1.0.0", CREATED))

    with pytest.raises(VersionRefused) as refused:
        registry.register(published("1.0.1", DRIFTED))

    assert [(one.severity, one.kind) for one in refused.value.report.issues] == [
        ("error", "version_bump_too_small"),
        ("warning", "event_meaning_changed"),
    ]
    assert refused.value.report.required_version == "2.0.0"


def test_a_new_meaning_needs_a_plan_and_waits_for_critical_consumers(registry: AnyRegistry) -> None:
    registry.register(published("1.0.0", CREATED))
    registry.consumers.subscribe(
        "billing", "gym.class_published@1", fields=["id"], consumer_class="decision_automation"
    )

    with pytest.raises(VersionRefused, match="migration_missing"):
        registry.register(published("2.0.0", DRIFTED))
    answer = registry.register(published("2.0.0", DRIFTED, migration=PLAN))

    assert (answer.status, answer.waits_for) == ("proposed", ["billing"])


def test_an_owner_declares_a_rewording_editorial_and_the_audit_log_names_it(registry: AnyRegistry) -> None:
    registry.register(published("1.0.0", CREATED))

    answer = registry.register(published("1.0.1", "A class has been created.", changelog=editorial("checkout")))

    assert [(one.severity, one.kind, one.message) for one in answer.compatibility.issues] == [
        (
            "warning",
            "event_meaning_reworded",
            "the meaning of the event was reworded, editorial according to checkout; compare both texts",
        )
    ]
    (entry,) = registry.access.audit(subject="gym.class_published 1.0.1").items
    assert entry.details["editorial"] == [{"change": "event_meaning_reworded", "owner": "checkout"}]


def test_another_team_cannot_declare_it(registry: AnyRegistry) -> None:
    registry.register(published("1.0.0", CREATED))

    with pytest.raises(VersionRefused) as refused:
        registry.register(published("1.0.1", DRIFTED, changelog=editorial("marketing")))

    (warning,) = refused.value.report.warnings
    assert warning.message.endswith("'marketing' declared it editorial but does not own the contract")
