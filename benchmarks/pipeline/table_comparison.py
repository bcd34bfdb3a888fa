"""Compares the final tables of both contenders: row counts and a digest of the contents, independent of order."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from benchmarks.pipeline import hand_written_job, treaty_run
from benchmarks.pipeline.session import catalog
from treaty.spark.session import spark_session
from treaty.spark.session_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NULLS_TOO = {"ignoreNullFields": "false"}


def main(treaty: str, hand: str) -> None:
    """Compare the warehouses of two workspaces, and print the rows of each table; a difference ends it."""
    other = catalog(Path(hand), hand_written_job.CATALOG)
    conf = {**other.conf(), "spark.sql.shuffle.partitions": "4", "spark.local.dir": str(Path(hand) / "local")}
    spark = spark_session(SparkOptions(memory="4g", catalog=catalog(Path(treaty), treaty_run.CATALOG), conf=conf))
    rows, wrong = {}, []
    for name in hand_written_job.FINAL:
        ours = spark.table(f"{treaty_run.CATALOG}.publications.{name}")
        theirs = spark.table(f"{hand_written_job.DATABASE}.{name}")
        schema = _nullable(ours.schema)
        found, expected = _digest(ours.to(schema)), _digest(theirs.to(schema))
        rows[name] = found[0]
        if found != expected:
            wrong.append(f"{name}: {found[0]:,} rows ({found[1]}) and {expected[0]:,} rows ({expected[1]}) by hand")
    spark.stop()
    feeds = _lines(Path(treaty) / "pipeline" / "feeds", "*.jsonl"), _lines(Path(hand) / "feed", "part-*.json")
    rows["the partners' feed"] = feeds[0]
    if feeds[0] != feeds[1]:
        wrong.append(f"the partners' feed: {feeds[0]:,} rows and {feeds[1]:,} by hand")
    if wrong:
        sys.exit("the two do not come to the same:\n  " + "\n  ".join(wrong))
    print(json.dumps(rows))


def _digest(table: DataFrame) -> tuple[int, str]:
    """Return the rows of a table, and the sum of their hashes; a row is hashed as JSON, for maps have no hash."""
    row = F.to_json(F.struct(*map(F.col, table.columns)), _NULLS_TOO)
    hashed = table.select(F.xxhash64(row).cast("decimal(38, 0)").alias("hash"))
    found = hashed.agg(F.count("*").alias("rows"), F.sum("hash").alias("sum")).collect()[0]
    return found["rows"], str(found["sum"])


def _nullable(schema: spark_types.StructType) -> spark_types.StructType:
    """Return a schema in which everything may be empty: a job without contracts promises nothing."""
    return spark_types.StructType([spark_types.StructField(one.name, _loose(one.dataType)) for one in schema])


def _loose(kind: spark_types.DataType) -> spark_types.DataType:
    if isinstance(kind, spark_types.StructType):
        return _nullable(kind)
    if isinstance(kind, spark_types.ArrayType):
        return spark_types.ArrayType(_loose(kind.elementType))
    if isinstance(kind, spark_types.MapType):
        return spark_types.MapType(_loose(kind.keyType), _loose(kind.valueType))
    return kind


def _lines(folder: Path, pattern: str) -> int:
    """Count the lines of data files; manifests and checksums lie beside them under other names."""
    count = 0
    for file in folder.rglob(pattern):
        with file.open("rb") as lines:
            count += sum(1 for _ in lines)
    return count


if __name__ == "__main__":
    main(*sys.argv[1:])
