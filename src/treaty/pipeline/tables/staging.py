"""Staging: the rows of a run on a branch of their table, invisible to readers until they are published."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.ddl import literal, quoted
from treaty.pipeline.tables.layout import RUN, FileStats, file_stats_of
from treaty.pipeline.tables.snapshots import MAIN, History, NewStamp, Stamp
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.table_catalog import Commit, Requirement, TableCatalog, TableState
from treaty.spark.columns import quoted_col

_RUN_BRANCH = "run_"
_FAILED_BRANCH = "failed_"


class Staged:
    """The branch of a run. It starts at the published snapshot with the stamp `base`."""

    def __init__(
        self,
        spark: SparkSession,
        catalog: TableCatalog,
        table: str,
        run: int,
        state: TableState,
        check: Callable[[], None],
    ) -> None:
        self.table = table
        self.run = run
        self.base = state.stamp
        self.file_stats = FileStats()
        """File statistics of the table, known once the branch is published."""
        self._spark = spark
        self._catalog = catalog
        self._name = catalog.namespace.full_name(table)
        self._branch = f"{_RUN_BRANCH}{run}"
        self._rows = f"{self._name}.branch_{self._branch}"
        self._head = state.history.head
        self.columns = state.columns
        """The columns of the table."""
        self.also_count: Sequence[Column] = ()
        """Further totals to count while the rows of the run are written."""
        self.add_counted_columns: Callable[[DataFrame], DataFrame] = _unchanged
        """Adds the columns that only totals read; they are not written."""
        self._check = check
        self.totals: Mapping[str, Any] = {}
        """What was counted of the rows of the run, by the names of the totals."""

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

    def delete_values(self, column: str, values: Sequence[str | int]) -> None:
        """Delete the rows with one of a few values in a column; files without them are not read."""
        listed = ", ".join(str(value) if isinstance(value, int) else literal(value) for value in values)
        with translate_errors(self.table):
            self._spark.sql(f"DELETE FROM {self._rows} WHERE {quoted(column)} IN ({listed})").collect()  # noqa: S608

    def append(self, rows: DataFrame, stamp: NewStamp, totals: Sequence[Column] = ()) -> None:
        """Append rows, count the `totals` meanwhile, and stamp the branch; an empty frame stamps it too."""
        if stamp.run != self.run:
            raise Conflict(f"the branch of run {self.run} in {self.table} does not accept rows of run {stamp.run}")
        with translate_errors(self.table):
            self._append_and_count(rows, totals, stamp)

    def supersede(self, rows: DataFrame, on: Sequence[str], stamp: NewStamp, totals: Sequence[Column] = ()) -> None:
        """Append rows, then delete older rows with the same keys; the new rows are computed once."""
        same = " AND ".join(f"old.{quoted(name)} <=> new.{quoted(name)}" for name in on)
        with translate_errors(self.table):
            self._append_and_count(rows, totals, None)
            self._spark.sql(
                f"DELETE FROM {self._rows} AS old WHERE old.{RUN} <> {self.run} AND EXISTS "  # noqa: S608
                f"(SELECT 1 FROM {self._rows} AS new WHERE new.{RUN} = {self.run} AND {same})"
            ).collect()
        self.append(self._spark.createDataFrame([], self.columns), stamp)

    def _append_and_count(self, rows: DataFrame, totals: Sequence[Column], stamp: NewStamp | None) -> None:
        """Append rows and count the totals meanwhile; over Spark Connect, which does not return them, afterwards."""
        counted = (*totals, *self.also_count)
        if not counted or self.totals:  # a second commit only stamps the branch
            append_rows(rows, self.columns, self._rows, self.table, stamp)
            return
        observation = Observation()
        observed = self.add_counted_columns(rows).observe(observation, *counted)
        append_rows(observed.select(*map(quoted_col, rows.columns)), self.columns, self._rows, self.table, stamp)
        self.totals = observation.get or self._count_written(counted)

    def _count_written(self, totals: Sequence[Column]) -> Mapping[str, Any]:
        """Count the totals in the rows of the newest commit."""
        state = self._catalog.load(self.table)
        head = state.history.branches.get(self._branch) if state else None
        if state is None or head is None:
            raise Conflict(f"the branch of run {self.run} in {self.table} no longer exists; nothing was published")
        parent = state.history.snapshots[head].parent
        reader = self._spark.read
        if parent is None:
            reader = reader.option("snapshot-id", str(head))
        else:
            reader = reader.option("start-snapshot-id", str(parent)).option("end-snapshot-id", str(head))
        (row,) = self.add_counted_columns(reader.table(self._name)).agg(*totals).collect()
        return cast("Mapping[str, Any]", row.asDict(recursive=True))

    def read(self) -> DataFrame:
        """Return all rows of the table as they would be published."""
        with translate_errors(self.table):
            return self._spark.table(self._rows)

    def count_stored(self) -> int:
        """Return the number of rows in the files of the branch, deleted ones included, from its metadata."""
        state = self._catalog.load(self.table)
        head = state.history.branches.get(self._branch) if state else None
        return file_stats_of(state.history.snapshots[head].summary).rows if state and head is not None else 0

    def publish(self) -> Stamp:
        """Move `main` to the branch and drop the branch, in one commit; this fails if `main` has moved."""
        state = self._catalog.load(self.table)
        history = state.history if state else History({}, {})
        staged = history.branches.get(self._branch)
        stamp = None if staged is None else next(history.stamps(staged), None)
        if staged is None or stamp is None or stamp.run != self.run or stamp.snapshot != staged:
            raise Conflict(
                f"run {self.run} has no complete branch in {self.table}, so nothing was published; run again"
            )
        self._check()
        is_unmoved = Requirement(MAIN, self._head), Requirement(self._branch, staged)
        self._catalog.commit(self.table, Commit(is_unmoved, branches={MAIN: staged}, drop=(self._branch,)))
        self.file_stats = file_stats_of(history.snapshots[staged].summary)
        return stamp

    def abandon(self) -> str:
        """Keep the branch for inspection under another name, which is returned; older failed branches are dropped."""
        failed_branch = f"{_FAILED_BRANCH}{self.run}"
        state = self._catalog.load(self.table)
        branches = state.history.branches if state else {}
        if self._branch not in branches:
            raise Conflict(f"the branch of run {self.run} in {self.table} no longer exists; nothing was published")
        older = [name for name in branches if name.startswith(_FAILED_BRANCH) and name != failed_branch]
        self._catalog.commit(
            self.table,
            Commit(branches={failed_branch: branches[self._branch]}, drop=(self._branch, *older)),
        )
        return failed_branch


def _unchanged(rows: DataFrame) -> DataFrame:
    return rows


def open_branch(spark: SparkSession, catalog: TableCatalog, table: str, run: int, history: History) -> None:
    """Create the branch of a run from `main`, and drop branches of runs that were interrupted."""
    branch, old = f"{_RUN_BRANCH}{run}", tuple(name for name in history.branches if name.startswith(_RUN_BRANCH))
    if history.head is not None:
        unmoved = (Requirement(MAIN, history.head),)
        catalog.commit(table, Commit(unmoved, branches={branch: history.head}, drop=tuple(set(old) - {branch})))
        return
    if old:
        catalog.commit(table, Commit(drop=old))
    with translate_errors(table):  # a table without rows has no snapshot to start from; Spark creates an empty one
        spark.sql(f"ALTER TABLE {catalog.namespace.full_name(table)} CREATE BRANCH {branch}")


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
