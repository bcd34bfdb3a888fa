"""The effective view of a consumer on Arrow tables: its rows, its columns, its masks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import reduce

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from treaty.contracts.paths import Step
from treaty.policy.arrow_masks import mask_array
from treaty.policy.effective_view import EffectiveView
from treaty.policy.keys import FindKey
from treaty.policy.masked_parts import (
    ITEM,
    MAP_VALUE,
    Parts,
    columns_of,
    has_clear_keys,
    parts_inside,
    whole_part,
)


def apply_view(table: pa.Table, view: EffectiveView, find_key: FindKey, now: datetime) -> pa.Table:
    """Return what the consumer may read of a table with the columns of the contract, in the order of the contract."""
    return select_columns(filter_rows(table, view, now), view, find_key)


def filter_rows(table: pa.Table, view: EffectiveView, now: datetime) -> pa.Table:
    """Return the rows that may be served: those of allowed regions that are not too old. `now` has a time zone."""
    if view.refusal is not None:
        return table.slice(0, 0)
    conditions = [_region(table, rule.column, rule.values) for rule in view.regions]
    conditions += [_age(table, rule.column, now - rule.keep) for rule in view.retention]
    return table.filter(reduce(pc.and_, conditions)) if conditions else table


def _region(table: pa.Table, column: str, values: Sequence[str]) -> pa.Array:
    if column not in table.column_names or not values:
        return _none(table)
    return pc.is_in(table[column].cast(pa.string()), value_set=pa.array(values, pa.string()))


def _age(table: pa.Table, column: str, oldest: datetime) -> pa.Array:
    if column not in table.column_names:
        return _none(table)
    kind = table.schema.field(column).type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return _none(table)
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    moments = table[column].cast(pa.timestamp("us", "UTC" if zoned else None))
    limit = pa.scalar(oldest, pa.timestamp("us", "UTC"))
    return pc.fill_null(pc.greater_equal(moments, limit if zoned else limit.cast(pa.timestamp("us"))), False)


def _none(table: pa.Table) -> pa.Array:
    return pa.repeat(pa.scalar(False), len(table))


def select_columns(table: pa.Table, view: EffectiveView, find_key: FindKey) -> pa.Table:
    """Return the served columns, masked; parts of nested values that are not served are left out."""
    columns: dict[str, pa.ChunkedArray] = {}
    for name, parts in columns_of(view).items():
        if name in table.column_names:
            columns[name] = mask_column(table[name], parts, find_key)
    return pa.table(columns)


def mask_column(column: pa.ChunkedArray, parts: Parts, find_key: FindKey, context: str = "") -> pa.ChunkedArray:
    """Return the served parts of a column, masked."""
    chunks = column.chunks or [pa.nulls(0, column.type)]
    return pa.chunked_array([mask_parts(chunk, parts, find_key, context) for chunk in chunks])


def mask_parts(values: pa.Array, parts: Parts, find_key: FindKey, context: str = "") -> pa.Array:
    """Return the served parts of values, masked; hashes with a context cannot be matched with those of others."""
    whole = whole_part(parts)
    if whole is not None:
        return values if whole.mask is None else mask_array(values, whole.mask, find_key, context)
    if pa.types.is_struct(values.type):
        return _struct(values, parts, find_key, context)
    if pa.types.is_map(values.type):
        return _map(values, parts, find_key, context)
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        items = mask_parts(values.flatten(), parts_inside(parts, ITEM), find_key, context)
        kind = pa.large_list if pa.types.is_large_list(values.type) else pa.list_
        offsets = _offsets(values, pa.int64() if kind is pa.large_list else pa.int32())
        build = pa.LargeListArray if kind is pa.large_list else pa.ListArray
        return build.from_arrays(offsets, items, mask=values.is_null())
    return pa.nulls(len(values), values.type)  # the data has another structure than the contract


def _struct(values: pa.StructArray, parts: Parts, find_key: FindKey, context: str) -> pa.Array:
    children, fields = [], []
    for field, child in zip(values.type, values.flatten(), strict=True):
        if inside := parts_inside(parts, Step(field.name)):
            children.append(mask_parts(child, inside, find_key, context))
            fields.append(pa.field(field.name, children[-1].type))
    if not children:
        return pa.nulls(len(values), values.type)
    return pa.StructArray.from_arrays(children, fields=fields, mask=values.is_null())


def _map(values: pa.MapArray, parts: Parts, find_key: FindKey, context: str) -> pa.Array:
    """Return maps with masked values; maps whose keys are masked or not served are null, since keys have to differ."""
    inner = parts_inside(parts, MAP_VALUE)
    if not has_clear_keys(parts) or not inner:
        return pa.nulls(len(values), values.type)
    dense = values.take(pa.array(range(len(values)), pa.int64()))  # without offset, and nothing under nulls
    items = mask_parts(dense.items, inner, find_key, context)
    return pa.MapArray.from_arrays(_offsets(dense, pa.int32()), dense.keys, items, mask=values.is_null())


def _offsets(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return where each list starts among the flattened items."""
    if pa.types.is_map(values.type):
        lengths = pa.array([0 if item is None else len(item) for item in values.to_pylist()], pa.int64())
    else:
        lengths = pc.fill_null(pc.list_value_length(values), 0).cast(pa.int64())
    ends = pc.cumulative_sum(lengths)
    return pa.concat_arrays([pa.array([0], pa.int64()), ends]).cast(kind)
