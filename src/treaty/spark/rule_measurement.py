"""Measuring a dataset: the number of every rule, and whether it holds."""

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
_MOST_GROUPS = 100_000
"""More groups of rows, or shared keys, are not brought to the driver."""


def measure_rules(enforcement: Enforcement, now: datetime | None = None, most_groups: int = _MOST_GROUPS) -> Measures:
    """Run the job and judge each rule by its number."""
    if enforcement.frame.isStreaming:
        raise InvalidDocument(
            "an endless stream has no measures; measure each batch: stream.writeStream.foreachBatch(each_batch(…))"
        )
    moment = now or datetime.now(UTC)
    totals = _totals(enforcement, most_groups)
    return judge_rules(enforcement, totals, moment)


def judge_rules(enforcement: Enforcement, totals: RuleTotals, moment: datetime) -> Measures:
    """Judge every rule by the numbers that were found."""
    results = [_judged(enforcement, place, item, totals, moment) for place, item in enumerate(enforcement.book.all)]
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


def _judged(enforcement: Enforcement, place: int, item: AnyRule, totals: RuleTotals, moment: datetime) -> RuleMeasure:
    number = totals.numbers.get(place)
    if isinstance(item, FreshnessRule):
        return _fresh(item, number, moment)
    if isinstance(item, MetricRule):
        value = run_metric_query(enforcement, item, item.query) if item.query is not None else number
        value = totals.rows if item.aggregate == _COUNT_OF_ROWS else value
        return RuleMeasure(item.rule, item.rule.allows.holds_for(value), value=value)
    count = int(number or 0)
    return RuleMeasure(item.rule, item.rule.allows.holds(count, totals.rows), broken=count)


def _fresh(item: FreshnessRule, newest: int | None, moment: datetime) -> RuleMeasure:
    """Judge the age of the newest row; without rows there is nothing old."""
    if newest is None:
        return RuleMeasure(item.rule, held=True)
    age = moment.timestamp() - newest / 1_000_000
    return RuleMeasure(item.rule, held=age <= item.seconds, value=round(age, 3))


def _totals(enforcement: Enforcement, most_groups: int) -> RuleTotals:
    """Count everything: rows and their keys, and aggregates if there are any."""
    counted = count_rules(enforcement, most_groups)
    numbers = {**counted.numbers, **compute_metrics(enforcement), **count_duplicate_keys(enforcement)}
    return replace(counted, numbers=numbers)


def shared_key_numbers(enforcement: Enforcement) -> dict[int, list[int]]:
    """Return the numbers of shared keys for each rule on keys; rules for which they do not tell are left out."""
    frame, reading = enforcement.prepared.frame, enforcement.policy.keys
    found = {
        place: find_shared_key_numbers(frame, item.columns, _MOST_GROUPS, reading)
        for place, item in enforcement.keys_apart()
    }
    return {place: numbers for place, numbers in found.items() if numbers is not None}


def compute_metrics(enforcement: Enforcement) -> dict[int, Any]:
    """Compute the aggregates that quality rules ask for, in a job of their own."""
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
    """Count the rows beyond the first of each key, for rules that only count them."""
    found: dict[int, Any] = {}
    for place, item in enumerate(enforcement.book.all):
        if isinstance(item, UniqueRule) and not item.rule.quarantines:
            keys = enforcement.prepared.frame.select(*map(quoted_col, item.columns)).where(
                has_complete_key(item.columns)
            )
            twice = keys.groupBy(*map(quoted_col, item.columns)).count().agg(F.sum(quoted_col("count") - F.lit(1)))
            found[place] = twice.collect()[0][0]
    return found


def _needs_rows(item: MetricRule) -> bool:
    return item.aggregate is not None and item.aggregate != _COUNT_OF_ROWS


_ROWS = f"{INTERNAL_PREFIX}rows"


@dataclass(frozen=True)
class RuleTotals:
    """The numbers of one dataset, by the place of their rule in the book."""

    rows: int
    valid: int
    numbers: Mapping[int, Any]


def count_rules(enforcement: Enforcement, most_groups: int) -> RuleTotals:
    """Count every rule on rows, and find the newest rows, in one job over the data; keys may be looked at before."""
    keys = {place: _key(enforcement, place, item) for place, item in enforcement.keys_apart()}
    judged = _marked(enforcement, most_groups) if all(keys.values()) else None
    if judged is None:
        return _summed(enforcement)
    groups = _grouped(enforcement, judged, keys).limit(most_groups + 1).toArrow().to_pylist()
    return _added_up(enforcement, groups, keys) if len(groups) <= most_groups else _summed(enforcement)


def _marked(enforcement: Enforcement, most: int) -> DataFrame | None:
    """Return the judged rows with at least those marked whose key is shared; none if too many would be."""
    rules = enforcement.keys_apart()
    if not rules:
        return enforcement.judged
    reading = enforcement.policy.keys
    if reading is KeyReading.WITH_ROWS:
        return enforcement.judged_in_place()
    numbers: dict[int, list[int]] = {}
    for place, item in rules:
        found = find_suspect_numbers(enforcement.prepared.frame, item.columns, most, reading)
        if found is None:
            return None
        numbers[place] = found
    return enforcement.judged_by_numbers(numbers)


def newest_timestamps(enforcement: Enforcement) -> list[tuple[int, Column]]:
    """Return, by the place of its rule, the moment of a row that freshness looks at."""
    found = enumerate(enforcement.book.all)
    return [(place, _microseconds(item)) for place, item in found if isinstance(item, FreshnessRule)]


def result_column(place: int) -> str:
    """Name the column that holds the number of the rule at this place of the book."""
    return f"{INTERNAL_PREFIX}number_{place}"


def _key(enforcement: Enforcement, place: int, item: UniqueRule) -> dict[str, Column]:
    """Return the parts of a key as texts, by the names they get in groups; nothing if one of them has no text."""
    types = {field.name: field.dataType for field in enforcement.prepared.frame.schema.fields}
    parts = [key_part_text(quoted_col(column), types[column]) for column in item.columns]
    texts = {f"{INTERNAL_PREFIX}key_{place}_{number}": part for number, part in enumerate(parts) if part is not None}
    return texts if len(texts) == len(parts) else {}


def _grouped(enforcement: Enforcement, judged: DataFrame, keys: Mapping[int, Mapping[str, Column]]) -> DataFrame:
    """Count the rows of each set of broken rules, and of each key that is marked."""
    answers = [*enforcement.masks.names, *enforcement.flags().values()]
    # Spark's fast table of groups takes no nulls
    marked = [
        F.when(quoted_col(flag_column(place)), text).otherwise(F.lit("")).alias(name)
        for place, key in keys.items()
        for name, text in key.items()
    ]
    largest = [F.max(column).alias(result_column(place)) for place, column in newest_timestamps(enforcement)]
    return judged.groupBy(*map(quoted_col, answers), *marked).agg(F.count(F.lit(1)).alias(_ROWS), *largest)


def _added_up(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> RuleTotals:
    quarantining = {place for place, rule in enumerate(enforcement.rules) if rule.quarantines}
    rows, valid, broken = 0, 0, Counter[int]()
    for places, count_of_rows in _by_broken_rules(enforcement, groups, keys).items():
        rows += count_of_rows
        valid += 0 if quarantining.intersection(places) else count_of_rows
        broken.update(dict.fromkeys(places, count_of_rows))
    moments = {place: [group[result_column(place)] for group in groups] for place, _ in newest_timestamps(enforcement)}
    newest = {place: max((one for one in found if one is not None), default=None) for place, found in moments.items()}
    return RuleTotals(rows, valid, {**broken, **newest})


def _by_broken_rules(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> Counter[tuple[int, ...]]:
    """Count rows by the rules they break, given by their places in the book."""
    of_rows = [place for place, item in enumerate(enforcement.book.all) if isinstance(item, RowRule)]
    masks, flags = enforcement.masks.names, enforcement.flags()
    names = {place: tuple(key) for place, key in keys.items()}
    sharing = Counter[tuple[int, tuple[str, ...]]]()
    for group in groups:
        for place, key in names.items():
            if group[flags[place]]:
                sharing[place, _part(group, key)] += group[_ROWS]

    def is_broken(place: int, group: Mapping[str, Any]) -> bool:
        # marked by chance, a key has one row
        return place not in names or sharing[place, _part(group, names[place])] > 1

    found = Counter[tuple[int, ...]]()
    for group in groups:
        bits = enforcement.masks.bits_of(group[name] for name in masks)
        marked = (place for place, name in flags.items() if group[name] and is_broken(place, group))
        found[*(of_rows[bit] for bit in bits), *marked] += group[_ROWS]
    return found


def _part(group: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(group[name] for name in names)


def _summed(enforcement: Enforcement) -> RuleTotals:
    """Let Spark count, with keys compared by themselves."""
    newest = newest_timestamps(enforcement)
    conditions = list(enforcement.broken_conditions())
    found = (
        _grouped(enforcement, enforcement.judged, {})
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
    """Return the one value of a query over the contract's own tables."""
    session = enforcement.frame.sparkSession
    frames = {enforcement.schema.name: enforcement.prepared.frame.select(*map(quoted_col, enforcement.prepared.typed))}
    frames |= {name: frame for name, frame in enforcement.references.items() if name in query.tables}
    absent = [name for name in query.tables if name not in frames]
    if absent:
        raise InvalidDocument(
            f"rule {item.rule.id} reads {absent[0]!r}, for which no data were given; "
            f"pass references={{{absent[0]!r}: frame}}"
        )
    views = {name: f"treaty_{uuid4().hex}" for name in frames}
    try:
        for name, view in views.items():
            frames[name].createOrReplaceTempView(view)
        return _only_value(session.sql(query.render(views)))
    except PySparkException as error:
        raise InvalidDocument(f"rule {item.rule.id} cannot be run: {str(error).splitlines()[0]}") from None
    finally:
        for view in views.values():
            session.catalog.dropTempView(view)


def _only_value(answer: DataFrame) -> Any:
    rows = answer.limit(1).collect()
    return rows[0][0] if rows else None
