"""Staging on a branch: readers see a run completely or not at all."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.pipeline.tables.orders import COLUMNS, made, orders, stamp, states
from treaty.errors import Conflict, NotFound
from treaty.pipeline.tables import NewStamp, Stamp, Tables


def test_readers_see_a_run_only_after_it_is_published(any_spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = made(any_spark, request)

    assert tables.stamp("products.orders") is None
    first = tables.stage("products.orders", 10)
    assert first.base is None
    first.append(orders(any_spark, 10, ("a", 1, "new"), ("b", None, "new"), ("c", None, "new")), stamp(10))
    assert states(tables.read("products.orders")) == {}
    assert len(states(first.read())) == 3
    published = first.publish()
    assert (published.run, published.reflects, published.contract) == (10, {"events.order_placed": 9}, "orders 1.2.0")
    assert (published.digest, published.rows, published.extra) == ("d10", {"written": 3}, {"highest": "7"})
    assert tables.stamp("products.orders") == published
    assert published.committed_at.tzinfo is not None

    second = tables.stage("products.orders", 20)
    assert second.base == published
    keys = orders(any_spark, 0, ("b", None, ""), ("z", 1, "")).select("order_id", "part")
    second.delete_keys(keys, ["order_id", "part"])
    second.append(orders(any_spark, 20, ("b", None, "paid")), stamp(20))
    assert states(tables.read("products.orders")) == {("a", 1): "new", ("b", None): "new", ("c", None): "new"}
    newest = second.publish()
    assert states(tables.read("products.orders")) == {("a", 1): "new", ("b", None): "paid", ("c", None): "new"}
    assert states(tables.read("products.orders", published))[("b", None)] == "new"
    assert states(tables.changed_rows("products.orders", 10, newest)) == {("b", None): "paid"}
    assert tables.stamps("products.orders") == (newest, published)


def test_empty_run_is_stamped_and_all_rows_can_be_deleted(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = made(spark, request)
    _publish(tables, orders(spark, 1, ("a", 1, "new")), stamp(1))

    empty = tables.stage("products.orders", 2)
    empty.append(orders(spark, 2, ("x", 1, "")).where("false"), stamp(2))
    assert empty.publish().run == 2
    assert states(tables.read("products.orders")) == {("a", 1): "new"}

    rebuilt = tables.stage("products.orders", 3)
    rebuilt.delete_all()
    rebuilt.append(orders(spark, 3, ("b", 1, "new")), stamp(3))
    rebuilt.publish()
    assert states(tables.read("products.orders")) == {("b", 1): "new"}
    assert [one.run for one in tables.stamps("products.orders")] == [3, 2, 1]


def test_the_rows_of_a_run_are_counted_also_over_spark_connect(
    any_spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    tables = made(any_spark, request)
    rows, parts = F.count(F.lit(1)).alias("rows"), F.sum("part").alias("parts")
    first = tables.stage("products.orders", 1)
    first.also_count = (parts,)
    first.append(orders(any_spark, 1, ("a", 1, "new"), ("b", 2, "new")), stamp(1), [rows])
    assert dict(first.totals) == {"rows": 2, "parts": 3}
    first.publish()

    second = tables.stage("products.orders", 2)
    second.supersede(orders(any_spark, 2, ("b", 2, "paid")), ["order_id", "part"], stamp(2), [rows])
    assert dict(second.totals) == {"rows": 1}
    second.publish()
    assert states(tables.read("products.orders")) == {("a", 1): "new", ("b", 2): "paid"}

    empty = tables.stage("products.orders", 3)
    empty.append(orders(any_spark, 3, ("x", 1, "")).where("false"), stamp(3), [rows, parts])
    assert dict(empty.totals) == {"rows": 0, "parts": None}


def test_rows_with_a_few_values_are_deleted_whatever_the_values_contain(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    tables = made(spark, request)
    hostile = ["it's", "a\\b", "${spark.app.name}", "x') OR true --"]
    rows = spark.createDataFrame([(key, None, "new", 1) for key in [*hostile, "kept"]], COLUMNS)
    _publish(tables, rows, stamp(1))

    second = tables.stage("products.orders", 2)
    second.delete_values("order_id", hostile)
    second.append(orders(spark, 2, ("more", 7, "new")), stamp(2))
    second.publish()
    assert states(tables.read("products.orders")) == {("kept", None): "new", ("more", 7): "new"}

    third = tables.stage("products.orders", 3)
    third.delete_values("part", [7])
    third.append(orders(spark, 3, ("last", 8, "new")), stamp(3))
    stored = third.count_stored()
    third.publish()
    assert states(tables.read("products.orders")) == {("kept", None): "new", ("last", 8): "new"}
    assert stored == third.file_stats.rows > 0


def test_publishing_conflicts_if_main_has_moved(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = made(spark, request)
    slow = tables.stage("products.orders", 1)
    slow.append(orders(spark, 1, ("a", 1, "slow")), stamp(1))
    tables.append("products.orders", orders(spark, 2, ("a", 1, "quick")), stamp(2))

    with pytest.raises(Conflict, match=r"another process changed .* nothing was published; run again"):
        slow.publish()
    assert states(tables.read("products.orders")) == {("a", 1): "quick"}


def test_branches_of_interrupted_runs_are_dropped_and_the_last_failed_one_is_kept(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    tables = made(spark, request)
    _publish(tables, orders(spark, 1, ("a", 1, "new")), stamp(1))
    for run in (2, 3):
        failed = tables.stage("products.orders", run)
        failed.append(orders(spark, run, ("bad", run, "bad")), stamp(run))
        assert failed.abandon() == f"failed_{run}"
    dead = tables.stage("products.orders", 4)
    dead.append(orders(spark, 4, ("dead", 1, "dead")), stamp(4))
    tables.stage("products.orders", 5)

    name = tables.namespace.full_name("products.orders")
    assert {row["name"] for row in spark.table(f"{name}.refs").collect()} == {"main", "failed_3", "run_5"}
    assert states(spark.table(f"{name}.branch_failed_3")) == {("a", 1): "new", ("bad", 3): "bad"}
    assert states(tables.read("products.orders")) == {("a", 1): "new"}
    assert [one.run for one in tables.stamps("products.orders")] == [1]
    with pytest.raises(Conflict, match="run again"):
        dead.publish()
    with pytest.raises(Conflict, match="another process changed"):
        dead.append(orders(spark, 4, ("dead", 2, "dead")), stamp(4))


def test_branch_without_a_stamp_is_not_published(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = made(spark, request)
    _publish(tables, orders(spark, 1, ("a", 1, "new")), stamp(1))
    staged = tables.stage("products.orders", 2)
    with pytest.raises(Conflict, match="does not accept rows of run 9"):
        staged.append(orders(spark, 9, ("a", 1, "new")), stamp(9))
    staged.delete_all()
    with pytest.raises(Conflict, match=r"run 2 has no complete branch in products\.orders"):
        staged.publish()
    assert states(tables.read("products.orders")) == {("a", 1): "new"}


def test_table_that_another_process_wrote_to_is_refused(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = made(spark, request)
    published = _publish(tables, orders(spark, 1, ("a", 1, "new")), stamp(1))
    name = tables.namespace.full_name("products.orders")
    spark.sql(f"TRUNCATE TABLE {name}")

    with pytest.raises(Conflict, match=f"undo that with: CALL lake.system.rollback_to_snapshot.*{published.snapshot}"):
        tables.stage("products.orders", 2)
    inside = tables.namespace.name_in_catalog("products.orders")
    spark.sql(f"CALL lake.system.rollback_to_snapshot('{inside}', {published.snapshot})")
    assert tables.stage("products.orders", 2).base == published


def test_run_appends_its_rows_only_once(any_spark: SparkSession, request: pytest.FixtureRequest) -> None:
    tables = made(any_spark, request)
    rows = orders(any_spark, 7, ("a", 1, "new"), ("b", 1, "new"))
    first = tables.append("products.orders", rows, stamp(7))
    again = tables.append("products.orders", rows, stamp(7))
    assert first == again
    assert tables.read("products.orders").count() == 2
    assert len(tables.stamps("products.orders")) == 1


def test_compaction_rewrites_files_and_keeps_rows_and_stamps(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    tables = made(spark, request)
    for run in range(1, 4):
        staged = tables.stage("products.orders", run)
        staged.delete_keys(orders(spark, run, ("a", 1, "")).select("order_id", "part"), ["order_id", "part"])
        staged.append(orders(spark, run, ("a", 1, f"state {run}"), (f"k{run}", 1, "kept")), stamp(run))
        staged.publish()
    before = tables.stamps("products.orders")
    rows = sorted(tables.read("products.orders").collect())
    assert tables.file_stats("products.orders").delete_files > 0

    tables.compact("products.orders")

    after = tables.stamp("products.orders")
    assert tables.file_stats("products.orders").delete_files == 0
    assert after is not None
    assert (after.run, after.rows) == (3, before[0].rows)
    assert after.snapshot != before[0].snapshot
    assert sorted(tables.read("products.orders", after).collect()) == rows
    assert sorted(tables.changed_rows("products.orders", 2, after).collect()) == [
        row for row in rows if row["_run"] == 3
    ]
    assert tables.stamps("products.orders")[1:] == before[1:]
    assert _publish(tables, orders(spark, 9, ("new", 1, "new")), stamp(9)).run == 9


def test_missing_table_is_reported(spark: SparkSession) -> None:
    tables = Tables(spark, "lake.nobody")
    assert tables.stamp("products.orders") is None
    assert tables.list_tables("products") == ()
    for ask in (tables.read, lambda table: tables.stage(table, 1)):
        with pytest.raises(NotFound, match=r"there is no table products\.orders"):
            ask("products.orders")


def _publish(tables: Tables, rows: DataFrame, new: NewStamp) -> Stamp:
    staged = tables.stage("products.orders", new.run)
    staged.append(rows, new)
    return staged.publish()
