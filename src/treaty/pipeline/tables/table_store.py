"""The tables of a project: create, evolve, read at a stamp, append, stage and compact."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from math import inf
from types import EllipsisType

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.errors import Conflict, NotFound
from treaty.pipeline.tables.ddl import create_statements, evolve_statements, order_statements, property_statements
from treaty.pipeline.tables.layout import (
    CURRENT_OUTCOMES,
    OUTCOME,
    RUN,
    SORTED_BY,
    FileStats,
    TableNamespace,
    file_stats_of,
    layout,
)
from treaty.pipeline.tables.snapshots import NewStamp, Stamp, parse_stamp
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.staging import Staged, append_rows, open_branch
from treaty.pipeline.tables.table_catalog import TableCatalog, TableState, describe_foreign_write


class Tables:
    """The tables in a catalog, or in a namespace of it. Tables are named like `products.orders`."""

    def __init__(self, spark: SparkSession, place: str, catalog: TableCatalog | None = None) -> None:
        self.spark = spark
        self.namespace = TableNamespace(place)
        self.catalog = catalog or TableCatalog.from_session(spark, place)
        """The metadata of the tables."""
        self.foreign_writes: dict[str, str] = {}
        """By table that was read: what another process wrote to it, and how to undo that."""
        self.check_publication = _check_nothing
        """Raises an error if nothing may be published any more."""

    def guarded_by(self, check: Callable[[], None]) -> Tables:
        """Return the same tables, with a check before each publication that raises an error to prevent it."""
        guarded = copy(self)
        guarded.check_publication = check
        return guarded

    def exists(self, table: str) -> bool:
        """Tell whether a table exists."""
        return self.catalog.exists(table)

    def list_tables(self, layer: str) -> tuple[str, ...]:
        """Return the tables of a layer."""
        return self.catalog.list_tables(layer)

    def create_namespaces(self, layers: Iterable[str]) -> None:
        """Create the namespaces of layers up front, since steps that run in parallel would race to create them."""
        for layer in layers:
            self.catalog.create_namespace(layer)

    def stamp(self, table: str) -> Stamp | None:
        """Return the stamp of the published snapshot."""
        state = self._load(table)
        return state.stamp if state else None

    def stamps(self, table: str) -> tuple[Stamp, ...]:
        """Return the stamps of all published snapshots, newest first."""
        state = self._load(table)
        return tuple(state.history.stamps()) if state else ()

    def ensure(
        self, table: str, columns: StructType, properties: Mapping[str, str], partition: Sequence[str] = ()
    ) -> None:
        """Create a table, or evolve it to the wanted columns and properties; impossible changes raise `Conflict`."""
        name = self.namespace.full_name(table)
        wanted = {**layout(columns.names, partition), **properties}
        state = self.catalog.load(table)
        if state is None:
            self.catalog.create_namespace(table.partition(".")[0])
            statements = [*create_statements(name, columns, wanted, partition), *order_statements(name, {}, wanted)]
        else:
            statements = [
                *evolve_statements(name, state.columns, columns),
                *order_statements(name, state.properties, wanted),  # changes a property that the next one sets
                *property_statements(name, state.properties, wanted),
            ]
        with translate_errors(table):
            for statement in statements:
                self.spark.sql(statement)

    def read(self, table: str, at: Stamp | None = None) -> DataFrame:
        """Return the rows of the snapshot with a stamp, by default of the published one; pinned either way.

        Rows that another process has written since are left out, and noted in `foreign_writes`.
        """
        snapshot = at.snapshot if at else self._published_snapshot(table)
        with translate_errors(table):
            reader = self.spark.read if snapshot is None else self.spark.read.option("snapshot-id", str(snapshot))
            return reader.table(self.namespace.full_name(table))

    def _published_snapshot(self, table: str) -> int | None:
        state = self._load(table)
        if state is None:
            raise NotFound(f"there is no table {table}; create it with: treaty run")
        return state.stamp.snapshot if state.stamp else state.history.head

    def current_rows(self, table: str, at: Stamp | None = None) -> DataFrame:
        """Return the rows that later steps read: those that are accepted, valid or resolved."""
        rows = self.read(table, at)
        with translate_errors(table):
            return rows.where(F.col(OUTCOME).isin(*CURRENT_OUTCOMES)) if OUTCOME in rows.columns else rows

    def changed_rows(self, table: str, since: int, at: Stamp) -> DataFrame:
        """Return the rows with any outcome that were written after a run, as of a stamp."""
        return self.read(table, at).where(F.col(RUN) > since)

    def rows_added_since(self, table: str, run: int) -> float:
        """Return the number of rows that were added after a run, from the summaries of snapshots.

        It is infinite if a snapshot in between has expired.
        """
        state = self._load(table)
        added = 0
        for snapshot in state.history.ancestors(state.history.head) if state else ():
            stamp = parse_stamp(snapshot.summary, snapshot.id, snapshot.committed_at)
            if stamp is not None and stamp.run <= run:
                return added
            added += int(snapshot.summary.get("added-records", "0"))
        return added if run < 0 else inf

    def append(self, table: str, rows: DataFrame, stamp: NewStamp) -> Stamp:
        """Append rows in one commit that readers see immediately; a run that has appended already appends nothing."""
        state = self._writable_state(table)
        already = next((earlier for earlier in state.history.stamps() if earlier.run == stamp.run), None)
        if already is not None:
            return already
        with translate_errors(table):
            append_rows(rows, state.columns, self.namespace.full_name(table), table, stamp)
        written = next((later for later in self.stamps(table) if later.run == stamp.run), None)
        if written is None:
            raise Conflict(f"another process rolled back what run {stamp.run} wrote to {table}; run again")
        return written

    def stage(self, table: str, run: int, expected: Stamp | EllipsisType | None = ...) -> Staged:
        """Open a branch for a run; branches of interrupted runs are dropped.

        `expected` is the stamp of the published state that the run has read; another one raises `Conflict`, and so
        does a table that a later run has written: its readers would miss rows with a lower run number.
        """
        state = self._writable_state(table)
        base = state.stamp
        is_unexpected = not isinstance(expected, EllipsisType) and _run(expected) != _run(base)
        if base is not None and (is_unexpected or base.run >= run):
            raise Conflict(
                f"run {base.run} has published {table} since run {run} started, so nothing was published; run again"
            )
        if is_unexpected:
            raise Conflict(f"another process emptied {table} since run {run} started; run again")
        open_branch(self.spark, self.catalog, table, run, state.history)
        return Staged(self.spark, self.catalog, table, run, state, self.check_publication)

    def restage(self, table: str) -> Staged:
        """Open a branch to write the published rows again under their own stamp, for example without some of them."""
        state = self._writable_state(table)
        if state.stamp is None:
            raise NotFound(f"no run has published {table} yet; start with: treaty run")
        open_branch(self.spark, self.catalog, table, state.stamp.run, state.history)
        return Staged(self.spark, self.catalog, table, state.stamp.run, state, self.check_publication)

    def file_stats(self, table: str) -> FileStats:
        """Return the file statistics of a table."""
        state = self.catalog.load(table)
        newest = next(state.history.ancestors(state.history.head), None) if state else None
        return file_stats_of(newest.summary) if newest else FileStats()

    def rewrite_manifests(self, table: str) -> None:
        """Write the manifests of a table again, so that they list only its current files."""
        call = f"CALL {self.namespace.catalog}.system.rewrite_manifests"
        with translate_errors(table):
            self.spark.sql(f"{call}(table => '{self.namespace.name_in_catalog(table)}')").collect()

    def compact(self, table: str) -> None:
        """Rewrite small files and files with many deletes; rows, stamps and older snapshots stay the same."""
        name = self.namespace.name_in_catalog(table)
        system = f"{self.namespace.catalog}.system"
        state = self.catalog.load(table)
        is_sorted = state is not None and SORTED_BY in state.properties
        strategy = "strategy => 'sort', " if is_sorted else ""
        with translate_errors(table):
            self.spark.sql(
                f"CALL {system}.rewrite_data_files(table => '{name}', {strategy}"
                "options => map('delete-file-threshold', '1'))"
            ).collect()
            self.spark.sql(
                f"CALL {system}.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', 'true'))"
            ).collect()

    def _load(self, table: str) -> TableState | None:
        state = self.catalog.load(table)
        foreign = describe_foreign_write(self.namespace, table, state.history) if state else None
        if foreign is None:
            self.foreign_writes.pop(table, None)
        else:
            self.foreign_writes[table] = foreign
        return state

    def _writable_state(self, table: str) -> TableState:
        """Return the metadata of a table that is about to be written; refuse it if its head is not a run of ours."""
        state = self._load(table)
        if state is None:
            raise NotFound(f"there is no table {table} to write to")
        if table in self.foreign_writes:
            raise Conflict(self.foreign_writes[table])
        return state


def _run(stamp: Stamp | None) -> int | None:
    return stamp.run if stamp else None


def _check_nothing() -> None:
    """Allow every publication."""
