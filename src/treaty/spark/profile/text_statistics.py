"""Statistics of text values: types they can be read as, shapes, values, formats and personal data."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.columns import all_of
from treaty.spark.profile import text_analysis
from treaty.spark.profile.model import Facts, NumberFacts, Profile
from treaty.spark.profile.personal_data import TRAITS
from treaty.spark.profile.text_analysis import ALPHABETS, NUMERIC_TYPES, TextType, shape_runs, text_shape, uses_only
from treaty.spark.profile.value_statistics import PATH_COLUMN, VALUE_COLUMN, aggregate_texts, list_value_paths
from treaty.spark.readers.json_reader import parse_variant_type
from treaty.spark.text_checks import FORMATS
from treaty.spark.type_conversion import ColumnFunction

_MAX_LISTED_VALUES = 40
_MAX_LISTED_LENGTH = 60
_MIN_CARD_NUMBER = 10**12
_REQUIRED_TEXT = {"uuid": "-", "email": "@", "uri": "://", "ipv4": ".", "ipv6": ":", "time": ":"}
"""Text that values of a format must contain; it is checked first because it is cheap."""
_DAYS = ("dd.MM.yyyy", "dd/MM/yyyy", "MM/dd/yyyy", "yyyy/MM/dd", "dd-MM-yyyy")
_PATTERNS = tuple("".join(parts) for parts in product(_DAYS, ("", " HH:mm", " HH:mm:ss")))
_WHOLE = (spark.LongType, spark.DecimalType)


def collect_text_statistics(frame: DataFrame, profile: Profile) -> Profile:
    """Collect statistics of all text columns in one job."""
    facts = dict(profile.by_path)
    places = [place for place in list_value_paths(frame.schema) if _needs_text_statistics(facts[place.path])]
    if not places:
        return profile
    few = [number for number, place in enumerate(places) if _has_few_values(facts[place.path])]
    for place, values in aggregate_texts(frame, places, _text_aggregates(few)):
        facts[place.path] = _with_text_facts(facts[place.path], values)
    return replace(profile, facts=tuple(facts.values()))


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


def _text_aggregates(few: list[int]) -> dict[str, Column]:
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
        "least_shape": F.min(text_shape(value)),
        "greatest_shape": F.max(text_shape(value)),
        "least_runs": F.min(shape_runs(value)),
        "greatest_runs": F.max(shape_runs(value)),
        "conditions": F.bit_and(_bits(value)),
        **{trait.name: F.count_if(trait.matches(value)) for trait in TRAITS},
        "values": F.collect_set(F.when(F.col(PATH_COLUMN).isin(*few), value) if few else F.lit(None).cast("string")),
        "json_read": F.count(parsed),
        "json_type": F.schema_of_variant_agg(parsed),
    }


def _conditions() -> dict[str, ColumnFunction]:
    """Return conditions that may hold for every text at a path, by name."""
    conditions: dict[str, ColumnFunction] = {
        name: _of_format(name, sign) for name, sign in _REQUIRED_TEXT.items() if name in FORMATS
    }
    conditions |= {pattern: _matches_date_pattern(pattern) for pattern in _PATTERNS}
    return conditions | {written: uses_only(letters) for written, letters in ALPHABETS.items()}


def _bits(value: Column) -> Column:
    parts = [
        F.when(condition(value), F.lit(1 << place)).otherwise(F.lit(0))
        for place, condition in enumerate(_conditions().values())
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
    met = [name for place, name in enumerate(_conditions()) if values["conditions"] >> place & 1]
    return replace(
        facts,
        text_types=TextType(values["text_types"]),
        shape=_common_value(values, "shape"),
        runs=_common_value(values, "runs"),
        values=tuple(sorted(values["values"])) or None,
        alphabet=next((written for written in ALPHABETS if written in met), None),
        formats=tuple(name for name in _REQUIRED_TEXT if name in met),
        date_patterns=tuple(pattern for pattern in _PATTERNS if pattern in met),
        personal_traits={trait.name: values[trait.name] for trait in TRAITS if values[trait.name]},
        numbers=_numbers(values),
        json_type=parse_variant_type(values["json_type"]) if values["json_read"] == facts.present else None,
    )


def _common_value(values: dict[str, Any], name: str) -> str | None:
    """Return the common value; if minimum and maximum are equal, all values are."""
    least, greatest = values[f"least_{name}"], values[f"greatest_{name}"]
    return str(least) if least == greatest else None


def _numbers(values: dict[str, Any]) -> NumberFacts | None:
    if values["digits"] is None:
        return None
    names = ("digits", "fewest_decimals", "most_decimals", "least", "greatest")
    return NumberFacts(*(values[name] for name in names))
