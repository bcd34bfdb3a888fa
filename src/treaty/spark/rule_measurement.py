"""Measure the rules on a dataset: count violating rows, compute metrics, and judge each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.errors import InvalidDocument
from treaty.spark.columns import INTERNAL_PREFIX, quoted_col
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.rules import AnyRule, FreshnessRule, KeyReading, MetricRule, RowRule, UniqueRule, flag_column
from treaty.spark.uniqueness import find_shared_key_numbers, find_suspect_numbers, has_complete_key, key_part_text
from treaty.sql.checked_sql import RuleQuery

if TYPE_CHECKING:
    from treaty.spark.enforcement import Enforcement


_COUNT_OF_ROWS = "count(1)"
MAX_COLLECTED_GROUPS = 100_000
"""The maximum number of row groups or shared keys that are collected on the driver."""


def measure_rules(
    enforcement: Enforcement, now: datetime | None = None, max_groups: int = MAX_COLLECTED_GROUPS
) -> Measures:
    """Run the jobs and judge each rule by its result."""
    if enforcement.frame.isStreaming:
        raise InvalidDocument(
            "a stream cannot be measured as a whole; measure each batch: stream.writeStream.foreachBatch(each_batch(…))"
        )
    moment = now or datetime.now(UTC)
    totals = _totals(enforcement, max_groups)
    return judge_rules(enforcement, totals, moment)


def judge_rules(enforcement: Enforcement, totals: RuleTotals, moment: datetime) -> Measures:
    """Judge every rule by the totals."""
    results = [_judge_rule(enforcement, place, item, totals, moment) for place, item in enumerate(enforcement.book.all)]
    return Measures(
        enforcement.contract.id,
        enforcement.contract.version,
        enforcement.schema.name,
        totals.rows,
        totals.valid,
        tuple(results),
        enforcement.unchecked,
        moment,
    )


def _judge_rule(
    enforcement: Enforcement, place: int, item: AnyRule, totals: RuleTotals, moment: datetime
) -> RuleMeasure:
    number = totals.numbers.get(place)
    if isinstance(item, FreshnessRule):
        return _judge_freshness(item, number, moment)
    if isinstance(item, MetricRule):
        value = run_metric_query(enforcement, item, item.query) if item.query is not None else number
        value = totals.rows if item.aggregate == _COUNT_OF_ROWS else value
        return RuleMeasure(item.rule, item.rule.allows.holds_for(value), value=value)
    count = int(number or 0)
    return RuleMeasure(item.rule, item.rule.allows.holds(count, totals.rows), broken=count)


def _judge_freshness(item: FreshnessRule, newest: int | None, moment: datetime) -> RuleMeasure:
    """Judge the age of the newest row; an empty dataset is fresh."""
    if newest is None:
        return RuleMeasure(item.rule, held=True)
    age = moment.timestamp() - newest / 1_000_000
    return RuleMeasure(item.rule, held=age <= item.seconds, value=round(age, 3))


def _totals(enforcement: Enforcement, max_groups: int) -> RuleTotals:
    """Compute all totals: rows, keys and metrics."""
    counted = count_rules(enforcement, max_groups)
    numbers = {**counted.numbers, **compute_metrics(enforcement), **count_duplicate_keys(enforcement)}
    return replace(counted, numbers=numbers)


def shared_key_numbers(enforcement: Enforcement) -> dict[int, list[int]]:
    """Return the numbers of shared keys for each key rule, except where numbers do not identify the keys."""
    frame, reading = enforcement.prepared.frame, enforcement.policy.keys
    found = {
        place: find_shared_key_numbers(frame, item.columns, MAX_COLLECTED_GROUPS, reading)
        for place, item in enforcement.keys_apart()
    }
    return {place: numbers for place, numbers in found.items() if numbers is not None}


def compute_metrics(enforcement: Enforcement) -> dict[int, Any]:
    """Compute the aggregates of quality rules in a separate job."""
    wanted = {
        place: str(item.aggregate)
        for place, item in enumerate(enforcement.book.all)
        if isinstance(item, MetricRule) and _needs_rows(item)
    }
    if not wanted:
        return {}
    columns = [F.expr(sql).alias(result_column(place)) for place, sql in wanted.items()]
    found = enforcement.prepared.frame.agg(*columns).collect()[0].asDict()
    return {place: found[result_column(place)] for place in wanted}


def count_duplicate_keys(enforcement: Enforcement) -> dict[int, Any]:
    """Count duplicate rows for key rules that do not quarantine."""
    found: dict[int, Any] = {}
    for place, item in enumerate(enforcement.book.all):
        if isinstance(item, UniqueRule) and not item.rule.quarantines:
            keys = enforcement.prepared.frame.select(*map(quoted_col, item.columns)).where(
                has_complete_key(item.columns)
            )
            duplicates = keys.groupBy(*map(quoted_col, item.columns)).count().agg(F.sum(quoted_col("count") - F.lit(1)))
            found[place] = duplicates.collect()[0][0]
    return found


def _needs_rows(item: MetricRule) -> bool:
    return item.aggregate is not None and item.aggregate != _COUNT_OF_ROWS


_ROWS = f"{INTERNAL_PREFIX}rows"


@dataclass(frozen=True)
class RuleTotals:
    """Row counts of a dataset, and the result of each rule by its position in the rule set."""

    rows: int
    valid: int
    numbers: Mapping[int, Any]


def count_rules(enforcement: Enforcement, max_groups: int) -> RuleTotals:
    """Count violations of every rule and find the newest rows in one job; keys may take a job before it."""
    keys = {place: _key(enforcement, place, item) for place, item in enforcement.keys_apart()}
    judged = _mark_shared_keys(enforcement, max_groups) if all(keys.values()) else None
    if judged is None:
        return _sum_in_spark(enforcement)
    groups = _group_rows(enforcement, judged, keys).limit(max_groups + 1).toArrow().to_pylist()
    return _add_up_groups(enforcement, groups, keys) if len(groups) <= max_groups else _sum_in_spark(enforcement)


def _mark_shared_keys(enforcement: Enforcement, max_groups: int) -> DataFrame | None:
    """Return the judged rows with all shared keys marked; None if too many keys would be marked."""
    rules = enforcement.keys_apart()
    if not rules:
        return enforcement.judged
    reading = enforcement.policy.keys
    if reading is KeyReading.WITH_ROWS:
        return enforcement.judged_in_place()
    numbers: dict[int, list[int]] = {}
    for place, item in rules:
        found = find_suspect_numbers(enforcement.prepared.frame, item.columns, max_groups, reading)
        if found is None:
            return None
        numbers[place] = found
    return enforcement.judged_by_numbers(numbers)


def newest_timestamps(enforcement: Enforcement) -> list[tuple[int, Column]]:
    """Return the timestamp column of each freshness rule, with the position of the rule."""
    found = enumerate(enforcement.book.all)
    return [(place, _microseconds(item)) for place, item in found if isinstance(item, FreshnessRule)]


def result_column(place: int) -> str:
    """Return the name of the column with the result of the rule at this position."""
    return f"{INTERNAL_PREFIX}number_{place}"


def _key(enforcement: Enforcement, place: int, item: UniqueRule) -> dict[str, Column]:
    """Return the parts of a key as text, by column name; empty if a part has no unique text."""
    types = {field.name: field.dataType for field in enforcement.prepared.frame.schema.fields}
    parts = [key_part_text(quoted_col(column), types[column]) for column in item.columns]
    texts = {f"{INTERNAL_PREFIX}key_{place}_{number}": part for number, part in enumerate(parts) if part is not None}
    return texts if len(texts) == len(parts) else {}


def _group_rows(enforcement: Enforcement, judged: DataFrame, keys: Mapping[int, Mapping[str, Column]]) -> DataFrame:
    """Count rows per set of violated rules and per marked key."""
    answers = [*enforcement.masks.names, *enforcement.flags().values()]
    # Spark's fast hash aggregation does not take nulls
    marked = [
        F.when(quoted_col(flag_column(place)), text).otherwise(F.lit("")).alias(name)
        for place, key in keys.items()
        for name, text in key.items()
    ]
    largest = [F.max(column).alias(result_column(place)) for place, column in newest_timestamps(enforcement)]
    return judged.groupBy(*map(quoted_col, answers), *marked).agg(F.count(F.lit(1)).alias(_ROWS), *largest)


def _add_up_groups(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> RuleTotals:
    quarantining = {place for place, rule in enumerate(enforcement.rules) if rule.quarantines}
    rows, valid, broken = 0, 0, Counter[int]()
    for places, count_of_rows in _count_by_violations(enforcement, groups, keys).items():
        rows += count_of_rows
        valid += 0 if quarantining.intersection(places) else count_of_rows
        broken.update(dict.fromkeys(places, count_of_rows))
    moments = {place: [group[result_column(place)] for group in groups] for place, _ in newest_timestamps(enforcement)}
    newest = {place: max((one for one in found if one is not None), default=None) for place, found in moments.items()}
    return RuleTotals(rows, valid, {**broken, **newest})


def _count_by_violations(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> Counter[tuple[int, ...]]:
    """Count rows by the positions of the rules they violate."""
    of_rows = [place for place, item in enumerate(enforcement.book.all) if isinstance(item, RowRule)]
    masks, flags = enforcement.masks.names, enforcement.flags()
    names = {place: tuple(key) for place, key in keys.items()}
    sharing = Counter[tuple[int, tuple[str, ...]]]()
    for group in groups:
        for place, key in names.items():
            if group[flags[place]]:
                sharing[place, _part(group, key)] += group[_ROWS]

    def is_broken(place: int, group: Mapping[str, Any]) -> bool:
        # a key that was marked because of a hash collision has one row
        return place not in names or sharing[place, _part(group, names[place])] > 1

    found = Counter[tuple[int, ...]]()
    for group in groups:
        bits = enforcement.masks.bits_of(group[name] for name in masks)
        marked = (place for place, name in flags.items() if group[name] and is_broken(place, group))
        found[*(of_rows[bit] for bit in bits), *marked] += group[_ROWS]
    return found


def _part(group: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(group[name] for name in names)


def _sum_in_spark(enforcement: Enforcement) -> RuleTotals:
    """Let Spark count; keys are compared exactly."""
    newest = newest_timestamps(enforcement)
    conditions = list(enforcement.broken_conditions())
    found = (
        _group_rows(enforcement, enforcement.judged, {})
        .agg(
            F.sum(quoted_col(_ROWS)).alias("rows"),
            F.sum(F.when(enforcement.stays, quoted_col(_ROWS))).alias("valid"),
            *[
                F.sum(F.when(condition, quoted_col(_ROWS))).alias(result_column(place))
                for place, condition in conditions
            ],
            *[F.max(quoted_col(result_column(place))).alias(result_column(place)) for place, _ in newest],
        )
        .collect()[0]
    )
    counted = [place for place, _ in (*conditions, *newest)]
    return RuleTotals(
        found["rows"] or 0, found["valid"] or 0, {place: found[result_column(place)] for place in counted}
    )


def _microseconds(item: FreshnessRule) -> Column:
    return F.unix_micros(quoted_col(item.column).cast("timestamp"))


def run_metric_query(enforcement: Enforcement, item: MetricRule, query: RuleQuery) -> Any:
    """Return the single value of a query over the tables of the contract."""
    session = enforcement.frame.sparkSession
    frames = {enforcement.schema.name: enforcement.prepared.frame.select(*map(quoted_col, enforcement.prepared.typed))}
    frames |= {name: frame for name, frame in enforcement.references.items() if name in query.tables}
    absent = [name for name in query.tables if name not in frames]
    if absent:
        raise InvalidDocument(
            f"rule {item.rule.id} reads {absent[0]!r}, but no data was given for it; "
            f"pass references={{{absent[0]!r}: frame}}"
        )
    views = {name: f"treaty_{uuid4().hex}" for name in frames}
    try:
        for name, view in views.items():
            frames[name].createOrReplaceTempView(view)
        return _single_value(session.sql(query.render(views)))
    except PySparkException as error:
        raise InvalidDocument(f"rule {item.rule.id} cannot be run: {str(error).splitlines()[0]}") from None
    finally:
        for view in views.values():
            session.catalog.dropTempView(view)


def _single_value(result: DataFrame) -> Any:
    rows = result.limit(1).collect()
    return rows[0][0] if rows else None
