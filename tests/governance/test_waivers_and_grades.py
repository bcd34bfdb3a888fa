"""Rules can be re-graded, switched off, or waived with an owner, a reason and an end date."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from tests.documents import loaded
from treaty.contracts import Severity
from treaty.errors import InvalidDocument
from treaty.governance.lint import LintReport, lint, parse_lint_settings

DOCUMENT = {
    "description": {"purpose": "Every order that checkout accepted."},
    "slaProperties": [{"property": "freshness", "value": 1, "unit": "h"}],
    "fields": [
        {"name": "order_id", "logicalType": "string", "description": "Identifies an order for ever."},
        {"name": "status", "logicalType": "string", "description": "Where fulfilment stands with the order."},
    ],
}
WAIVER = {"rule": "name-bare", "owner": "checkout", "reason": "renamed in 2.0.0", "until": "2026-06-30"}


def _lint(
    rules: dict[str, Any] | None = None, waivers: list[Any] | None = None, today: str = "2026-01-01"
) -> LintReport:
    return lint(loaded(DOCUMENT), parse_lint_settings(rules or {}, waivers or []), date.fromisoformat(today))


def test_a_rule_weighs_what_its_table_says() -> None:
    assert [(one.id, one.severity) for one in _lint().findings] == [("name-bare", Severity.WARNING)]


def test_a_team_can_make_a_rule_weigh_more() -> None:
    assert [one.severity for one in _lint({"name-bare": "error"}).findings] == [Severity.ERROR]


def test_a_rule_can_be_switched_off_but_the_score_stays_honest() -> None:
    report = _lint({"name-bare": "off"})

    assert report.findings == ()
    assert report.score == 50


def test_a_waived_finding_is_set_aside_with_its_waiver() -> None:
    report = _lint(waivers=[WAIVER])

    assert report.findings == ()
    assert [(one.finding.id, one.waiver.owner) for one in report.waived] == [("name-bare", "checkout")]


@pytest.mark.parametrize(("today", "standing"), [("2026-06-30", 0), ("2026-07-01", 1)])
def test_a_waiver_ends_after_its_last_day(today: str, standing: int) -> None:
    assert len(_lint(waivers=[WAIVER], today=today).findings) == standing


@pytest.mark.parametrize(
    ("scope", "standing"),
    [
        ({"contract": "orders"}, 0),
        ({"contract": "ord*", "path": "stat*"}, 0),
        ({"contract": "payments"}, 1),
        ({"path": "order_id"}, 1),
    ],
)
def test_a_waiver_covers_only_what_it_names(scope: dict[str, str], standing: int) -> None:
    assert len(_lint(waivers=[{**WAIVER, **scope}]).findings) == standing


@pytest.mark.parametrize("missing", ["owner", "reason", "until"])
def test_a_waiver_without_owner_reason_or_end_is_refused(missing: str) -> None:
    with pytest.raises(InvalidDocument, match=f"needs '{missing}'"):
        _lint(waivers=[{key: value for key, value in WAIVER.items() if key != missing}])


@pytest.mark.parametrize(
    ("rules", "waivers", "said"),
    [
        ({"name-bear": "error"}, [], "unknown rule 'name-bear'"),
        ({"name-bare": "fatal"}, [], "use one of: error, warning, info, off"),
        ({}, [{**WAIVER, "rule": "name-bear"}], "unknown rule 'name-bear'"),
        ({}, [{**WAIVER, "until": "soon"}], "a date like 2026-12-31"),
        ({}, [{**WAIVER, "until": "20261231"}], "a date like 2026-12-31"),
        ({}, [{**WAIVER, "colour": "blue"}], "unknown key 'colour'"),
        ({}, ["name-bare"], "a waiver is a mapping"),
    ],
)
def test_wrong_settings_say_what_to_write_instead(rules: dict[str, Any], waivers: list[Any], said: str) -> None:
    with pytest.raises(InvalidDocument, match=said):
        _lint(rules, waivers)


def test_the_score_is_the_share_of_fields_that_explain_themselves() -> None:
    assert (_lint().score, _lint().explainable, _lint().fields) == (50, 1, 2)


@pytest.mark.parametrize("rule", ["quality-sql-hostile", "link-unsafe"])
def test_a_rule_that_registries_apply_can_be_neither_changed_nor_waived(rule: str) -> None:
    with pytest.raises(InvalidDocument, match=r"cannot be changed in lint\.rules: registries apply it too"):
        parse_lint_settings({rule: "off"}, [])
    with pytest.raises(InvalidDocument, match="in a waiver"):
        parse_lint_settings({}, [{**WAIVER, "rule": rule}])
