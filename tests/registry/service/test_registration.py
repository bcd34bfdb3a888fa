"""A version is judged, kept once, and found again in its line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend
from tests.registry.offers import ID, ORDERS, PLAN, PLAN_FIELD, USERS, orders, users, with_field, without
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound
from treaty.registry.report import VersionRefused

REMOVED = "field 'ltv' was removed; old data will fail validation"


def issues_of(error: VersionRefused) -> list[tuple[str, str, str | None]]:
    return [(one.severity, one.kind, one.field) for one in error.report.issues]


def versions_of(registry: AnyRegistry, contract: str) -> list[str]:
    return [one.version for one in registry.history(contract).items]


def test_the_first_version_of_a_contract_is_registered(registry: AnyRegistry) -> None:
    answer = registry.register(users())

    assert (answer.status, answer.dataset_id, answer.version, answer.proposal) == ("registered", USERS, "1.0.0", None)
    assert answer.compatibility.model_dump() == {"compatible": True, "mode": "backward", "issues": []}
    assert registry.latest(USERS).version == "1.0.0"


def test_a_compatible_version_follows(registry: AnyRegistry) -> None:
    registry.register(users())

    answer = registry.register(with_field("source", "1.1.0"))

    assert answer.compatibility.compatible
    assert versions_of(registry, USERS) == ["1.0.0", "1.1.0"]


def test_a_breaking_version_is_refused_with_every_issue(registry: AnyRegistry) -> None:
    registry.register(users())

    with pytest.raises(VersionRefused) as refused:
        registry.register(without("ltv", "1.1.0"))

    assert [one.model_dump() for one in refused.value.report.issues] == [
        {"severity": "error", "field": "ltv", "kind": "field_removed", "message": REMOVED},
        {
            "severity": "error",
            "field": None,
            "kind": "version_bump_too_small",
            "message": "a MINOR bump was declared, the changes require MAJOR; the version must be at least 2.0.0",
        },
    ]
    assert str(refused.value).startswith(f"{USERS} 1.1.0 is refused under backward\n")
    assert (refused.value.report.compatible, refused.value.report.admissible) == (False, False)
    assert refused.value.report.required_version == "2.0.0"
    assert versions_of(registry, USERS) == ["1.0.0"]


def test_what_is_refused_can_be_registered_once_it_is_mended(registry: AnyRegistry) -> None:
    registry.register(users())
    with pytest.raises(VersionRefused):
        registry.register(without("ltv", "1.1.0"))

    registry.register(with_field("source", "1.1.0"))

    assert versions_of(registry, USERS) == ["1.0.0", "1.1.0"]


def test_another_document_of_a_registered_version_is_a_conflict(registry: AnyRegistry) -> None:
    registry.register(users())

    with pytest.raises(Conflict, match=r"version '1\.0\.0' of 'users\.daily_active' is already registered"):
        registry.register(users(description="another text"))

    assert versions_of(registry, USERS) == ["1.0.0"]


BREAKING = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)


@pytest.mark.parametrize("document", [orders(), BREAKING], ids=["the first", "a breaking one"])
def test_the_same_document_again_changes_nothing(backend: Backend, registry: AnyRegistry, document: Any) -> None:
    registry.register(orders())
    if document is not BREAKING:
        backend.tamper("versions", "UPDATE versions SET issues = NULL")  # from before the issues were stored
    else:
        registry.register(BREAKING)
    registry.register(orders("2.0.1", [ID, PLAN_FIELD], migration=PLAN, description={"purpose": "later"}))
    before = (backend.rows("SELECT count(*) FROM audit"), backend.rows("SELECT count(*) FROM notices"))

    again = registry.register(dict(reversed(document.items())))

    assert (again.status, again.version, again.unchanged) == ("registered", document["version"], True)
    kinds = [(issue.severity, issue.kind) for issue in again.compatibility.issues]
    expected = [("error", "field_removed")] if document is BREAKING else []
    assert (again.compatibility.compatible, kinds) == (not expected, expected)
    assert (backend.rows("SELECT count(*) FROM audit"), backend.rows("SELECT count(*) FROM notices")) == before


def test_the_same_document_again_gives_the_same_body(registry: AnyRegistry) -> None:
    registry.register(orders())

    first, again = registry.register(BREAKING), registry.register(BREAKING)

    assert (first.unchanged, again.unchanged) == (False, True)
    assert first.model_dump_json() == again.model_dump_json()


def test_the_same_document_of_another_team_is_refused(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(users())

    with pytest.raises(NotAllowed, match="rita is a contributor of team rivals"):
        backend.acting_as("rita", "contributor", "rivals").register(users())


def test_a_version_that_is_not_above_its_line_is_refused(registry: AnyRegistry) -> None:
    registry.register(users("1.2.0"))

    with pytest.raises(VersionRefused) as refused:
        registry.register(users("1.1.0"))

    assert issues_of(refused.value) == [("error", "version_not_increasing", None)]
    assert versions_of(registry, USERS) == ["1.2.0"]


def test_a_breaking_major_needs_a_plan(registry: AnyRegistry) -> None:
    registry.register(users())

    with pytest.raises(VersionRefused) as refused:
        registry.register(without("ltv", "2.0.0"))

    assert issues_of(refused.value) == [("error", "field_removed", "ltv"), ("error", "migration_missing", None)]
    assert [one.line for one in registry.lines(USERS)] == [f"{USERS}@1"]


def test_a_breaking_major_with_a_plan_opens_a_new_line(registry: AnyRegistry) -> None:
    registry.register(orders())

    answer = registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    assert answer.status == "registered"
    assert not answer.compatibility.compatible
    assert [(one.line, one.namespace, one.status, one.latest) for one in registry.lines(ORDERS)] == [
        ("orders@2", "orders_v2", "active", "2.0.0"),
        ("orders@1", "orders_v1", "active", "1.0.0"),
    ]


def test_a_patch_after_a_new_line_stays_in_its_line(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    registry.register(orders("1.0.1", description={"purpose": "said better"}))

    assert [(one.line, one.versions, one.latest) for one in registry.lines(ORDERS)] == [
        ("orders@2", 1, "2.0.0"),
        ("orders@1", 2, "1.0.1"),
    ]
    assert registry.latest(ORDERS).version == "2.0.0"
    with pytest.raises(VersionRefused):  # the line still holds what 2.0.0 gave up
        registry.register(orders("1.0.2", [ID, PLAN_FIELD]))


def test_a_pinned_mode_overrides_a_weaker_requested_mode(registry: AnyRegistry) -> None:
    pinned: dict[str, Any] = {"change_policy": {"compatibility": "full"}}
    registry.register(orders(**pinned))

    report = registry.check(orders("1.1.0", **pinned), compatibility="none")

    assert report.mode == "full"
    assert registry.get(ORDERS, "1.0.0").mode == "full"


def test_a_request_may_use_a_stricter_mode_than_the_pinned_one(registry: AnyRegistry) -> None:
    pinned: dict[str, Any] = {"change_policy": {"compatibility": "backward"}}
    registry.register(orders(**pinned))

    assert registry.check(orders("1.1.0", **pinned), compatibility="full").mode == "full"


def test_a_version_cannot_remove_the_pin_that_blocks_it(registry: AnyRegistry) -> None:
    registry.register(orders(change_policy={"compatibility": "full"}))

    assert registry.check(orders("1.0.1"), compatibility="none").mode == "full"


def test_a_transitive_mode_judges_all_versions_of_the_line(registry: AnyRegistry) -> None:
    """What one step allows, two steps need not: a field comes, loses its place, and comes back as something else."""
    was = {"name": "score", "logicalType": "string"}
    registry.register(orders("1.0.0", [ID, was]))
    registry.register(orders("1.1.0", [ID]), compatibility="none")
    back = orders("1.2.0", [ID, {"name": "score", "logicalType": "number"}])

    step = registry.check(back, compatibility="backward")
    line = registry.check(back, compatibility="backward_transitive")

    assert step.compatible
    assert not line.compatible
    assert {one.kind for one in line.errors} >= {"field_type_changed"}


def test_a_check_judges_and_keeps_nothing(registry: AnyRegistry) -> None:
    registry.register(users())

    report = registry.check(without("ltv", "2.0.0"))

    assert (report.compatible, report.admissible, report.required_version) == (False, False, "2.0.0")
    assert [one.message for one in report.errors if one.kind == "field_removed"] == [REMOVED]
    assert versions_of(registry, USERS) == ["1.0.0"]


def test_a_check_distinguishes_compatible_from_admissible(registry: AnyRegistry) -> None:
    registry.register(orders())

    report = registry.check(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    assert (report.compatible, report.admissible, report.required_version) == (False, True, "2.0.0")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="empty"),
        pytest.param({"dataset_id": "x"}, id="half a short form"),
        pytest.param(users("one"), id="no version"),
        pytest.param(users("1.0.0-rc.1"), id="a version before the version"),
        pytest.param(users("1.0.9999999999"), id="a version that is too large"),
        pytest.param(users(status="asleep"), id="no status"),
        pytest.param(users(dataset_id=" x"), id="blank around the id"),
        pytest.param(users(dataset_id="a//b"), id="nothing between slashes"),
        pytest.param(users(dataset_id="a/../b"), id="dots between slashes"),
        pytest.param(users(dataset_id="x" * 257), id="too long an id"),
        pytest.param(users(dataset_id="a\x00b"), id="NUL"),
        pytest.param(users(more=1), id="unknown key"),
        pytest.param(b"- a list", id="a list"),
        pytest.param(b"{", id="neither JSON nor YAML"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_what_is_no_contract_is_refused_with_findings(registry: AnyRegistry, document: Any) -> None:
    for ask in (registry.register, registry.check):
        with pytest.raises(InvalidDocument):
            ask(document)

    assert registry.datasets().items == []


@pytest.mark.parametrize("name", ["my orders", "orders!", "[orders]"])
def test_a_new_id_with_blanks_or_special_characters_is_refused(registry: AnyRegistry, name: str) -> None:
    with pytest.raises(InvalidDocument, match=r"use letters, digits and \. _ - : /"):
        registry.register(users(dataset_id=name))


def test_an_unknown_mode_is_refused(registry: AnyRegistry) -> None:
    with pytest.raises(InvalidDocument, match="sideways"):
        registry.register(users(), compatibility="sideways")


def test_what_is_not_there_is_not_found(registry: AnyRegistry) -> None:
    registry.register(users(status="draft"))
    there_are = f"see which there are with: treaty version history {USERS}"

    for ask, said in (
        (lambda: registry.latest("nobody"), "no contract 'nobody' is registered"),
        (lambda: registry.history("nobody"), "no contract 'nobody' is registered"),
        (lambda: registry.lines("nobody"), "no contract 'nobody' is registered"),
        (lambda: registry.get("nobody", "1.0.0"), "no contract 'nobody' is registered"),
        (lambda: registry.get(USERS, "9.0.0"), f"'{USERS}' has no version '9.0.0'"),
        (lambda: registry.get(USERS, "latest"), f"'{USERS}' has no version 'latest'"),
        (lambda: registry.given(USERS, "9.0.0"), f"'{USERS}' has no version '9.0.0'"),
        (lambda: registry.diff(USERS, "1.0.0", "9.0.0"), f"'{USERS}' has no version '9.0.0'"),
        (lambda: registry.latest(USERS), f"'{USERS}' has no active version"),
        (lambda: registry.latest("a/../b"), "no contract 'a/../b' is registered"),
        (lambda: registry.activate(USERS, "1.0.0/deprecate"), f"'{USERS}' has no version '1.0.0/deprecate'"),
    ):
        with pytest.raises(NotFound) as missing:
            ask()
        assert str(missing.value) in (f"{said}; find one with: treaty search", f"{said}; {there_are}")


def test_two_versions_are_compared(registry: AnyRegistry) -> None:
    registry.register(orders())
    registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    found = registry.diff(ORDERS, "1.0.0", "2.0.0")

    assert (found.before, found.after, found.mode, found.required_bump) == ("1.0.0", "2.0.0", "backward", "MAJOR")
    assert (found.compatible, found.admissible, found.required_version) == (False, True, "2.0.0")
    removed = [one for one in found.changes if one.kind == "field_removed"]
    assert [(one.field, one.direction, one.bump, one.severity) for one in removed] == [
        ("ltv", "removed", "MAJOR", "error")
    ]
    assert registry.diff(ORDERS, "1.0.0", "1.0.0").changes == []
    assert registry.diff(ORDERS, "2.0.0", "1.0.0", compatibility="none").mode == "none"
