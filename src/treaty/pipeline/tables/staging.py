"""Staging: the rows of a run on a branch of their table, invisible to readers until they are published."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.ddl import quoted
from treaty.pipeline.tables.layout import RUN, FileStats, TableNamespace, file_stats_of
from treaty.pipeline.tables.snapshots import History, NewStamp, Stamp, history_of
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.spark.columns import quoted_col

_RUN_BRANCH = "run_"
_FAILED_BRANCH = "failed_"


class Staged:
    """The branch of a run. It starts at the published snapshot with the stamp `base`."""

    def __init__(
        self, spark: SparkSession, namespace: TableNamespace, table: str, run: int, base: Stamp | None
    ) -> None:
        self.table = table
        self.run = run
        self.base = base
        self.file_stats = FileStats()
        """File statistics of the table, known once the branch is published."""
        self._spark = spark
        self._namespace = namespace
        self._name = namespace.full_name(table)
        self._branch = f"{_RUN_BRANCH}{run}"
        self._rows = f"{self._name}.branch_{self._branch}"

    def delete_all(self) -> None:
        """Delete all rows."""
        with translate_errors(self.table):
            self._spark.sql(f"DELETE FROM {self._rows} WHERE true").collect()  # noqa: S608

    def delete_keys(self, keys: DataFrame, on: Sequence[str]) -> None:
        """Delete the rows of some keys; parts of a key may be null."""
        view = f"treaty_keys_{uuid.uuid4().hex}"
        same = " AND ".join(f"old.{quoted(name)} <=> deleted.{quoted(name)}" for name in on)
        with translate_errors(self.table):
            keys.select(*map(quoted, on)).createOrReplaceTempView(view)
            try:
                self._spark.sql(
                    f"DELETE FROM {self._rows} AS old WHERE EXISTS (SELECT 1 FROM {view} AS deleted WHERE {same})"  # noqa: S608
                ).collect()
            finally:
                self._spark.catalog.dropTempView(view)

    def append(self, rows: DataFrame, stamp: NewStamp) -> None:
        """Append rows and stamp the branch; an empty frame stamps it too."""
        if stamp.run != self.run:
            raise Conflict(f"the branch of run {self.run} in {self.table} does not accept rows of run {stamp.run}")
        with translate_errors(self.table):
            append_rows(rows, self._spark.table(self._name).schema, self._rows, self.table, stamp)

    def supersede(self, rows: DataFrame, on: Sequence[str], stamp: NewStamp) -> None:
        """Append rows, then delete older rows with the same keys; the new rows are computed once."""
        same = " AND ".join(f"old.{quoted(name)} <=> new.{quoted(name)}" for name in on)
        with translate_errors(self.table):
            columns = self._spark.table(self._name).schema
            append_rows(rows, columns, self._rows, self.table, None)
            self._spark.sql(
                f"DELETE FROM {self._rows} AS old WHERE old.{RUN} <> {self.run} AND EXISTS "  # noqa: S608
                f"(SELECT 1 FROM {self._rows} AS new WHERE new.{RUN} = {self.run} AND {same})"
            ).collect()
        self.append(self._spark.createDataFrame([], columns), stamp)

    def read(self) -> DataFrame:
        """Return all rows of the table as they would be published."""
        with translate_errors(self.table):
            return self._spark.table(self._rows)

    def publish(self) -> Stamp:
        """Fast-forward `main` to the branch, so that readers see it; this fails if `main` has moved."""
        with translate_errors(self.table):
            history = history_of(self._spark, self._name)
            staged = history.branches.get(self._branch)
            stamp = None if staged is None else next(history.stamps(staged), None)
            if staged is None or stamp is None or stamp.run != self.run or stamp.snapshot != staged:
                raise Conflict(
                    f"run {self.run} has no complete branch in {self.table}, so nothing was published; run again"
                )
            self._spark.sql(
                f"CALL {self._namespace.catalog}.system.fast_forward"
                f"('{self._namespace.name_in_catalog(self.table)}', 'main', '{self._branch}')"
            ).collect()
            self._drop(self._branch)
            self.file_stats = file_stats_of(history.snapshots[staged].summary)
            return stamp

    def abandon(self) -> str:
        """Keep the branch for inspection under another name, which is returned; older failed branches are dropped."""
        failed_branch = f"{_FAILED_BRANCH}{self.run}"
        with translate_errors(self.table):
            branches = history_of(self._spark, self._name).branches
            if self._branch not in branches:
                raise Conflict(f"the branch of run {self.run} in {self.table} no longer exists; nothing was published")
            self._spark.sql(
                f"ALTER TABLE {self._name} CREATE OR REPLACE BRANCH {failed_branch} "
                f"AS OF VERSION {branches[self._branch]}"
            )
            for name in branches:
                if name == self._branch or (name.startswith(_FAILED_BRANCH) and name != failed_branch):
                    self._drop(name)
        return failed_branch

    def _drop(self, branch: str) -> None:
        self._spark.sql(f"ALTER TABLE {self._name} DROP BRANCH IF EXISTS {branch}")


def open_branch(spark: SparkSession, name: str, history: History, run: int) -> None:
    """Create the branch of a run from `main`, and drop branches of runs that were interrupted."""
    for branch in history.branches:
        if branch.startswith(_RUN_BRANCH):
            spark.sql(f"ALTER TABLE {name} DROP BRANCH IF EXISTS {branch}")
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH {_RUN_BRANCH}{run}")


def append_rows(rows: DataFrame, columns: spark.StructType, to: str, table: str, stamp: NewStamp | None) -> None:
    """Append rows in one commit with the stamp, if there is one; columns that the rows lack are null."""
    writer = with_table_columns(rows, columns, table).writeTo(to)
    for key, value in (stamp.properties() if stamp else {}).items():
        writer = writer.option(f"snapshot-property.{key}", value)
    writer.append()


def with_table_columns(rows: DataFrame, columns: spark.StructType, table: str) -> DataFrame:
    """Return the rows with the columns of their table, in the order of the table."""
    available = set(rows.columns)
    unknown = available - set(columns.names)
    if unknown:
        raise InvalidDocument(f"{table} has no column {', '.join(sorted(unknown))}; it has: {', '.join(columns.names)}")
    missing = [column.name for column in columns if column.name not in available and not column.nullable]
    if missing:
        raise InvalidDocument(f"rows for {table} lack the required columns {', '.join(missing)}")
    return rows.select(*(_column(column, available) for column in columns))


def _column(column: spark.StructField, available: set[str]) -> Column:
    return quoted_col(column.name) if column.name in available else F.lit(None).cast(column.dataType).alias(column.name)
