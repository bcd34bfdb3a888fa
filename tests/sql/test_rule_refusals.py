"""Unsupported SQL in rules is refused with the problem, its position and a hint."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sql.rule_cases import cases, parse
from treaty.errors import InvalidDocument


@pytest.mark.parametrize("case", cases("refused"), ids=lambda case: case["sql"][:60])
def test_unsupported_sql_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument) as refusal:
        parse(case["sql"], case.get("field"))

    message = str(refusal.value)
    assert message.startswith("the SQL of the rule ")
    assert case["says"] in message
    assert "; " in message


@pytest.mark.parametrize(
    "sql",
    [
        "(" * 10_000,
        "(" * 4_000 + "n" + ")" * 4_000,
        "n > 0" + " " * 10_000,
        "n > " + "(" * 30 + "1" + ")" * 30,
        "CASE WHEN " * 300 + "flag" + " THEN flag END" * 300,
        "NOT " * 2_000 + "flag",
        "- " * 2_000 + "n > 0",
        "upper(" * 1_000 + "text" + ")" * 1_000,
        "date(" * 20 + "day" + ")" * 20 + " > now()" * 500,
        "list" + "[0]" * 1_000 + " > 0",
        "part" + ".a" * 2_000 + " > 0",
        "open" + ".a" * 900 + " > 0",
        "n" + " + n" * 900 + " > 0",
        "n > 0" + " OR n > 0" * 1_000,
        "/*" * 4_000,
        "`" * 9_999,
        "'" * 9_999,
        "CAST(n AS " + "ARRAY<" * 1_000,
        "SELECT count(*) FROM " + "(SELECT n FROM " * 100 + "things" + ")" * 100,
        "SELECT count(*) FROM " + "(SELECT n FROM " * 20 + "things" + ")" * 20,
        "WITH a AS (SELECT n FROM things)" + ", a AS (SELECT n FROM things)" * 50 + " SELECT count(*) FROM a",
        "SELECT count(*) FROM things" + " JOIN owners o ON things.id = o.id" * 50,
        "SELECT n FROM things" + " UNION ALL SELECT n FROM things" * 100,
        "if(upper(" * 11 + "text" + ") RLIKE 'a', 'b', 'c')" * 11 + " = 'b'",
        "SELECT 1" + " + max(n)" * 90 + " FROM things WHERE flag" + " OR n = 1" * 300,
        "interval " * 1_000,
        "\0",
        "n > 0 \x1b[31m",
        "\ud800 = 1",
        "text = '\ud800'",
    ],
    ids=lambda sql: repr(sql)[:30] + f"… {len(sql)}",
)
def test_too_long_too_deep_or_invalid_text_is_refused(sql: str) -> None:
    with pytest.raises(InvalidDocument, match="the SQL of the rule"):
        parse(sql)


def test_long_flat_conditions_are_accepted() -> None:
    parse(" OR ".join(f"n = {number}" for number in range(400)))
    parse(f"n IN ({', '.join(map(str, range(900)))})")
