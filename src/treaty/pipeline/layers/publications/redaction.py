"""Values taken out of a publication: hashed with its salt, emptied, or replaced by a constant, at any depth.

Columns are written as SQL, so that a frame and a view are redacted by the same words.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.paths import ITEMS, MAP_VALUES, Step, parse_path
from treaty.contracts.sql_quoting import quote_identifier, quote_string
from treaty.errors import InvalidDocument
from treaty.pipeline.project.declarations import Publication, Redacted, Redaction
from treaty.spark.columns import quoted_col
from treaty.spark.schema import find_struct_field

_STRUCTURES = (spark.StructType, spark.ArrayType, spark.MapType)
_BETWEEN = "\x1f"
"""Stands between the salt and the value, so that no two pairs give one text."""


def salt_for(secret: str, publication: Publication) -> str:
    """Return a publication's own salt, so that the hashes of two publications cannot be matched with each other.

    A hash is SHA-256, in hexadecimal digits, of the salt, the character U+001F and the value as text. Whoever has the
    secret can find values by trying; nobody else can. With another secret all hashes are others.
    """
    return sha256(f"{publication.line}{_BETWEEN}{publication.table}{_BETWEEN}{secret}".encode()).hexdigest()


def redacted(rows: DataFrame, publication: Publication, salt: str | None) -> DataFrame:
    """Return the rows with every redaction of the publication applied."""
    replaced = redactions_sql(rows.schema, publication, salt)
    if not replaced:
        return rows
    return rows.select(
        *[F.expr(replaced[name]).alias(name) if name in replaced else quoted_col(name) for name in rows.columns]
    )


def redactions_sql(have: spark.StructType, publication: Publication, salt: str | None) -> dict[str, str]:
    """Return, for each column that something is taken out of, what stands there instead."""
    replaced: dict[str, str] = {}
    for redaction in publication.redacted:
        if redaction.how is Redaction.HASH and not salt:
            raise InvalidDocument(
                f"{publication.at}: {redaction.field} is to be hashed, but there is no secret to hash with; "
                "without one, values could be found by trying: set TREATY_HASH_SECRET"
            )
        first, *rest = _steps(redaction, publication)
        column = find_struct_field(have, first.text)
        if column is None or first.is_mark:
            raise _unknown(redaction, publication, first, have)
        value = replaced.get(column.name, quote_identifier(column.name))
        replaced[column.name] = _Path(redaction, publication, salt or "").rewritten(value, column.dataType, rest)
    return replaced


@dataclass(frozen=True)
class _Path:
    """One redaction on its way down to the value."""

    redaction: Redacted
    publication: Publication
    salt: str

    def rewritten(self, value: str, kind: spark.DataType, steps: list[Step], depth: int = 0) -> str:
        """Return a value as SQL with the part that the steps lead to taken out."""
        if not steps:
            return _REPLACEMENTS[self.redaction.how](value, kind, self)
        into, rest = steps[0], steps[1:]
        if isinstance(kind, spark.ArrayType):
            rest = rest if into.text == ITEMS and into.is_mark else steps  # the mark may be left out
            inner = self.rewritten(f"x{depth}", kind.elementType, rest, depth + 1)
            return f"transform({value}, x{depth} -> {inner})"
        if isinstance(kind, spark.MapType) and (not into.is_mark or into.text == MAP_VALUES):
            rest = rest if into.is_mark else steps
            inner = self.rewritten(f"x{depth}", kind.valueType, rest, depth + 1)
            return f"transform_values({value}, (k{depth}, x{depth}) -> {inner})"
        if isinstance(kind, spark.StructType) and not into.is_mark and (part := find_struct_field(kind, into.text)):
            return self._in_struct(value, kind, part, rest, depth)
        raise _unknown(self.redaction, self.publication, into, kind)

    def _in_struct(
        self, value: str, kind: spark.StructType, part: spark.StructField, rest: list[Step], depth: int
    ) -> str:
        parts = [(item, f"{value}.{quote_identifier(item.name)}") for item in kind.fields]
        built = ", ".join(
            f"{quote_string(item.name)}, {self.rewritten(inner, item.dataType, rest, depth) if item is part else inner}"
            for item, inner in parts
        )
        return f"CASE WHEN {value} IS NOT NULL THEN named_struct({built}) END"


def _hashed(value: str, kind: spark.DataType, path: _Path) -> str:
    text = f"CAST({value} AS STRING)"
    if isinstance(kind, _STRUCTURES):
        text = f"to_json({value})"
    elif isinstance(kind, spark.BinaryType):
        text = f"base64({value})"
    return f"sha2(concat({quote_string(path.salt + _BETWEEN)}, {text}), 256)"


def _emptied(value: str, kind: spark.DataType, path: _Path) -> str:
    return f"CASE WHEN FALSE THEN {value} END"  # keeps the type, whatever it is called


def _constant(value: str, kind: spark.DataType, path: _Path) -> str:
    return quote_string(path.redaction.constant or "")


_REPLACEMENTS = {Redaction.HASH: _hashed, Redaction.NULL: _emptied, Redaction.CONSTANT: _constant}


def _steps(redaction: Redacted, publication: Publication) -> tuple[Step, ...]:
    try:
        return parse_path(redaction.field).steps
    except InvalidDocument as error:
        raise InvalidDocument(f"{publication.at}: redact: {error}") from None


def _unknown(redaction: Redacted, publication: Publication, step: Step, kind: spark.DataType) -> InvalidDocument:
    names = kind.names if isinstance(kind, spark.StructType) else None
    there = f"it is in {kind.simpleString()}" if names is None else f"there are: {', '.join(names)}"
    return InvalidDocument(
        f"{publication.at}: {redaction.field} is to be redacted, but there is no {step.text!r}; {there}. "
        "Nothing is published that should have been taken out"
    )
