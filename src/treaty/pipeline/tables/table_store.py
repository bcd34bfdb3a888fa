"""The tables of a project: made, evolved, read at a stamp, appended to, staged and compacted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.errors import Conflict, NotFound
from treaty.pipeline.tables.ddl import creation, description, evolution
from treaty.pipeline.tables.layout import OUTCOME, RUN, STANDING, Place, Wear, layout, wear_of
from treaty.pipeline.tables.snapshots import History, NewStamp, Stamp, history_of
from treaty.pipeline.tables.spark_errors import told_of
from treaty.pipeline.tables.staging import Staged, append_rows, open_branch


class Tables:
    """The tables in a catalog, or in a namespace of it; a table is named like products.orders."""

    def __init__(self, spark: SparkSession, catalog: str) -> None:
        self.spark = spark
        self.place = Place(catalog)

    def exists(self, table: str) -> bool:
        """Tell whether there is such a table."""
        with told_of(table):
            return self.spark.catalog.tableExists(self.place.full(table))

    def listed(self, layer: str) -> tuple[str, ...]:
        """Return the tables of a layer."""
        namespace = self.place.namespace(layer)
        with told_of(layer):
            if not self.spark.catalog.databaseExists(namespace):
                return ()
            found = self.spark.sql(f"SHOW TABLES IN {namespace}").collect()
        return tuple(sorted(f"{layer}.{row['tableName']}" for row in found))

    def make_room(self, layers: Iterable[str]) -> None:
        """Make the namespaces of layers, before several steps would do so at the same time."""
        for layer in layers:
            with told_of(layer):
                self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self.place.namespace(layer)}")

    def stamp(self, table: str) -> Stamp | None:
        """Return the stamp of what readers see now."""
        history = self._history(table)
        return next(history.stamps(), None) if history else None

    def stamps(self, table: str) -> tuple[Stamp, ...]:
        """Return the stamps of all that was published, newest first."""
        history = self._history(table)
        return tuple(history.stamps()) if history else ()

    def ensure(
        self, table: str, columns: StructType, properties: Mapping[str, str], partition: Sequence[str] = ()
    ) -> None:
        """Make a table, or let it have the columns and properties that are wanted; what cannot be done is refused."""
        name = self.place.full(table)
        wanted = {**layout(columns.names, partition), **properties}
        with told_of(table):
            if not self.exists(table):
                self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name.rpartition('.')[0]}")
                statements = list(creation(name, columns, wanted, partition))
            else:
                have = {row["key"]: row["value"] for row in self.spark.sql(f"SHOW TBLPROPERTIES {name}").collect()}
                there = self.spark.table(name).schema
                statements = [*evolution(name, there, columns), *description(name, have, wanted)]
            for statement in statements:
                self.spark.sql(statement)

    def read(self, table: str, at: Stamp | None = None) -> DataFrame:
        """Return the rows that were published with a stamp, or those that readers see now; pinned either way."""
        history = None if at else self._history(table)
        if history is None and at is None:
            raise NotFound(f"there is no table {table}; `treaty run` makes it")
        snapshot = at.snapshot if at else history and history.head
        with told_of(table):
            reader = self.spark.read if snapshot is None else self.spark.read.option("snapshot-id", str(snapshot))
            return reader.table(self.place.full(table))

    def standing(self, table: str, at: Stamp | None = None) -> DataFrame:
        """Return the rows that the next step sees."""
        rows = self.read(table, at)
        with told_of(table):
            return rows.where(F.col(OUTCOME).isin(*STANDING)) if OUTCOME in rows.columns else rows

    def changed(self, table: str, since: int, at: Stamp) -> DataFrame:
        """Return the rows of any outcome that were written after a run, as of a stamp."""
        return self.read(table, at).where(F.col(RUN) > since)

    def append(self, table: str, rows: DataFrame, stamp: NewStamp) -> Stamp:
        """Append rows in one commit that readers see at once; what a run appended already is left as it is."""
        history = self._own(table)
        already = next((one for one in history.stamps() if one.run == stamp.run), None)
        if already is not None:
            return already
        name = self.place.full(table)
        with told_of(table):
            append_rows(rows, self.spark.table(name).schema, name, table, stamp)
            written = next((one for one in history_of(self.spark, name).stamps() if one.run == stamp.run), None)
        if written is None:
            raise Conflict(f"what run {stamp.run} wrote to {table} was taken back by somebody else; run again")
        return written

    def stage(self, table: str, run: int) -> Staged:
        """Open a branch for a run; branches of runs that died are dropped."""
        history = self._own(table)
        with told_of(table):
            open_branch(self.spark, self.place.full(table), history, run)
        return Staged(self.spark, self.place, table, run, next(history.stamps(), None))

    def wear(self, table: str) -> Wear:
        """Return how worn a table's files are."""
        history = self._history(table)
        newest = next(history.ancestors(history.head), None) if history else None
        return wear_of(newest.summary) if newest else Wear()

    def compact(self, table: str) -> None:
        """Rewrite small files and those with many deletes; rows, stamps and older states stay as they are."""
        name = self.place.inside(table)
        system = f"{self.place.catalog}.system"
        with told_of(table):
            self.spark.sql(
                f"CALL {system}.rewrite_data_files(table => '{name}', options => map('delete-file-threshold', '1'))"
            ).collect()
            self.spark.sql(
                f"CALL {system}.rewrite_position_delete_files(table => '{name}', options => map('rewrite-all', 'true'))"
            ).collect()

    def _history(self, table: str) -> History | None:
        try:
            with told_of(table):
                return history_of(self.spark, self.place.full(table))
        except NotFound:
            return None

    def _own(self, table: str) -> History:
        """Return the history of a table that is about to be written, unless somebody else wrote to it last."""
        history = self._history(table)
        if history is None:
            raise NotFound(f"there is no table {table} to write to")
        foreign = history.foreign()
        if foreign is not None:
            last = next(history.stamps(), None)
            back = (
                f"CALL {self.place.catalog}.system.rollback_to_snapshot('{self.place.inside(table)}', {last.snapshot})"
                if last
                else f"DROP TABLE {self.place.full(table)}"
            )
            raise Conflict(
                f"{table} was written to by somebody else (snapshot {foreign.id}, {foreign.operation}), so it is no "
                f"longer what its inputs say; take that back with {back}"
            )
        return history
