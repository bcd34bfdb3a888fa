"""Profiles of events on Spark, counted while rows are written.

Rows get a column with their codes, which are those of `treaty.events.drift.codes`; one `histogram_numeric` per metric
counts them. It is exact, since it has more bins than a metric has codes. The expressions are SQL text: building them
from columns costs more time than a small run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.events.drift import Profile, ProfileLayout, codes
from treaty.events.drift.layout import FieldKind, Metric, MetricKind, ProfiledField
from treaty.spark.columns import INTERNAL_PREFIX

PROFILE = "profile"
"""The name of the total with the profile, as JSON: classic sessions return no arrays."""

CODES_COLUMN = f"{INTERNAL_PREFIX}codes"
"""The column with the codes of a row; null if the row is not profiled."""

_BINS = 320
_SKETCH_SIZE = 14
"""The logarithm of the size of the sketch that counts keys; the error is below one percent."""
_HASH_BUCKETS = 1 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def with_codes(
    rows: DataFrame,
    layout: ProfileLayout,
    *,
    is_counted: Column | None = None,
    arrived_at: str | None = None,
    share: float = 1.0,
) -> DataFrame:
    """Return rows with the column of their codes; those for which `is_counted` does not hold have none.

    `arrived_at` names the column with the time of arrival, from which the offset of the event time is counted. With a
    `share` below one, only the events of that share of the keys are profiled.
    """
    encoded = F.expr(_codes_sql(layout, arrived_at))
    conditions = [] if is_counted is None else [is_counted]
    if share < 1:
        conditions.append(F.expr(_sample_sql(layout, share)))
    for condition in conditions:
        encoded = F.when(condition, encoded)
    return rows.withColumn(CODES_COLUMN, encoded)


@lru_cache(maxsize=64)
def _totals_sql(layout: ProfileLayout) -> str:
    histograms = [
        f"'h{number}', histogram_numeric({_code_sql(layout, metric)}, {_BINS})"
        for number, metric in enumerate(layout.metrics)
    ]
    parts = [f"'events', count({CODES_COLUMN})", *histograms]
    if layout.key:
        parts.append(f"'keys', hll_sketch_estimate(hll_sketch_agg({CODES_COLUMN}.k, {_SKETCH_SIZE}))")
    if layout.event_time_field:
        parts.append(f"'first', min({CODES_COLUMN}.m), 'last', max({CODES_COLUMN}.m)")
    return f"to_json(named_struct({', '.join(parts)}))"


def profile_totals(layout: ProfileLayout) -> tuple[Column, ...]:
    """Return the total that profiles rows with codes."""
    return (F.expr(_totals_sql(layout)).alias(PROFILE),)


def read_profile(total: Any, layout: ProfileLayout, *, version: str, run: int, at: datetime) -> Profile | None:
    """Return the profile of a total; None if no row was counted."""
    data: Mapping[str, Any] = json.loads(total) if isinstance(total, str) else {}
    if not data.get("events"):
        return None
    return Profile(
        version=version,
        run=run,
        at=at,
        events=data["events"],
        received=data["events"],
        keys=data.get("keys"),
        event_time=layout.event_time,
        first=_moment(data.get("first")),
        last=_moment(data.get("last")),
        histograms={metric.name: _counts(data[f"h{number}"]) for number, metric in enumerate(layout.metrics)},
    )


def profile_frame(
    frame: DataFrame, layout: ProfileLayout, *, version: str, run: int, at: datetime, arrived_at: str | None = None
) -> Profile | None:
    """Return the profile of the rows of a frame; None if it has none."""
    (row,) = with_codes(frame, layout, arrived_at=arrived_at).agg(*profile_totals(layout)).collect()
    return read_profile(row[PROFILE], layout, version=version, run=run, at=at)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else _EPOCH + timedelta(microseconds=micros)


def _counts(histogram: list[Mapping[str, float]]) -> dict[int, int]:
    """Return the counts of a histogram; partial results may list a code more than once."""
    counts: dict[int, int] = {}
    for point in histogram:
        code = round(point["x"])
        counts[code] = counts.get(code, 0) + round(point["y"])
    return dict(sorted(counts.items()))


@lru_cache(maxsize=64)
def _codes_sql(layout: ProfileLayout, arrived_at: str | None) -> str:
    """Return the codes of a row: `v` of values, `t` of times of the day, `o` of offsets, key and time of the event."""
    timed = layout.event_time_field
    time = _micros(_column(timed)) if timed else None
    arrived = None if arrived_at is None else _micros(quote_identifier(arrived_at))
    parts = []
    for number, field in enumerate(layout.fields):
        column = _column(field)
        if field.kind in (FieldKind.TIMESTAMP, FieldKind.DATE):
            since = arrived if field is timed else time
            parts.append(f"'o{number}', {_offset(_micros(column), since)}")
        else:
            parts.append(f"'v{number}', {_VALUES[field.kind](column, field)}")
        if field.kind is FieldKind.TIMESTAMP:
            half_hour = f"pmod({_micros(column)}, 86400000000L) div 1800000000L"
            parts.append(f"'t{number}', CAST(coalesce({half_hour}, {codes.NULL}) AS INT)")
    if layout.key:
        parts.append(f"'k', {_key(layout)}")
    if time is not None:
        parts.append(f"'m', {time}")
    return f"named_struct({', '.join(parts)})" if parts else "named_struct('none', 0)"


def _sample_sql(layout: ProfileLayout, share: float) -> str:
    limit = round(share * _HASH_BUCKETS)
    return f"pmod({_key(layout)}, {_HASH_BUCKETS}L) < {limit}L" if layout.key else f"rand(7) < {share:.9f}D"


def _key(layout: ProfileLayout) -> str:
    return f"xxhash64({', '.join('.'.join(map(quote_identifier, columns)) for columns in layout.key)})"


def _code_sql(layout: ProfileLayout, metric: Metric) -> str:
    """Return the code of a metric, from the column with the codes of a row."""
    number = layout.fields.index(metric.field)
    if metric.given is None:
        letter = {MetricKind.TIME_OF_DAY: "t", MetricKind.OFFSET: "o"}.get(metric.kind, "v")
        return f"{CODES_COLUMN}.{letter}{number}"
    given = f"{CODES_COLUMN}.v{layout.fields.index(metric.given)}"
    none = len(metric.given.values) + 1
    return f"if({given} = {codes.NULL}, {none}, {given}) * {codes.COARSE} + {_coarse_sql(metric.field, number)}"


def _coarse_sql(field: ProfiledField, number: int) -> str:
    if field.kind in (FieldKind.TIMESTAMP, FieldKind.DATE):
        code = f"{CODES_COLUMN}.o{number}"
        known = f"WHEN {code} > {codes.BEFORE} THEN 1 ELSE 2 + least({code} div 12, 7)"
    else:
        code = f"{CODES_COLUMN}.v{number}"
        known = _COARSE.get(field.kind, _COARSE_VALUE).format(code=code)
    return f"CAST(CASE WHEN {code} = {codes.NULL} THEN 0 {known} END AS INT)"


_COARSE_VALUE = f"ELSE least({{code}} + 1, {codes.COARSE - 1})"
_COARSE = {
    FieldKind.NUMBER: (
        f"WHEN {{code}} = 0 THEN 1 WHEN {{code}} >= {codes.NOT_A_NUMBER} THEN {codes.COARSE - 1} "
        f"WHEN {{code}} > {codes.NEGATIVE} THEN 2 "
        f"ELSE least(greatest(floor(({{code}} - 1 + {codes.NUMBER_LOW}) / {codes.NUMBER_BINS_PER_DECADE}D), -2), 8) + 5"
    ),
    FieldKind.TEXT: f"WHEN {{code}} < {codes.LENGTHS} THEN 1 ELSE 2",
}


def _column(field: ProfiledField) -> str:
    return ".".join(map(quote_identifier, field.columns))


def _micros(column: str) -> str:
    return f"unix_micros(CAST({column} AS TIMESTAMP))"


def _offset(micros: str, since: str | None) -> str:
    if since is None:
        return f"{codes.NULL}"
    seconds = f"(({micros} - {since}) / 1000000D)"
    scaled = f"{codes.OFFSET_BINS_PER_DOUBLING} * log2(1 + abs({seconds}) / 60) + {codes.EPSILON}D"
    bin_ = f"CAST(least(floor({scaled}), {codes.MAX_OFFSET}) AS INT)"
    return (
        f"CASE WHEN {seconds} IS NULL THEN {codes.NULL} "
        f"WHEN {seconds} < 0 AND {bin_} > 0 THEN {bin_} + {codes.BEFORE} ELSE {bin_} END"
    )


def _number(column: str, field: ProfiledField) -> str:
    value = f"CAST({column} AS DOUBLE)"
    magnitude = f"{codes.NUMBER_BINS_PER_DECADE} * log10(abs({value})) + {codes.EPSILON}D"
    bounded = f"least(greatest({magnitude}, {codes.NUMBER_LOW}D), {codes.NUMBER_HIGH}D)"
    return (
        f"CASE WHEN {value} IS NULL THEN {codes.NULL} WHEN isnan({value}) THEN {codes.NOT_A_NUMBER} "
        f"WHEN {value} = 0 THEN 0 ELSE CAST(floor({bounded}) AS INT) - {codes.NUMBER_LOW - 1} "
        f"+ if({value} < 0, {codes.NEGATIVE}, 0) END"
    )


def _text(column: str, field: ProfiledField) -> str:
    text = f"CAST({column} AS STRING)"
    scaled = f"{codes.LENGTH_BINS_PER_DOUBLING} * log2(length({text}) / {codes.SHORT}D) + {codes.EPSILON}D"
    length = (
        f"CASE WHEN length({text}) <= {codes.SHORT} THEN length({text}) "
        f"ELSE least({codes.SHORT} + floor({scaled}), {codes.LENGTHS - 1}) END"
    )
    return (
        f"CASE WHEN {text} IS NULL THEN {codes.NULL} ELSE {_shape(text)} * {codes.LENGTHS} + CAST({length} AS INT) END"
    )


def _shape(text: str) -> str:
    is_time = (
        f"length({text}) >= 16 AND substr({text}, 5, 1) = '-' AND substr({text}, 8, 1) = '-' "
        f"AND substr({text}, 11, 1) IN ('T', ' ') AND substr({text}, 14, 1) = ':'"
    )
    zone = (
        f"CASE WHEN right({text}, 1) IN ('Z', 'z') THEN {codes.ZULU} "
        f"WHEN contains({text}, '+') OR contains(substr({text}, 12), '-') THEN {codes.WITH_OFFSET} "
        f"ELSE {codes.WITHOUT_ZONE} END"
    )
    has_digits = f"translate({text}, '0123456789', '') <> {text}"
    has_letters = f"lower({text}) <> upper({text})"
    is_capital = f"upper({text}) = {text}"
    return (
        f"CASE WHEN length({text}) = 0 THEN {codes.EMPTY} WHEN {is_time} THEN {zone} "
        f"WHEN {has_letters} THEN CASE WHEN contains({text}, ' ') THEN {codes.WORDS} "
        f"WHEN {has_digits} THEN if({is_capital}, {codes.CAPITAL_CODE}, {codes.MIXED}) "
        f"ELSE if({is_capital}, {codes.CAPITALS}, {codes.LETTERS}) END "
        f"WHEN {has_digits} THEN {codes.DIGITS} ELSE {codes.OTHER} END"
    )


def _listed(column: str, field: ProfiledField) -> str:
    place = (
        f"CAST(array_position(array({', '.join(map(quote_string, field.values))}), CAST({column} AS STRING)) AS INT)"
    )
    return (
        f"CASE WHEN {column} IS NULL THEN {codes.NULL} WHEN {place} = 0 THEN {len(field.values)} ELSE {place} - 1 END"
    )


def _size(column: str, field: ProfiledField) -> str:
    return f"CASE WHEN {column} IS NULL THEN {codes.NULL} ELSE least(size({column}), {codes.MAX_SIZE}) END"


def _presence(column: str, field: ProfiledField) -> str:
    return f"if({column} IS NULL, {codes.NULL}, 0)"


_VALUES: dict[FieldKind, Callable[[str, ProfiledField], str]] = {
    FieldKind.NUMBER: _number,
    FieldKind.TEXT: _text,
    FieldKind.VALUES: _listed,
    FieldKind.SIZE: _size,
    FieldKind.PRESENCE: _presence,
}
