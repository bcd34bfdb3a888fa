"""Counting the rows that break each rule: rows that break the same rules, or share a key, are one group.

Groups are few, so that they are brought to the driver and added up here: planning a sum for each rule costs Spark more
than the sums. Where groups are many after all, or where two keys have one hash, Spark adds up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from treaty.spark.preparing import PRIVATE, named
from treaty.spark.rules import FreshnessRule, RowRule, UniqueRule, flag, hash_of
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
    """Count every rule on rows, and find the newest rows, in one job over the data; at worst in one more."""
    keys = {place: _key(enforcement, place, item) for place, item in enforcement.keys_apart()}
    if not all(keys.values()):
        return _summed(enforcement)
    judged = enforcement.judged_in_place() if keys else enforcement.judged
    groups = _grouped(enforcement, judged, keys).limit(most_groups + 1).collect()
    if len(groups) <= most_groups and all(_tells_apart(groups, key) for key in keys.values()):
        return _added_up(enforcement, groups)
    return _summed(enforcement)


def newest_moments(enforcement: Enforcement) -> list[tuple[int, Column]]:
    """Return, by the place of its rule, the moment of a row that freshness looks at."""
    found = enumerate(enforcement.book.all)
    return [(place, _microseconds(item)) for place, item in found if isinstance(item, FreshnessRule)]


def number_name(place: int) -> str:
    """Name the column that holds the number of the rule at this place of the book."""
    return f"{PRIVATE}number_{place}"


def _key(enforcement: Enforcement, place: int, item: UniqueRule) -> dict[str, Column]:
    """Return the hash of a key and its parts as texts, by the names they get in groups; nothing if it has no text."""
    types = {field.name: field.dataType for field in enforcement.prepared.frame.schema.fields}
    parts = [spelled(named(column), types[column]) for column in item.columns]
    texts = {f"{hash_of(place)}_{number}": part for number, part in enumerate(parts) if part is not None}
    return {hash_of(place): named(hash_of(place)), **texts} if len(texts) == len(parts) else {}


def _grouped(enforcement: Enforcement, judged: DataFrame, keys: Mapping[int, Mapping[str, Column]]) -> DataFrame:
    """Count the rows of each set of broken rules, and of each key that is shared."""
    answers = [*enforcement.masks.names, *enforcement.flags()]
    shared = [
        F.when(named(flag(place)), column).alias(name) for place, key in keys.items() for name, column in key.items()
    ]
    largest = [F.max(column).alias(number_name(place)) for place, column in newest_moments(enforcement)]
    return judged.groupBy(*map(named, answers), *shared).agg(F.count(F.lit(1)).alias(_ROWS), *largest)


def _tells_apart(groups: Sequence[Row], key: Iterable[str]) -> bool:
    """Tell whether no two keys have one hash, which is the first of the names."""
    names = list(key)
    keys = {tuple(group[name] for name in names) for group in groups}
    return len(keys) == len({found[0] for found in keys})


def _added_up(enforcement: Enforcement, groups: Sequence[Row]) -> Totals:
    rules = enforcement.rules
    broken_by = _broken_by(enforcement)
    valid, broken = 0, Counter[int]()
    for group in groups:
        places = list(broken_by(group))
        valid += 0 if any(rules[place].quarantines for place in places) else group[_ROWS]
        broken.update(dict.fromkeys(places, group[_ROWS]))
    newest = {
        place: max(
            (group[number_name(place)] for group in groups if group[number_name(place)] is not None), default=None
        )
        for place, _ in newest_moments(enforcement)
    }
    return Totals(sum(group[_ROWS] for group in groups), valid, {**broken, **newest})


def _broken_by(enforcement: Enforcement) -> Callable[[Row], Iterator[int]]:
    """Return what tells which rules the rows of a group break, by their places in the book."""
    of_rows = [place for place, item in enumerate(enforcement.book.all) if isinstance(item, RowRule)]
    flags = {place: flag(place) for place, _ in enforcement.broken_conditions() if place not in set(of_rows)}

    def broken_by(group: Row) -> Iterator[int]:
        yield from (of_rows[bit] for bit in enforcement.masks.bits_of(group))
        yield from (place for place, name in flags.items() if group[name])

    return broken_by


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
