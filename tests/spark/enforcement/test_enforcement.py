"""Enforcement on batches and streams, with classic sessions and Connect; query plans, policies and carried columns."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from treaty.contracts import Contract, contract_from
from treaty.contracts.findings import Severity
from treaty.errors import InvalidDocument
from treaty.spark import Enforcement, Policy, Scope, each_batch, enforce, write_split

ROWS = "SELECT * FROM VALUES (1, 'a', 5), (1, 'b', 5), (2, 'a', 50), (3, 'x', 5), (4, 'b', 5) AS t(id, code, n)"


def _contract(**more: object) -> Contract:
    fields = [
        {"name": "id", "logicalType": "integer", "primaryKey": True},
        {"name": "code", "logicalType": "string", "enum": [{"value": "a"}, {"value": "b"}]},
        {"name": "n", "logicalType": "integer", "logicalTypeOptions": {"maximum": 10}},
    ]
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": "shop.orders",
        "version": "1.0.0",
        "status": "active",
        "schema": [{"name": "orders", "properties": fields}],
        **more,
    }
    return contract_from(document)


def _plan(frame: DataFrame) -> str:
    printed = StringIO()
    with redirect_stdout(printed):
        frame.explain()
    return printed.getvalue()


def test_classic_and_connect_sessions_give_the_same_result(any_spark: SparkSession) -> None:
    result = enforce(any_spark.sql(ROWS), _contract())

    assert [row["id"] for row in result.valid.collect()] == [4]
    assert sorted(row["id"] for row in result.quarantined.collect()) == [1, 1, 2, 3]
    measures = result.measures()
    assert {result.rule.id: result.violating_rows for result in measures.results if result.violating_rows} == {
        "enum:code": 1,
        "range:n": 1,
        "unique:id": 2,
    }


def test_enforcement_takes_one_scan_without_python(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    spark.sql(ROWS).write.parquet(folder)
    contract = _contract(
        schema=[{"name": "orders", "properties": [{"name": "code", "logicalType": "string", "required": True}]}]
    )
    result = enforce(spark.read.parquet(folder), contract)

    for frame in (result.valid, result.quarantined):
        plan = _plan(frame)
        assert plan.count("FileScan") == 1
        assert "Python" not in plan
        assert "ArrowEval" not in plan


def test_measuring_rows_and_keys_takes_one_scan(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    spark.sql(ROWS).write.parquet(folder)
    result = enforce(spark.read.parquet(folder), _contract())

    assert _plan(result.judged_in_place()).count("FileScan") == 1
    assert result.measures().valid == 1


def test_a_stream_is_checked_by_row_rules_and_lists_unchecked_rules(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    spark.sql(ROWS).write.parquet(folder)
    schema = spark.read.parquet(folder).schema
    result = enforce(spark.readStream.schema(schema).parquet(folder), _contract())

    query = result.valid.writeStream.format("memory").queryName("valid_rows").trigger(availableNow=True).start()
    assert query.awaitTermination(60)

    assert sorted(row["id"] for row in spark.table("valid_rows").collect()) == [1, 1, 4]
    assert [term.what for term in result.unchecked] == ["unique:id"]
    with pytest.raises(InvalidDocument, match="each_batch"):
        result.measures()


def test_each_batch_of_a_stream_is_checked_by_every_rule(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    spark.sql(ROWS).coalesce(1).write.parquet(folder)
    schema = spark.read.parquet(folder).schema
    seen: list[tuple[int, int, int]] = []

    def act(result: Enforcement, number: int) -> None:
        measures = result.measures()
        seen.append((number, measures.rows, measures.valid))

    stream = spark.readStream.schema(schema).parquet(folder)
    query = stream.writeStream.foreachBatch(each_batch(_contract(), act)).trigger(availableNow=True).start()
    assert query.awaitTermination(60)

    assert seen == [(0, 5, 1)]


def test_severities_can_be_changed_except_where_the_schema_depends_on_them(spark: SparkSession) -> None:
    lenient = enforce(spark.sql(ROWS), _contract(), policy=Policy(severity={"enum": Severity.WARNING}))
    assert sorted(row["id"] for row in lenient.valid.collect()) == [3, 4]
    with pytest.raises(InvalidDocument, match="must be an error"):
        enforce(spark.sql(ROWS), _contract(), policy=Policy(severity={"required": Severity.WARNING}))
    with pytest.raises(InvalidDocument, match="cannot change the severity of 'enum:colour'"):
        enforce(spark.sql(ROWS), _contract(), policy=Policy(severity={"enum:colour": Severity.WARNING}))


def test_carried_columns_are_kept_and_not_checked(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql(ROWS).selectExpr("*", "concat('file-', id) AS _file")

    result = enforce(rows, _contract(content="closed"), carry=("_file",))
    split = write_split(result, str(tmp_path / "split"))

    assert [(row["id"], row["_file"]) for row in result.valid.collect()] == [(4, "file-4")]
    assert {row["_file"] for row in result.quarantined.collect()} == {"file-1", "file-2", "file-3"}
    assert split.valid.columns == ["id", "code", "n", "_file"]
    assert split.quarantined.columns == ["id", "code", "n", "_file", "_violations"]
    with pytest.raises(InvalidDocument, match="cannot carry 'code': the contract has a field of that name"):
        enforce(rows, _contract(), carry=("code",))


def test_scope_selects_row_rules_or_dataset_rules(spark: SparkSession) -> None:
    def violations(scope: Scope) -> dict[str, int]:
        results = enforce(spark.sql(ROWS), _contract(), policy=Policy(scope=scope)).measures().results
        return {result.rule.id: result.violating_rows for result in results if result.violating_rows}

    assert violations(Scope.ROWS) == {"enum:code": 1, "range:n": 1}
    assert violations(Scope.WHOLE) == {"unique:id": 2}
