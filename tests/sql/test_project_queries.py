"""What is wrong with a query is said with its place and what to do."""

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


def assert_found(found: tuple[Finding, ...], expected: list[list[Any]]) -> None:
    said = [(one.place.line if one.place else None, one.message, one.hint) for one in found]
    assert len(said) == len(expected), said
    for (line, message, hint), (wanted_line, wanted_message, wanted_hint) in zip(said, expected, strict=True):
        assert line == wanted_line, message
        assert wanted_message in message
        assert wanted_hint in (hint or "")


@pytest.mark.parametrize("case", cases("problems"))
def test_every_mistake_is_found(case: dict[str, Any]) -> None:
    found: tuple[Finding, ...] = ()
    try:
        query(case["sql"])
    except InvalidDocument as error:
        found = error.findings

    assert_found(found, case["finds"])


@pytest.mark.parametrize("case", cases("repeatability"))
def test_what_differs_from_run_to_run_is_found(case: dict[str, Any]) -> None:
    assert_found(find_unrepeatable(query(case["sql"])), case["finds"])


def test_a_query_knows_what_it_reads_and_gives() -> None:
    found = parse_query(
        Sql(
            Path("x.sql"),
            "SELECT o.order_id, count(*) AS `how many` FROM Orders o JOIN orders b USING (line) GROUP BY 1",
        ),
        COLUMNS,
    )

    assert found.inputs == ("orders",)
    assert found.columns == ("order_id", "how many")


def test_the_error_names_file_and_line_and_counts_the_rest() -> None:
    with pytest.raises(InvalidDocument, match=r"sql/case\.sql:2: there is no column a; .* \(and 1 more\)"):
        query("SELECT\n a, b FROM returns")


def test_a_mistake_in_an_expression_names_its_declaration() -> None:
    with pytest.raises(InvalidDocument, match=r"products/x\.yaml:4: there is no column deletd; did you mean deleted\?"):
        parse_expression("deletd", "products/x.yaml:4", {"": COLUMNS["orders"].add("deleted", "boolean")})


def test_deep_nesting_is_refused_not_crashed_on() -> None:
    with pytest.raises(InvalidDocument, match=r"nested too deeply|cannot be parsed"):
        query("SELECT " + "(" * 5_000 + "1" + ")" * 5_000 + " AS x FROM orders")
