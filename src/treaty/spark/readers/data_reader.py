"""Read a source as a DataFrame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark_types

from treaty.contracts.model import SchemaObject
from treaty.spark.readers.csv_reader import read_csv
from treaty.spark.readers.files import FileListing, list_files, partition_columns
from treaty.spark.readers.json_reader import read_json_lines
from treaty.spark.readers.read_errors import explain_errors
from treaty.spark.readers.sources import Database, DataFormat, Source, Table, parse_source, resolve_jdbc_url

_NONE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Data:
    """A frame, the format of its files if it has any, and whether its text columns stand for any type."""

    frame: DataFrame
    format: DataFormat | None = None
    untyped: bool = False

    @property
    def is_columnar(self) -> bool:
        """Whether reading some columns avoids reading the others."""
        return self.format in (DataFormat.PARQUET, DataFormat.ORC)


def read_data(
    spark: SparkSession,
    source: Source | str,
    *,
    declared: SchemaObject | None = None,
    data_format: DataFormat | str | None = None,
    table: str | None = None,
    options: Mapping[str, str] = _NONE,
) -> DataFrame:
    """Return the frame of a source. See `open_data`."""
    return open_data(spark, source, declared=declared, data_format=data_format, table=table, options=options).frame


def open_data(
    spark: SparkSession,
    source: Source | str,
    *,
    declared: SchemaObject | None = None,
    data_format: DataFormat | str | None = None,
    table: str | None = None,
    options: Mapping[str, str] = _NONE,
) -> Data:
    """Open files, a table or a database, including undeclared columns and malformed rows."""
    source = parse_source(source, data_format, table) if isinstance(source, str) else source
    with explain_errors(source):
        data = _open(spark, source, declared, options)
        data.frame.schema  # noqa: B018  (over Connect, this is where missing data is detected)
        return data


def _open(spark: SparkSession, source: Source, declared: SchemaObject | None, options: Mapping[str, str]) -> Data:
    if isinstance(source, Table):
        return Data(spark.table(source.name))
    if isinstance(source, Database):
        return Data(_from_database(spark, source, options))
    files = list_files(spark, source)
    form = files.kind.format
    untyped = form is DataFormat.CSV or (form is DataFormat.JSON_LINES and declared is not None)
    return Data(_READERS[form](spark, files, declared, options), form, untyped)


def _from_database(spark: SparkSession, source: Database, options: Mapping[str, str]) -> DataFrame:
    url = resolve_jdbc_url(source.url)
    return spark.read.format("jdbc").options(**options).option("url", url).option("dbtable", source.table).load()


def _read_typed(
    spark: SparkSession, files: FileListing, declared: SchemaObject | None, options: Mapping[str, str]
) -> DataFrame:
    """Read typed files with the columns of all of them."""
    several = {"mergeSchema": "true"} if files.count > 1 else {}
    reader = spark.read.format(files.kind.format).options(**{**several, **options})
    frame = reader.load(files.path)
    partitions = partition_columns(spark, files.path) if declared is not None else []
    if not partitions:
        return frame
    # partition folder names are text: 007 is not 7 unless the contract says so
    fields = [
        spark_types.StructField(column.name, spark_types.StringType() if column.name in partitions else column.dataType)
        for column in frame.schema
    ]
    return reader.schema(spark_types.StructType(fields)).load(files.path)


_READERS: Mapping[
    DataFormat,
    Callable[[SparkSession, FileListing, SchemaObject | None, Mapping[str, str]], DataFrame],
] = {
    DataFormat.PARQUET: _read_typed,
    DataFormat.ORC: _read_typed,
    DataFormat.AVRO: _read_typed,
    DataFormat.CSV: read_csv,
    DataFormat.JSON_LINES: read_json_lines,
}
