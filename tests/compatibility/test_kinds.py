"""Every kind of change has a case file of its name: before, after, and exactly what is expected."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import CASES, contract
from treaty.compatibility import KINDS, Changes, Mode, diff, judge
from treaty.compatibility.judge import with_further
from treaty.consumers.subscriptions import ConsumerClass, Subscription
from treaty.consumers.view_changes import view_changes
from treaty.contracts.text import read_document
from treaty.contracts.values import thaw
from treaty.contracts.versions import Line


def _cases() -> list[Any]:
    found = []
    for file in sorted((CASES / "kinds").glob("*.yaml")):
        for case in read_document(file.read_bytes(), file.name).data["cases"]:
            found.append(pytest.param(file.stem, case, id=f"{file.stem}: {case['name']}"))
    return found


def _changes(case: dict[str, Any]) -> Changes:
    """Return the changes of a case; `consumers` are those with a subscription to all fields, and their purposes."""
    before, after = contract(case["before"]), contract(case["after"])
    kind, line = ConsumerClass.OPERATIONAL_REPORTING, Line(before.id, 1)
    readers = [Subscription(name, line, kind, purpose=purpose) for name, purpose in case.get("consumers", {}).items()]
    return with_further(diff(before, after), view_changes(before, after, readers))


@pytest.mark.parametrize(("kind", "case"), _cases())
def test_a_case_gives_exactly_its_changes(kind: str, case: dict[str, Any]) -> None:
    changes = _changes(case)

    found = [{"kind": change.kind, "path": change.path, "direction": str(change.direction)} for change in changes]
    assert found == case["changes"]
    if "values" in case:
        assert [[thaw(change.before), thaw(change.after)] for change in changes] == case["values"]


@pytest.mark.parametrize(("kind", "case"), _cases())
def test_a_case_is_graded_as_its_table_says(kind: str, case: dict[str, Any]) -> None:
    changes = _changes(case)
    verdict = judge(changes, Mode.BACKWARD)

    assert str(verdict.required_bump) == case["bump"]
    if "breaks" in case:
        broken = {str(one) for item in verdict.judged if item.change.kind == kind for one in item.breaks}
        assert sorted(broken) == sorted(case["breaks"])


@pytest.mark.parametrize(("kind", "case"), [one for one in _cases() if "severity" in one.values[1]])
def test_a_case_has_its_severity_in_each_mode(kind: str, case: dict[str, Any]) -> None:
    changes = _changes(case)

    weights = {
        str(mode): str(next(item.severity for item in judge(changes, mode).judged if item.change.kind == kind))
        for mode in (Mode.NONE, Mode.BACKWARD, Mode.FORWARD, Mode.FULL)
    }
    assert weights == case["severity"]


@pytest.mark.parametrize(("kind", "case"), [one for one in _cases() if "message" in one.values[1]])
def test_a_case_has_its_message(kind: str, case: dict[str, Any]) -> None:
    verdict = judge(_changes(case))

    messages = [item.message for item in verdict.judged if item.change.kind == kind]
    messages += [finding.message for finding in verdict.findings if finding.id == kind]
    assert case["message"] in messages


@pytest.mark.parametrize(("kind", "case"), [one for one in _cases() if "findings" in one.values[1]])
def test_a_check_finds_what_its_case_says(kind: str, case: dict[str, Any]) -> None:
    changes = _changes(case)

    for mode, expected in case["findings"].items():
        assert [finding.id for finding in judge(changes, Mode(mode)).findings] == expected


def test_every_kind_has_its_case_file() -> None:
    assert {file.stem for file in (CASES / "kinds").glob("*.yaml")} == set(KINDS)


def test_every_kind_of_change_has_its_case() -> None:
    covered = {
        (kind, change["direction"])
        for kind, case in (one.values for one in _cases())
        for change in case["changes"]
        if change["kind"] == kind
    }
    wanted = {(kind.id, str(direction)) for kind in KINDS.values() for direction in kind.grades}

    assert sorted(wanted - covered) == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.id)
def test_every_kind_has_a_page_with_an_example(kind: Any) -> None:
    assert "Example:" in kind.page
    assert kind.summary.endswith(".")
