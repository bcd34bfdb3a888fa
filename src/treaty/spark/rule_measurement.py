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
from treaty.spark.semantic_measures import measured_values, rule_values
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
            "a stream cannot be measured; measure each batch: stream.writeStream.foreachBatch(each_batch(…))"
        )
    measured_at = now or datetime.now(UTC)
    totals = _totals(enforcement, max_groups)
    return judge_rules(enforcement, totals, measured_at)


def judge_rules(enforcement: Enforcement, totals: RuleTotals, moment: datetime) -> Measures:
    """Judge every rule by the totals."""
    results = [
        _judge_rule(enforcement, position, rule, totals, moment)
        for position, rule in enumerate(enforcement.rule_set.all)
    ]
    contract, schema = enforcement.contract, enforcement.schema
    semantic = (
        *measured_values(enforcement.rule_set.measures, totals.numbers),
        *rule_values(contract, schema, results, totals.rows),
    )
    return Measures(
        enforcement.contract.id,
        enforcement.contract.version,
        enforcement.schema.name,
        totals.rows,
        totals.valid,
        tuple(results),
        enforcement.unchecked,
        moment,
        semantic,
    )


def _judge_rule(
    enforcement: Enforcement, position: int, rule: AnyRule, totals: RuleTotals, moment: datetime
) -> RuleMeasure:
    number = totals.numbers.get(position)
    if isinstance(rule, FreshnessRule):
        return _judge_freshness(rule, number, moment)
    if isinstance(rule, MetricRule):
        value = run_metric_query(enforcement, rule, rule.query) if rule.query is not None else number
        value = totals.rows if rule.aggregate == _COUNT_OF_ROWS else value
        return RuleMeasure(rule.definition, rule.definition.threshold.holds_for(value), value=value)
    count = int(number or 0)
    return RuleMeasure(rule.definition, rule.definition.threshold.holds(count, totals.rows), violating_rows=count)


def _judge_freshness(rule: FreshnessRule, newest: int | None, moment: datetime) -> RuleMeasure:
    """Judge the age of the newest row; an empty dataset is fresh."""
    if newest is None:
        return RuleMeasure(rule.definition, passed=True)
    age = moment.timestamp() - newest / 1_000_000
    return RuleMeasure(rule.definition, passed=age <= rule.seconds, value=round(age, 3))


def _totals(enforcement: Enforcement, max_groups: int) -> RuleTotals:
    """Compute all totals: rows, keys and metrics."""
    counted = count_rules(enforcement, max_groups)
    numbers: dict[int | str, Any] = {
        **counted.numbers,
        **compute_metrics(enforcement),
        **count_duplicate_keys(enforcement),
    }
    return replace(counted, numbers=numbers)


def shared_key_numbers(enforcement: Enforcement) -> dict[int, list[int]]:
    """Return the numbers of shared keys for each key rule, except where numbers do not identify the keys."""
    frame, reading = enforcement.layout.frame, enforcement.policy.keys
    shared = {
        position: find_shared_key_numbers(frame, rule.columns, MAX_COLLECTED_GROUPS, reading)
        for position, rule in enforcement.keys_apart()
    }
    return {position: numbers for position, numbers in shared.items() if numbers is not None}


def compute_metrics(enforcement: Enforcement) -> dict[int | str, Any]:
    """Compute the aggregates of quality rules and measures in one job; queries run separately."""
    aggregates: dict[int | str, str] = {
        position: str(rule.aggregate)
        for position, rule in enumerate(enforcement.rule_set.all)
        if isinstance(rule, MetricRule) and _needs_rows(rule)
    }
    measures = enforcement.rule_set.measures
    aggregates |= {measure.name: measure.aggregate for measure in measures if measure.aggregate is not None}
    queried: dict[int | str, Any] = {
        measure.name: _try_query(enforcement, measure.query) for measure in measures if measure.query is not None
    }
    if not aggregates:
        return queried
    columns = [F.expr(sql).alias(result_column(name)) for name, sql in aggregates.items()]
    values = enforcement.layout.frame.agg(*columns).collect()[0].asDict()
    return {**queried, **{name: values[result_column(name)] for name in aggregates}}


def _try_query(enforcement: Enforcement, query: RuleQuery) -> Any:
    """Return the value of a measure's query; None if it cannot be run."""
    try:
        return run_query(enforcement, "measure", query)
    except InvalidDocument:
        return None


def count_duplicate_keys(enforcement: Enforcement) -> dict[int | str, Any]:
    """Count duplicate rows for key rules that do not quarantine."""
    counts: dict[int | str, Any] = {}
    for position, rule in enumerate(enforcement.rule_set.all):
        if isinstance(rule, UniqueRule) and not rule.definition.quarantines:
            keys = enforcement.layout.frame.select(*map(quoted_col, rule.columns)).where(has_complete_key(rule.columns))
            duplicates = keys.groupBy(*map(quoted_col, rule.columns)).count().agg(F.sum(quoted_col("count") - F.lit(1)))
            counts[position] = duplicates.collect()[0][0]
    return counts


def _needs_rows(rule: MetricRule) -> bool:
    return rule.aggregate is not None and rule.aggregate != _COUNT_OF_ROWS


_ROWS = f"{INTERNAL_PREFIX}rows"


@dataclass(frozen=True)
class RuleTotals:
    """Row counts of a dataset, and the result of each rule by its position in the rule set."""

    rows: int
    valid: int
    numbers: Mapping[int | str, Any]


def count_rules(enforcement: Enforcement, max_groups: int) -> RuleTotals:
    """Count violations of every rule and find the newest rows in one job; keys may take a job before it."""
    keys = {position: _key(enforcement, position, rule) for position, rule in enforcement.keys_apart()}
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
    for position, rule in rules:
        suspects = find_suspect_numbers(enforcement.layout.frame, rule.columns, max_groups, reading)
        if suspects is None:
            return None
        numbers[position] = suspects
    return enforcement.judged_by_numbers(numbers)


def newest_timestamps(enforcement: Enforcement) -> list[tuple[int, Column]]:
    """Return the timestamp column of each freshness rule, with the position of the rule."""
    rules = enumerate(enforcement.rule_set.all)
    return [(position, _microseconds(rule)) for position, rule in rules if isinstance(rule, FreshnessRule)]


def result_column(position: int | str) -> str:
    """Return the name of the column with the result of the rule at this position, or of a measure."""
    return f"{INTERNAL_PREFIX}number_{position}"


def _key(enforcement: Enforcement, position: int, rule: UniqueRule) -> dict[str, Column]:
    """Return the parts of a key as text, by column name; empty if a part has no unique text."""
    types = {field.name: field.dataType for field in enforcement.layout.frame.schema.fields}
    parts = [key_part_text(quoted_col(column), types[column]) for column in rule.columns]
    texts = {f"{INTERNAL_PREFIX}key_{position}_{number}": part for number, part in enumerate(parts) if part is not None}
    return texts if len(texts) == len(parts) else {}


def _group_rows(enforcement: Enforcement, judged: DataFrame, keys: Mapping[int, Mapping[str, Column]]) -> DataFrame:
    """Count rows per set of violated rules and per marked key."""
    answers = [*enforcement.masks.names, *enforcement.flags().values()]
    # Spark's fast hash aggregation does not take nulls
    marked = [
        F.when(quoted_col(flag_column(position)), text).otherwise(F.lit("")).alias(name)
        for position, key in keys.items()
        for name, text in key.items()
    ]
    largest = [F.max(column).alias(result_column(position)) for position, column in newest_timestamps(enforcement)]
    return judged.groupBy(*map(quoted_col, answers), *marked).agg(F.count(F.lit(1)).alias(_ROWS), *largest)


def _add_up_groups(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> RuleTotals:
    quarantining = {position for position, rule in enumerate(enforcement.rules) if rule.quarantines}
    rows, valid, violations = 0, 0, Counter[int | str]()
    for positions, count_of_rows in _count_by_violations(enforcement, groups, keys).items():
        rows += count_of_rows
        valid += 0 if quarantining.intersection(positions) else count_of_rows
        violations.update(dict.fromkeys(positions, count_of_rows))
    moments = {
        position: [group[result_column(position)] for group in groups] for position, _ in newest_timestamps(enforcement)
    }
    newest: dict[int | str, Any] = {
        position: max((moment for moment in seen if moment is not None), default=None)
        for position, seen in moments.items()
    }
    return RuleTotals(rows, valid, {**violations, **newest})


def _count_by_violations(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> Counter[tuple[int, ...]]:
    """Count rows by the positions of the rules they violate."""
    of_rows = [position for position, rule in enumerate(enforcement.rule_set.all) if isinstance(rule, RowRule)]
    masks, flags = enforcement.masks.names, enforcement.flags()
    names = {position: tuple(key) for position, key in keys.items()}
    sharing = Counter[tuple[int, tuple[str, ...]]]()
    for group in groups:
        for position, key in names.items():
            if group[flags[position]]:
                sharing[position, _part(group, key)] += group[_ROWS]

    def is_violated(position: int, group: Mapping[str, Any]) -> bool:
        # a key that was marked because of a hash collision has one row
        return position not in names or sharing[position, _part(group, names[position])] > 1

    counts = Counter[tuple[int, ...]]()
    for group in groups:
        bits = enforcement.masks.bits_of(group[name] for name in masks)
        marked = (position for position, name in flags.items() if group[name] and is_violated(position, group))
        counts[*(of_rows[bit] for bit in bits), *marked] += group[_ROWS]
    return counts


def _part(group: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(group[name] for name in names)


def _sum_in_spark(enforcement: Enforcement) -> RuleTotals:
    """Let Spark count; keys are compared exactly."""
    newest = newest_timestamps(enforcement)
    conditions = list(enforcement.violation_conditions())
    sums = (
        _group_rows(enforcement, enforcement.judged, {})
        .agg(
            F.sum(quoted_col(_ROWS)).alias("rows"),
            F.sum(F.when(enforcement.is_valid, quoted_col(_ROWS))).alias("valid"),
            *[
                F.sum(F.when(condition, quoted_col(_ROWS))).alias(result_column(position))
                for position, condition in conditions
            ],
            *[F.max(quoted_col(result_column(position))).alias(result_column(position)) for position, _ in newest],
        )
        .collect()[0]
    )
    counted = [position for position, _ in (*conditions, *newest)]
    return RuleTotals(
        sums["rows"] or 0, sums["valid"] or 0, {position: sums[result_column(position)] for position in counted}
    )


def _microseconds(rule: FreshnessRule) -> Column:
    return F.unix_micros(quoted_col(rule.column).cast("timestamp"))


def run_metric_query(enforcement: Enforcement, rule: MetricRule, query: RuleQuery) -> Any:
    """Return the single value of the query of a rule."""
    return run_query(enforcement, f"rule {rule.definition.id}", query)


def run_query(enforcement: Enforcement, what: str, query: RuleQuery) -> Any:
    """Return the single value of a query over the tables of the contract; errors name what it is for."""
    session = enforcement.frame.sparkSession
    frames = {enforcement.schema.name: enforcement.layout.frame.select(*map(quoted_col, enforcement.layout.typed))}
    frames |= {name: frame for name, frame in enforcement.references.items() if name in query.tables}
    missing = [name for name in query.tables if name not in frames]
    if missing:
        raise InvalidDocument(
            f"{what} reads {missing[0]!r}, but no data was given for it; pass references={{{missing[0]!r}: frame}}"
        )
    views = {name: f"treaty_{uuid4().hex}" for name in frames}
    try:
        for name, view in views.items():
            frames[name].createOrReplaceTempView(view)
        return _single_value(session.sql(query.render(views)))
    except PySparkException as error:
        raise InvalidDocument(f"{what} cannot be run: {str(error).splitlines()[0]}") from None
    finally:
        for view in views.values():
            session.catalog.dropTempView(view)


def _single_value(result: DataFrame) -> Any:
    rows = result.limit(1).collect()
    return rows[0][0] if rows else None
