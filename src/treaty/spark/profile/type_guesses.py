"""Guess the type of a field: the stored type, or for text the type that nearly all values can be read as."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from pyspark.sql import types as spark

from treaty.contracts.model import Field
from treaty.contracts.values import FrozenMap
from treaty.spark.profile.model import (
    NEARLY_ALL,
    Confidence,
    Facts,
    Guess,
    GuessedField,
    Profile,
    TypeOrigin,
    cap_by_outliers,
    cap_confidence,
)
from treaty.spark.profile.name_hints import is_identifier, is_label
from treaty.spark.profile.text_analysis import NUMERIC_TYPES, TextType
from treaty.spark.schema import field_from_type

TYPE_TERM = "logicalType"
_MAX_I32_GUESS = 2**30
_PRECISIONS = (9, 12, 18, 28, 38)
_SPARE_DIGITS = 2
_MAX_DECIMAL_PLACES = 4
_CARD_SHARE = 0.9
_DECIMAL = TextType.WHOLE | TextType.PLAIN
_DOUBLE = Field(logical_type="number", physical_type="double", options=FrozenMap({"format": "f64"}))

_TypeGuess: TypeAlias = tuple[Field, str] | None
_Reader: TypeAlias = Callable[[Facts, TypeOrigin], _TypeGuess]


def guess_type(facts: Facts, profile: Profile, typing: TypeOrigin, *, hide_values: bool = False) -> GuessedField:
    """Guess the type of a field without nested fields; `hide_values` keeps values out of the evidence."""
    name = None if facts.path.steps[-1].is_mark else facts.path.steps[-1].text
    if not facts.is_text:
        return _stored(facts, profile, name, typing)
    if not facts.present:
        text = Field(name, logical_type="string", physical_type="string")
        return GuessedField(text).guess(Guess(TYPE_TERM, Confidence.LOW, "stored as text; it has no values"))
    for reader in _READERS:
        if guess := reader(facts, typing):
            field, evidence = guess
            stored_as = field.physical_type if typing is TypeOrigin.NONE or _is_decimal(field) else "string"
            limit = cap_by_outliers(Confidence.HIGH, facts)
            statement = facts.state(f"are {evidence}", hide_values=hide_values)
            typed = GuessedField(_named(field, name, stored_as))
            return typed.guess(Guess(TYPE_TERM, cap_confidence(limit, profile), statement))
    text = Field(name, logical_type="string", physical_type="string")
    limit, reason = _text_reason(facts, typing)
    return GuessedField(text).guess(Guess(TYPE_TERM, cap_confidence(limit, profile), reason))


def _text_reason(facts: Facts, typing: TypeOrigin) -> tuple[Confidence, str]:
    """Return why a field stays text."""
    if facts.are_all(_DECIMAL) and not _is_quantity(facts, typing):
        if facts.shows("card", _CARD_SHARE):
            return Confidence.HIGH, "card numbers are no quantities"
        if is_identifier(facts.name) and typing is not TypeOrigin.NONE:
            return Confidence.HIGH, "an identifier that is stored as text"
        return Confidence.MEDIUM, "integers, but the name suggests a code, in which leading zeros matter"
    if facts.are_all(NUMERIC_TYPES | TextType.PADDED):
        return Confidence.HIGH, "digits, some with leading zeros that a number would lose"
    if len(facts.date_patterns) > 1:
        patterns = " or ".join(facts.date_patterns)
        return Confidence.LOW, f"dates, but no value shows whether they are written {patterns}"
    return Confidence.HIGH, f"stored as text, and no narrower type fits at least {NEARLY_ALL * 100:g} % of the values"


def _stored(facts: Facts, profile: Profile, name: str | None, typing: TypeOrigin) -> GuessedField:
    kind = facts.kind
    if typing is TypeOrigin.SEEN and isinstance(kind, spark.DecimalType) and kind.scale:
        # the precision comes from the values, not from a schema
        wide = Field(name, logical_type="number", physical_type=_decimal_type(kind.precision, kind.scale))
        evidence = (
            f"all {facts.present:,} values are numbers of up to {kind.precision} digits, {kind.scale} of them decimals"
        )
        return GuessedField(wide).guess(Guess(TYPE_TERM, cap_confidence(Confidence.HIGH, profile), evidence))
    stored = _with_timezone(field_from_type(kind, name))
    return GuessedField(stored).guess(Guess(TYPE_TERM, Confidence.HIGH, f"stored as {kind.simpleString()}"))


def _decimal_type(digits: int, scale: int) -> str:
    """Return a decimal type with room for larger numbers."""
    precision = next((size for size in _PRECISIONS if size >= digits + _SPARE_DIGITS), _PRECISIONS[-1])
    return f"decimal({precision},{scale})"


def _with_timezone(field: Field) -> Field:
    zoned = {"timestamp": True, "timestamp_ntz": False}.get(field.physical_type or "")
    options = {**(field.options or {}), **({} if zoned is None else {"timezone": zoned})}
    return replace(field, options=FrozenMap(options) if options else None)


def _named(field: Field, name: str | None, physical: str | None) -> Field:
    return replace(field, name=name, physical_type=physical)


def _is_decimal(field: Field) -> bool:
    return (field.physical_type or "").startswith("decimal")


def number_bounds(facts: Facts) -> tuple[float | None, float | None]:
    """Return the minimum and maximum; None if there are no numbers or one is NaN."""
    bounds = (facts.least, facts.greatest)
    if facts.is_text:
        bounds = (facts.numbers.least, facts.numbers.greatest) if facts.numbers else (None, None)
    if any(not isinstance(bound, (int, float, Decimal)) or math.isnan(bound) for bound in bounds):
        return None, None
    return bounds


def _boolean(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    words = {word.lower()[:1] for word in facts.values or ()}  # true, yes, false, no: their first letters identify them
    both = bool(words & set("ty")) and bool(words & set("fn"))
    if facts.are_all(TextType.TRUTH) or (facts.are_all(TextType.TRUTH | TextType.AGREEMENT) and both):
        return Field(logical_type="boolean", physical_type="boolean"), "words for true or false"
    return None


def _date(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    if not facts.are_all(TextType.DATE):
        return None
    return Field(logical_type="date", physical_type="date"), "ISO 8601 dates"


def _timestamp(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    zoned = facts.are_all(TextType.ZONED)
    if not zoned and not facts.are_all(TextType.LOCAL):
        return None
    physical = "timestamp" if zoned else "timestamp_ntz"
    kind = Field(logical_type="timestamp", physical_type=physical, options=FrozenMap({"timezone": zoned}))
    return kind, f"ISO 8601 timestamps {'with' if zoned else 'without'} a time zone"


def _time(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    if "time" not in facts.formats:
        return None
    return Field(logical_type="time", physical_type="string"), "times of day"


def _integer(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    is_id = is_identifier(facts.name)
    if not facts.are_all(TextType.WHOLE) or facts.numbers is None or not _is_quantity(facts, typing):
        return None
    largest = max(abs(facts.numbers.least), abs(facts.numbers.greatest))
    narrow = largest < _MAX_I32_GUESS and not is_id  # identifiers keep growing
    kind = Field(
        logical_type="integer",
        physical_type="int" if narrow else "bigint",
        options=FrozenMap({"format": "i32" if narrow else "i64"}),
    )
    return kind, "integers"


def _decimal(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    numbers = facts.numbers
    if not facts.are_all(_DECIMAL) or numbers is None or not numbers.most_decimals or not _is_quantity(facts, typing):
        return None
    fewest, most = numbers.fewest_decimals, numbers.most_decimals
    if most > _MAX_DECIMAL_PLACES and most != fewest:
        return _DOUBLE, f"numbers, with {fewest} to {most} decimals"
    kind = Field(logical_type="number", physical_type=_decimal_type(numbers.digits + most, most))
    digits = "1 digit" if numbers.digits == 1 else f"{numbers.digits} digits"
    return kind, f"decimals with up to {digits} before and {most} after the point"


def _floating(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    numbers = facts.numbers
    if (
        not facts.are_all(NUMERIC_TYPES)
        or numbers is None
        or not numbers.most_decimals
        or not _is_quantity(facts, typing)
    ):
        return None
    return _DOUBLE, "numbers, some with an exponent"


def _is_quantity(facts: Facts, typing: TypeOrigin) -> bool:
    """Whether digits are a quantity. Decimals always are; the name decides only for integers.

    In typed data, an identifier stored as text is meant as text.
    """
    if facts.shows("card", _CARD_SHARE) or (is_identifier(facts.name) and typing is not TypeOrigin.NONE):
        return False
    return not (facts.are_all(TextType.WHOLE) and is_label(facts.name))


def _json(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    if facts.json_type is None:
        return None
    return guess_json_field(facts.json_type), "JSON text"


def _by_pattern(facts: Facts, typing: TypeOrigin) -> _TypeGuess:
    if len(facts.date_patterns) != 1:
        return None
    (pattern,) = facts.date_patterns
    logical = "timestamp" if "HH" in pattern else "date"
    options: dict[str, object] = {"format": pattern}
    if logical == "timestamp":
        options["timezone"] = False
    physical = "timestamp_ntz" if logical == "timestamp" else "date"
    kind = Field(logical_type=logical, physical_type=physical, options=FrozenMap(options))
    return kind, f"written like {pattern}"


_READERS: tuple[_Reader, ...] = (
    _boolean,
    _date,
    _timestamp,
    _time,
    _integer,
    _decimal,
    _floating,
    _json,
    _by_pattern,
)


_MAX_JSON_FIELDS = 60
"""With more keys than this, an object is treated as a map whose keys are data."""
_NUMBERS = (spark.DecimalType, spark.FloatType, spark.DoubleType)


def guess_json_field(kind: spark.DataType) -> Field:
    """Return the field for JSON text of this type; JSON without a fixed structure stays plain JSON."""
    field = _field(None, kind)
    if field.properties is None and field.items is None:
        return Field(logical_type="object", physical_type="json")
    return replace(field, physical_type="string")


def _field(name: str | None, kind: spark.DataType) -> Field:
    if isinstance(kind, spark.StructType) and 0 < len(kind.fields) <= _MAX_JSON_FIELDS:
        parts = tuple(_field(child.name, child.dataType) for child in kind.fields)
        return Field(name, logical_type="object", properties=parts, description=_todo(name))
    if isinstance(kind, spark.ArrayType):
        return Field(name, logical_type="array", items=_field(None, kind.elementType), description=_todo(name))
    logical, options = _simple(kind)
    return Field(name, logical_type=logical, options=options, description=_todo(name))


def _simple(kind: spark.DataType) -> tuple[str, FrozenMap | None]:
    if isinstance(kind, spark.BooleanType):
        return "boolean", None
    if isinstance(kind, spark.LongType):
        return "integer", FrozenMap({"format": "i64"})
    if isinstance(kind, _NUMBERS):
        return "number", FrozenMap({"format": "f64"})
    return "string", None


def _todo(name: str | None) -> str | None:
    return "TODO" if name else None
