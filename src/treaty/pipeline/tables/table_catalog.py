"""Metadata of tables without Spark: existence, columns, properties, stamps, branches, and conditional commits.

`TableCatalog` opens the catalog that Spark's settings name through PyIceberg. Loading a table takes some 10 ms, a
commit some 10 ms; the same through Spark takes ten times as long and a session.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import types as spark

from treaty.errors import Conflict, NotFound, TreatyError
from treaty.pipeline.tables.catalog_settings import catalog_properties
from treaty.pipeline.tables.layout import TableNamespace
from treaty.pipeline.tables.schema_conversion import spark_columns
from treaty.pipeline.tables.snapshots import History, Snapshot, Stamp
from treaty.pipeline.tables.spark_errors import error_for

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table
    from pyiceberg.table.update import TableRequirement, TableUpdate
    from pyspark.sql import SparkSession

    from treaty.spark.session_options import SparkOptions

MAX_COMMIT_ATTEMPTS = 10
"""How often a commit is tried again after an unrelated commit of another process came first."""
_RETRIES = "commit.retry.num-retries"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class TableState:
    """The metadata of a table as of one commit."""

    history: History
    columns: spark.StructType
    """The columns as Spark shows them, with their comments."""
    properties: Mapping[str, str]
    location: str
    metadata_file: str

    @property
    def stamp(self) -> Stamp | None:
        """The stamp of the published snapshot."""
        return next(self.history.stamps(), None)


@dataclass(frozen=True)
class Requirement:
    """A condition of a commit: the branch or tag `ref` is at `snapshot`; with None there must be no such ref."""

    ref: str
    snapshot: int | None


@dataclass(frozen=True)
class Commit:
    """One atomic commit to the metadata of a table, in the order branches, tags, dropped refs, properties."""

    requires: tuple[Requirement, ...] = ()
    branches: Mapping[str, int] | None = None
    """Snapshots to which branches are created or moved."""
    tags: Mapping[str, int] | None = None
    drop: tuple[str, ...] = ()
    """Branches and tags to drop."""
    properties: Mapping[str, str] | None = None
    expire: frozenset[int] = frozenset()
    """Snapshots to remove from the metadata; their files stay."""


class TableCatalog:
    """The metadata of the tables in a catalog, or in a namespace of it. Tables are named like `products.orders`.

    Every commit is conditional: it succeeds only if its requirements hold at the moment of the commit (compare and
    swap), on every kind of catalog. Unrelated commits in between are no conflict.
    """

    def __init__(self, namespace: TableNamespace, catalog: Callable[[], Catalog]) -> None:
        self.namespace = namespace
        self._open = catalog
        self.on_foreign_write: Callable[[str], None] = _ignore_foreign_write
        """Called with what another process wrote to a table whose published rows are read, and how to undo that."""

    @classmethod
    def from_options(cls, options: SparkOptions, place: str | None = None) -> TableCatalog:
        """Open the configured catalog without a Spark session; `place` is the catalog or a namespace in it."""
        configured = {**(options.catalog.conf() if options.catalog else {}), **options.conf}
        name = options.catalog.name if options.catalog else "treaty"
        return cls._from_conf(place or name, lambda: configured)

    @classmethod
    def from_session(cls, session: SparkSession, place: str) -> TableCatalog:
        """Open the catalog that a Spark session has under that name, also over Spark Connect."""
        return cls._from_conf(place, lambda: session.conf.getAll)

    @classmethod
    def _from_conf(cls, place: str, conf: Callable[[], Mapping[str, str]]) -> TableCatalog:
        namespace = TableNamespace(place)

        def connect() -> Catalog:
            properties = catalog_properties(namespace.catalog, conf())
            with translate_catalog_errors(namespace.catalog):
                return _open_catalog(namespace.catalog, tuple(sorted(properties.items())))

        return cls(namespace, connect)

    def load(self, table: str) -> TableState | None:
        """Return the metadata of a table; None if there is no such table."""
        loaded = self._load(table)
        return None if loaded is None else _state(loaded)

    def exists(self, table: str) -> bool:
        """Tell whether a table exists."""
        with translate_catalog_errors(table):
            return self._open().table_exists(self._identifier(table))

    def stamps(self, table: str) -> tuple[Stamp, ...]:
        """Return the stamps of all published snapshots, newest first; none if there is no table."""
        state = self.load(table)
        return tuple(state.history.stamps()) if state else ()

    def foreign_write(self, table: str) -> str | None:
        """Return what another process wrote to a table, and how to undo it; None if its newest snapshot is of a run."""
        state = self.load(table)
        return describe_foreign_write(self.namespace, table, state.history) if state else None

    def list_tables(self, layer: str) -> tuple[str, ...]:
        """Return the tables of a layer; none if there is no such layer."""
        from pyiceberg.exceptions import NoSuchNamespaceError

        inside = tuple(self.namespace.layer_namespace(layer).split(".")[1:])
        try:
            with translate_catalog_errors(layer):
                found = self._open().list_tables(inside)
        except NoSuchNamespaceError:
            return ()
        return tuple(sorted(f"{layer}.{identifier[-1]}" for identifier in found))

    def columns(self, table: str, snapshot: int | None = None) -> spark.StructType:
        """Return the columns of a snapshot, by default of the published one, as Spark shows them."""
        loaded = self.open_table(table)
        with translate_catalog_errors(table):
            return spark_columns(loaded.scan(snapshot_id=snapshot).projection())

    def read_rows(
        self,
        table: str,
        limit: int | None = None,
        columns: Sequence[str] = (),
        snapshot: int | None = None,
        where: Mapping[str, Collection[str]] | None = None,
    ) -> list[dict[str, Any]]:
        """Return rows of a table, without Spark; by default of the published snapshot and with all columns.

        `where` has the values that columns may have. Rows that another process has written since are left out.
        """
        found = self.read_arrow(table, limit, columns, snapshot, where)
        rows: list[dict[str, Any]] = found.to_pylist(maps_as_pydicts="strict")
        return rows

    def read_arrow(
        self,
        table: str,
        limit: int | None = None,
        columns: Sequence[str] = (),
        snapshot: int | None = None,
        where: Mapping[str, Collection[str]] | None = None,
    ) -> Any:
        """Return the same rows as an Arrow table."""
        from pyiceberg import expressions

        loaded = self.open_table(table)
        both, one_of = cast("Any", expressions.And), cast("Any", expressions.In)  # their types hide the arguments
        conditions = (one_of(name, set(values)) for name, values in (where or {}).items())
        condition = reduce(both, conditions, cast("Any", expressions.AlwaysTrue()))
        snapshot = self._published_snapshot(table, loaded) if snapshot is None else snapshot
        with translate_catalog_errors(table):
            return loaded.scan(condition, tuple(columns) or ("*",), snapshot_id=snapshot, limit=limit).to_arrow()

    def find_rows(self, table: str, where: str, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Return the rows of the published snapshot that meet a condition in SQL, without Spark."""
        loaded = self.open_table(table)
        snapshot = self._published_snapshot(table, loaded)
        with translate_catalog_errors(table):
            scan = loaded.scan(row_filter=where, selected_fields=tuple(columns), snapshot_id=snapshot)
            rows: list[dict[str, Any]] = scan.to_arrow().to_pylist(maps_as_pydicts="strict")
            return rows

    def _published_snapshot(self, table: str, loaded: Table) -> int | None:
        """Return the newest snapshot that a run has published; None if there is none. Report a foreign write."""
        history = _state(loaded).history
        if foreign := describe_foreign_write(self.namespace, table, history):
            self.on_foreign_write(foreign)
        return next((stamp.snapshot for stamp in history.stamps()), None)

    def newest_value(self, table: str, column: str) -> datetime | None:
        """Return the upper bound of a timestamp column in the published snapshot, from the metadata of its files.

        Rows that were deleted since their file was written still count.
        """
        loaded = self.open_table(table)
        with translate_catalog_errors(table):
            metrics = loaded.inspect.data_files().column("readable_metrics").to_pylist()
        bounds = [(row.get(column) or {}).get("upper_bound") for row in metrics]
        return max((bound for bound in bounds if isinstance(bound, datetime)), default=None)

    def create_namespace(self, layer: str) -> None:
        """Create the namespace of a layer unless it exists."""
        inside = tuple(self.namespace.layer_namespace(layer).split(".")[1:])
        with translate_catalog_errors(layer):
            catalog = self._open()
            for depth in range(1, len(inside) + 1):
                try:
                    catalog.create_namespace_if_not_exists(inside[:depth])
                except Exception:
                    if not catalog.namespace_exists(inside[:depth]):  # else another process created it
                        raise

    def create_table(self, table: str, columns: Sequence[str], properties: Mapping[str, str]) -> None:
        """Create a table of text columns with one snapshot without rows, unless the table exists.

        If another process creates the table at the same time, the table of that process is used.
        """
        import pyarrow  # type: ignore[import-untyped]
        from pyiceberg.exceptions import CommitFailedException, TableAlreadyExistsError

        self.create_namespace(table.partition(".")[0])
        identifier = self._identifier(table)
        schema = pyarrow.schema([(name, pyarrow.string()) for name in columns])
        with translate_catalog_errors(table):
            catalog = self._open()
            with suppress(TableAlreadyExistsError):
                catalog.create_table(identifier, schema, properties={**properties, _RETRIES: "0"})
            created = catalog.load_table(identifier)
            if created.current_snapshot() is None:
                with suppress(CommitFailedException):
                    created.append(schema.empty_table())

    def commit(self, table: str, commit: Commit) -> None:
        """Commit changes of refs and properties; raise `Conflict` if a requirement does not hold."""
        from pyiceberg.exceptions import CommitFailedException

        requirements, updates = _requirements(commit), _updates(commit)
        for _ in range(MAX_COMMIT_ATTEMPTS):
            loaded = self.open_table(table)
            for requirement in commit.requires:
                self._refuse_unmet(table, requirement, loaded)
            with translate_catalog_errors(table):
                try:
                    loaded.catalog.commit_table(loaded, requirements, updates)
                    return
                except CommitFailedException:
                    continue
        raise Conflict(f"{table} is being changed by many processes at the same time; try again")

    @staticmethod
    def _refuse_unmet(table: str, requirement: Requirement, loaded: Table) -> None:
        ref = loaded.metadata.refs.get(requirement.ref)
        if (ref.snapshot_id if ref else None) != requirement.snapshot:
            raise Conflict(
                f"another process changed {table} at the same time ({requirement.ref} has moved), and nothing was "
                "published; run again"
            )

    def open_published(self, table: str) -> tuple[Table, tuple[Stamp, ...]]:
        """Return a table of PyIceberg with the stamps of its published snapshots, newest first."""
        loaded = self.open_table(table)
        return loaded, tuple(_state(loaded).history.stamps())

    def open_table(self, table: str) -> Table:
        """Return a table of PyIceberg, for the modules of this package; raise `NotFound` if there is none."""
        loaded = self._load(table)
        if loaded is None:
            raise NotFound(f"there is no table {table}; create it with: treaty run")
        return loaded

    def _load(self, table: str) -> Table | None:
        from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError

        try:
            with translate_catalog_errors(table):
                return self._open().load_table(self._identifier(table))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None

    def _identifier(self, table: str) -> tuple[str, ...]:
        return tuple(self.namespace.name_in_catalog(table).split("."))


@lru_cache(maxsize=16)
def _open_catalog(name: str, properties: tuple[tuple[str, str], ...]) -> Catalog:
    """Open a catalog once per process: it has a pool of connections.

    If another process creates the catalog's own tables at the same time, the second attempt finds them.
    """
    from pyiceberg.catalog import load_catalog

    try:
        return load_catalog(name, **dict(properties))
    except Exception as error:
        if "already exists" not in str(error):
            raise
        return load_catalog(name, **dict(properties))


def _state(table: Table) -> TableState:
    metadata = table.metadata
    snapshots = {
        snapshot.snapshot_id: Snapshot(
            snapshot.snapshot_id,
            snapshot.parent_snapshot_id,
            snapshot.summary.operation.value if snapshot.summary else "",
            _EPOCH + timedelta(milliseconds=snapshot.timestamp_ms),
            snapshot.summary.additional_properties if snapshot.summary else {},
        )
        for snapshot in metadata.snapshots
    }
    refs = metadata.refs
    branches = {name: ref.snapshot_id for name, ref in refs.items() if ref.snapshot_ref_type == "branch"}
    tags = {name: ref.snapshot_id for name, ref in refs.items() if ref.snapshot_ref_type == "tag"}
    return TableState(
        History(snapshots, branches, tags),
        spark_columns(table.schema()),
        {**metadata.properties, "format-version": str(metadata.format_version)},
        metadata.location,
        table.metadata_location,
    )


def _requirements(commit: Commit) -> tuple[TableRequirement, ...]:
    from pyiceberg.table.update import AssertRefSnapshotId

    return tuple(
        AssertRefSnapshotId.model_validate({"ref": requirement.ref, "snapshot-id": requirement.snapshot})
        for requirement in commit.requires
    )


def _updates(commit: Commit) -> tuple[TableUpdate, ...]:
    from pyiceberg.table.refs import SnapshotRefType
    from pyiceberg.table.update import (
        RemoveSnapshotRefUpdate,
        RemoveSnapshotsUpdate,
        SetPropertiesUpdate,
        SetSnapshotRefUpdate,
    )

    moved = ((SnapshotRefType.BRANCH, commit.branches), (SnapshotRefType.TAG, commit.tags))
    refs = [
        SetSnapshotRefUpdate.model_validate({"ref-name": name, "type": kind, "snapshot-id": snapshot})
        for kind, snapshots in moved
        for name, snapshot in (snapshots or {}).items()
    ]
    dropped = [RemoveSnapshotRefUpdate.model_validate({"ref-name": name}) for name in commit.drop]
    properties = [SetPropertiesUpdate(updates=dict(commit.properties))] if commit.properties else []
    expired = [RemoveSnapshotsUpdate.model_validate({"snapshot-ids": sorted(commit.expire)})] if commit.expire else []
    return (*refs, *dropped, *properties, *expired)


_DATABASE_ERRORS = ("sqlalchemy", "sqlite3", "psycopg")
"""The packages whose errors mean that the catalog's database did not respond."""


@contextmanager
def translate_catalog_errors(table: str) -> Iterator[None]:
    """Translate errors of files and databases into errors of Treaty that name the table."""
    try:
        yield
    except TreatyError:
        raise
    except Exception as error:
        package = type(error).__module__.partition(".")[0]
        if package in _DATABASE_ERRORS:
            raise error_for(f"JdbcCatalog: {error}", table) from error
        if isinstance(error, FileNotFoundError):
            raise error_for(f"FileNotFoundException: {error}", table) from error
        if isinstance(error, OSError):
            raise error_for(str(error), table) from error
        raise


def _ignore_foreign_write(foreign: str) -> None:
    """Ignore what another process wrote."""


def describe_foreign_write(namespace: TableNamespace, table: str, history: History) -> str | None:
    """Return what another process wrote to a table and how to undo it; None if the newest snapshot is of a run."""
    foreign = history.unstamped_head()
    if foreign is None:
        return None
    last = next(history.stamps(), None)
    undo = f"DROP TABLE {namespace.full_name(table)}"
    if last:
        undo = (
            f"CALL {namespace.catalog}.system.rollback_to_snapshot"
            f"('{namespace.name_in_catalog(table)}', {last.snapshot})"
        )
    return (
        f"another process wrote to {table} (snapshot {foreign.id}, {foreign.operation}), so it no longer "
        f"matches its inputs; undo that with: {undo}"
    )
