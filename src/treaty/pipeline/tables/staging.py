"""A run's rows on a branch of their table: nobody sees them before they are published whole."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.ddl import quoted
from treaty.pipeline.tables.layout import RUN, Place, Wear, wear_of
from treaty.pipeline.tables.snapshots import History, NewStamp, Stamp, history_of
from treaty.pipeline.tables.spark_errors import told_of
from treaty.spark.columns import quoted_col

_RUN = "run_"
_FAILED = "failed_"


class Staged:
    """A branch that is being written; it starts where `base` was published."""

    def __init__(self, spark: SparkSession, place: Place, table: str, run: int, base: Stamp | None) -> None:
        self.table = table
        self.run = run
        self.base = base
        self.wear = Wear()
        """How worn the table is, once the branch is published."""
        self._spark = spark
        self._place = place
        self._name = place.full(table)
        self._branch = f"{_RUN}{run}"
        self._rows = f"{self._name}.branch_{self._branch}"

    def delete_all(self) -> None:
        """Take all rows out."""
        with told_of(self.table):
            self._spark.sql(f"DELETE FROM {self._rows} WHERE true").collect()  # noqa: S608

    def delete_keys(self, keys: DataFrame, on: Sequence[str]) -> None:
        """Take out the rows of some keys; a key may be null in parts."""
        view = f"treaty_keys_{uuid.uuid4().hex}"
        same = " AND ".join(f"kept.{quoted(name)} <=> gone.{quoted(name)}" for name in on)
        with told_of(self.table):
            keys.select(*map(quoted, on)).createOrReplaceTempView(view)
            try:
                self._spark.sql(
                    f"DELETE FROM {self._rows} AS kept WHERE EXISTS (SELECT 1 FROM {view} AS gone WHERE {same})"  # noqa: S608
                ).collect()
            finally:
                self._spark.catalog.dropTempView(view)

    def append(self, rows: DataFrame, stamp: NewStamp) -> None:
        """Add rows, and say of the branch what they are; an empty frame says it too."""
        if stamp.run != self.run:
            raise Conflict(f"the branch of run {self.run} of {self.table} takes no rows of run {stamp.run}")
        with told_of(self.table):
            append_rows(rows, self._spark.table(self._name).schema, self._rows, self.table, stamp)

    def supersede(self, rows: DataFrame, on: Sequence[str], stamp: NewStamp) -> None:
        """Add rows of this run in place of older ones with their keys; the rows are worked out once."""
        same = " AND ".join(f"kept.{quoted(name)} <=> new.{quoted(name)}" for name in on)
        with told_of(self.table):
            columns = self._spark.table(self._name).schema
            append_rows(rows, columns, self._rows, self.table, None)
            self._spark.sql(
                f"DELETE FROM {self._rows} AS kept WHERE kept.{RUN} <> {self.run} AND EXISTS "  # noqa: S608
                f"(SELECT 1 FROM {self._rows} AS new WHERE new.{RUN} = {self.run} AND {same})"
            ).collect()
        self.append(self._spark.createDataFrame([], columns), stamp)

    def read(self) -> DataFrame:
        """Return the rows as they would be published."""
        with told_of(self.table):
            return self._spark.table(self._rows)

    def publish(self) -> Stamp:
        """Let readers see the branch: main goes to where it is, unless main moved."""
        with told_of(self.table):
            history = history_of(self._spark, self._name)
            staged = history.branches.get(self._branch)
            stamp = None if staged is None else next(history.stamps(staged), None)
            if staged is None or stamp is None or stamp.run != self.run or stamp.snapshot != staged:
                raise Conflict(
                    f"run {self.run} has no finished branch in {self.table}, so nothing was published; run again"
                )
            self._spark.sql(
                f"CALL {self._place.catalog}.system.fast_forward"
                f"('{self._place.inside(self.table)}', 'main', '{self._branch}')"
            ).collect()
            self._drop(self._branch)
            self.wear = wear_of(history.snapshots[staged].summary)
            return stamp

    def abandon(self) -> str:
        """Keep the branch for inspection, in place of what was kept before, and return its name."""
        kept = f"{_FAILED}{self.run}"
        with told_of(self.table):
            branches = history_of(self._spark, self._name).branches
            if self._branch not in branches:
                raise Conflict(f"run {self.run} has no branch in {self.table} any more; nothing was published")
            self._spark.sql(
                f"ALTER TABLE {self._name} CREATE OR REPLACE BRANCH {kept} AS OF VERSION {branches[self._branch]}"
            )
            for name in branches:
                if name == self._branch or (name.startswith(_FAILED) and name != kept):
                    self._drop(name)
        return kept

    def _drop(self, branch: str) -> None:
        self._spark.sql(f"ALTER TABLE {self._name} DROP BRANCH IF EXISTS {branch}")


def open_branch(spark: SparkSession, name: str, history: History, run: int) -> None:
    """Make the branch of a run from main, and drop those of runs that died."""
    for branch in history.branches:
        if branch.startswith(_RUN):
            spark.sql(f"ALTER TABLE {name} DROP BRANCH IF EXISTS {branch}")
    spark.sql(f"ALTER TABLE {name} CREATE BRANCH {_RUN}{run}")


def append_rows(rows: DataFrame, columns: spark.StructType, to: str, table: str, stamp: NewStamp | None) -> None:
    """Append rows in one commit that carries the stamp, if there is one yet; columns that they lack are null."""
    writer = laid_out(rows, columns, table).writeTo(to)
    for key, value in (stamp.properties() if stamp else {}).items():
        writer = writer.option(f"snapshot-property.{key}", value)
    writer.append()


def laid_out(rows: DataFrame, columns: spark.StructType, table: str) -> DataFrame:
    """Return the rows with the columns of their table, in its order."""
    given = set(rows.columns)
    unknown = given - set(columns.names)
    if unknown:
        raise InvalidDocument(f"{table} has no column {', '.join(sorted(unknown))}; it has: {', '.join(columns.names)}")
    missing = [item.name for item in columns if item.name not in given and not item.nullable]
    if missing:
        raise InvalidDocument(f"rows for {table} lack {', '.join(missing)}, which must have a value")
    return rows.select(*(_column(item, given) for item in columns))


def _column(item: spark.StructField, given: set[str]) -> Column:
    return quoted_col(item.name) if item.name in given else F.lit(None).cast(item.dataType).alias(item.name)
