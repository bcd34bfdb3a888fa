"""Values of a contract as Spark SQL literals of a field's type."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from treaty.compatibility.comparing import instant
from treaty.compatibility.migration.sql_types import TEXT, type_sql
from treaty.contracts.model import Field
from treaty.contracts.quoting import text_sql
from treaty.contracts.values import brief
from treaty.errors import InvalidDocument

_MOST_CHARACTERS = 10_000


def literal_sql(value: Any, field: Field, where: str) -> str:
    """Write a value as one of the field's type, or say that it is none."""
    sql = _written(value, field)
    if sql is None:
        raise InvalidDocument(
            f"{where}: {brief(value)!r} is no {field.type or 'text'}; give a value that the field can hold"
        )
    return sql


def fits(value: Any, field: Field) -> bool:
    """Tell whether a value can be one of the field's."""
    return _written(value, field) is not None


def value_of_text(text: str, field: Field) -> Any:
    """Read a value that had to be written as a text, such as the key of a mapping, as one of the field's type."""
    name = field.type.name if field.type else "string"
    if name == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    if name in ("integer", "number"):
        try:
            number = Decimal(text)
        except InvalidOperation:
            return text
        if not number.is_finite():
            return text
        return int(number) if number == number.to_integral_value() and abs(number) < 10**38 else float(number)
    return text


def _written(value: Any, field: Field) -> str | None:
    want = type_sql(field)
    if not isinstance(value, (str, int, float)) or (isinstance(value, str) and len(value) > _MOST_CHARACTERS):
        return None
    match want:
        case "BOOLEAN":
            return str(value).lower() if isinstance(value, bool) else None
        case "DATE":
            return f"DATE {text_sql(value)}" if isinstance(value, str) and _is_day(value) else None
        case "TIMESTAMP" | "TIMESTAMP_NTZ":
            is_moment = isinstance(value, str) and instant(value) is not None
            return f"CAST({text_sql(str(value))} AS {want})" if is_moment else None
        case "BINARY":
            return None
    if want == TEXT:
        plain = field.type is None or field.type.name in ("string", "time", "json")
        if isinstance(value, bool) or not plain:
            return None
        return text_sql(value) if isinstance(value, str) else text_sql(brief(value))
    if want.startswith(("STRUCT", "ARRAY", "MAP")) or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return _number_sql(value, want)


def _number_sql(value: int | float, want: str) -> str | None:
    number = Decimal(str(value))
    whole = number == number.to_integral_value() if number.is_finite() else False
    if not number.is_finite() or (not whole and want in ("TINYINT", "SMALLINT", "INT", "BIGINT")):
        return None
    limits = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
    if want in limits and not -(2 ** limits[want]) <= number < 2 ** limits[want]:
        return None
    if want.startswith("DECIMAL"):
        precision, scale = (int(part) for part in want[8:-1].split(","))
        exponent = number.normalize().as_tuple().exponent
        decimals = -exponent if isinstance(exponent, int) and exponent < 0 else 0
        if decimals > scale or abs(number) >= Decimal(10) ** (precision - scale):
            return None
    return f"CAST('{number:f}' AS {want})"


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == 10
