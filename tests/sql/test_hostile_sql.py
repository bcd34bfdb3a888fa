"""Hostile SQL is recognized in any dialect, in linear time, and nothing that rules may use is called hostile."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sql.rule_cases import cases, parse
from treaty.errors import InvalidDocument
from treaty.sql.hostile_sql import find_hostile_sql


@pytest.mark.parametrize("case", cases("hostile"), ids=lambda case: case["sql"][:60])
def test_hostile_sql_is_recognized_in_any_dialect(case: dict[str, Any]) -> None:
    found = find_hostile_sql(case["sql"])

    if case["says"] is None:
        assert found is None
    else:
        assert case["says"] in str(found)


@pytest.mark.parametrize(
    "case",
    [case for case in cases("hostile") if case["says"] and "spark" not in case],
    ids=lambda case: case["sql"][:60],
)
def test_enforcement_refuses_hostile_sql_too(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        parse(case["sql"])


def test_no_sql_that_rules_may_have_is_called_hostile() -> None:
    functions = [text for texts in cases("functions").values() for text in texts]
    allowed = [*cases("expressions"), *functions, *cases("errors")]

    assert [text for text in allowed if find_hostile_sql(str(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 20_000,
        "'" * 49_999,
        "\\'" * 20_000,
        "`" * 49_999,
        "(" * 50_000,
        "USING " * 8_000,
        "UPDATE " * 7_000,
        "FROM csv." * 5_000,
        "-- " * 16_000,
        "x" * 50_000,
        "'" + "\\" * 25_000,
        "DROP TABLE x" + " " * 5_000_000,
    ],
    ids=lambda text: repr(text)[:20],
)
def test_a_huge_text_is_judged_quickly(text: str) -> None:
    started = time.process_time()

    find_hostile_sql(text)

    assert time.process_time() - started < 2


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab '\"`;/*-\\\n(), "), st.sampled_from(["DROP TABLE t", "reflect('a', 'b')", "INSERT INTO t"]))
def test_a_second_statement_cannot_hide_behind_any_prefix_without_quotes(prefix: str, statement: str) -> None:
    plain = "".join(character for character in prefix if character not in "'\"`/*-\\")

    assert find_hostile_sql(f"{plain}; {statement}") or not plain.strip("; \n")
