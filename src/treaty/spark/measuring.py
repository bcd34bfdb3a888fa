"""Measuring a dataset: the number of every rule, and whether it holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from treaty.errors import InvalidDocument
from treaty.spark.counting import Totals, count, number_name
from treaty.spark.key_numbers import is_whole
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.metric_queries import run_query
from treaty.spark.preparing import named
from treaty.spark.rules import AnyRule, FreshnessRule, MetricRule, UniqueRule
from treaty.spark.uniqueness import shared_numbers

if TYPE_CHECKING:
    from treaty.spark.enforcing import Enforcement

_COUNT_OF_ROWS = "count(1)"
_MOST_GROUPS = 100_000
"""More groups of rows, or shared keys, are not brought to the driver."""


def measure(enforcement: Enforcement, now: datetime | None = None, most_groups: int = _MOST_GROUPS) -> Measures:
    """Run the job and judge each rule by its number."""
    if enforcement.frame.isStreaming:
        raise InvalidDocument(
            "an endless stream has no measures; measure each batch: stream.writeStream.foreachBatch(each_batch(…))"
        )
    moment = now or datetime.now(UTC)
    totals = _totals(enforcement, most_groups)
    return judged_by(enforcement, totals, moment)


def judged_by(enforcement: Enforcement, totals: Totals, moment: datetime) -> Measures:
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


def _judged(enforcement: Enforcement, place: int, item: AnyRule, totals: Totals, moment: datetime) -> RuleMeasure:
    number = totals.numbers.get(place)
    if isinstance(item, FreshnessRule):
        return _fresh(item, number, moment)
    if isinstance(item, MetricRule):
        value = run_query(enforcement, item, item.query) if item.query is not None else number
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


def _totals(enforcement: Enforcement, most_groups: int) -> Totals:
    """Count everything: rows and their keys, and aggregates if there are any."""
    counted = count(enforcement, most_groups)
    numbers = {**counted.numbers, **totals_of_metrics(enforcement), **totals_of_keys(enforcement)}
    return replace(counted, numbers=numbers)


def numbers_of_shared_keys(enforcement: Enforcement) -> dict[int, list[int]]:
    """Return the numbers of shared keys for each rule on keys; rules for which they do not tell are left out."""
    frame, reading = enforcement.prepared.frame, enforcement.policy.keys
    found = {
        place: shared_numbers(frame, item.columns, _MOST_GROUPS, reading) for place, item in enforcement.keys_apart()
    }
    return {place: numbers for place, numbers in found.items() if numbers is not None}


def totals_of_metrics(enforcement: Enforcement) -> dict[int, Any]:
    """Compute the aggregates that quality rules ask for, in a job of their own."""
    wanted = {
        place: str(item.aggregate)
        for place, item in enumerate(enforcement.book.all)
        if isinstance(item, MetricRule) and _needs_rows(item)
    }
    if not wanted:
        return {}
    columns = [F.expr(sql).alias(number_name(place)) for place, sql in wanted.items()]
    found = enforcement.prepared.frame.agg(*columns).collect()[0].asDict()
    return {place: found[number_name(place)] for place in wanted}


def totals_of_keys(enforcement: Enforcement) -> dict[int, Any]:
    """Count the rows beyond the first of each key, for rules that only count them."""
    found: dict[int, Any] = {}
    for place, item in enumerate(enforcement.book.all):
        if isinstance(item, UniqueRule) and not item.rule.quarantines:
            keys = enforcement.prepared.frame.select(*map(named, item.columns)).where(is_whole(item.columns))
            twice = keys.groupBy(*map(named, item.columns)).count().agg(F.sum(named("count") - F.lit(1)))
            found[place] = twice.collect()[0][0]
    return found


def _needs_rows(item: MetricRule) -> bool:
    return item.aggregate is not None and item.aggregate != _COUNT_OF_ROWS
