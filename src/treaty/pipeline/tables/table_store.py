"""The tables of a project: create, evolve, read at a stamp, append, stage and compact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.errors import Conflict, NotFound
from treaty.pipeline.tables.ddl import create_statements, evolve_statements, property_statements
from treaty.pipeline.tables.layout import (
    CURRENT_OUTCOMES,
    OUTCOME,
    RUN,
    FileStats,
    TableNamespace,
    file_stats_of,
    layout,
)
from treaty.pipeline.tables.snapshots import History, NewStamp, Stamp, history_of
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.staging import Staged, append_rows, open_branch


class Tables:
    """The tables in a catalog, or in a namespace of it. Tables are named like `products.orders`."""

    def __init__(self, spark: SparkSession, catalog: str) -> None:
        self.spark = spark
        self.namespace = TableNamespace(catalog)

    def exists(self, table: str) -> bool:
        """Tell whether a table exists."""
        with translate_errors(table):
            return self.spark.catalog.tableExists(self.namespace.full_name(table))

    def list_tables(self, layer: str) -> tuple[str, ...]:
        """Return the tables of a layer."""
        namespace = self.namespace.layer_namespace(layer)
        with translate_errors(layer):
            if not self.spark.catalog.databaseExists(namespace):
                return ()
            rows = self.spark.sql(f"SHOW TABLES IN {namespace}").collect()
        return tuple(sorted(f"{layer}.{row['tableName']}" for row in rows))

    def create_namespaces(self, layers: Iterable[str]) -> None:
        """Create the namespaces of layers up front, since steps that run in parallel would race to create them."""
        for layer in layers:
            with translate_errors(layer):
                self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.namespace.layer_namespace(layer)}")

    def stamp(self, table: str) -> Stamp | None:
        """Return the stamp of the published snapshot."""
        history = self._history(table)
        return next(history.stamps(), None) if history else None

    def stamps(self, table: str) -> tuple[Stamp, ...]:
        """Return the stamps of all published snapshots, newest first."""
        history = self._history(table)
        return tuple(history.stamps()) if history else ()

    def ensure(
        self, table: str, columns: StructType, properties: Mapping[str, str], partition: Sequence[str] = ()
    ) -> None:
        """Create a table, or evolve it to the wanted columns and properties; impossible changes raise `Conflict`."""
        name = self.namespace.full_name(table)
        wanted = {**layout(columns.names, partition), **properties}
        with translate_errors(table):
            if not self.exists(table):
                self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name.rpartition('.')[0]}")
                statements = list(create_statements(name, columns, wanted, partition))
            else:
                properties_now = {
                    row["key"]: row["value"] for row in self.spark.sql(f"SHOW TBLPROPERTIES {name}").collect()
                }
                current = self.spark.table(name).schema
                statements = [
                    *evolve_statements(name, current, columns),
                    *property_statements(name, properties_now, wanted),
                ]
            for statement in statements:
                self.spark.sql(statement)

    def read(self, table: str, at: Stamp | None = None) -> DataFrame:
        """Return the rows of the snapshot with a stamp, by default of the published one; pinned either way."""
        history = None if at else self._history(table)
        if history is None and at is None:
            raise NotFound(f"there is no table {table}; create it with: treaty run")
        snapshot = at.snapshot if at else history and history.head
        with translate_errors(table):
            reader = self.spark.read if snapshot is None else self.spark.read.option("snapshot-id", str(snapshot))
            return reader.table(self.namespace.full_name(table))

    def current_rows(self, table: str, at: Stamp | None = None) -> DataFrame:
        """Return the rows that later steps read: those that are accepted, valid or resolved."""
        rows = self.read(table, at)
        with translate_errors(table):
            return rows.where(F.col(OUTCOME).isin(*CURRENT_OUTCOMES)) if OUTCOME in rows.columns else rows

    def changed_rows(self, table: str, since: int, at: Stamp) -> DataFrame:
        """Return the rows with any outcome that were written after a run, as of a stamp."""
        return self.read(table, at).where(F.col(RUN) > since)

    def append(self, table: str, rows: DataFrame, stamp: NewStamp) -> Stamp:
        """Append rows in one commit that readers see immediately; a run that has appended already appends nothing."""
        history = self._writable_history(table)
        already = next((earlier for earlier in history.stamps() if earlier.run == stamp.run), None)
        if already is not None:
            return already
        name = self.namespace.full_name(table)
        with translate_errors(table):
            append_rows(rows, self.spark.table(name).schema, name, table, stamp)
            stamps = history_of(self.spark, name).stamps()
            written = next((later for later in stamps if later.run == stamp.run), None)
        if written is None:
            raise Conflict(f"another process rolled back what run {stamp.run} wrote to {table}; run again")
        return written

    def stage(self, table: str, run: int) -> Staged:
        """Open a branch for a run; branches of interrupted runs are dropped."""
        history = self._writable_history(table)
        with translate_errors(table):
            open_branch(self.spark, self.namespace.full_name(table), history, run)
        return Staged(self.spark, self.namespace, table, run, next(history.stamps(), None))

    def file_stats(self, table: str) -> FileStats:
        """Return the file statistics of a table."""
        history = self._history(table)
        newest = next(history.ancestors(history.head), None) if history else None
        return file_stats_of(newest.summary) if newest else FileStats()

    def compact(self, table: str) -> None:
        """Rewrite small files and files with many deletes; rows, stamps and older snapshots stay the same."""
        name = self.namespace.name_in_catalog(table)
        system = f"{self.namespace.catalog}.system"
        with translate_errors(table):
            self.spark.sql(
                f"CALL {system}.rewrite_data_files(table => '{name}', options => map('delete-file-threshold', '1'))"
            ).collect()
            self.spark.sql(
                f"CALL {system}.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', 'true'))"
            ).collect()

    def _history(self, table: str) -> History | None:
        try:
            with translate_errors(table):
                return history_of(self.spark, self.namespace.full_name(table))
        except NotFound:
            return None

    def _writable_history(self, table: str) -> History:
        """Return the history of a table that is about to be written; refuse it if its head is not a run of ours."""
        history = self._history(table)
        if history is None:
            raise NotFound(f"there is no table {table} to write to")
        foreign = history.unstamped_head()
        if foreign is not None:
            last = next(history.stamps(), None)
            undo = f"DROP TABLE {self.namespace.full_name(table)}"
            if last:
                name = self.namespace.name_in_catalog(table)
                undo = f"CALL {self.namespace.catalog}.system.rollback_to_snapshot('{name}', {last.snapshot})"
            raise Conflict(
                f"another process wrote to {table} (snapshot {foreign.id}, {foreign.operation}), so it no longer "
                f"matches its inputs; undo that with: {undo}"
            )
        return history
