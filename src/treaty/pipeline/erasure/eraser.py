"""Erasing a key: remove its rows from raw, rebuild what depends on them, and remove every older state.

Raw is the one exception to append-only tables. All tables downstream are rebuilt from the remaining rows, so that they
are equal to a replay. Nothing is removed from the history of raw before all other tables are clean: an erasure that was
interrupted is completed by repeating it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts import Contract
from treaty.contracts.versions import Line
from treaty.pipeline.erasure.delivered_files import delivered_files
from treaty.pipeline.erasure.erasure import ErasedTable, Erasure
from treaty.pipeline.erasure.key_columns import Key, KeyColumns, find_key_columns, resolve_key
from treaty.pipeline.erasure.matches import RAW_POINTER, contains_values, key_condition, raw_rows_with_key
from treaty.pipeline.plan import Plan, Step
from treaty.pipeline.project.declarations import Layer, Project, Source, exceptions_table, raw_table
from treaty.pipeline.run.runner import RunEnvironment, executable_plan, open_run, run_steps
from treaty.pipeline.run.step_context import Run
from treaty.pipeline.run.upkeep import is_view, tables_of_step
from treaty.pipeline.tables import NewStamp, Stamp, Tables
from treaty.pipeline.tables.history_limits import history_limit
from treaty.pipeline.tables.layout import file_stats_of
from treaty.pipeline.tables.snapshots import MAIN, REWRITTEN
from treaty.pipeline.tables.spark_errors import translate_errors
from treaty.pipeline.tables.table_catalog import Commit, TableState
from treaty.pipeline.tables.table_files import Removal, RemovedFiles, remove_snapshots

_PENDING = "treaty-erasure.pending"
"""The property of a raw table with the run of an erasure that is not complete."""
_COPY_ON_WRITE = {"write.delete.mode": "copy-on-write"}
"""Files with a deleted row are written again without it; the next run sets the mode back."""


@dataclass(frozen=True)
class ErasureRequest:
    """What to erase: a contract, and `VALUE` or `FIELD=VALUE` for each field of its key."""

    contract: str
    key: tuple[str, ...]
    dry_run: bool = False
    wait: float = 0.0


@dataclass(frozen=True)
class _Matches:
    """The rows with the key: pointers to raw rows by source, and current rows by table."""

    raw: Mapping[str, DataFrame]
    rows: Mapping[str, int]
    source_files: tuple[str, ...]


def erase_key(
    tables: Tables,
    project: Project,
    contracts: dict[Line, Contract],
    request: ErasureRequest,
    environment: RunEnvironment | None = None,
    now: datetime | None = None,
) -> Erasure:
    """Erase a key from every table of a project, or find out what would be erased."""
    now = now or datetime.now(UTC)
    plan = executable_plan(project, contracts)
    key = resolve_key(plan, contracts, request.contract, request.key)
    columns = find_key_columns(plan, key)
    erasure = Erasure(key.line.contract, str(key.line), tuple(key.values), now, is_dry_run=request.dry_run)
    with open_run(tables, project, contracts, plan.steps, environment or RunEnvironment(), now, request.wait) as run:
        matches = _find_matches(run, plan, key, columns)
        affected = _affected_steps(plan.steps, matches.raw)
        found = tuple(ErasedTable(table, rows) for table, rows in matches.rows.items())
        erasure = replace(
            erasure,
            tables=found if affected else (),
            source_files=matches.source_files,
            delivered=delivered_files(affected, columns, key.values, run.number),
        )
        if request.dry_run or not affected:
            return erasure
        return _erase(run, plan, key, columns, matches, affected, erasure)


def _erase(
    run: Run,
    plan: Plan,
    key: Key,
    columns: KeyColumns,
    matches: _Matches,
    affected: Sequence[Step],
    erasure: Erasure,
) -> Erasure:
    for source, pointers in matches.raw.items():
        _erase_raw_rows(run, raw_table(source), pointers)
    derived = [step for step in affected if step.layer is not Layer.RAW and not is_view(step)]
    problems = _rebuild(run, plan.steps, derived)
    names = [table for step in derived for table in tables_of_step(step) if run.tables.exists(table)]
    for step in derived:
        for table in tables_of_step(step):
            if table in names:
                _clean_table(run.tables, table, _condition(run.tables, table, step, key, columns))
    run.stamps.clear()
    problems += _rebuild(run, plan.steps, [step for step in affected if is_view(step)])
    if problems:
        return replace(erasure, problems=tuple(problems))
    raw = [raw_table(source) for source in matches.raw]
    removed = {table: _remove_history(run.tables, table, erasure.at) for table in (*reversed(names), *raw)}
    counts = {table.table: table.rows for table in erasure.tables}
    return replace(
        erasure,
        tables=tuple(
            ErasedTable(table, counts.get(table, 0), removed[table].snapshots, removed[table].files)
            for table in (*raw, *names)
        ),
    )


def _find_matches(run: Run, plan: Plan, key: Key, columns: KeyColumns) -> _Matches:
    raw: dict[str, DataFrame] = {}
    rows: dict[str, int] = {}
    files: list[str] = []
    for step in plan.steps:
        if step.name not in columns or is_view(step):
            continue
        if step.layer is Layer.RAW:
            pointers = _raw_matches(run.tables, step, key, columns)
            if pointers is None:
                continue
            count = pointers.count()
            if count or _is_pending(run.tables, step.table):
                raw[step.name], rows[step.table] = pointers, count
                files += [row["file"] for row in pointers.select("file").distinct().collect()]
            continue
        for table in tables_of_step(step):
            condition = _condition(run.tables, table, step, key, columns)
            if condition is not None:
                with translate_errors(table):
                    rows[table] = run.tables.read(table).where(condition).count()
    return _Matches(raw, rows, tuple(sorted(filter(None, files))))


def _raw_matches(tables: Tables, step: Step, key: Key, columns: KeyColumns) -> DataFrame | None:
    stamp = tables.stamp(step.table)
    if stamp is None or not isinstance(step.declared, Source):
        return None
    raw = tables.read(step.table, stamp)
    with translate_errors(step.table):
        found = raw_rows_with_key(raw, step.declared, step.contract, columns[step.name], key.values)
        return found.localCheckpoint()


def _condition(tables: Tables, table: str, step: Step, key: Key, columns: KeyColumns) -> Column | None:
    """Return the condition that a row of a table holds the key; None if the table has no such columns."""
    state = tables.catalog.load(table)
    own = columns.get(step.name)
    if state is None or state.history.head is None or own is None:
        return None
    available = {name.lower() for name in state.columns.names}
    inside = {
        field: [path for path in paths if path.partition(".")[0].lower() in available] for field, paths in own.items()
    }
    condition = key_condition(inside, key.values, state.columns) if all(inside.values()) else None
    if table == exceptions_table(step.name):
        # claims of exceptions that were resolved are only kept as text
        resolved = (F.col("state") == "resolved") & contains_values(F.col("claims"), key.values)
        condition = resolved if condition is None else condition | resolved
    return condition


def _is_pending(tables: Tables, table: str) -> bool:
    state = tables.catalog.load(table)
    return bool(state and state.properties.get(_PENDING))


def _affected_steps(steps: Sequence[Step], sources: Iterable[str]) -> list[Step]:
    """Return the raw steps of sources, and all steps that depend on them."""
    tables = {raw_table(source) for source in sources}
    affected: list[Step] = []
    for step in steps:
        if step.table in tables or tables & set(step.reads):
            affected.append(step)
            tables.add(step.table)
    return affected


def _erase_raw_rows(run: Run, table: str, pointers: DataFrame) -> None:
    tables = run.tables
    tables.catalog.commit(table, Commit(properties={_PENDING: str(run.number), **_COPY_ON_WRITE}))
    stamp = tables.stamp(table)
    if stamp is None or pointers.isEmpty():
        return
    branch = tables.restage(table)
    branch.delete_keys(pointers, list(RAW_POINTER))
    branch.append(tables.read(table, stamp).limit(0), _same_stamp(stamp))
    branch.publish()
    tables.rewrite_manifests(table)  # they still list the files that were replaced, with the bounds of their values
    run.stamps[table] = tables.stamp(table)


def _rebuild(run: Run, steps: Sequence[Step], chosen: Sequence[Step]) -> list[str]:
    """Rebuild steps in full from the remaining rows; return what could not be rebuilt."""
    if not chosen:
        return []
    summary = run_steps(run, steps, chosen, rebuilt=frozenset(step.table for step in chosen))
    return [
        f"{step.table} was not rebuilt ({step.outcome}): {'; '.join(step.reasons)}"
        for step in summary.steps
        if not step.outcome.is_good
    ]


def _clean_table(tables: Tables, table: str, condition: Column | None) -> None:
    """Write the current rows of a table again, without the key, unless its files have nothing else in them."""
    state = tables.catalog.load(table)
    stamp = state.stamp if state else None
    if state is None or stamp is None:
        return
    rows = tables.read(table, stamp)
    head = state.history.snapshots[stamp.snapshot]
    is_rewritten = stamp.snapshot == state.history.head and head.operation != REWRITTEN
    with translate_errors(table):
        is_clean = condition is None or rows.where(condition).isEmpty()
        if is_clean and is_rewritten and not file_stats_of(head.summary).delete_files:
            return
        kept = rows if condition is None else rows.where(~condition)
        branch = tables.restage(table)
        branch.delete_all()
        branch.append(kept, _same_stamp(stamp))
        branch.publish()


def _remove_history(tables: Tables, table: str, at: datetime) -> RemovedFiles:
    """Remove all snapshots but the published one, all other branches and tags, and all files that are not needed."""
    state = _with_stamped_head(tables, table)
    if state is None or state.history.head is None:
        return RemovedFiles()
    history, head = state.history, state.history.head
    others = tuple(name for name in (*history.branches, *history.tags) if name != MAIN)
    reason = f"older states were removed at {at:%Y-%m-%d %H:%M:%S} UTC, when a key was erased (treaty erase)"
    limit = history_limit(history.snapshots[head].committed_at, reason)
    expired = [snapshot for snapshot in history.snapshots if snapshot != head]
    after = datetime.now(UTC) + timedelta(days=1)
    return remove_snapshots(tables.catalog, table, Removal(expired, after, others, {**limit, _PENDING: ""}))


def _with_stamped_head(tables: Tables, table: str) -> TableState | None:
    """Return the state of a table; if its head has rewritten files, the stamp is moved to a new head first."""
    state = tables.catalog.load(table)
    stamp = state.stamp if state else None
    if state is None or stamp is None or next(state.history.ancestors(stamp.snapshot)).operation != REWRITTEN:
        return state
    branch = tables.restage(table)
    branch.append(tables.read(table, stamp).limit(0), _same_stamp(stamp))
    branch.publish()
    return tables.catalog.load(table)


def _same_stamp(stamp: Stamp) -> NewStamp:
    return NewStamp(stamp.run, stamp.reflects, stamp.contract, stamp.digest, stamp.rows, stamp.extra)
