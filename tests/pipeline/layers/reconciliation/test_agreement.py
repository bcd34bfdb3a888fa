"""Agreement of claims: cases by type, tolerance and values, evaluated in one Spark row."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.layers.reconciliation.agreement import Kind, agrees, comparable, kind_of, widen
from treaty.pipeline.project.declarations import Agreement

EXACT, CENT, SECONDS, PERCENT = Agreement(), Agreement(0.01), Agreement(1.5), Agreement(0.005, True)
CASES: list[tuple[str, str, str, Agreement, bool]] = [
    ("decimal(12,2)", "10.00", "10.00", EXACT, True),
    ("decimal(12,2)", "10.00", "10.01", EXACT, False),
    ("decimal(12,2)", "10.00", "10.01", CENT, True),
    ("decimal(12,2)", "10.01", "10.00", CENT, True),
    ("decimal(12,2)", "-10.00", "-10.02", CENT, False),
    ("decimal(12,2)", "200.00", "201.00", PERCENT, True),
    ("decimal(12,2)", "200.00", "201.01", PERCENT, False),
    ("decimal(12,2)", "0.00", "0.01", PERCENT, False),
    ("decimal(38,0)", "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", CENT, False),
    ("tinyint", "127", "-128", Agreement(255), True),
    ("tinyint", "127", "-128", Agreement(254), False),
    ("bigint", "9223372036854775807", "9223372036854775806", Agreement(1), True),
    ("bigint", "9223372036854775807", "9223372036854775805", Agreement(1), False),
    ("double", "1.0", "1.1", Agreement(0.1, True), True),  # compared as written, without binary rounding
    ("double", "0.3", "0.1", Agreement(0.2), True),
    ("double", "1e300", "1e299", Agreement(0.5, True), False),
    ("double", "1e300", "1.001e300", Agreement(0.5, True), True),
    ("double", "NaN", "NaN", CENT, True),
    ("double", "NaN", "1", CENT, False),
    ("double", "Infinity", "Infinity", CENT, True),
    ("double", "Infinity", "-Infinity", CENT, False),
    ("string", "EUR", "EUR", EXACT, True),
    ("string", "EUR", "eur", EXACT, False),
    ("boolean", "true", "false", EXACT, False),
    ("date", "2026-03-01", "2026-03-02", Agreement(1), True),
    ("date", "2026-03-01", "2026-03-03", Agreement(1), False),
    ("timestamp", "2026-03-01T10:00:00Z", "2026-03-01T10:00:01.5Z", SECONDS, True),
    ("timestamp", "2026-03-01T10:00:00Z", "2026-03-01T10:00:01.500001Z", SECONDS, False),
    ("timestamp_ntz", "2026-03-01T10:00:01.5", "2026-03-01T10:00:00", SECONDS, True),
    ("timestamp_ntz", "2026-03-01T10:00:01.500001", "2026-03-01T10:00:00", SECONDS, False),
]


def test_agreement_by_type_and_tolerance(any_spark: SparkSession) -> None:
    columns = []
    for number, (kind, first, other, _, _) in enumerate(CASES):
        columns += [F.lit(text).cast(kind).alias(f"{side}{number}") for side, text in (("a", first), ("b", other))]
    # values come from rows, so that Spark does not fold them as constants
    given = any_spark.range(1).select(*columns).where(F.rand() >= 0)
    answers = []
    for number, (_, _, _, agreement, _) in enumerate(CASES):
        held = given.schema[f"a{number}"].dataType
        sides = [widen(F.col(f"{side}{number}"), held) for side in "ab"]
        answers.append(agrees(sides[0], sides[1], kind_of(held), agreement).alias(f"c{number}"))

    row = given.select(*answers).collect()[0]

    assert [case[:4] for number, case in enumerate(CASES) if row[f"c{number}"] is not case[4]] == []


def test_only_values_of_one_kind_can_be_compared(spark: SparkSession) -> None:
    held = spark.sql(
        "SELECT 1 whole, 1.5BD exact, 1.5D rough, 'a' text, date'2026-01-01' day, now() moment, map(1, 2) pairs, "
        "array(1) list, array('a') texts"
    ).schema

    def between(one: str, other: str) -> Kind | None:
        return comparable(held[one].dataType, held[other].dataType)

    assert (between("whole", "exact"), between("exact", "rough")) == (Kind.NUMBER, Kind.FLOAT)
    assert between("list", "list") is Kind.OTHER
    unlike = [("whole", "text"), ("day", "moment"), ("pairs", "pairs"), ("list", "texts"), ("text", "day")]
    assert [pair for pair in unlike if between(*pair) is not None] == []
