"""The bump is computed: what each common change asks for, and what happens when too little is declared."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.compatibility import diff, judge, parse_grading
from treaty.contracts import Bump, Contract
from treaty.errors import InvalidDocument


def _customers(*fields: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"id": "customers", "fields": [{"name": "id", "logicalType": "integer", "required": True}, *fields], **rest}


def _fresh(hours: int) -> list[dict[str, Any]]:
    return [{"property": "freshness", "value": hours, "unit": "h"}]


EMAIL = {"name": "email", "logicalType": "string"}
PHONE = {"name": "phone", "logicalType": "string"}
TABLE = [
    ("remove column", _customers(EMAIL), _customers(), "MAJOR"),
    (
        "change column type",
        _customers(),
        {"id": "customers", "fields": [{"name": "id", "logicalType": "string", "required": True}]},
        "MAJOR",
    ),
    ("make nullable column required", _customers(PHONE), _customers({**PHONE, "required": True}), "MAJOR"),
    (
        "add new required column",
        _customers(),
        _customers({"name": "ssn", "logicalType": "string", "required": True}),
        "MAJOR",
    ),
    ("add optional column", _customers(), _customers({"name": "middle_name", "logicalType": "string"}), "MINOR"),
    ("relax nullability", _customers({**PHONE, "required": True}), _customers(PHONE), "MINOR"),
    ("change description", _customers(EMAIL), _customers({**EMAIL, "description": "Where invoices go"}), "PATCH"),
    ("change classification", _customers(EMAIL), _customers({**EMAIL, "classification": "pii"}), "PATCH"),
    ("update SLA (stricter)", _customers(slaProperties=_fresh(6)), _customers(slaProperties=_fresh(4)), "MINOR"),
    ("update SLA (relaxed)", _customers(slaProperties=_fresh(4)), _customers(slaProperties=_fresh(8)), "MAJOR"),
]


def _pair(before: Any, after: Any, version: str) -> tuple[Contract, Contract]:
    return contract({**before, "version": "1.2.3"}), contract({**after, "version": version})


@pytest.mark.parametrize(("row", "before", "after", "bump"), TABLE, ids=[row[0] for row in TABLE])
def test_each_common_change_requires_its_bump(row: str, before: Any, after: Any, bump: str) -> None:
    verdict = judge(diff(*_pair(before, after, "1.2.4")))

    needed = {"MAJOR": "2.0.0", "MINOR": "1.3.0", "PATCH": "1.2.4"}
    assert str(verdict.required_bump) == bump
    assert verdict.required_version == needed[bump]


ABOVE_PATCH = [row for row in TABLE if row[3] != "PATCH"]


@pytest.mark.parametrize(("row", "before", "after", "bump"), ABOVE_PATCH, ids=[row[0] for row in ABOVE_PATCH])
def test_a_smaller_bump_than_required_is_an_error(row: str, before: Any, after: Any, bump: str) -> None:
    verdict = judge(diff(*_pair(before, after, {"MAJOR": "1.3.0", "MINOR": "1.2.4"}[bump])))

    assert "version_bump_too_small" in {finding.id for finding in verdict.errors}
    assert not verdict.admissible


@pytest.mark.parametrize(("row", "before", "after", "bump"), TABLE, ids=[row[0] for row in TABLE])
def test_the_required_bump_or_a_larger_one_is_enough(row: str, before: Any, after: Any, bump: str) -> None:
    for version in {"MAJOR": ("2.0.0", "3.0.0"), "MINOR": ("1.3.0", "2.0.0"), "PATCH": ("1.2.4", "1.3.0")}[bump]:
        verdict = judge(diff(*_pair(before, after, version)))

        assert "version_bump_too_small" not in {finding.id for finding in verdict.errors}


def test_the_message_says_what_was_declared_and_what_is_needed() -> None:
    verdict = judge(diff(*_pair(_customers(EMAIL), _customers(), "1.3.0")))

    messages = {finding.id: finding.message for finding in verdict.errors}
    assert messages["version_bump_too_small"] == (
        "a MINOR bump was declared, the changes require MAJOR; the version must be at least 2.0.0"
    )


def test_the_same_promise_in_other_units_is_no_change() -> None:
    before = contract(_customers(slaProperties=_fresh(4)))
    after = contract(_customers(slaProperties=[{"property": "freshness", "value": 240, "unit": "min"}]))

    assert list(diff(before, after)) == []


def test_a_version_that_is_not_semantic_is_judged_and_refused() -> None:
    before, after = contract({**_customers(), "version": "1"}), contract({**_customers(EMAIL), "version": "2.0.0"})

    verdict = judge(diff(before, after))

    assert [finding.id for finding in verdict.errors] == ["version_not_semantic"]
    assert verdict.required_version is None


class TestGrading:
    """Teams can re-grade kinds in policy."""

    def test_a_team_raises_the_bump_of_a_kind(self) -> None:
        grading = parse_grading({"field_added": "major"})

        verdict = judge(diff(*_pair(_customers(), _customers(EMAIL), "1.3.0")), grading=grading)

        assert verdict.required_bump is Bump.MAJOR

    def test_a_team_lowers_the_grade_of_a_kind(self) -> None:
        grading = parse_grading({"field_enum_added": {"bump": "minor", "breaks": []}})
        after = _customers({**EMAIL, "enum": [{"value": "a"}]})

        verdict = judge(diff(*_pair(_customers(EMAIL), after, "1.3.0")), grading=grading)

        assert verdict.admissible
        assert verdict.required_bump is Bump.MINOR

    def test_a_team_names_custom_properties_that_carry_meaning(self) -> None:
        before, after = ({**EMAIL, "customProperties": [{"property": "Rounding-Mode", "value": one}]} for one in "ab")
        changes = diff(*_pair(_customers(before), _customers(after), "1.3.0"))

        verdict = judge(changes, grading=parse_grading({}, ["rounding_mode"]))

        assert judge(changes).required_bump is Bump.PATCH
        assert verdict.required_bump is Bump.MAJOR
        assert [item.change.kind for item in verdict.judged] == ["custom_meaning_changed"]

    def test_a_name_of_a_custom_property_is_a_text(self) -> None:
        with pytest.raises(InvalidDocument, match="meaning_properties is a list of names of custom properties, not 5"):
            parse_grading({}, [5])

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            ({"field_vanished": "major"}, "unknown kind 'field_vanished' in grading; see: treaty explain kinds"),
            ({"field_added": "huge"}, "unknown bump 'huge'; use one of: none, patch, minor, major"),
            ({"owner_missing": "minor"}, "unknown kind 'owner_missing'"),
            ({"field_added": {"breaks": ["everyone"]}}, "unknown 'everyone'; use: existing_data, existing_readers"),
            ({"field_added": 3}, "is a bump, or a mapping with bump and breaks"),
        ],
    )
    def test_an_invalid_grade_is_refused_with_a_hint(self, data: dict[str, Any], said: str) -> None:
        with pytest.raises(InvalidDocument, match=said.replace("(", "\\(")):
            parse_grading(data)
