"""The rows that a step has to look at: those of the keys that its new inputs touch, or all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from treaty.pipeline.layers.keys import affected_keys, of_keys
from treaty.pipeline.run.step_context import News, Work
from treaty.spark.uniqueness import has_complete_key

_FEW = 100_000
"""So many keys are sent to where the rows are; more are met with the rows."""


@dataclass(frozen=True)
class Touched:
    """The inputs of a step by name, and the keys that they were restricted to; no keys: all rows."""

    inputs: Mapping[str, DataFrame]
    keys: DataFrame | None = None
    keys_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The columns of each input that hold the key."""


def worked_out(rows: DataFrame) -> DataFrame:
    """Work rows out once, so that what follows is planned as if they had been given.

    Spark plans every step above a cached frame along with all that is below it, and all of that again whenever a
    table below changes. If a worker is lost with these rows, the step fails, and the next run does it again.
    """
    return rows.localCheckpoint()


def touched(
    work: Work, found: News, names: Sequence[str], called: Sequence[str], more: DataFrame | None = None
) -> Touched:
    """Give what a step reads; `called` is the key in its own table, `more` are keys to look at besides."""
    tables, key = work.run.tables, work.key
    table_of = {name: work.tables_of[name] for name in names}
    inputs = {name: tables.standing(table, found.inputs[table]) for name, table in table_of.items()}
    keys_of = {name: key.inputs[table] for name, table in table_of.items() if table in key.inputs} if key else {}
    if found.is_whole or not keys_of:
        return Touched(inputs, None, keys_of)
    changed = {
        name: tables.changed(table_of[name], found.since(table_of[name]), found.inputs[table_of[name]])
        for name in keys_of
        if found.inputs[table_of[name]].run > found.since(table_of[name])
    }
    each = [affected_keys(changed, keys_of, called)] if changed else []
    together = reduce(DataFrame.unionByName, [*each, *([more] if more is not None else [])])
    sent = _sent(together.distinct())
    few = {name: of_keys(frame, sent, keys_of[name]) if name in keys_of else frame for name, frame in inputs.items()}
    return Touched(few, sent, keys_of)


def in_sequence(
    work: Work, found: News, new: Touched, sequences: Sequence[Mapping[str, Sequence[str]]]
) -> dict[str, DataFrame]:
    """Give the events of touched keys along with all that share a sequence with them.

    Each of the sequences has the names of its inputs, with the columns that the events of a sequence have in common.
    """
    if new.keys is None:
        return dict(new.inputs)
    together = dict(new.inputs)
    for columns_of in sequences:
        called = [f"part_{place}" for place in range(len(next(iter(columns_of.values()))))]
        keys = _sent(affected_keys({name: new.inputs[name] for name in columns_of}, columns_of, called))
        for name, columns in columns_of.items():
            table = work.tables_of[name]
            shared = of_keys(work.run.tables.standing(table, found.inputs[table]), keys, columns)
            together[name] = shared.unionByName(new.inputs[name].where(~has_complete_key(columns)))
    return together


def _sent(keys: DataFrame) -> DataFrame:
    found = worked_out(keys)
    return F.broadcast(found) if found.count() <= _FEW else found
