"""Values as text and as JSON, formatted as Spark does it, for rows that are read without Spark."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import types as spark

_NESTED = (spark.StructType, spark.ArrayType, spark.MapType)


def value_text(value: Any, kind: spark.DataType) -> str | None:
    """Return a value as Spark casts it to a string; bytes that are not UTF-8 as hexadecimal digits."""
    if value is None:
        return None
    if isinstance(kind, _NESTED):
        return value_json(value, kind)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value.hex().upper()
    if isinstance(value, datetime):
        return _timestamp(value, " ").rstrip("0").rstrip(".")
    return _plain(value, kind)


def value_json(value: Any, kind: spark.DataType) -> str:
    """Return a value as JSON; numbers keep all digits, timestamps their microseconds, and bytes are Base64."""
    if value is None:
        return "null"
    if isinstance(kind, spark.StructType):
        return record_json(value, kind)
    if isinstance(kind, spark.ArrayType):
        return f"[{','.join(value_json(item, kind.elementType) for item in value)}]"
    if isinstance(kind, spark.MapType):
        pairs = value.items() if isinstance(value, Mapping) else value
        entries = [(value_text(key, kind.keyType), value_json(item, kind.valueType)) for key, item in pairs]
        return f"{{{','.join(f'{_quoted(key or str())}:{item}' for key, item in entries)}}}"
    if isinstance(value, bytes):
        return _quoted(base64.b64encode(value).decode())
    if isinstance(value, datetime):
        return _quoted(_timestamp(value, "T") + ("Z" if isinstance(kind, spark.TimestampType) else ""))
    text = _plain(value, kind)
    is_number = isinstance(value, (bool, int, Decimal)) or (isinstance(value, float) and math.isfinite(value))
    return text if is_number else _quoted(text)


def record_json(row: Mapping[str, Any], columns: spark.StructType) -> str:
    """Return a row as a JSON object, with its nulls."""
    values = (f"{_quoted(field.name)}:{value_json(row[field.name], field.dataType)}" for field in columns)
    return f"{{{','.join(values)}}}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _plain(value: Any, kind: spark.DataType) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _floating_point(value, single=isinstance(kind, spark.FloatType))
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, date) else str(value)


def _timestamp(value: datetime, between: str) -> str:
    time = value.astimezone(UTC) if value.tzinfo else value
    return f"{time:%Y-%m-%d}{between}{time:%H:%M:%S.%f}"


_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7
"""Java writes numbers in this range without an exponent."""


def _floating_point(value: float, *, single: bool) -> str:
    """Return a number as Java writes it: 1.0, 1.5E10, NaN, Infinity."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits = _shortest_single(value) if single else repr(value)
    if value == 0 or _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        text = format(Decimal(digits), "f")
        return text if "." in text else f"{text}.0"
    sign, numerals, exponent = Decimal(digits).normalize().as_tuple()
    whole, *rest = map(str, numerals)
    power = int(exponent) + len(rest)
    return f"{'-' if sign else ''}{whole}.{''.join(rest) or '0'}E{power}"


def _shortest_single(value: float) -> str:
    """Return the fewest digits that identify a 32-bit number."""
    packed = struct.pack("f", value)
    texts = (format(value, f".{digits}g") for digits in range(1, 10))
    return next((text for text in texts if struct.pack("f", float(text)) == packed), repr(value))
