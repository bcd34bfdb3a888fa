"""The cost of a parallel run against a bare full outer join of both sides on the key."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.enforce.process_usage import cpu_seconds
from treaty.legacy.feeds import ColumnRule, Comparison, LegacyFeed, LegacyTable, Tolerance
from treaty.pipeline.parallel.comparison_run import compare
from treaty.spark.session import spark_session
from treaty.spark.session_options import SparkOptions

ROWS = 5_000_000
ROUNDS = 3
LIMIT = 2.0
AS_OF = date(2026, 3, 10)
_DEFECT_ONE_IN = 1_000
FEED = LegacyFeed(
    name="legacy_revenue",
    origin=LegacyTable("legacy_revenue"),
    key=("order_no",),
    period="booked_on",
    owner="Finance Systems",
    comparison=Comparison(
        publication="finance_recognized_sale",
        columns=(
            ColumnRule("order_no", "order_id"),
            ColumnRule("booked_on", "business_day"),
            ColumnRule("country", "country_code"),
            ColumnRule("state", "status", codes={"S": "RECOGNIZED", "R": "REFUNDED"}),
            ColumnRule("net", "net_amount", Tolerance(absolute=0.01)),
            ColumnRule("buyer", "customer"),
        ),
        identity=("buyer", "net", "booked_on"),
        late_days=2,
        money=("net",),
        patterns=("state",),
        totals=("country", "booked_on"),
    ),
)


@dataclass(frozen=True)
class Round:
    """What one run of a contender took."""

    seconds: float
    cpu: float
    """Processor seconds of Python and Spark: other work on the machine does not change them much."""


@dataclass(frozen=True)
class Measured:
    """The rounds of one contender."""

    name: str
    rounds: tuple[Round, ...]

    @property
    def seconds(self) -> float:
        """The time of the shortest round."""
        return min(each.seconds for each in self.rounds)

    @property
    def cpu(self) -> float:
        """The processor time of the cheapest round."""
        return min(each.cpu for each in self.rounds)


def run(rows: int = ROWS) -> str:
    """Measure both and return the table as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(SparkOptions(memory="3g"))
        try:
            legacy, new = _sides(spark, Path(folder), rows)
            contenders: tuple[tuple[str, Callable[[], None]], ...] = (
                ("full outer join on the key", lambda: _join(legacy, new)),
                ("parallel run", lambda: _compare(legacy, new)),
            )
            for _, action in contenders:  # what is loaded and compiled once
                action()
            taken: dict[str, list[Round]] = {name: [] for name, _ in contenders}
            for _ in range(ROUNDS):
                for name, action in contenders:
                    taken[name].append(_timed(action))
        finally:
            spark.stop()
    return _table([Measured(name, tuple(rounds)) for name, rounds in taken.items()], rows)


def _timed(action: Callable[[], None]) -> Round:
    cpu, start = cpu_seconds(os.getpid()), perf_counter()
    action()
    return Round(perf_counter() - start, cpu_seconds(os.getpid()) - cpu)


def _sides(spark: SparkSession, folder: Path, rows: int) -> tuple[DataFrame, DataFrame]:
    """Write both sides as Parquet; one order in a thousand has a defect of each of four kinds."""
    number = F.col("id")
    day = F.date_add(F.lit(date(2026, 3, 1)), (number % 10).cast("int"))
    lot = F.pmod(F.xxhash64(number), F.lit(_DEFECT_ONE_IN))
    orders = spark.range(rows).select(
        F.concat(F.lit("ORD-"), F.lpad(number.cast("string"), 12, "0")).alias("key"),
        day.alias("day"),
        F.element_at(F.array(*map(F.lit, ("DE", "FR", "PL", "IT"))), (number % 4 + 1).cast("int")).alias("country"),
        F.when(number % 9 == 0, "R").otherwise("S").alias("state"),
        (F.pmod(F.xxhash64(number, F.lit(1)), F.lit(100_000)) / 100).cast("decimal(12,2)").alias("net"),
        F.concat(F.lit("CUST-"), F.pmod(F.xxhash64(number, F.lit(2)), F.lit(rows // 3 + 1)).cast("string")).alias(
            "buyer"
        ),
        lot.alias("lot"),
    )
    legacy = orders.where("lot <> 0").select(
        F.col("key").alias("order_no"),
        F.col("day").alias("booked_on"),
        "country",
        "state",
        F.when(F.col("lot") == 1, F.col("net") + 1).otherwise(F.col("net")).cast("decimal(12,2)").alias("net"),
        "buyer",
    )
    status = F.when(F.col("lot") == 2, "CANCELLED").when(F.col("state") == "R", "REFUNDED").otherwise("RECOGNIZED")
    new = orders.where("lot <> 3").select(
        F.col("key").alias("order_id"),
        F.col("day").alias("business_day"),
        F.col("country").alias("country_code"),
        status.alias("status"),
        F.col("net").alias("net_amount"),
        F.col("buyer").alias("customer"),
    )
    places = []
    for name, frame in (("legacy", legacy), ("new", new)):
        place = str(folder / name)
        frame.repartition(8, F.xxhash64(frame.columns[0], F.lit(7))).write.parquet(place)
        places.append(spark.read.parquet(place))
    return places[0], places[1]


def _join(legacy: DataFrame, new: DataFrame) -> None:
    joined = legacy.join(new, legacy["order_no"] == new["order_id"], "full_outer")
    joined.write.format("noop").mode("overwrite").save()


def _compare(legacy: DataFrame, new: DataFrame) -> None:
    result = compare(legacy, new, FEED, None, AS_OF)
    if not result.findings:
        raise AssertionError("the defects of the data were not found")


def _table(measured: Sequence[Measured], rows: int) -> str:
    floor = measured[0]
    lines = [
        f"Two sides of {rows:,} rows each in Parquet, six columns; best of {ROUNDS} rounds in turn. "
        f"The limit is {LIMIT:.0f} × the join.",
        "",
        "| | seconds | ratio | processor seconds | ratio |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {one.name} | {one.seconds:.1f} | {one.seconds / floor.seconds:.2f} "
        f"| {one.cpu:.1f} | {one.cpu / floor.cpu:.2f} |"
        for one in measured
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="the rows of each side")
    print(run(parser.parse_args().rows))
