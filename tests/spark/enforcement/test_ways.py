"""The same contract on every way in: batch and stream, classic and Connect, and what the plan says of the cost."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from treaty.contracts import Contract, contract_from
from treaty.contracts.findings import Severity
from treaty.errors import InvalidDocument
from treaty.spark import Enforcement, Policy, Scope, TextTyping, each_batch, enforce, schema_drift, write_split

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


def test_both_kinds_of_session_give_the_same(any_spark: SparkSession) -> None:
    result = enforce(any_spark.sql(ROWS), _contract())

    assert [row["id"] for row in result.valid.collect()] == [4]
    assert sorted(row["id"] for row in result.quarantined.collect()) == [1, 1, 2, 3]
    measures = result.measures()
    assert {item.rule.id: item.violating_rows for item in measures.results if item.violating_rows} == {
        "enum:code": 1,
        "range:n": 1,
        "unique:id": 2,
    }


def test_rows_are_judged_in_one_scan_without_python(spark: SparkSession, tmp_path: Path) -> None:
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


def test_rows_and_keys_are_counted_in_one_scan(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    spark.sql(ROWS).write.parquet(folder)
    result = enforce(spark.read.parquet(folder), _contract())

    assert _plan(result.judged_in_place()).count("FileScan") == 1
    assert result.measures().valid == 1


def test_a_stream_keeps_the_rules_on_rows_and_says_what_it_leaves(spark: SparkSession, tmp_path: Path) -> None:
    folder = str(tmp_path / "rows")
    spark.sql(ROWS).write.parquet(folder)
    schema = spark.read.parquet(folder).schema
    result = enforce(spark.readStream.schema(schema).parquet(folder), _contract())

    query = result.valid.writeStream.format("memory").queryName("valid_rows").trigger(availableNow=True).start()
    assert query.awaitTermination(60)

    assert sorted(row["id"] for row in spark.table("valid_rows").collect()) == [1, 1, 4]
    assert [item.what for item in result.unchecked] == ["unique:id"]
    with pytest.raises(InvalidDocument, match="each_batch"):
        result.measures()


def test_each_batch_of_a_stream_is_held_to_every_rule(spark: SparkSession, tmp_path: Path) -> None:
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


def test_drift_is_graded_like_a_change(spark: SparkSession) -> None:
    frame = spark.sql("SELECT CAST(1 AS SMALLINT) AS id, 1.5D AS n, 'x' AS extra")

    drift = schema_drift(frame, _contract())

    assert {(item.change.field, item.change.kind, item.severity) for item in drift.judged} == {
        ("code", "field_removed", Severity.ERROR),
        ("extra", "field_added", Severity.INFO),
        ("id", "field_type_changed", Severity.INFO),
        ("n", "field_type_changed", Severity.ERROR),
    }
    assert drift.worst is Severity.ERROR


def test_texts_of_untyped_files_are_no_drift(spark: SparkSession) -> None:
    frame = spark.sql("SELECT '1' AS id, 'a' AS code, '5' AS n")

    assert schema_drift(frame, _contract(), texts=TextTyping.UNTYPED).judged == ()


def test_rules_can_be_weighed_anew_but_for_those_the_schema_rests_on(spark: SparkSession) -> None:
    lenient = enforce(spark.sql(ROWS), _contract(), policy=Policy(severity={"enum": Severity.WARNING}))
    assert sorted(row["id"] for row in lenient.valid.collect()) == [3, 4]
    with pytest.raises(InvalidDocument, match="must be an error"):
        enforce(spark.sql(ROWS), _contract(), policy=Policy(severity={"required": Severity.WARNING}))
    with pytest.raises(InvalidDocument, match="cannot change the severity of 'enum:colour'"):
        enforce(spark.sql(ROWS), _contract(), policy=Policy(severity={"enum:colour": Severity.WARNING}))


def test_columns_of_the_platform_are_carried_along_and_not_judged(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql(ROWS).selectExpr("*", "concat('file-', id) AS _file")

    result = enforce(rows, _contract(content="closed"), carry=("_file",))
    split = write_split(result, str(tmp_path / "split"))

    assert [(row["id"], row["_file"]) for row in result.valid.collect()] == [(4, "file-4")]
    assert {row["_file"] for row in result.quarantined.collect()} == {"file-1", "file-2", "file-3"}
    assert split.valid.columns == ["id", "code", "n", "_file"]
    assert split.quarantined.columns == ["id", "code", "n", "_file", "_violations"]
    with pytest.raises(InvalidDocument, match="cannot carry 'code': the contract has a field of that name"):
        enforce(rows, _contract(), carry=("code",))


def test_rules_on_rows_and_rules_on_the_whole_can_be_asked_apart(spark: SparkSession) -> None:
    def broken(scope: Scope) -> dict[str, int]:
        results = enforce(spark.sql(ROWS), _contract(), policy=Policy(scope=scope)).measures().results
        return {item.rule.id: item.violating_rows for item in results if item.violating_rows}

    assert broken(Scope.ROWS) == {"enum:code": 1, "range:n": 1}
    assert broken(Scope.WHOLE) == {"unique:id": 2}
