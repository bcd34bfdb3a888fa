"""What changed for a step: the inputs with new rows, the keys they affect, and replacing the rows of these keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.pipeline.layers.keys import (
    DELETED,
    changed_keys,
    content_digest,
    rows_of_keys,
    rows_with_values,
    with_deleted_keys,
)
from treaty.pipeline.plan.reasons import REBUILT
from treaty.pipeline.plan.steps import Mode
from treaty.pipeline.run.step_context import StepContext
from treaty.pipeline.tables import OUTCOME, RUN, NewStamp, Staged, Stamp
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.uniqueness import has_complete_key

BROADCAST_KEY_LIMIT = 100_000
"""Up to this many keys are broadcast; more keys are joined by shuffling."""
COLLECTED_KEY_LIMIT = 10_000
"""If at most this many rows are new, their keys are collected on the driver."""
LITERAL_KEY_LIMIT = 500
"""Up to this many keys are written into queries as literals, so that files without them are not read."""
GATHERED_ROW_LIMIT = 200_000
"""A table with at most this many rows is read by one task if few of its rows are needed."""


@dataclass(frozen=True)
class Changes:
    """The inputs of a step, pinned to their published stamps, compared with what its table already reflects."""

    published: Stamp | None
    """The stamp of the step's own table; None if it was never built."""
    inputs: Mapping[str, Stamp]
    is_full: bool
    """Whether all rows are recomputed."""
    reason: str

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.reason

    @property
    def mode(self) -> str:
        """How the step is computed, for the summary of the run."""
        return "full" if self.is_full else "incremental"

    def reflected_run(self, table: str) -> int:
        """Return the last run of an input that the step's table reflects; -1 if all rows of the input are new."""
        return -1 if self.published is None or self.is_full else self.published.reflects.get(table, -1)

    @property
    def reflects(self) -> dict[str, int]:
        """The runs of the inputs that the table reflects once the step is published."""
        return {table: stamp.run for table, stamp in self.inputs.items()}

    def rebuild_note(self, run: int) -> dict[str, str]:
        """Return the stamp's record of the last full rebuild, after which readers must recompute everything too."""
        last = str(run) if self.is_full else (self.published.extra.get(REBUILT, "") if self.published else "")
        return {REBUILT: last} if last else {}


def detect_changes(step: StepContext, published: Stamp | None = None, optional: tuple[str, ...] = ()) -> Changes:
    """Compare a step's inputs with what its table reflects; `optional` inputs may not exist yet."""
    run, plan = step.run, step.step
    published = published or run.stamp(step.table)
    inputs = {table: stamp for table in (*plan.reads, *optional) if (stamp := run.stamp(table)) is not None}
    if published is None:
        return Changes(published, inputs, is_full=True, reason="never built")
    if step.is_rebuild:
        return Changes(published, inputs, is_full=True, reason="rebuild requested")
    if changed := plan.parts.changed_since(published.digest):
        return Changes(published, inputs, is_full=True, reason=f"changed {', '.join(changed)}")
    newer = [table for table, stamp in inputs.items() if stamp.run > published.reflects.get(table, -1)]
    if not newer:
        return Changes(published, inputs, is_full=False, reason="")
    rebuilt = [
        table for table in newer if int(inputs[table].extra.get(REBUILT) or -1) > published.reflects.get(table, -1)
    ]
    keyed = set(plan.key.inputs) | set(optional) if plan.key else set(newer)
    is_full = bool(rebuilt) or plan.mode is Mode.FULL or not set(newer) <= keyed
    reason = f"{rebuilt[0]} was rebuilt" if rebuilt else f"new in {', '.join(newer)}"
    return Changes(published, inputs, is_full=is_full, reason=reason)


@dataclass(frozen=True)
class AffectedInputs:
    """The input rows that a step recomputes, by input name; `keys` is None if these are all rows."""

    frames: Mapping[str, DataFrame]
    keys: DataFrame | None = None
    key_columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The columns of each input that hold the key."""
    values: Sequence[str | int] | None = None
    """The values of the keys, if these are few and have one column."""
    is_small: bool = False
    """Whether few rows are new, so that their keys were collected."""


def restrict_to_affected_keys(
    step: StepContext, changes: Changes, names: Sequence[str], key: Sequence[str], more_keys: DataFrame | None = None
) -> AffectedInputs:
    """Return all rows of the keys that changed rows affect, or all rows of a full rebuild.

    `key` names the key's columns in the step's own table. `more_keys` are recomputed too.
    """
    tables, plan_key = step.run.tables, step.key
    table_of = {name: step.tables_by_name[name] for name in names}
    frames = {name: tables.current_rows(table, changes.inputs[table]) for name, table in table_of.items()}
    columns: dict[str, Sequence[str]] = {}
    if plan_key:
        columns = {name: plan_key.inputs[table] for name, table in table_of.items() if table in plan_key.inputs}
    if changes.is_full or not columns:
        return AffectedInputs(frames, None, columns)
    changed = {
        name: tables.changed_rows(table_of[name], changes.reflected_run(table_of[name]), changes.inputs[table_of[name]])
        for name in columns
        if changes.inputs[table_of[name]].run > changes.reflected_run(table_of[name])
    }
    affected = [changed_keys(changed, columns, key)] if changed else []
    union = reduce(DataFrame.unionByName, [*affected, *([more_keys] if more_keys is not None else [])])
    added = sum(tables.rows_added_since(table_of[name], changes.reflected_run(table_of[name])) for name in changed)
    if more_keys is not None or added > COLLECTED_KEY_LIMIT:
        keys = _broadcast_if_few(union.distinct())
        restricted = {
            name: rows_of_keys(frame, keys, columns[name]) if name in columns else frame
            for name, frame in frames.items()
        }
        return AffectedInputs(restricted, keys, columns)
    collected = union.coalesce(1).distinct().toArrow()
    values = literal_keys(collected)
    keys = F.broadcast(step.run.spark.createDataFrame(collected, union.schema).coalesce(1))
    restricted = {
        name: gather(_rows_of_few_keys(frame, keys, values, columns[name]), tables.file_stats(table_of[name]).rows)
        if name in columns
        else frame
        for name, frame in frames.items()
    }
    return AffectedInputs(restricted, keys, columns, values, is_small=True)


def gather(rows: DataFrame, read: int) -> DataFrame:
    """Return few rows in one partition, so that Spark needs no shuffle, and no job for each, to compute with them.

    `read` is the number of rows that are read to find them: a large table is still read by all tasks.
    """
    return rows.coalesce(1) if read <= GATHERED_ROW_LIMIT else rows.repartition(1)


def gather_small(rows: DataFrame, read: int) -> DataFrame:
    """Return the rows of a small table in one partition, and those of a large one as they are."""
    return rows.coalesce(1) if read <= GATHERED_ROW_LIMIT else rows


def literal_keys(keys: pa.Table) -> Sequence[str | int] | None:
    """Return the values of a few keys of one column with text or whole numbers; None for other keys."""
    if keys.num_columns != 1 or not 0 < keys.num_rows <= LITERAL_KEY_LIMIT:
        return None
    kind = keys.schema.field(0).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind)):
        return None
    values: list[str | int] = keys.column(0).to_pylist()
    return values


def _rows_of_few_keys(
    frame: DataFrame, keys: DataFrame, values: Sequence[str | int] | None, on: Sequence[str]
) -> DataFrame:
    return rows_of_keys(frame, keys, on) if values is None else rows_with_values(frame, values, on[0])


def with_shared_sequences(
    step: StepContext, changes: Changes, inputs: AffectedInputs, sequences: Sequence[Mapping[str, Sequence[str]]]
) -> dict[str, DataFrame]:
    """Return the events of affected keys together with all events that share a sequence with one of them.

    Each item of `sequences` maps input names to the columns that all events of one sequence have in common.
    """
    frames = dict(inputs.frames)
    if inputs.keys is None:
        return frames
    for columns_of in sequences:
        names = [f"part_{position}" for position in range(len(next(iter(columns_of.values()))))]
        changed = {name: inputs.frames[name] for name in columns_of}
        sequence_keys = changed_keys(changed, columns_of, names)
        keys = (
            _collected(step, sequence_keys.coalesce(1).distinct())
            if inputs.is_small
            else _broadcast_if_few(sequence_keys.distinct())
        )
        for name, columns in columns_of.items():
            table = step.tables_by_name[name]
            shared = rows_of_keys(step.run.tables.current_rows(table, changes.inputs[table]), keys, columns)
            if inputs.is_small:
                shared = gather(shared, step.run.tables.file_stats(table).rows)
            frames[name] = shared.unionByName(inputs.frames[name].where(~has_complete_key(columns)))
    return frames


def materialize(rows: DataFrame) -> DataFrame:
    """Compute rows once and cut their lineage, so that later queries are planned as if the rows were given.

    Spark plans each query on a cached frame together with everything below it, and again whenever a table below
    changes. If an executor is lost with these rows, the step fails and the next run repeats it.
    """
    return rows.localCheckpoint()


def _collected(step: StepContext, keys: DataFrame) -> DataFrame:
    """Return a few keys as constants of later queries, which costs no cached rows."""
    return F.broadcast(step.run.spark.createDataFrame(keys.toArrow(), keys.schema))


def _broadcast_if_few(keys: DataFrame) -> DataFrame:
    materialized = materialize(keys)
    return F.broadcast(materialized) if materialized.count() <= BROADCAST_KEY_LIMIT else materialized


_DIGEST = f"{INTERNAL_PREFIX}digest"
_BEFORE = f"{INTERNAL_PREFIX}before_"


def replace_keys(
    branch: Staged,
    rows: DataFrame,
    inputs: AffectedInputs,
    columns: spark.StructType,
    key: Sequence[str],
    stamp: NewStamp,
    totals: Sequence[Column] = (),
) -> None:
    """Replace the rows of some keys; `totals` are counted while rows are written.

    If `inputs` has no keys, `rows` are all rows, and only those that differ are written. Later steps therefore see new
    rows only where something changed, whether the step was rebuilt or incremental.
    """
    if inputs.keys is not None:
        delete_keys(branch, inputs, key)
        changed = with_deleted_keys(rows, inputs.keys, columns)
        branch.append(_with_run(changed.coalesce(1) if inputs.is_small else changed, stamp), stamp, totals)
        return
    if branch.base is None:
        branch.append(_with_run(rows, stamp), stamp, totals)
        return
    different = _changed_rows(rows, branch.read(), columns, key)
    branch.supersede(_with_run(different, stamp), key, stamp, totals)


def delete_keys(branch: Staged, inputs: AffectedInputs, key: Sequence[str]) -> None:
    """Delete the rows of the keys that are recomputed."""
    if inputs.values is not None:
        branch.delete_values(key[0], inputs.values)
    elif inputs.keys is not None:
        branch.delete_keys(inputs.keys, key)


def stored_rows(table: DataFrame, inputs: AffectedInputs, key: Sequence[str], read: int) -> DataFrame | None:
    """Return the rows of a table, which has `read` rows, that have one of the affected keys; None if all have."""
    if inputs.keys is None:
        return None
    rows = _rows_of_few_keys(table, inputs.keys, inputs.values, key)
    return gather(rows, read) if inputs.is_small else rows


def _with_run(rows: DataFrame, stamp: NewStamp) -> DataFrame:
    return rows.withColumn(RUN, F.lit(stamp.run).cast("long"))


def _changed_rows(rows: DataFrame, before: DataFrame, columns: spark.StructType, key: Sequence[str]) -> DataFrame:
    """Return the rows that are new or differ from before, and a deleted row for each key that has none any more."""
    compared = spark.StructType([field for field in columns if field.name != RUN])
    new = rows.select(*[_column(field, rows.columns) for field in compared])
    new = new.withColumn(_DIGEST, content_digest(compared))
    old = before.select(
        *[quoted_col(name).alias(f"{_BEFORE}{name}") for name in key],
        content_digest(compared).alias(f"{_BEFORE}{_DIGEST}"),
        quoted_col(OUTCOME).alias(f"{_BEFORE}{OUTCOME}"),
    )
    has_same_key = F.lit(True)
    for name in key:
        has_same_key = has_same_key & quoted_col(name).eqNullSafe(quoted_col(f"{_BEFORE}{name}"))
    joined = new.join(old, has_same_key, "full")
    is_deleted = quoted_col(_DIGEST).isNull() & (quoted_col(f"{_BEFORE}{OUTCOME}") != F.lit(DELETED))
    is_changed = quoted_col(_DIGEST).isNotNull() & ~quoted_col(_DIGEST).eqNullSafe(quoted_col(f"{_BEFORE}{_DIGEST}"))
    changed = joined.where(is_deleted | is_changed)
    return changed.select(*[_new_or_deleted(field, key) for field in compared])


def _column(field: spark.StructField, available: Sequence[str]) -> Column:
    value = quoted_col(field.name) if field.name in available else F.lit(None)
    return value.cast(field.dataType).alias(field.name)


def _new_or_deleted(field: spark.StructField, key: Sequence[str]) -> Column:
    has_row = quoted_col(_DIGEST).isNotNull()
    if field.name in key:
        return F.coalesce(quoted_col(field.name), quoted_col(f"{_BEFORE}{field.name}")).alias(field.name)
    if field.name == OUTCOME:
        return F.when(has_row, quoted_col(OUTCOME)).otherwise(F.lit(DELETED)).alias(OUTCOME)
    return quoted_col(field.name)
