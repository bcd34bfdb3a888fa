"""What each mode refuses, and with which words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.compatibility import Mode, Verdict, diff, judge

USERS: dict[str, Any] = {
    "dataset_id": "users.daily_active",
    "version": "1.0.0",
    "owners": [{"team": "growth"}],
    "primary_key": ["user_id"],
    "fields": [
        {"name": "user_id", "type": "string"},
        {"name": "plan", "type": "string", "enum": ["free", "pro", "enterprise"]},
        {"name": "visits", "type": "integer"},
        {"name": "ltv", "type": "number", "required": False},
    ],
}
PLAN = {"guide": "see the wiki", "window": "60 d", "owner": "growth"}


def _changed(name: str, **changes: Any) -> dict[str, Any]:
    fields = [dict(one, **changes) if one["name"] == name else one for one in USERS["fields"]]
    return {**USERS, "version": "2.0.0", "fields": fields, "migration": PLAN}


def _without(name: str) -> dict[str, Any]:
    fields = [one for one in USERS["fields"] if one["name"] != name]
    return {**USERS, "version": "2.0.0", "fields": fields, "migration": PLAN}


def _plus(**field: Any) -> dict[str, Any]:
    return {**USERS, "version": "2.0.0", "fields": [*USERS["fields"], field], "migration": PLAN}


def _judge(after: dict[str, Any], mode: Mode) -> Verdict:
    return judge(diff(contract(USERS), contract(after)), mode)


CASES = [
    ("an optional field removed", _without("ltv"), {"backward", "full"}, "field_removed", "ltv"),
    ("a required field removed", _without("visits"), {"backward", "full"}, "field_removed", "visits"),
    (
        "a type changed",
        _changed("visits", type="number"),
        {"backward", "forward", "full"},
        "field_type_changed",
        "visits",
    ),
    ("optional to required", _changed("ltv", required=True), {"backward", "full"}, "field_required_added", "ltv"),
    ("an enum shrunk", _changed("plan", enum=["free", "pro"]), {"backward", "full"}, "field_enum_shrunk", "plan"),
    (
        "a new required field",
        _plus(name="country", type="string"),
        {"forward", "full"},
        "field_required_added",
        "country",
    ),
    ("a new optional field", _plus(name="country", type="string", required=False), set(), None, None),
    ("a description changed", _changed("ltv", description="Lifetime value in EUR"), set(), None, None),
]


@pytest.mark.parametrize(("name", "after", "refused_in", "kind", "field"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("mode", [Mode.NONE, Mode.BACKWARD, Mode.FORWARD, Mode.FULL])
def test_a_mode_refuses_what_it_protects(
    name: str, after: dict[str, Any], refused_in: set[str], kind: str | None, field: str | None, mode: Mode
) -> None:
    verdict = _judge(after, mode)

    assert verdict.compatible is (mode.value not in refused_in)
    assert [(one.id, one.path) for one in verdict.errors] == ([(kind, field)] if mode.value in refused_in else [])


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (
            {"primary_key": ["user_id", "visits"]},
            "primary_key_changed",
            "primary_key changed: ['user_id'] -> ['user_id', 'visits']",
        ),
        ({"version": "1.0.0"}, "version_not_increasing", "new version '1.0.0' must be strictly greater than '1.0.0'"),
        ({"version": "0.9.9"}, "version_not_increasing", "new version '0.9.9' must be strictly greater than '1.0.0'"),
        ({"owners": []}, "owner_missing", "proposed contract must declare at least one owner"),
    ],
)
def test_key_version_and_owner_hold_in_every_mode(mode: Mode, change: dict[str, Any], kind: str, message: str) -> None:
    verdict = _judge({**USERS, "version": "2.0.0", **change}, mode)

    assert not verdict.compatible
    assert not verdict.admissible
    assert (kind, message) in [(one.id, one.message) for one in verdict.errors]


def test_mode_none_reports_no_field() -> None:
    after = {**_without("ltv"), "version": "1.0.1"}

    assert _judge(after, Mode.NONE).findings == ()


def test_a_change_that_breaks_both_ways_is_reported_once_under_full() -> None:
    after = {**USERS, "version": "2.0.0", "primary_key": ["visits"], "fields": [*USERS["fields"][1:]]}

    found = [(one.id, one.path) for one in _judge(after, Mode.FULL).errors]

    assert found == [("primary_key_changed", None), ("field_removed", "user_id"), ("migration_missing", None)]


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        ("none", "backward", "backward"),
        ("backward", "forward", "full"),
        ("backward", "backward_transitive", "backward_transitive"),
        ("forward_transitive", "backward", "full_transitive"),
        ("full", "none", "full"),
        ("none", "none", "none"),
    ],
)
def test_joining_two_modes_gives_the_weakest_that_covers_both(one: str, other: str, joined: str) -> None:
    assert Mode(one) | Mode(other) is Mode(joined)
    assert Mode(other) | Mode(one) is Mode(joined)


@pytest.mark.parametrize(
    ("asked", "held_to"), [("none", "full"), ("backward", "full"), ("full_transitive", "full_transitive")]
)
def test_a_request_may_be_stricter_than_the_pinned_mode_but_not_weaker(asked: str, held_to: str) -> None:
    pinned = {**USERS, "change_policy": {"compatibility": "full"}}

    verdict = judge(diff(contract(pinned), contract({**pinned, "version": "1.0.1"})), Mode(asked))

    assert verdict.mode is Mode(held_to)


def test_lowering_the_pinned_mode_is_judged_by_the_old_mode() -> None:
    pinned = {**USERS, "change_policy": {"compatibility": "full"}}
    lowered = {**USERS, "version": "2.0.0", "change_policy": {"compatibility": "none"}}

    assert judge(diff(contract(pinned), contract(lowered)), Mode.NONE).mode is Mode.FULL
