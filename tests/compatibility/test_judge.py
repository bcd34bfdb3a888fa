"""Whether a version is accepted: lines, migration plans and histories."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.compatibility import Mode, admit, predecessor
from treaty.contracts import Contract

PLAN = {"guide": "read total_net instead", "window": "60 d", "owner": "checkout"}


def _orders(version: str, *names: str, **rest: Any) -> Contract:
    return contract({"version": version, "fields": [{"name": name, "logicalType": "string"} for name in names], **rest})


def test_the_first_version_of_a_contract_is_accepted() -> None:
    verdict = admit([], _orders("1.0.0", "order_id"))

    assert verdict.compatible
    assert verdict.admissible


def test_a_first_version_without_an_owner_is_refused() -> None:
    verdict = admit([], _orders("1.0.0", "order_id", owners=None))

    assert [finding.id for finding in verdict.errors] == ["owner_missing"]
    assert not verdict.admissible


def test_a_breaking_major_without_a_plan_is_refused() -> None:
    verdict = admit([_orders("1.0.0", "order_id", "total")], _orders("2.0.0", "order_id"))

    assert not verdict.compatible
    assert not verdict.admissible


def test_a_breaking_major_with_a_plan_opens_a_new_line() -> None:
    verdict = admit([_orders("1.0.0", "order_id", "total")], _orders("2.0.0", "order_id", migration=PLAN))

    assert not verdict.compatible
    assert verdict.admissible
    assert verdict.opens_line
    assert verdict.after.line == "orders@2"


def test_a_plan_does_not_excuse_a_version_that_is_too_small() -> None:
    verdict = admit([_orders("1.0.0", "order_id", "total")], _orders("1.1.0", "order_id", migration=PLAN))

    assert not verdict.admissible


def test_the_plan_of_an_earlier_line_does_not_excuse_the_next() -> None:
    history = [_orders("1.0.0", "a", "b"), _orders("2.0.0", "a", migration=PLAN)]

    stale = admit(history, _orders("3.0.0", "z", migration=PLAN))
    anew = admit(history, _orders("3.0.0", "z", migration={**PLAN, "guide": "read z instead of a"}))

    assert not stale.admissible
    assert "migration_missing" in {finding.id for finding in stale.errors}
    assert anew.admissible


def test_a_plan_does_not_excuse_a_missing_owner() -> None:
    verdict = admit([_orders("1.0.0", "order_id", "total")], _orders("2.0.0", "order_id", migration=PLAN, owners=None))

    assert not verdict.admissible


FRESH = {"slaProperties": [{"property": "freshness", "value": 4, "unit": "h"}]}
STALE = {"slaProperties": [{"property": "freshness", "value": 400, "unit": "h"}]}


def test_a_major_change_that_breaks_only_readers_is_refused_without_a_plan() -> None:
    verdict = admit([_orders("1.0.0", "a", **FRESH)], _orders("2.0.0", "a", **STALE))

    assert verdict.compatible
    assert not verdict.admissible
    assert [finding.id for finding in verdict.errors] == ["migration_missing"]


def test_a_major_change_that_breaks_only_readers_is_accepted_with_a_plan() -> None:
    verdict = admit([_orders("1.0.0", "a", **FRESH)], _orders("2.0.0", "a", migration=PLAN, **STALE))

    assert verdict.admissible
    assert verdict.errors == ()


# Each row: what changes, before, after.
ONLY_READERS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("freshness relaxed", FRESH, STALE),
    (
        "retention shortened",
        {"slaProperties": [{"property": "retention", "value": 2, "unit": "y"}]},
        {"slaProperties": [{"property": "retention", "value": 1, "unit": "y"}]},
    ),
    ("ordering dropped", {"ordering": {"key": ["a"], "sequence": "a"}}, {"ordering": "none"}),
    ("delivery weakened", {"delivery": {"guarantee": "exactly_once"}}, {"delivery": {"guarantee": "at_most_once"}}),
    ("latency weakened", {"latency": {"profile": "real_time"}}, {"latency": {"profile": "daily"}}),
    ("policy lowered", {"change_policy": {"notice": "90 d"}}, {"change_policy": {"notice": "1 d"}}),
    (
        "column renamed",
        {"fields": [{"name": "a", "physicalName": "a_1"}]},
        {"fields": [{"name": "a", "physicalName": "a_2"}]},
    ),
    ("unique dropped", {"fields": [{"name": "a", "unique": True}]}, {"fields": [{"name": "a"}]}),
    (
        "quality rule dropped",
        {"fields": [{"name": "a", "quality": [{"type": "library", "metric": "nullValues", "mustBe": 0}]}]},
        {"fields": [{"name": "a"}]},
    ),
    (
        "relationship dropped",
        {"fields": [{"name": "a", "relationships": [{"type": "foreignKey", "to": "customers.id"}]}]},
        {"fields": [{"name": "a"}]},
    ),
]


@pytest.mark.parametrize(("name", "before", "after"), ONLY_READERS, ids=[row[0] for row in ONLY_READERS])
def test_every_major_change_needs_a_plan(name: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    history = [contract({"version": "1.0.0", **before})]

    without = admit(history, contract({"version": "2.0.0", **after}))
    planned = admit(history, contract({"version": "2.0.0", "migration": PLAN, **after}))

    assert [finding.id for finding in without.errors] == ["migration_missing"]
    assert not without.admissible
    assert planned.admissible


def test_a_version_follows_the_latest_of_its_own_line() -> None:
    history = [_orders("1.0.0", "a"), _orders("1.1.0", "a", "b"), _orders("2.0.0", "z")]

    before = predecessor(history, _orders("1.2.0", "a", "b", "c"))

    assert before is history[1]
    assert admit(history, _orders("1.2.0", "a", "b", "c")).admissible


def test_versions_increase_within_their_line() -> None:
    history = [_orders("1.0.0", "a"), _orders("1.1.0", "a", "b")]

    verdict = admit(history, _orders("1.0.5", "a", "b"))

    assert [finding.id for finding in verdict.errors] == ["version_not_increasing"]


def test_a_new_line_is_above_all_others() -> None:
    verdict = admit([_orders("1.0.0", "a"), _orders("3.0.0", "a")], _orders("2.0.0", "a"))

    assert "version_not_increasing" in {finding.id for finding in verdict.errors}


def test_a_transitive_mode_judges_against_every_earlier_version() -> None:
    history = [
        contract(
            {
                "version": "1.0.0",
                "fields": [{"name": "a", "logicalType": "string", "enum": [{"value": "x"}, {"value": "y"}]}],
            }
        ),
        contract({"version": "1.1.0", "fields": [{"name": "a", "logicalType": "string", "enum": [{"value": "x"}]}]}),
    ]
    after = contract({"version": "1.2.0", "fields": [{"name": "a", "logicalType": "string", "enum": [{"value": "x"}]}]})

    assert admit(history, after, Mode.BACKWARD).compatible
    assert not admit(history, after, Mode.BACKWARD_TRANSITIVE).compatible


def test_a_transitive_mode_stays_within_the_line() -> None:
    history = [_orders("1.0.0", "a", "b"), _orders("2.0.0", "a", migration=PLAN)]

    assert admit(history, _orders("2.1.0", "a", "c"), Mode.BACKWARD_TRANSITIVE).admissible


def test_an_additive_change_requires_nothing_of_consumers() -> None:
    verdict = admit([_orders("1.0.0", "a")], _orders("1.1.0", "a", "b"), Mode.FULL_TRANSITIVE)

    assert verdict.admissible
    assert verdict.after.line == verdict.before.line if verdict.before else False
