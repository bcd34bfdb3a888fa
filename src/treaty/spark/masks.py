"""Masks on DataFrames: native SQL where no key is needed, and one Arrow function for hashes and tokens.

A key would be readable in a query plan, so values are hashed and tokenised by the same functions on Arrow arrays as
everywhere else. These functions need Treaty on the executors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.data_policies import DEFAULT_TEXT, Granularity, Mask, MaskMethod
from treaty.contracts.paths import Step
from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.errors import InvalidDocument
from treaty.policy import EffectiveView, FindKey, KeyRing
from treaty.policy.masked_parts import ITEM, MAP_VALUE, Parts, columns_of, has_clear_keys, parts_inside, whole_part
from treaty.spark.columns import all_of, quoted_col

_NUMBERS = (spark.IntegralType, spark.FractionalType)
_LIMIT = 2**62
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def apply_view(frame: DataFrame, view: EffectiveView, find_key: FindKey, now: datetime) -> DataFrame:
    """Return what the consumer may read of rows with the columns of the contract. `now` has a time zone."""
    served = {name: parts for name, parts in columns_of(view).items() if name in frame.columns}
    rows = filter_rows(frame, view, now)
    return mask_columns(rows.select(*map(quoted_col, served)), served, find_key)


def filter_rows(frame: DataFrame, view: EffectiveView, now: datetime) -> DataFrame:
    """Return the rows that may be served: those of allowed regions that are not too old."""
    conditions = row_conditions(frame.schema, view, str(_micros(now)))
    return frame.where(all_of([F.expr(condition) for condition in conditions])) if conditions else frame


def row_conditions(have: spark.StructType, view: EffectiveView, now: str) -> list[str]:
    """Return the conditions of the rows that may be served, as SQL; `now` is SQL for microseconds since 1970."""
    if view.refusal is not None:
        return ["FALSE"]
    regions = [_in_region(have, rule.column, rule.values) for rule in view.regions]
    ages = [f"{_age_column(have, rule.column)} >= {now} - {_micros_of(rule.keep)}" for rule in view.retention]
    return regions + ages


def first_expiry(frame: DataFrame, view: EffectiveView) -> Column | None:
    """Return the moment at which the first of some rows may no longer be served, in microseconds since 1970.

    It is an aggregate; None if rows do not expire.
    """
    ends = [f"{_age_column(frame.schema, rule.column)} + {_micros_of(rule.keep)}" for rule in view.retention]
    return F.min(F.expr(f"least({', '.join(ends)}, CAST(NULL AS BIGINT))")) if ends else None


def _in_region(have: spark.StructType, column: str, values: Sequence[str]) -> str:
    if column not in have.names or not values:
        return "FALSE"
    return f"CAST({quote_identifier(column)} AS STRING) IN ({', '.join(map(quote_string, values))})"


def _age_column(have: spark.StructType, column: str) -> str:
    """Return the time of a row in microseconds since 1970; null, so that the row is not served, if it has none."""
    micros = _epoch_micros(quote_identifier(column), have[column].dataType) if column in have.names else None
    return micros or "CAST(NULL AS BIGINT)"


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _micros_of(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)


def _epoch_micros(value: str, kind: spark.DataType) -> str | None:
    """Return the microseconds since 1970 of a date or time, whatever the time zone of the session."""
    if isinstance(kind, spark.TimestampType):
        return f"unix_micros({value})"
    if isinstance(kind, spark.TimestampNTZType):
        return f"timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01 00:00:00', {value})"
    return f"unix_date({value}) * 86400000000L" if isinstance(kind, spark.DateType) else None


def mask_columns(frame: DataFrame, columns: Mapping[str, Parts], find_key: FindKey, context: str = "") -> DataFrame:
    """Return the frame with the served parts of some columns, masked; other columns are kept."""
    schema = {field.name: field.dataType for field in frame.schema}
    keyed = {name: parts for name, parts in columns.items() if any(part.needs_key for part in parts)}
    native = {name: parts for name, parts in columns.items() if name not in keyed}
    if native:
        frame = frame.select(
            *[
                F.expr(masked_sql(quote_identifier(name), schema[name], native[name])).alias(name)
                if name in native
                else quoted_col(name)
                for name in frame.columns
            ]
        )
    return _mask_on_arrow(frame, keyed, find_key, context) if keyed else frame


def _mask_on_arrow(frame: DataFrame, columns: Mapping[str, Parts], find_key: FindKey, context: str) -> DataFrame:
    keys = {part.mask.key or "" for parts in columns.values() for part in parts if part.mask and part.needs_key}
    rings: dict[str, KeyRing] = {name: find_key(name) for name in keys}
    masked = {name: masked_type(frame.schema[name].dataType, parts) for name, parts in columns.items()}
    schema = spark.StructType(
        [spark.StructField(one.name, masked.get(one.name, one.dataType), one.nullable) for one in frame.schema]
    )

    def mask_batches(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow  # type: ignore[import-untyped]

        from treaty.policy.arrow_views import mask_parts

        for batch in batches:
            arrays = [
                mask_parts(array, columns[name], rings.__getitem__, context) if name in columns else array
                for name, array in zip(batch.schema.names, batch.columns, strict=True)
            ]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=batch.schema.names)

    return frame.mapInArrow(mask_batches, schema)


def masked_type(kind: spark.DataType, parts: Parts) -> spark.DataType:
    """Return the type of the served parts of a value."""
    whole = whole_part(parts)
    if whole is not None:
        return kind if whole.mask is None else _type_of_mask(kind, whole.mask)
    if isinstance(kind, spark.StructType):
        inside = [(field, parts_inside(parts, Step(field.name))) for field in kind.fields]
        served = [spark.StructField(one.name, masked_type(one.dataType, inner)) for one, inner in inside if inner]
        return spark.StructType(served) if served else kind
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(masked_type(kind.elementType, parts_inside(parts, ITEM)))
    if isinstance(kind, spark.MapType) and has_clear_keys(parts) and (inner := parts_inside(parts, MAP_VALUE)):
        return spark.MapType(kind.keyType, masked_type(kind.valueType, inner))
    return kind


def _type_of_mask(kind: spark.DataType, mask: Mask) -> spark.DataType:
    if mask.method.needs_key:
        return spark.StringType()
    return spark.LongType() if mask.to is Granularity.RANGE else kind


def masked_sql(value: str, kind: spark.DataType, parts: Parts, depth: int = 0) -> str:
    """Return the served parts of a value as SQL; no mask among them needs a key."""
    whole = whole_part(parts)
    if whole is not None:
        return value if whole.mask is None else mask_sql(value, kind, whole.mask)
    if isinstance(kind, spark.StructType):
        inside = [(field, parts_inside(parts, Step(field.name))) for field in kind.fields]
        served = [
            f"{quote_string(one.name)}, "
            f"{masked_sql(f'{value}.{quote_identifier(one.name)}', one.dataType, inner, depth)}"
            for one, inner in inside
            if inner
        ]
        return f"CASE WHEN {value} IS NOT NULL THEN named_struct({', '.join(served)}) END" if served else _null(value)
    if isinstance(kind, spark.ArrayType):
        item = masked_sql(f"x{depth}", kind.elementType, parts_inside(parts, ITEM), depth + 1)
        return f"transform({value}, x{depth} -> {item})"
    if isinstance(kind, spark.MapType) and has_clear_keys(parts) and (inner := parts_inside(parts, MAP_VALUE)):
        entry = masked_sql(f"x{depth}", kind.valueType, inner, depth + 1)
        return f"transform_values({value}, (k{depth}, x{depth}) -> {entry})"
    return _null(value)  # the data has another structure than the contract


def mask_sql(value: str, kind: spark.DataType, mask: Mask) -> str:
    """Return a masked value as SQL; the mask needs no key."""
    if mask.method is MaskMethod.NULL:
        return _null(value)
    if mask.method is MaskMethod.REDACT:
        text = DEFAULT_TEXT if mask.text is None else mask.text
        # never null, but nullable: Arrow refuses nulls of a structure whose fields may not be null
        same = f"nullif({quote_string(text)}, {quote_string(text + 'x')})"
        return same if isinstance(kind, spark.StringType) else _null(value)
    if mask.method is MaskMethod.GENERALISE:
        return _generalised(value, kind, mask)
    raise InvalidDocument(f"{mask} cannot be written as SQL, whose readers could see the key")


def _null(value: str) -> str:
    return f"CASE WHEN FALSE THEN {value} END"  # null of the same type


def _generalised(value: str, kind: spark.DataType, mask: Mask) -> str:
    if mask.to is Granularity.PREFIX and isinstance(kind, spark.StringType):
        return f"substring({value}, 1, {mask.size})"
    if mask.to is Granularity.RANGE and isinstance(kind, _NUMBERS):
        whole = f"CAST(floor({value}) AS BIGINT)"
        amount = f"CAST({value} AS {'BIGINT' if isinstance(kind, spark.IntegralType) else 'DOUBLE'})"
        return f"CASE WHEN {amount} > -{_LIMIT} AND {amount} < {_LIMIT} THEN {whole} - pmod({whole}, {mask.size}L) END"
    if mask.to in (Granularity.DAY, Granularity.MONTH, Granularity.YEAR) and _epoch_micros(value, kind):
        return _period_start(value, kind, mask.to)
    raise InvalidDocument(
        f"a value of the type {kind.simpleString()} cannot be generalised to {mask.to}; correct the type or the mask"
    )


def _period_start(value: str, kind: spark.DataType, period: Granularity) -> str:
    """Return the first moment of a period in UTC, whatever the time zone of the session."""
    if isinstance(kind, spark.TimestampNTZType):
        return f"date_trunc('{period.value}', {value})"
    if isinstance(kind, spark.DateType):
        return value if period is Granularity.DAY else f"trunc({value}, '{period.value}')"
    day = f"date_from_unix_date(CAST(floor(unix_micros({value}) / 86400000000BD) AS INT))"
    first = day if period is Granularity.DAY else f"trunc({day}, '{period.value}')"
    return f"timestamp_micros(unix_date({first}) * 86400000000L)"
