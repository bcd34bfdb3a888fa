"""Statistics of text values: types they can be read as, shapes, values, formats and personal data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import FieldPath
from treaty.contracts.values import EMPTY
from treaty.spark.columns import all_of
from treaty.spark.profile import text_analysis
from treaty.spark.profile.model import Facts, NumberFacts, Profile
from treaty.spark.profile.name_hints import usual_limits
from treaty.spark.profile.personal_data import TRAITS
from treaty.spark.profile.text_analysis import ALPHABETS, NUMERIC_TYPES, TextType, shape_runs, text_shape, uses_only
from treaty.spark.profile.value_statistics import (
    MAX_COMPARED_LENGTH,
    PATH_COLUMN,
    VALUE_COLUMN,
    ValuePath,
    aggregate_texts,
    by_place,
    list_value_paths,
)
from treaty.spark.readers.json_reader import parse_variant_type
from treaty.spark.text_checks import FORMATS
from treaty.spark.type_conversion import ColumnFunction

_MAX_LISTED_VALUES = 40
_MAX_LISTED_LENGTH = 60
_MIN_CARD_NUMBER = 10**12
FORMAT_SIGNS = {"uuid": "-", "email": "@", "uri": "://", "ipv4": ".", "ipv6": ":", "time": ":"}
"""Text that values of a format must contain; it is checked first because it is cheap."""
_DATE_FORMATS = ("dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "yyyy/MM/dd", "dd-MM-yyyy")
DATE_PATTERNS = tuple("".join(parts) for parts in product(_DATE_FORMATS, ("", " HH:mm", " HH:mm:ss")))
_WHOLE = (spark.LongType, spark.DecimalType)


def collect_text_statistics(frame: DataFrame, profile: Profile) -> Profile:
    """Collect statistics of all text columns in one job."""
    facts = dict(profile.by_path)
    places = [place for place in list_value_paths(frame.schema) if _needs_text_statistics(facts[place.path])]
    if not places:
        return profile
    return replace(profile, facts=tuple((facts | _text_facts(frame, places, facts)).values()))


def collect_facts_without_outliers(
    frame: DataFrame, places: Sequence[ValuePath], facts: Mapping[FieldPath, Facts], is_usual: Column
) -> dict[FieldPath, Facts]:
    """Collect the statistics of the usual texts at some paths again, with their bounds."""
    value = F.col(VALUE_COLUMN)
    bounds = {
        "first": F.min(F.left(value, F.lit(MAX_COMPARED_LENGTH))),
        "last": F.max(F.left(value, F.lit(MAX_COMPARED_LENGTH))),
        "shortest": F.min(F.length(value)),
        "longest": F.max(F.length(value)),
    }
    return _text_facts(frame, places, facts, bounds, is_usual)


def _text_facts(
    frame: DataFrame,
    places: Sequence[ValuePath],
    facts: Mapping[FieldPath, Facts],
    bounds: Mapping[str, Column] = EMPTY,
    condition: Column | None = None,
) -> dict[FieldPath, Facts]:
    few = [number for number, place in enumerate(places) if _has_few_values(facts[place.path])]
    return {
        place.path: _with_text_facts(facts[place.path], values)
        for place, values in aggregate_texts(frame, places, {**_text_aggregates(places, few), **bounds}, condition)
    }


def _needs_text_statistics(facts: Facts) -> bool:
    """Whether a field is text, or a number long enough for a card number."""
    if isinstance(facts.kind, _WHOLE):
        return facts.least is not None and facts.least >= _MIN_CARD_NUMBER
    return facts.is_text and facts.present > 0


def _has_few_values(facts: Facts) -> bool:
    return (
        facts.distinct is not None
        and facts.distinct <= _MAX_LISTED_VALUES
        and (facts.longest or 0) <= _MAX_LISTED_LENGTH
    )


def _text_aggregates(places: Sequence[ValuePath], few: list[int]) -> dict[str, Column]:
    """Return the aggregates of text values; values are listed only for paths with few distinct values."""
    value = F.col(VALUE_COLUMN)
    parsed = F.when(value.startswith("{") | value.startswith("["), F.try_parse_json(value))
    number = F.when(text_analysis.classify_text(value).bitwiseAND(F.lit(int(NUMERIC_TYPES))) != F.lit(0), value)
    return {
        "text_types": F.bit_or(text_analysis.classify_text(value)),
        "digits": F.max(text_analysis.count_digits(number)),
        "fewest_decimals": F.min(text_analysis.count_decimals(number)),
        "most_decimals": F.max(text_analysis.count_decimals(number)),
        "least": F.min(text_analysis.parse_number(number)),
        "greatest": F.max(text_analysis.parse_number(number)),
        "beyond_limits": F.count_if(_is_beyond_limits(text_analysis.parse_number(number), places)),
        "least_shape": F.min(text_shape(value)),
        "greatest_shape": F.max(text_shape(value)),
        "least_runs": F.min(shape_runs(value)),
        "greatest_runs": F.max(shape_runs(value)),
        "conditions": F.bit_and(condition_bits(value)),
        **{trait.name: F.count_if(trait.matches(value)) for trait in TRAITS},
        "values": F.collect_set(F.when(F.col(PATH_COLUMN).isin(*few), value) if few else F.lit(None).cast("string")),
        "json_read": F.count(parsed),
        "json_type": F.schema_of_variant_agg(parsed),
    }


def _is_beyond_limits(number: Column, places: Sequence[ValuePath]) -> Column:
    limits = [usual_limits(place.name) for place in places]
    low = by_place([F.lit(float(each.low)) for each in limits])
    high = by_place([F.lit(float("inf") if each.high is None else float(each.high)) for each in limits])
    return (number < low) | (number > high)


def text_conditions() -> dict[str, ColumnFunction]:
    """Return conditions that may hold for every text at a path, by name."""
    conditions: dict[str, ColumnFunction] = {
        name: _of_format(name, sign) for name, sign in FORMAT_SIGNS.items() if name in FORMATS
    }
    conditions |= {pattern: _matches_date_pattern(pattern) for pattern in DATE_PATTERNS}
    return conditions | {written: uses_only(letters) for written, letters in ALPHABETS.items()}


def condition_bits(value: Column) -> Column:
    parts = [
        F.when(condition(value), F.lit(1 << place)).otherwise(F.lit(0))
        for place, condition in enumerate(text_conditions().values())
    ]
    return _joined(parts)


def _joined(parts: list[Column]) -> Column:
    """Join bits pairwise, because Spark Connect limits the nesting of expressions."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return _joined(parts[:half]).bitwiseOR(_joined(parts[half:]))


def _of_format(name: str, sign: str) -> ColumnFunction:
    return lambda value: F.when(F.contains(value, F.lit(sign)), ~FORMATS[name].violated(value))


def _matches_date_pattern(pattern: str) -> ColumnFunction:
    """Return a check that a text matches a date pattern; separators are checked first because it is cheap."""
    signs = [(place, sign) for place, sign in enumerate(pattern, start=1) if not sign.isalpha()]

    def written(value: Column) -> Column:
        separators = [F.substring(value, place, 1) == F.lit(sign) for place, sign in signs]
        same = all_of(separators) & (F.length(value) == F.lit(len(pattern)))
        return F.when(same, F.try_to_timestamp(value, F.lit(pattern)).isNotNull())

    return written


def _with_text_facts(facts: Facts, values: dict[str, Any]) -> Facts:
    met = [name for place, name in enumerate(text_conditions()) if values["conditions"] >> place & 1]
    return replace(
        facts,
        text_types=TextType(values["text_types"]),
        shape=_common_value(values, "shape"),
        runs=_common_value(values, "runs"),
        values=tuple(sorted(values["values"])) or None,
        alphabet=next((written for written in ALPHABETS if written in met), None),
        formats=tuple(name for name in FORMAT_SIGNS if name in met),
        date_patterns=tuple(pattern for pattern in DATE_PATTERNS if pattern in met),
        personal_traits={trait.name: values[trait.name] for trait in TRAITS if values[trait.name]},
        numbers=_numbers(values),
        beyond_limits=values["beyond_limits"] if facts.is_text else facts.beyond_limits,
        json_type=parse_variant_type(values["json_type"]) if values["json_read"] == facts.present else None,
        **_new_bounds(values),
    )


def _new_bounds(values: dict[str, Any]) -> dict[str, Any]:
    if "first" not in values:
        return {}
    names = {"least": "first", "greatest": "last", "shortest": "shortest", "longest": "longest"}
    return {name: values[aggregate] for name, aggregate in names.items()}


def _common_value(values: dict[str, Any], name: str) -> str | None:
    """Return the common value; if minimum and maximum are equal, all values are."""
    least, greatest = values[f"least_{name}"], values[f"greatest_{name}"]
    return str(least) if least == greatest else None


def _numbers(values: dict[str, Any]) -> NumberFacts | None:
    if values["digits"] is None:
        return None
    names = ("digits", "fewest_decimals", "most_decimals", "least", "greatest")
    return NumberFacts(*(values[name] for name in names))
