"""Render names, literals and types in a SQL dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.model import Field
from treaty.contracts.types import DataType
from treaty.contracts.values import EMPTY
from treaty.formats.sql.dialects import DIALECTS, CommentStyle, Dialect
from treaty.formats.sql.types import read_type

_SIMPLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FOLDING = frozenset({"postgres"})
"""Dialects that fold unquoted names to lower case, so that upper case needs quotes."""
_INTEGERS = {
    "i8": "TINYINT",
    "i16": "SMALLINT",
    "i32": "INT",
    "i64": "BIGINT",
    "i128": "INT128",
    "u8": "UTINYINT",
    "u16": "USMALLINT",
    "u32": "UINT",
    "u64": "UBIGINT",
    "u128": "UINT128",
}
_UNSIGNED = {"u8": "SMALLINT", "u16": "INT", "u32": "BIGINT", "u64": "DECIMAL(20, 0)"}
_HUGE = "DECIMAL(38, 0)"
_SCALARS = {
    "boolean": "BOOLEAN",
    "date": "DATE",
    "time": "TIME",
    "binary": "VARBINARY",
    "json": "JSON",
    "object": "JSON",
}
_NO_TIME = frozenset({"spark", "databricks"})
_NO_JSON = frozenset({"spark", "databricks"})
_MAX_PRECISION = 38


_T = exp.DataType.Type
_NESTED = frozenset({_T.ARRAY, _T.LIST, _T.STRUCT, _T.OBJECT, _T.MAP, _T.ENUM, _T.NESTED})
_COMMON = frozenset(
    {
        *(_T.SMALLINT, _T.INT, _T.BIGINT, _T.FLOAT, _T.DOUBLE, _T.DECIMAL, _T.BOOLEAN, _T.UUID, _T.JSON),
        *(_T.VARCHAR, _T.CHAR, _T.TEXT, _T.BPCHAR, _T.VARBINARY, _T.DATE, _T.TIME, _T.TIMETZ, _T.INTERVAL),
        *(_T.TIMESTAMP, _T.TIMESTAMPNTZ, _T.TIMESTAMPTZ),
    }
)
_TYPES_OF = {
    "postgres": _COMMON | {_T.JSONB, _T.BIT, _T.MONEY, _T.XML, _T.INET},
    "duckdb": _COMMON
    | {_T.TINYINT, _T.INT128, _T.UTINYINT, _T.USMALLINT, _T.UINT, _T.UBIGINT, _T.UINT128}
    | {_T.TIMESTAMP_S, _T.TIMESTAMP_MS, _T.TIMESTAMP_NS},
}
"""All types of a dialect, where they are known; other dialects may have any type that is not nested."""
_PARAMETERS = {
    **dict.fromkeys((_T.VARCHAR, _T.NVARCHAR, _T.CHAR, _T.NCHAR, _T.TEXT, _T.BINARY, _T.VARBINARY, _T.BIT), 1),
    **dict.fromkeys((_T.TIMESTAMP, _T.TIMESTAMPNTZ, _T.TIMESTAMPTZ, _T.TIMESTAMPLTZ, _T.TIME, _T.TIMETZ), 1),
    **dict.fromkeys((_T.DECIMAL, _T.BIGDECIMAL), 2),
}
"""How many parameters a type takes; others take none, so that REAL(3, 2) is not written."""
_MAX_SECOND_DIGITS = 6


def is_type_of(kind: exp.DataType, dialect: str) -> bool:
    """Whether a dialect has a type with these parameters, so that a table with such a column can be created."""
    numbers = [int(one.name) for one in kind.expressions if one.name.isdigit()]
    if kind.this in _NESTED or kind.this not in _TYPES_OF.get(dialect, {kind.this}):
        return False
    if len(numbers) != len(kind.expressions) or len(numbers) > _PARAMETERS.get(kind.this, 0):
        return False
    if kind.this in (_T.DECIMAL, _T.BIGDECIMAL):
        precision, scale = (*numbers, 0, 0)[:2]
        return not numbers or (scale <= precision and 0 < precision <= _MAX_PRECISION)
    is_temporal = kind.this in exp.DataType.TEMPORAL_TYPES or kind.this in (_T.TIME, _T.TIMETZ)
    return all(number <= _MAX_SECOND_DIGITS if is_temporal else number > 0 for number in numbers)


@dataclass(frozen=True)
class SqlRenderer:
    """Renders SQL in one dialect."""

    name: str

    @property
    def dialect(self) -> Dialect:
        """The capabilities of the dialect."""
        return DIALECTS[self.name]

    def identifier(self, name: str) -> str:
        """Return a name, quoted if necessary."""
        plain = _SIMPLE_NAME.fullmatch(name) and name.lower() not in RESERVED_WORDS
        quoted = not plain or (self.name in _FOLDING and name != name.lower())
        return exp.to_identifier(name, quoted=quoted).sql(dialect=self.name)

    def text(self, text: str) -> str:
        """Return a text as a string literal."""
        return exp.Literal.string(text).sql(dialect=self.name)

    def value(self, value: Any) -> str | None:
        """Return a value as a literal; None if SQL has no literal for it."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, float):
            digits = f"{Decimal(repr(value)):f}"
            return digits if "." in digits else f"{digits}.0"
        return repr(value) if isinstance(value, int) else None

    def typed_value(self, value: Any, field: Field) -> str | None:
        """Return a value as a literal for a column; None if the values of its type do not include it."""
        return self.value(value) if _is_value_of(value, field) else None

    def type(self, field: Field) -> str:
        """Return the SQL type of a field."""
        return self._physical_type(field) or self._derived_type(field)

    def _physical_type(self, field: Field) -> str | None:
        """Return the physical type of the contract if the dialect has a type of that name."""
        if not field.physical_type or field.properties is not None or field.children:
            return None
        try:
            kind = exp.DataType.build(field.physical_type, dialect=self.name)
        except (SqlglotError, ValueError):
            return None
        if not is_type_of(kind, self.name):
            return None
        read = read_type(kind, self.name)
        known = read.type is not None and read.type == field.type and read.physical_type is not None
        bare = (field.options or EMPTY).get("timezone") == (read.options or EMPTY).get("timezone")
        return kind.sql(dialect=self.name) if known and bare else None

    def _derived_type(self, field: Field) -> str:
        stated = field.type
        options = field.options or EMPTY
        match stated.name if stated else "string":
            case "object" if field.properties:
                members = ", ".join(self._member(child) for child in field.properties)
                return self.dialect.struct.format(members)
            case "array":
                return self.dialect.array.format(self.type(field.items) if field.items else self._render_type("TEXT"))
            case "vector":
                return self.dialect.array.format(self._render_type("FLOAT"))
            case "map" if field.map_key and field.map_value:
                return self.dialect.entries.format(self.type(field.map_key), self.type(field.map_value))
            case "integer" | "number" if stated:
                return self._number(stated)
            case "timestamp":
                bare = options.get("timezone") is False or (stated and stated.detail == "without time zone")
                return self._render_type("TIMESTAMPNTZ" if bare else "TIMESTAMPTZ")
            case "string":
                return self._string(options)
            case "time" if self.name in _NO_TIME:
                return self._render_type("TEXT")
            case "json" | "object" if self.name in _NO_JSON:
                return "VARIANT" if self.name == "databricks" else self._render_type("TEXT")
            case "json" | "object":
                return {"postgres": "JSONB", "snowflake": "VARIANT"}.get(self.name, "JSON")
            case kind:
                return self._render_type(_SCALARS.get(kind, "TEXT"))

    def _string(self, options: Any) -> str:
        if options.get("format") == "uuid" and self.name in ("postgres", "duckdb"):
            return "UUID"
        length = options.get("maxLength")
        bounded = isinstance(length, int) and 0 < length <= 10_000_000 and self.name != "duckdb"
        return self._render_type(f"VARCHAR({length})" if bounded else "TEXT")

    def _number(self, stated: DataType) -> str:
        if stated.detail == "decimal":
            if stated.precision is None:
                return self._render_type(_HUGE if stated.name == "integer" else "DECIMAL(38, 9)")
            digits = min(stated.precision, _MAX_PRECISION)
            return self._render_type(f"DECIMAL({digits}, {min(stated.scale or 0, digits)})")
        if stated.name == "number":
            return self._render_type("FLOAT" if stated.detail == "f32" else "DOUBLE")
        width = stated.detail or "i32"
        if width not in _INTEGERS:
            return self._render_type("BIGINT")
        if self.name != "duckdb" and (width in _UNSIGNED or width.endswith("128")):
            return self._render_type(_UNSIGNED.get(width, _HUGE))
        return self._render_type(_INTEGERS[width])

    def _member(self, field: Field) -> str:
        text = self.dialect.member.format(name=self.identifier(field.name or ""), type=self.type(field))
        if self.dialect.not_null_inside and field.is_required:
            text += " NOT NULL"
        if field.description and self.dialect.not_null_inside and self.dialect.comments is not CommentStyle.STATEMENTS:
            text += self.comment(field.description) if self.name != "snowflake" else ""
        return text

    def comment(self, text: str) -> str:
        """Return the comment clause of a column; empty if the dialect uses separate statements."""
        if self.dialect.comments is CommentStyle.INLINE:
            return f" COMMENT {self.text(text)}"
        return f" OPTIONS (description = {self.text(text)})" if self.dialect.comments is CommentStyle.OPTIONS else ""

    def _render_type(self, kind: str) -> str:
        return exp.DataType.build(kind).sql(dialect=self.name)


def _is_value_of(value: Any, field: Field) -> bool:
    """Whether a column can be compared with a value: a date is text that states a date, for example."""
    name = field.type.name if field.type else "string"
    if name in _PARSERS:
        try:
            _PARSERS[name](value)
        except (TypeError, ValueError):
            return False
        return True
    return type(value) in {"string": (str,), "boolean": (bool,), "integer": (int,), "number": (int, float)}.get(
        name, ()
    )


_PARSERS: dict[str, Callable[[str], object]] = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "time": time.fromisoformat,
}
_WORDS = """
    all alter analyse analyze and any array as asc authorization between both by case cast check collate column
    comment constraint create cross current current_date current_time current_timestamp current_user database
    default deferrable delete desc describe distinct do drop else end escape except exclude exists extract false
    fetch filter first following for foreign from full function global grant group having if ignore ilike in index
    initially inner insert interval intersect into is join key language lateral leading left like limit local
    localtime localtimestamp map merge natural new not null nulls of offset old on only option options or order
    outer over overlaps partition percent pivot position preceding primary properties qualify range references
    replace returning right row rows sample schema select session_user set show some start struct symmetric system
    table tablesample then time timestamp to trailing trigger true truncate try_cast unbounded union unique unnest
    unpivot update user using values variadic view when where window with within
"""
RESERVED_WORDS = frozenset(_WORDS.split())
