"""Measuring a dataset: every count in one job, by one group for each set of rules that rows break together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.errors import InvalidDocument
from treaty.spark.measures import Measures, RuleMeasure
from treaty.spark.metric_queries import run_query
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.rules import AnyRule, FreshnessRule, MetricRule, UniqueRule, flag, hash_of
from treaty.spark.uniqueness import is_whole, shared_hashes

if TYPE_CHECKING:
    from treaty.spark.enforcing import Enforcement

_ROWS = f"{PRIVATE}rows"
_COUNT_OF_ROWS = "count(1)"
_MOST_SHARED_KEYS = 100_000
"""More shared keys than these are not brought to the driver."""


@dataclass(frozen=True)
class Totals:
    """The numbers of one dataset, by the place of their rule in the book."""

    rows: int
    valid: int
    numbers: Mapping[int, Any]


def measure(enforcement: Enforcement, now: datetime | None) -> Measures:
    """Run the job and judge each rule by its number."""
    if enforcement.frame.isStreaming:
        raise InvalidDocument(
            "an endless stream has no measures; measure each batch: stream.writeStream.foreachBatch(each_batch(…))"
        )
    moment = now or datetime.now(UTC)
    totals = _totals(enforcement)
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


def _totals(enforcement: Enforcement) -> Totals:
    """Count everything: one job over the rows and their keys, one for aggregates if there are any."""
    keys = enforcement.keys_apart()
    found = _sums(enforcement, enforcement.judged_in_place(), keys) if keys else None
    if found is None or not all(found[_exact(place)] for place, _ in keys):
        found = _sums(enforcement, enforcement.judged, [])
    numbers = {place: found.get(number_name(place)) for place in range(len(enforcement.book.all))}
    numbers |= totals_of_metrics(enforcement) | totals_of_keys(enforcement)
    return Totals(int(found["rows"] or 0), int(found["valid"] or 0), numbers)


def _sums(enforcement: Enforcement, judged: DataFrame, keys: Sequence[tuple[int, UniqueRule]]) -> dict[str, Any]:
    """Run the job over judged rows; where keys were marked by their hashes, say whether those tell them apart."""
    newest = newest_moments(enforcement)
    # one group for each set of broken rules, and for each key that is shared: from these few every count follows
    answers = [*enforcement.masks.names, *enforcement.flags()]
    shared = {place: _shared(place, item) for place, item in keys}
    marked = [
        F.when(named(flag(place)), column).alias(name)
        for place, columns in shared.items()
        for name, column in columns.items()
    ]
    largest = [F.max(column).alias(number_name(place)) for place, column in newest]
    grouped = judged.groupBy(*map(named, answers), *marked).agg(F.count(F.lit(1)).alias(_ROWS), *largest)
    summed = grouped.agg(
        F.sum(named(_ROWS)).alias("rows"),
        F.sum(F.when(enforcement.stays, named(_ROWS))).alias("valid"),
        *[
            F.sum(F.when(condition, named(_ROWS))).alias(number_name(place))
            for place, condition in enforcement.broken_conditions()
        ],
        *[F.max(named(number_name(place))).alias(number_name(place)) for place, _ in newest],
        *[_is_exact(list(columns)).alias(_exact(place)) for place, columns in shared.items()],
    )
    return summed.collect()[0].asDict()


def _shared(place: int, item: UniqueRule) -> dict[str, Column]:
    """Return the hash and the key of rows that share one, by the names they get in groups."""
    names = [f"{hash_of(place)}_{number}" for number in range(len(item.columns))]
    return {hash_of(place): named(hash_of(place)), **dict(zip(names, map(named, item.columns), strict=True))}


def _is_exact(columns: Sequence[str]) -> Column:
    """Tell whether no two keys have one hash; it comes first."""
    return F.count_distinct(named(columns[0])) == F.count_distinct(*map(named, columns))


def _exact(place: int) -> str:
    return f"{hash_of(place)}_is_exact"


def hashes_of_shared_keys(enforcement: Enforcement) -> dict[int, list[int]]:
    """Return the hashes of shared keys for each rule on keys; rules for which they do not tell are left out."""
    frame = enforcement.prepared.frame
    found = {place: shared_hashes(frame, item.columns, _MOST_SHARED_KEYS) for place, item in enforcement.keys_apart()}
    return {place: hashes for place, hashes in found.items() if hashes is not None}


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


def newest_moments(enforcement: Enforcement) -> list[tuple[int, Column]]:
    """Return, by the place of its rule, the moment of a row that freshness looks at."""
    found = enumerate(enforcement.book.all)
    return [(place, _microseconds(item)) for place, item in found if isinstance(item, FreshnessRule)]


def _needs_rows(item: MetricRule) -> bool:
    return item.aggregate is not None and item.aggregate != _COUNT_OF_ROWS


def _microseconds(item: FreshnessRule) -> Column:
    return F.unix_micros(named(item.column).cast("timestamp"))


def number_name(place: int) -> str:
    """Name the column that holds the number of the rule at this place of the book."""
    return f"{PRIVATE}number_{place}"
