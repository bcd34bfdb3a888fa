"""Set apart the few values that differ from nearly all others, so that they do not decide the draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from treaty.contracts.paths import FieldPath
from treaty.spark.profile.model import MIN_EVIDENCE_ROWS, Facts, Outliers, Profile, is_nearly_all
from treaty.spark.profile.name_hints import is_identifier, is_label
from treaty.spark.profile.text_analysis import (
    MAX_SHAPE_LENGTH,
    NO_TEXT_TYPE,
    NUMERIC_TYPES,
    TextType,
    classify_text,
    shape_runs,
)
from treaty.spark.profile.text_statistics import (
    DATE_PATTERNS,
    FORMAT_SIGNS,
    collect_facts_without_outliers,
    condition_bits,
    text_conditions,
)
from treaty.spark.profile.value_statistics import (
    PATH_COLUMN,
    VALUE_COLUMN,
    ValuePath,
    by_place,
    list_value_paths,
    stack_texts,
)

_FAMILIES = (
    NUMERIC_TYPES,
    TextType.DATE,
    TextType.ZONED,
    TextType.LOCAL,
    TextType.TRUTH | TextType.AGREEMENT,
)
"""Types that one field can have together."""
_DECIDED_TYPES = (*_FAMILIES, TextType.BRACED, TextType.BRACKETED)
_CONDITIONS = (*FORMAT_SIGNS, *DATE_PATTERNS)
_MAX_COUNTED_VALUES = 40
_MAX_VALUE_LENGTH = 60
_MIN_SHAPES_VALUES = 10


def set_outliers_apart(frame: DataFrame, profile: Profile) -> Profile:
    """Return the profile with text facts of nearly all values, and the others as outliers.

    Reads the data again only for columns that no single type, format or shape describes.
    """
    if profile.rows < MIN_EVIDENCE_ROWS:
        return profile
    facts = dict(profile.by_path)
    places = list_value_paths(frame.schema)
    mixed = [place for place in places if _is_mixed(facts[place.path])]
    majorities = _find_majorities(frame, mixed, facts)
    usual = [place for place in mixed if place.path in majorities]
    if usual:
        facts |= collect_facts_without_outliers(frame, usual, facts, _is_usual(usual, majorities))
    listed = [place for place in places if place.path not in majorities and _may_be_enum(facts[place.path])]
    for path, counts in _count_unusual_values(frame, [*usual, *listed], majorities).items():
        if path in majorities:
            outliers = Outliers(facts[path].present - majorities[path].count, counts)
            facts[path] = replace(facts[path], outliers=outliers)
        else:
            facts[path] = replace(facts[path], value_counts=counts)
    return replace(profile, facts=tuple(facts.values()))


def _is_mixed(facts: Facts) -> bool:
    """Whether texts have no type or format in common."""
    decided = any(facts.are_all(types) for types in _DECIDED_TYPES)
    return (
        facts.is_text and facts.present >= MIN_EVIDENCE_ROWS and not (decided or facts.formats or facts.date_patterns)
    )


def _may_be_enum(facts: Facts) -> bool:
    return facts.is_text and facts.values is not None and len(facts.values) > 1


@dataclass(frozen=True)
class Majority:
    """What nearly all texts at a path have in common: types, a condition or a shape; and how many have it."""

    count: int
    types: TextType = NO_TEXT_TYPE
    condition: int = 0
    runs: str | None = None


def _is_usual(places: Sequence[ValuePath], majorities: Mapping[FieldPath, Majority]) -> Column:
    """Whether a text belongs to the majority at its path, in one expression for all paths."""
    value = F.col(VALUE_COLUMN)
    each = [majorities.get(place.path, Majority(0)) for place in places]
    types = by_place([F.lit(int(majority.types)) for majority in each])
    conditions = by_place([F.lit(majority.condition) for majority in each])
    runs = by_place([F.lit(majority.runs).cast("string") for majority in each])
    has_type = classify_text(value).bitwiseAND(types) != F.lit(0)
    meets_condition = condition_bits(value).bitwiseAND(conditions) != F.lit(0)
    return F.coalesce(has_type | meets_condition | (shape_runs(value) == runs), F.lit(False))


@dataclass(frozen=True)
class TextGroup:
    """Texts of one type that meet the same conditions, and their most frequent shape."""

    type: TextType
    conditions: int
    count: int
    runs: str
    runs_count: int


def _find_majorities(
    frame: DataFrame, mixed: Sequence[ValuePath], facts: Mapping[FieldPath, Facts]
) -> dict[FieldPath, Majority]:
    groups: dict[FieldPath, list[TextGroup]] = {}
    for texts in stack_texts(frame, mixed):
        for row in _group_texts(texts).collect():
            group = TextGroup(TextType(row["type"]), row["bits"], row["count"], row["top"]["runs"], row["top"]["count"])
            groups.setdefault(mixed[row[PATH_COLUMN]].path, []).append(group)
    found = {path: _majority(facts[path], parts) for path, parts in groups.items()}
    return {path: majority for path, majority in found.items() if majority is not None}


def _group_texts(texts: DataFrame) -> DataFrame:
    """Count texts by path, type and conditions, each group with its most frequent shape."""
    value = F.col(VALUE_COLUMN)
    mask = sum(1 << place for place, name in enumerate(text_conditions()) if name in _CONDITIONS)
    runs = F.when(F.length(value) <= F.lit(MAX_SHAPE_LENGTH), shape_runs(value)).otherwise(F.lit(""))
    keys = [
        F.col(PATH_COLUMN),
        classify_text(value).alias("type"),
        condition_bits(value).bitwiseAND(F.lit(mask)).alias("bits"),
    ]
    shapes = texts.groupBy(*keys, runs.alias("runs")).agg(F.count(F.lit(1)).alias("count"))
    top = F.max(F.struct("count", "runs")).alias("top")
    return shapes.groupBy(PATH_COLUMN, "type", "bits").agg(F.sum("count").alias("count"), top)


def _majority(facts: Facts, groups: Sequence[TextGroup]) -> Majority | None:
    """Return what nearly all, but not all, texts have in common: a type, else a format or date, else a shape."""
    total = sum(group.count for group in groups)
    for candidate in (_common_type(groups), _common_condition(groups), _common_shape(facts, groups)):
        if candidate is not None and is_nearly_all(candidate.count, total) and candidate.count < total:
            return candidate
    return None


def _common_type(groups: Sequence[TextGroup]) -> Majority | None:
    def count(types: TextType) -> int:
        return sum(group.count for group in groups if group.type & types)

    types = max(_FAMILIES, key=count)
    if types == NUMERIC_TYPES and count(TextType.PADDED):
        return None  # leading zeros show that the digits are a label
    return Majority(count(types), types=types)


def _common_condition(groups: Sequence[TextGroup]) -> Majority | None:
    names = {name: place for place, name in enumerate(text_conditions()) if name in _CONDITIONS}
    counts = {
        name: sum(group.count for group in groups if group.conditions >> place & 1) for name, place in names.items()
    }
    (best, count), (_, second) = Counter(counts).most_common(2)
    if count == second:
        return None  # no value decides, for example, between day/month and month/day
    return Majority(count, condition=1 << names[best])


def _common_shape(facts: Facts, groups: Sequence[TextGroup]) -> Majority | None:
    if facts.runs is not None or (facts.distinct is not None and facts.distinct < _MIN_SHAPES_VALUES):
        return None
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group.runs] += group.runs_count
    runs, count = counts.most_common(1)[0]
    names_digits = is_identifier(facts.name) or is_label(facts.name)
    if not set(runs) & set("9") or not (set(runs) - set("9") or names_digits):
        return None  # words have no shape, and bare digits are a type
    return Majority(count, runs=runs)


def _count_unusual_values(
    frame: DataFrame, places: Sequence[ValuePath], majorities: Mapping[FieldPath, Majority]
) -> dict[FieldPath, dict[str, int]]:
    """Count the values outside the majority at each path, most frequent first; all values if there is none."""
    if not places:
        return {}
    counts: dict[FieldPath, dict[str, int]] = {place.path: {} for place in places}
    text = F.left(F.col(VALUE_COLUMN), F.lit(_MAX_VALUE_LENGTH)).alias(VALUE_COLUMN)
    order = Window.partitionBy(PATH_COLUMN).orderBy(F.col("count").desc(), VALUE_COLUMN)
    for texts in stack_texts(frame, places):
        grouped = (
            texts.where(~_is_usual(places, majorities))
            .groupBy(PATH_COLUMN, text)
            .count()
            .withColumn("rank", F.row_number().over(order))
        )
        for row in grouped.where(F.col("rank") <= F.lit(_MAX_COUNTED_VALUES)).orderBy(PATH_COLUMN, "rank").collect():
            counts[places[row[PATH_COLUMN]].path][row[VALUE_COLUMN]] = row["count"]
    return counts
