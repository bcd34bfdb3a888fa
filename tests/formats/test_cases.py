"""Every format has a case file of its name: what it reads, writes, tells of changes, and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import CASES, contract
from treaty.compatibility import diff
from treaty.contracts import Contract
from treaty.contracts.odcs import LATEST_API_VERSION, write_odcs
from treaty.contracts.text import read_document
from treaty.errors import InvalidDocument
from treaty.formats import FORMATS, get_format

Case = dict[str, Any]


def _cases(part: str) -> list[Any]:
    found = []
    for file in sorted((CASES / "formats").glob("*.yaml")):
        for case in read_document(file.read_bytes(), file.name).data.get(part, ()):
            found.append(pytest.param(file.stem, case, id=f"{file.stem}: {case['name']}"))
    return found


def _document(read: Contract) -> Case:
    document = write_odcs(read)
    assert document.pop("kind") == "DataContract"
    assert document.pop("apiVersion") == LATEST_API_VERSION
    if document["version"] == "0.0.0":
        del document["version"]
    return document


@pytest.mark.parametrize(("name", "case"), _cases("reads"))
def test_a_file_is_read_as_its_case_says(name: str, case: Case) -> None:
    read = get_format(name).read(case["text"], name=case["file"])

    assert [_document(one) for one in read.contracts] == case["contracts"]
    assert [str(loss) for loss in read.losses] == case.get("lost", [])


@pytest.mark.parametrize(("name", "case"), _cases("writes"))
def test_a_contract_is_written_as_its_case_says(name: str, case: Case) -> None:
    written = get_format(name).write(contract(case["document"]), dialect=case.get("dialect"))

    assert written.text == case["text"]
    assert [str(loss) for loss in written.losses] == case.get("lost", [])


@pytest.mark.parametrize(("name", "case"), _cases("changes"))
def test_a_change_of_a_foreign_schema_is_told_in_the_kinds_of_contracts(name: str, case: Case) -> None:
    before, after = (get_format(name).read(case[part], name=case["file"]).contracts[0] for part in ("before", "after"))

    assert [f"{change.kind} {change.field or change.subject}" for change in diff(before, after)] == case["kinds"]


@pytest.mark.parametrize(("name", "case"), _cases("refuses"))
def test_what_cannot_be_read_is_refused_with_what_where_and_what_next(name: str, case: Case) -> None:
    with pytest.raises(InvalidDocument) as refused:
        get_format(name).read(case["text"], name=case["file"])

    assert str(refused.value) == case["message"]


def test_every_format_has_its_cases() -> None:
    assert {file.stem for file in (CASES / "formats").glob("*.yaml")} == {one.name for one in FORMATS}


def test_an_unknown_format_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        InvalidDocument, match=r"unknown format 'xsd'; use one of: avro, openapi, asyncapi, json-schema, "
    ):
        get_format("xsd")


def test_an_unknown_dialect_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidDocument, match="SQL DDL has no dialect 'cobol'; it has: spark, databricks, "):
        get_format("sql").write(contract([{"name": "id", "logicalType": "string"}]), dialect="cobol")


@pytest.mark.parametrize("form", [one for one in FORMATS if one.writes], ids=lambda form: form.name)
def test_a_contract_without_objects_has_nothing_to_write(form: Any) -> None:
    with pytest.raises(InvalidDocument, match="orders has no schema objects"):
        form.write(contract({"tier": "enterprise"}))


@pytest.mark.parametrize("form", [one for one in FORMATS if not one.writes], ids=lambda form: form.name)
def test_an_older_contract_format_is_only_read(form: Any) -> None:
    with pytest.raises(InvalidDocument, match=f"{form.title} is only read; write odcs instead"):
        form.write(contract({}))


ORDERS = {
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "total", "logicalType": "number", "logicalTypeOptions": {"minimum": 0, "multipleOf": 5}},
                {"name": "note", "logicalType": "string", "logicalTypeOptions": {"minLength": 2, "pattern": "^a"}},
            ],
        },
        {"name": "later"},
    ]
}
UNCHECKED = "(no constraint or data test checks it)"


@pytest.mark.parametrize(
    ("dialect", "checks", "lost"),
    [
        (
            "postgres",
            [["total >= 0"], ["LENGTH(note) >= 2"]],
            [f"orders:total: multipleOf 5 {UNCHECKED}", f"orders:note: pattern ^a {UNCHECKED}"],
        ),
        (
            "spark",
            [[], []],
            [
                f"orders:total: minimum 0 {UNCHECKED}",
                f"orders:total: multipleOf 5 {UNCHECKED}",
                f"orders:note: minLength 2 {UNCHECKED}",
                f"orders:note: pattern ^a {UNCHECKED}",
            ],
        ),
    ],
)
def test_rules_are_dbt_constraints_or_named_as_unchecked(dialect: str, checks: Any, lost: list[str]) -> None:
    written = get_format("dbt").write(contract(ORDERS), dialect=dialect)
    orders, later = read_document(written.text).data["models"]

    constraints = [column.get("constraints", []) for column in orders["columns"]]
    assert [[one["expression"] for one in listed] for listed in constraints] == checks
    assert [str(loss) for loss in written.losses] == lost
    assert all(loss.is_carried for loss in written.losses)
    assert orders["config"]["contract"] == {"enforced": True}
    assert "contract" not in later["config"]  # dbt refuses an enforced contract without columns
