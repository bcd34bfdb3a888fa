"""Reviews of the contracts in a branch: cases as data."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import CASES
from tests.review.branch_builder import reviewed, rules
from treaty.contracts.text import read_document
from treaty.governance.lint import RULES
from treaty.review import ContractReview

NO_LINT = {name: "off" for name, rule in RULES.items() if not rule.is_required}


def _cases() -> list[Any]:
    found = []
    for file in sorted((CASES / "review").glob("*.yaml")):
        cases = read_document(file.read_bytes(), str(file)).data
        found += [pytest.param(case, id=f"{file.stem}: {name}") for name, case in cases.items()]
    return found


@pytest.mark.parametrize("case", _cases())
def test_a_branch_is_reviewed_as_its_case_says(case: dict[str, Any]) -> None:
    review = reviewed(case["before"], case["after"], moved=case.get("moved"), project=rules(lint=NO_LINT))

    several = {one.path for one in review.contracts if [each.path for each in review.contracts].count(one.path) > 1}
    found = {f"{one.path}#{one.contract}" if one.path in several else one.path: one for one in review.contracts}
    assert found.keys() == case["expect"].keys()
    for name, expected in case["expect"].items():
        assert {key: _said(found[name], key) for key in expected} == expected, name


def _said(one: ContractReview, key: str) -> Any:
    if key == "errors":
        return sorted(finding.id for finding in one.errors)
    value = getattr(one, key)
    return str(value) if isinstance(value, str) else value
