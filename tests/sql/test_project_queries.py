"""Problems of project queries have a place and a hint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sql.project_cases import COLUMNS, cases, query
from treaty.contracts.findings import Finding
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Sql
from treaty.pipeline.project.project_sql import parse_expression, parse_query
from treaty.sql.repeatability import find_unrepeatable


def assert_found(findings: tuple[Finding, ...], expected: list[list[Any]]) -> None:
    actual = [(finding.place.line if finding.place else None, finding.message, finding.hint) for finding in findings]
    assert len(actual) == len(expected), actual
    for (line, message, hint), (wanted_line, wanted_message, wanted_hint) in zip(actual, expected, strict=True):
        assert line == wanted_line, message
        assert wanted_message in message
        assert wanted_hint in (hint or "")


@pytest.mark.parametrize("case", cases("problems"))
def test_problems_have_line_message_and_hint(case: dict[str, Any]) -> None:
    findings: tuple[Finding, ...] = ()
    try:
        query(case["sql"])
    except InvalidDocument as error:
        findings = error.findings

    assert_found(findings, case["finds"])


@pytest.mark.parametrize("case", cases("repeatability"))
def test_unrepeatable_expressions_are_reported(case: dict[str, Any]) -> None:
    assert_found(find_unrepeatable(query(case["sql"])), case["finds"])


def test_query_has_inputs_and_output_columns() -> None:
    parsed = parse_query(
        Sql(
            Path("x.sql"),
            "SELECT o.order_id, count(*) AS `how many` FROM Orders o JOIN orders b USING (line) GROUP BY 1",
        ),
        COLUMNS,
    )

    assert parsed.inputs == ("orders",)
    assert parsed.columns == ("order_id", "how many")


def test_error_has_file_line_and_number_of_further_problems() -> None:
    with pytest.raises(InvalidDocument, match=r"sql/case\.sql:2: there is no column a; .* \(and 1 more\)"):
        query("SELECT\n a, b FROM returns")


def test_error_in_an_expression_has_the_place_of_its_declaration() -> None:
    with pytest.raises(
        InvalidDocument, match=r"products/x\.yaml:4: there is no column deletd; did you mean 'deleted'\?"
    ):
        parse_expression("deletd", "products/x.yaml:4", {"": COLUMNS["orders"].add("deleted", "boolean")})


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InvalidDocument, match=r"nested too deeply|cannot be parsed"):
        query("SELECT " + "(" * 5_000 + "1" + ")" * 5_000 + " AS x FROM orders")
