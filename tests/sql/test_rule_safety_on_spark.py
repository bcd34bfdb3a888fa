"""Safety of rules on Spark: attacks are refused, and no value fails or stalls a run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from tests.sql.rule_cases import COLUMNS, ROWS, cases, parse
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.errors import InvalidDocument
from treaty.sql.checked_sql import RowCondition, RuleTarget
from treaty.sql.rules import parse_rule

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def things(spark: SparkSession) -> DataFrame:
    frame = spark.createDataFrame(ROWS, COLUMNS).coalesce(1)
    frame.createOrReplaceTempView("things")
    return frame


@pytest.mark.parametrize("attack", cases("attacks"), ids=lambda attack: attack["name"])
def test_attack_that_works_on_spark_is_refused(spark: SparkSession, things: DataFrame, attack: dict[str, Any]) -> None:
    assert re.search(attack["gives"], str(spark.sql(attack["sql"]).collect()))

    with pytest.raises(InvalidDocument):
        parse(attack["sql"])
    with pytest.raises(InvalidDocument):
        parse(f"n IN ({attack['sql']})")


def test_file_cannot_be_read_as_a_table(spark: SparkSession, things: DataFrame, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("password\n")
    sql = f"SELECT count(*) FROM csv.`{tmp_path / 'secret.csv'}`"  # noqa: S608
    spark.conf.set("spark.sql.runSQLOnFiles", "true")
    try:
        assert spark.sql(sql).collect()[0][0] == 1
    finally:
        spark.conf.set("spark.sql.runSQLOnFiles", "false")

    with pytest.raises(InvalidDocument, match="not a table of the contract"):
        parse(sql)


def test_string_literal_reaches_spark_unchanged(spark: SparkSession) -> None:
    values = [
        "${env:PATH}",
        "${system:user.dir}",
        "$",
        "${",
        "it's \\' \\",
        "\0\t\x1a\n",
        "-- /* ;",
        "`",
        "ä 😀",
        "%_\\%\\_",
    ]
    frame = spark.createDataFrame(list(enumerate(values)), "n int, text string")
    spelt = ["".join(f"\\U{ord(character):08x}" for character in value) for value in values]

    for number, text in enumerate(spelt):
        assert [row.n for row in frame.where(_condition(f"text = '{text}'")).collect()] == [number]


def test_field_names_are_not_substituted_by_spark() -> None:
    schema = SchemaObject(
        "things", properties=(Field(name="${env:PATH}"), Field(name="a", physical_name="b` OR true OR `c"))
    )

    with pytest.raises(InvalidDocument, match="which Spark would substitute"):
        parse_rule("{property} = 'x'", RuleTarget(schema, FieldPath().field("${env:PATH}")))
    rule = parse_rule("a = 'x'", RuleTarget(schema))
    assert isinstance(rule, RowCondition)
    assert rule.condition == "(`b`` OR true OR ``c` = 'x')"


def test_errors_of_values_become_null(things: DataFrame) -> None:
    expressions = cases("errors")
    first = things.where("id = 1")
    for expression in expressions:
        with pytest.raises(PySparkException):
            first.selectExpr(expression).collect()

    conditions = [_condition(f"({expression}) IS NULL") for expression in expressions]
    assert [*first.selectExpr(*conditions).collect()[0]] == [True] * len(expressions)


@pytest.mark.parametrize("pattern", ["%a%a%a%a%a%b", "_%a%_a_%b", "%a%a%a%ab_"])
def test_like_does_not_backtrack(spark: SparkSession, pattern: str) -> None:
    frame = spark.createDataFrame([("a" * 20_000,)], "text string")

    assert frame.where(_condition(f"text LIKE '{pattern}'")).count() == 0


def _condition(sql: str) -> str:
    rule = parse(sql)
    assert isinstance(rule, RowCondition)
    return rule.condition
