"""What a good engineer writes by hand: one aggregate for all counts, one group-by for the key, reasons as an array."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from benchmarks.enforce.rules import ROW_RULES
from benchmarks.enforce.task import Answer, Work


def check(work: Work) -> Answer:
    """Count every row rule in one pass, and repeated keys in another."""
    counts = [F.count_if(F.expr(broken)).alias(rule) for rule, broken in ROW_RULES.items()]
    found = (
        work.orders.agg(F.count("*").alias("row_count:row_count"), F.max("ordered_at"), *counts).collect()[0].asDict()
    )
    repeated = work.orders.where("order_id is not null").groupBy("order_id").count().where("count > 1")
    rows, values = repeated.agg(F.sum("count"), F.count("*")).collect()[0]
    return {**_counts(found), "unique:order_id": rows or 0, "unique:order_id, values": values}


def split(work: Work) -> Answer:
    """Write valid rows and bad rows with an array of reasons, then count the reasons."""
    judged = work.orders.withColumn("reasons", F.array_compact(F.array(*_reasons())))
    judged.where("size(reasons) = 0").drop("reasons").write.parquet(str(work.folder / "valid"))
    judged.where("size(reasons) > 0").write.parquet(str(work.folder / "quarantined"))
    written = work.spark.read.parquet(str(work.folder / "quarantined"))
    found = {row["reason"]: row["count"] for row in _by_reason(written).collect()}
    newest = work.orders.agg(F.count("*").alias("row_count:row_count"), F.max("ordered_at")).collect()[0].asDict()
    return {**_counts(newest), **dict.fromkeys(ROW_RULES, 0), **found}


def copy(work: Work) -> Answer:
    """Write all rows as they are."""
    work.orders.write.parquet(str(work.folder))
    return {}


def _reasons() -> list[Column]:
    shared = F.count("order_id").over(Window.partitionBy("order_id")) > 1
    broken = [(rule, F.expr(condition)) for rule, condition in ROW_RULES.items()]
    return [F.when(condition, F.lit(rule)) for rule, condition in [*broken, ("unique:order_id", shared)]]


def _by_reason(quarantined: DataFrame) -> DataFrame:
    return quarantined.select(F.explode("reasons").alias("reason")).groupBy("reason").count()


def _counts(found: dict[str, int]) -> dict[str, int]:
    return {rule: count for rule, count in found.items() if isinstance(count, int)}


CASES = {"check": check, "split": split, "copy": copy}
