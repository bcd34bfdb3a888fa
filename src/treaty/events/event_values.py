"""Draw ordinary values for the fields of an event, as its contract allows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from treaty.compatibility.terms.comparison import parse_instant
from treaty.compatibility.terms.field_values import allowed_values, item_count, value_range
from treaty.contracts.model import Field
from treaty.contracts.names import split_words
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY, thaw
from treaty.errors import InvalidDocument
from treaty.generation.field_values import (
    Decimals,
    Floats,
    Integers,
    common_float,
    common_number,
    common_text_generator,
    generate_dates,
    generate_text,
    generate_timestamps,
    satisfies_terms,
)

_INTEGER_BITS = {"i8": 8, "u8": 8, "i16": 16, "u16": 16, "i32": 32, "u32": 32}
_MAX_PRECISION, _DEFAULT_PRECISION = 38, (38, 18)
_MAX_EXTRA_ITEMS = 3
_DISTINCT_NAMES = 40
_ATTEMPTS = 50
_HORIZON = timedelta(days=14)
_GRID = timedelta(minutes=15)


def stored_name(field: Field) -> str:
    """Return the name of a field in records."""
    return field.physical_name or field.name or ""


class EventValues:
    """Draws values with one source of random numbers. A share of the optional values is null."""

    def __init__(self, random: Random, null_share: float) -> None:
        self.random, self.null_share = random, null_share
        self.count = 0
        self._seen: dict[int, set[str]] = {}

    def draw(self, field: Field, at: datetime, *, required: bool = False) -> Any:
        """Draw a value for an event at a time; null only if the field is optional."""
        if not required and not field.is_required and self.random.random() < self.null_share:
            return None
        value = self._draw(field, at)
        if field.unique:
            seen = self._seen.setdefault(id(field), set())
            for _ in range(_ATTEMPTS):
                if repr(value) not in seen:
                    break
                value = self._draw(field, at)
            seen.add(repr(value))
        if value is None:
            raise InvalidDocument(f"no value satisfies the terms of {field.name}; check its type, range and pattern")
        return value

    def _draw(self, field: Field, at: datetime) -> Any:
        self.count += 1
        listed = allowed_values(field)
        if listed is not None:
            values = [thaw(value) for value in listed if value is not None]
            return self.random.choice(values) if values else None
        kind = field.type.name if field.type else "string"
        drawing = _KINDS.get(kind)
        return drawing(self, field, at) if drawing else self._text(field)

    def identifier(self, field: Field, number: int) -> Any:
        """Return a value of a key field, another one for each number."""
        kind = field.type.name if field.type else "string"
        is_free = kind == "string" and allowed_values(field) is None
        if is_free and satisfies_terms(field, text := f"{_stem(field)}{number:06}") and not _has_syntax(field):
            return text
        if kind == "integer" and allowed_values(field) is None:
            low = value_range(field).low
            return number + (int(low) if isinstance(low, (int, float)) else 1)
        return self._draw(field, datetime(2026, 1, 1, tzinfo=UTC))

    def _text(self, field: Field) -> str | None:
        name = " ".join(split_words(field.name or "")) or "text"
        number = self.random.randrange(1, _DISTINCT_NAMES)
        words = f"{_stem(field)}{number}" if name.endswith((" id", "key")) else f"{name} {number}"
        if not _has_syntax(field) and not field.unique and satisfies_terms(field, words):
            return words
        return generate_text(field, common_text_generator(field), self.random, self.count)

    def _integer(self, field: Field) -> Any:
        stated = field.type or DataType("integer")
        if stated.detail == "decimal":
            return common_number(
                field, Decimals(min(stated.precision or _MAX_PRECISION, _MAX_PRECISION), 0), self.random
            )
        return common_number(field, Integers(_INTEGER_BITS.get(stated.detail or "i32", 64)), self.random)

    def _number(self, field: Field) -> Any:
        stated = field.type or DataType("number")
        if stated.detail == "decimal":
            precision, scale = (stated.precision, stated.scale or 0) if stated.precision else _DEFAULT_PRECISION
            digits = min(precision, _MAX_PRECISION)
            return common_number(field, Decimals(digits, min(scale, digits, 2)), self.random)
        return common_float(field, Floats.SINGLE if stated.detail == "f32" else Floats.DOUBLE, self.random)

    def _timestamp(self, field: Field, at: datetime) -> datetime:
        limits = value_range(field)
        if limits.low is not None or limits.high is not None:
            return next(moment for moment in generate_timestamps(field, self.random, aware=is_zoned(field)))
        steps = self.random.randint(1, _HORIZON // _GRID)
        moment = at.replace(minute=0, second=0, microsecond=0) + steps * _GRID
        return moment if is_zoned(field) else moment.replace(tzinfo=None)

    def _date(self, field: Field, at: datetime) -> date:
        limits = value_range(field)
        if limits.low is not None or limits.high is not None:
            return next(generate_dates(field, self.random))
        return (at + timedelta(days=self.random.randint(0, _HORIZON.days))).date()

    def _object(self, field: Field, at: datetime) -> Any:
        if not field.properties:
            return {"n": self.count}
        if field.is_union:
            chosen = self.random.choice(field.properties)
            return {stored_name(chosen): self.draw(chosen, at, required=True)}
        needed = (field.options or EMPTY).get("required") or ()
        return {stored_name(child): self.draw(child, at, required=child.name in needed) for child in field.properties}

    def _array(self, field: Field, at: datetime) -> list[Any] | None:
        options, limits = field.options or EMPTY, item_count(field)
        fixed = options.get("dimensions")
        low = fixed if isinstance(fixed, int) else limits.low or 0
        high = low if isinstance(fixed, int) else min(limits.high if limits.high is not None else low + 3, low + 3)
        element = field.items or Field(
            logical_type="number" if field.logical_type == "vector" else "string", name="item"
        )
        length = self.random.randint(low, high)
        items: list[Any] = []
        for _ in range(_ATTEMPTS):
            if len(items) == length:
                break
            item = self.draw(element, at, required=True)
            if options.get("uniqueItems") is not True or item not in items:
                items.append(item)
        return items if len(items) >= low else None

    def _map(self, field: Field, at: datetime) -> dict[str, Any]:
        keys = (self.draw(field.map_key or Field(name="key"), at, required=True) for _ in range(_MAX_EXTRA_ITEMS))
        return {str(key): self.draw(field.map_value or Field(name="value"), at, required=True) for key in keys}


_KINDS: Mapping[str, Callable[[EventValues, Field, datetime], Any]] = {
    "integer": lambda values, field, at: values._integer(field),
    "number": lambda values, field, at: values._number(field),
    "boolean": lambda values, field, at: values.random.random() < 0.5,
    "timestamp": EventValues._timestamp,
    "date": EventValues._date,
    "object": EventValues._object,
    "array": EventValues._array,
    "vector": EventValues._array,
    "map": EventValues._map,
    "binary": lambda values, field, at: values.random.randbytes(values.random.randint(1, 8)),
}


def fits(field: Field, value: Any) -> bool:
    """Return whether a value is within the range, the allowed values and the syntax of a field."""
    listed = allowed_values(field)
    if listed is not None:
        return value in map(thaw, listed)
    if isinstance(value, str):
        return satisfies_terms(field, value)
    limits = value_range(field)
    low, high = (parse_instant(one) if isinstance(one, str) else one for one in (limits.low, limits.high))
    compared = value.replace(tzinfo=value.tzinfo or UTC) if isinstance(value, datetime) else value
    try:
        above = low is None or (compared > low if limits.low_open else compared >= low)
        return above and (high is None or (compared < high if limits.high_open else compared <= high))
    except TypeError:  # a bound of another type, which the field cannot have either
        return False


def is_zoned(field: Field) -> bool:
    """Return whether the values of a timestamp are points in time, not the time of a clock somewhere."""
    stated = field.type.detail if field.type else None
    timezone = (field.options or EMPTY).get("timezone")
    return stated != "without time zone" and (timezone is not False or stated == "with time zone")


def _stem(field: Field) -> str:
    """Return the words of a name without `id`, as identifiers begin."""
    words = [word for word in split_words(field.name or "") if word not in ("id", "key")]
    return "".join(words) or "id"


def _has_syntax(field: Field) -> bool:
    options = field.options or EMPTY
    is_text = field.type is None or field.type.name == "string"
    return not is_text or isinstance(options.get("pattern"), str) or isinstance(options.get("format"), str)
