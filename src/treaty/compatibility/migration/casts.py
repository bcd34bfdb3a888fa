"""Casts between Spark types, and what they lose."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from treaty.compatibility.migration.sql_types import TEXT, type_sql
from treaty.contracts.model import Field

_WHOLE_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_MANTISSA = {"FLOAT": 24, "DOUBLE": 53}
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_TIMES = ("TIMESTAMP", "TIMESTAMP_NTZ")
_UNSIGNED = re.compile(r"u(\d+)")


class CastMethod(StrEnum):
    """How a value is converted: unchanged, by CAST (never fails), by TRY_CAST (null on failure), or not at all."""

    KEEP = "keep"
    CAST = "cast"
    TRY_CAST = "try_cast"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Cast:
    """The conversion of a value to another type, and what may be lost."""

    means: CastMethod
    type: str
    loss: str | None = None

    def sql(self, value: str) -> str:
        """Return the SQL expression that casts a value."""
        if self.means is CastMethod.KEEP:
            return value
        if self.means is CastMethod.NOTHING:
            return f"CAST(NULL AS {self.type})"
        return f"{self.means.upper()}({value} AS {self.type})"


@dataclass(frozen=True, slots=True)
class _Number:
    """The numbers that a type can hold: the range of integer parts, decimals, and bits of precision."""

    low: float
    high: float
    decimals: float = 0
    bits: float = float("inf")


def cast(source: Field, target: Field) -> Cast:
    """Return the cast between two fields that are neither objects, arrays nor maps."""
    have, want = type_sql(source), type_sql(target)
    names = f"{source.type or 'untyped'} → {target.type or 'untyped'}"
    one, other = _number(source, have), _number(target, want)
    if one is not None and other is not None:
        return _between_numbers(one, other, have, want, names)
    if have == want:
        return Cast(CastMethod.KEEP, want, _same_storage_loss(source, target, names))
    return _between_kinds(have, want, names)


def _between_numbers(one: _Number, other: _Number, have: str, want: str, names: str) -> Cast:
    fits = other.low <= one.low and one.high <= other.high and one.decimals <= other.decimals and _precise(one, other)
    if fits:
        return Cast(CastMethod.KEEP if have == want else CastMethod.CAST, want)
    if have == want:
        return Cast(CastMethod.KEEP, want, f"{names}: numbers that do not fit are passed on unchanged")
    loss = "numbers that do not fit become NULL"
    if one.decimals > other.decimals or not _precise(one, other):
        loss = "digits are rounded" if other.decimals else "decimals are truncated"
    return Cast(CastMethod.TRY_CAST, want, f"{names}: {loss}")


def _precise(one: _Number, other: _Number) -> bool:
    """Return whether a conversion keeps all digits."""
    if other.bits == float("inf"):
        return one.bits == float("inf")
    if one.bits != float("inf"):
        return one.bits <= other.bits
    return one.decimals == 0 and max(abs(one.low), one.high) <= 2**other.bits


def _number(field: Field, sql: str) -> _Number | None:
    detail = field.type.detail if field.type and field.type.name == "integer" else None
    if detail and (unsigned := _UNSIGNED.fullmatch(detail)):
        return _Number(0, 2 ** int(unsigned[1]) - 1)
    if sql in _WHOLE_BITS:
        return _Number(-(2 ** (_WHOLE_BITS[sql] - 1)), 2 ** (_WHOLE_BITS[sql] - 1) - 1)
    if found := _DECIMAL.fullmatch(sql):
        precision, scale = int(found[1]), int(found[2])
        return _Number(-(10 ** (precision - scale)) + 1, 10 ** (precision - scale) - 1, scale)
    if sql in _MANTISSA:
        endless = float("inf")
        return _Number(-endless, endless, endless, _MANTISSA[sql])
    return None


def _same_storage_loss(source: Field, target: Field, names: str) -> str | None:
    """Return the loss between types that are both stored as strings, such as text and JSON."""
    have, want = (field.type.name if field.type else None for field in (source, target))
    if have == want or want in ("string", None):
        return None
    return f"{names}: invalid values are passed on unchanged"


def _between_kinds(have: str, want: str, names: str) -> Cast:
    numeric = have in _WHOLE_BITS or have in _MANTISSA or have.startswith("DECIMAL")
    to_number = want in _WHOLE_BITS or want in _MANTISSA or want.startswith("DECIMAL")
    simple = numeric or have in (TEXT, "BOOLEAN", "DATE", "BINARY", *_TIMES)
    if want == TEXT and simple:
        loss = {"TIMESTAMP": "the time zone is not written", "BINARY": "bytes that are not text are garbled"}.get(have)
        return Cast(CastMethod.CAST, want, f"{names}: {loss}" if loss else None)
    if have == TEXT and want == "BINARY":
        return Cast(CastMethod.CAST, want)
    if have == TEXT and (to_number or want in ("BOOLEAN", "DATE", *_TIMES)):
        return Cast(CastMethod.TRY_CAST, want, f"{names}: invalid texts become NULL")
    if have == "BOOLEAN" and to_number:
        return Cast(CastMethod.CAST, want)
    if numeric and want == "BOOLEAN":
        return Cast(CastMethod.CAST, want, f"{names}: every number but 0 becomes true")
    if have == "DATE" and want in _TIMES:
        return Cast(CastMethod.CAST, want)
    if have in _TIMES and want == "DATE":
        return Cast(CastMethod.CAST, want, f"{names}: the time of day is lost")
    if have in _TIMES and want in _TIMES:
        return Cast(CastMethod.CAST, want, f"{names}: the result depends on the session time zone")
    return Cast(CastMethod.NOTHING, want, f"{names}: no conversion exists; declare sql and back")
