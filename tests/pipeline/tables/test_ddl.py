"""Creating and evolving tables."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from tests.pipeline.tables.orders import place_of
from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables import NewStamp, Tables
from treaty.pipeline.tables.ddl import evolve_statements

CHANGES = {
    "nothing": ("a int", "a int", []),
    "more": ("a int", "a int, b string, c date", ["ADD COLUMN `b` STRING AFTER `a`", "ADD COLUMN `c` DATE AFTER `b`"]),
    "first": ("a int", "b int, a int", ["ADD COLUMN `b` INT FIRST"]),
    "must have a value, among rows that have none": (
        "a int",
        "a int, b int not null",
        ["ADD COLUMN `b` INT AFTER `a`"],
    ),
    "wider": (
        "a int, b float, c decimal(5,2)",
        "a bigint, b double, c decimal(9,2)",
        [
            "ALTER COLUMN `a` TYPE BIGINT",
            "ALTER COLUMN `b` TYPE DOUBLE",
            "ALTER COLUMN `c` TYPE DECIMAL(9,2)",
        ],
    ),
    "narrower, which fits": ("a bigint, b decimal(9,2)", "a int, b decimal(5,2)", []),
    "small whole numbers, which are kept as ints": ("a int, b int", "a tinyint, b smallint", []),
    "needs no value": ("a int not null", "a int", ["ALTER COLUMN `a` DROP NOT NULL"]),
    "no longer wanted": ("a int, b int not null, c int", "a int", ["ALTER COLUMN `b` DROP NOT NULL"]),
    "inside": (
        "`a b` struct<x: int, y: array<struct<z: int>>, m: map<string, int>>",
        "`a b` struct<x: bigint, y: array<struct<z: bigint, w: string>>, m: map<string, bigint>>",
        [
            "ALTER COLUMN `a b`.`x` TYPE BIGINT",
            "ALTER COLUMN `a b`.`y`.`element`.`z` TYPE BIGINT",
            "ADD COLUMN `a b`.`y`.`element`.`w` STRING AFTER `z`",
            "ALTER COLUMN `a b`.`m`.`value` TYPE BIGINT",
        ],
    ),
    "meaning": (
        "a int comment 'old'",
        "a int comment 'its ${new} \\' \\\\'",
        ["ALTER COLUMN `a` COMMENT 'its \\u0024{new} \\' \\\\'"],
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_statements(spark: SparkSession, case: str) -> None:
    have, want, expected = CHANGES[case]
    assert list(evolve_statements("t", _columns(have), _columns(want))) == [
        f"ALTER TABLE t {change}" for change in expected
    ]


@pytest.mark.parametrize(
    ("have", "want"),
    [
        ("a string", "a int"),
        ("a decimal(5,2)", "a decimal(9,3)"),
        ("a date", "a timestamp"),
        ("a int", "a struct<x: int>"),
    ],
)
def test_type_change_that_would_lose_values_is_refused(spark: SparkSession, have: str, want: str) -> None:
    with pytest.raises(Conflict, match=r"a of t is .* and cannot become .*; publish the change as a new MAJOR version"):
        list(evolve_statements("t", _columns(have), _columns(want)))


def test_table_evolves_with_its_contract(any_spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = Tables(any_spark, place_of(request))
    before = _columns("id string not null comment 'Who', at struct<day: date, n: int>, _outcome string, _run bigint")
    after = _columns(
        "id string, `new one` tinyint not null, at struct<day: date, n: bigint, z: string>, "
        "_outcome string, _run bigint"
    )
    after["id"].metadata["comment"] = "Which ' ${one}"
    given = {"treaty.meaning": "It's ${here}\n\\n", "treaty.owner": "Orders"}
    tables.ensure("products.orders", before, given, ["_outcome"])
    tables.append("products.orders", _row(any_spark, "1"), NewStamp(1, {}, "", "", {}))
    first = tables.stamp("products.orders")

    tables.ensure("products.orders", after, {"treaty.meaning": "Something else", "treaty.version": "2"}, ["_outcome"])
    tables.ensure("products.orders", after, {"treaty.meaning": "Something else", "treaty.version": "2"}, ["_outcome"])

    name = tables.namespace.full_name("products.orders")
    there = any_spark.table(name).schema
    assert there.names == ["id", "new one", "at", "_outcome", "_run"]
    assert there["at"].dataType.simpleString() == "struct<day:date,n:bigint,z:string>"
    assert (there["id"].nullable, there["id"].metadata) == (True, {"comment": "Which ' ${one}"})
    properties = {row["key"]: row["value"] for row in any_spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
    assert properties["treaty.meaning"] == "Something else"
    assert "treaty.owner" not in properties
    assert properties["write.delete.mode"] == "merge-on-read"
    tables.append("products.orders", _row(any_spark, "2", ", 3Y AS `new one`"), NewStamp(2, {}, "", "", {}))
    rows = [
        tuple(row) for row in tables.current_rows("products.orders").select("id", "new one", "at.z", "_run").collect()
    ]
    assert sorted(rows) == [("1", None, None, 1), ("2", 3, None, 2)]
    old = tables.read("products.orders", first).select("id", "new one", "at.z").collect()
    assert [tuple(row) for row in old] == [("1", None, None)]
    assert tables.list_tables("products") == ("products.orders",)


def test_rows_must_fit_their_table(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = Tables(spark, place_of(request))
    tables.ensure("products.orders", _columns("id string not null, _run bigint"), {})
    for select, reason in {
        "SELECT 'x' AS id, 1 AS more": "products.orders has no column more; it has: id, _run",
        "SELECT 1L AS _run": "rows for products.orders lack the required columns id",
        "SELECT CAST(NULL AS STRING) AS id": "a row for products.orders has no value for the required column id",
    }.items():
        with pytest.raises(InvalidDocument, match=reason):
            tables.append("products.orders", spark.sql(select), NewStamp(1, {}, "", "", {}))
    assert tables.stamps("products.orders") == ()
    with pytest.raises(InvalidDocument, match="'orders; DROP' is not a valid table name"):
        tables.exists("orders; DROP")


def _row(spark: SparkSession, key: str, more: str = "") -> DataFrame:
    return spark.sql(f"SELECT '{key}' AS id, 'valid' AS _outcome, {key}L AS _run{more}")


def _columns(ddl: str) -> StructType:
    columns = StructType.fromDDL(ddl)
    assert isinstance(columns, StructType)
    return columns
