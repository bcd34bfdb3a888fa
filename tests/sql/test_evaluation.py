"""Checked conditions on values in Python: the same answers as Spark, or none."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from treaty.sql.evaluation import NotEvaluated, RowExpression

ROW: dict[str, Any] = {
    "n": 5,
    "price": 2.5,
    "name": " Yoga ",
    "none": None,
    "start": datetime(2026, 3, 2, 8, tzinfo=UTC),
    "end": datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
    "local": datetime(2026, 3, 2, 8),
    "coach": {"id": "c1", "age": None},
    "passes": ["day", "month"],
}


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("`n` > 4 AND `price` < 3", True),
        ("`none` > 4 AND `n` > 9", False),
        ("`none` > 4 AND `n` > 4", None),
        ("`none` > 4 OR `n` > 4", True),
        ("NOT (`none` = 1)", None),
        ("`none` IS NULL", True),
        ("`n` IS NULL", False),
        ("`none` <=> NULL", True),
        ("`n` IN (1, 5)", True),
        ("`n` IN (1, NULL)", None),
        ("`n` BETWEEN 1 AND 5", True),
        ("`price` = 2.5", True),
        ("try_add(`n`, 1) = 6", True),
        ("try_divide(`n`, 0) > 1", None),
        ("try_mod(`n`, 2) = 1", True),
        ("-`n` < 0", True),
        ("`end` > `start`", True),
        ("`local` = `start`", True),
        ("`end` <= try_add(`start`, INTERVAL '2' HOUR)", True),
        ("`start` > CAST('2026-01-01' AS TIMESTAMP)", True),
        ("try_subtract(unix_seconds(`end`), unix_seconds(`start`)) = 5400", True),
        ("`coach`.`id` = 'c1'", True),
        ("`coach`.`age` > 3", None),
        ("size(`passes`) = 2", True),
        ("array_contains(`passes`, 'day')", True),
        ("length(trim(`name`)) = 4", True),
        ("lower(trim(`name`)) = 'yoga'", True),
        ("coalesce(`none`, `n`) = 5", True),
        ("if(`n` > 4, false, true)", False),
        ("CASE WHEN `n` > 9 THEN true WHEN `n` > 4 THEN false ELSE true END", False),
        ("CASE `n` WHEN 5 THEN 'five' ELSE 'other' END = 'five'", True),
    ],
)
def test_conditions_have_the_value_that_they_have_on_spark(sql: str, value: bool | None) -> None:
    assert RowExpression(sql).value(ROW) is value


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("datediff(DAY, `start`, `end`) > 1", "datediff can only be evaluated by Spark"),
        ("`name` RLIKE 'a'", "`name` RLIKE 'a' can only be evaluated by Spark"),
        ("`start` > try_add(`start`, INTERVAL '2' MONTH)", "an interval of months can only be evaluated by Spark"),
        ("`n` > 'a'", "not supported between"),
    ],
)
def test_what_only_spark_can_evaluate_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(NotEvaluated, match=reason):
        RowExpression(sql).value(ROW)


def test_an_expression_knows_its_columns_and_what_they_are_compared_with() -> None:
    expression = RowExpression("(`end` > `start`) AND (`coach`.`id` = 'c1') AND (length(`name`) > 2)")

    assert set(expression.columns()) == {("end",), ("start",), ("coach", "id"), ("name",)}
    assert expression.compared(ROW) == {
        ("end",): [ROW["start"]],
        ("start",): [ROW["end"]],
        ("coach", "id"): ["c1"],
    }
