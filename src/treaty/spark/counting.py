"""Counting the rows that break each rule: rows that break the same rules, or share a key, are one group.

Groups are few, so that they are brought to the driver and added up here: planning a sum for each rule costs Spark more
than the sums. Where groups are many after all, Spark adds up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from treaty.spark.key_numbers import suspects
from treaty.spark.preparing import PRIVATE, named
from treaty.spark.rules import FreshnessRule, KeyReading, RowRule, UniqueRule, flag
from treaty.spark.uniqueness import spelled

if TYPE_CHECKING:
    from treaty.spark.enforcing import Enforcement

_ROWS = f"{PRIVATE}rows"


@dataclass(frozen=True)
class Totals:
    """The numbers of one dataset, by the place of their rule in the book."""

    rows: int
    valid: int
    numbers: Mapping[int, Any]


def count(enforcement: Enforcement, most_groups: int) -> Totals:
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
        found = suspects(enforcement.prepared.frame, item.columns, most, reading)
        if found is None:
            return None
        numbers[place] = found
    return enforcement.judged_by_numbers(numbers)


def newest_moments(enforcement: Enforcement) -> list[tuple[int, Column]]:
    """Return, by the place of its rule, the moment of a row that freshness looks at."""
    found = enumerate(enforcement.book.all)
    return [(place, _microseconds(item)) for place, item in found if isinstance(item, FreshnessRule)]


def number_name(place: int) -> str:
    """Name the column that holds the number of the rule at this place of the book."""
    return f"{PRIVATE}number_{place}"


def _key(enforcement: Enforcement, place: int, item: UniqueRule) -> dict[str, Column]:
    """Return the parts of a key as texts, by the names they get in groups; nothing if one of them has no text."""
    types = {field.name: field.dataType for field in enforcement.prepared.frame.schema.fields}
    parts = [spelled(named(column), types[column]) for column in item.columns]
    texts = {f"{PRIVATE}key_{place}_{number}": part for number, part in enumerate(parts) if part is not None}
    return texts if len(texts) == len(parts) else {}


def _grouped(enforcement: Enforcement, judged: DataFrame, keys: Mapping[int, Mapping[str, Column]]) -> DataFrame:
    """Count the rows of each set of broken rules, and of each key that is marked."""
    answers = [*enforcement.masks.names, *enforcement.flags().values()]
    # Spark's fast table of groups takes no nulls
    marked = [
        F.when(named(flag(place)), text).otherwise(F.lit("")).alias(name)
        for place, key in keys.items()
        for name, text in key.items()
    ]
    largest = [F.max(column).alias(number_name(place)) for place, column in newest_moments(enforcement)]
    return judged.groupBy(*map(named, answers), *marked).agg(F.count(F.lit(1)).alias(_ROWS), *largest)


def _added_up(
    enforcement: Enforcement, groups: Sequence[Mapping[str, Any]], keys: Mapping[int, Iterable[str]]
) -> Totals:
    quarantining = {place for place, rule in enumerate(enforcement.rules) if rule.quarantines}
    rows, valid, broken = 0, 0, Counter[int]()
    for places, count_of_rows in _by_broken_rules(enforcement, groups, keys).items():
        rows += count_of_rows
        valid += 0 if quarantining.intersection(places) else count_of_rows
        broken.update(dict.fromkeys(places, count_of_rows))
    moments = {place: [group[number_name(place)] for group in groups] for place, _ in newest_moments(enforcement)}
    newest = {place: max((one for one in found if one is not None), default=None) for place, found in moments.items()}
    return Totals(rows, valid, {**broken, **newest})


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


def _summed(enforcement: Enforcement) -> Totals:
    """Let Spark count, with keys compared by themselves."""
    newest = newest_moments(enforcement)
    conditions = list(enforcement.broken_conditions())
    found = (
        _grouped(enforcement, enforcement.judged, {})
        .agg(
            F.sum(named(_ROWS)).alias("rows"),
            F.sum(F.when(enforcement.stays, named(_ROWS))).alias("valid"),
            *[F.sum(F.when(condition, named(_ROWS))).alias(number_name(place)) for place, condition in conditions],
            *[F.max(named(number_name(place))).alias(number_name(place)) for place, _ in newest],
        )
        .collect()[0]
    )
    counted = [place for place, _ in (*conditions, *newest)]
    return Totals(found["rows"] or 0, found["valid"] or 0, {place: found[number_name(place)] for place in counted})


def _microseconds(item: FreshnessRule) -> Column:
    return F.unix_micros(named(item.column).cast("timestamp"))
