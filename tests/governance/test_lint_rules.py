"""Every lint rule has a case file of the same name: documents with and without the finding."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.documents import CASES, loaded
from treaty.contracts.findings import Finding
from treaty.contracts.paths import parse_path
from treaty.contracts.text import read_document
from treaty.governance.lint import RULES, LintSettings, Readers, lint

TODAY = date(2026, 1, 15)


def _cases(part: str) -> list[Any]:
    found = []
    for file in sorted((CASES / "rules").glob("*.yaml")):
        for case in read_document(file.read_bytes(), file.name).data[part]:
            found.append(pytest.param(file.stem, case, id=f"{file.stem}: {case['name']}"))
    return found


def _findings(rule: str, case: dict[str, Any]) -> list[Finding]:
    declared = case.get("readers")
    fields = tuple(parse_path(field) for listed in (declared or {}).values() for field in listed)
    readers = None if declared is None else Readers(tuple(declared), fields)
    report = lint(loaded(case["document"]), LintSettings(), TODAY, readers)
    return [finding for finding in report.findings if finding.id == rule]


@pytest.mark.parametrize(("rule", "case"), _cases("fires"))
def test_a_rule_fires_where_its_case_says(rule: str, case: dict[str, Any]) -> None:
    found = _findings(rule, case)

    assert [finding.message for finding in found] == case["messages"]
    assert all(finding.hint for finding in found)
    assert all(finding.place and finding.place.line for finding in found)
    assert all(finding.severity is RULES[rule].severity for finding in found)


@pytest.mark.parametrize(("rule", "case"), _cases("silent"))
def test_a_rule_is_silent_where_its_case_says(rule: str, case: dict[str, Any]) -> None:
    assert _findings(rule, case) == []


def test_every_rule_has_its_cases() -> None:
    files = {file.stem for file in (CASES / "rules").glob("*.yaml")}

    assert files == set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_rule_has_a_page_that_says_why_and_how_to_fix_it(rule: Any) -> None:
    assert "Why:" in rule.page
    assert "Fix:" in rule.page
