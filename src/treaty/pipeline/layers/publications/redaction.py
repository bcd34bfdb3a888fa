"""Redaction: values of a publication are hashed with its salt, set to null or replaced by a constant, at any depth.

Redacted columns are written as SQL, so that tables and views use the same expressions.
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
_SEPARATOR = "\x1f"
"""Separates the salt from the value, so that no two pairs give the same text."""


def salt_for(secret: str, publication: Publication) -> str:
    """Return the salt of a publication, so that the hashes of two publications cannot be matched with each other.

    A hash is the SHA-256, in hexadecimal digits, of the salt, the character U+001F and the value as text. Guessing
    values requires the secret. A new secret changes all hashes.
    """
    return sha256(f"{publication.line}{_SEPARATOR}{publication.table}{_SEPARATOR}{secret}".encode()).hexdigest()


def redact(rows: DataFrame, publication: Publication, salt: str | None) -> DataFrame:
    """Return the rows with all redactions of the publication applied."""
    replaced = redactions_sql(rows.schema, publication, salt)
    if not replaced:
        return rows
    return rows.select(
        *[F.expr(replaced[name]).alias(name) if name in replaced else quoted_col(name) for name in rows.columns]
    )


def redactions_sql(have: spark.StructType, publication: Publication, salt: str | None) -> dict[str, str]:
    """Return the SQL expression of each redacted column."""
    replaced: dict[str, str] = {}
    for redaction in publication.redacted:
        if redaction.how is Redaction.HASH and not salt:
            raise InvalidDocument(
                f"{publication.at}: {redaction.field} is to be hashed, but no secret is set, without which values "
                "could be guessed: set TREATY_HASH_SECRET"
            )
        first, *rest = _steps(redaction, publication)
        column = find_struct_field(have, first.text)
        if column is None or first.is_mark:
            raise _unknown(redaction, publication, first, have)
        value = replaced.get(column.name, quote_identifier(column.name))
        replaced[column.name] = _PathRedaction(redaction, publication, salt or "").apply(value, column.dataType, rest)
    return replaced


@dataclass(frozen=True)
class _PathRedaction:
    """One redaction, applied along its path."""

    redaction: Redacted
    publication: Publication
    salt: str

    def apply(self, value: str, kind: spark.DataType, steps: list[Step], depth: int = 0) -> str:
        """Return a value as SQL with the part at the end of the path redacted."""
        if not steps:
            return _REPLACEMENTS[self.redaction.how](value, kind, self)
        into, rest = steps[0], steps[1:]
        if isinstance(kind, spark.ArrayType):
            rest = rest if into.text == ITEMS and into.is_mark else steps  # the mark is optional
            inner = self.apply(f"x{depth}", kind.elementType, rest, depth + 1)
            return f"transform({value}, x{depth} -> {inner})"
        if isinstance(kind, spark.MapType) and (not into.is_mark or into.text == MAP_VALUES):
            rest = rest if into.is_mark else steps
            inner = self.apply(f"x{depth}", kind.valueType, rest, depth + 1)
            return f"transform_values({value}, (k{depth}, x{depth}) -> {inner})"
        if isinstance(kind, spark.StructType) and not into.is_mark and (part := find_struct_field(kind, into.text)):
            return self._in_struct(value, kind, part, rest, depth)
        raise _unknown(self.redaction, self.publication, into, kind)

    def _in_struct(
        self, value: str, kind: spark.StructType, part: spark.StructField, rest: list[Step], depth: int
    ) -> str:
        parts = [(field, f"{value}.{quote_identifier(field.name)}") for field in kind.fields]
        built = ", ".join(
            f"{quote_string(field.name)}, {self.apply(inner, field.dataType, rest, depth) if field is part else inner}"
            for field, inner in parts
        )
        return f"CASE WHEN {value} IS NOT NULL THEN named_struct({built}) END"


def _hashed(value: str, kind: spark.DataType, path: _PathRedaction) -> str:
    text = f"CAST({value} AS STRING)"
    if isinstance(kind, _STRUCTURES):
        text = f"to_json({value})"
    elif isinstance(kind, spark.BinaryType):
        text = f"base64({value})"
    return f"sha2(concat({quote_string(path.salt + _SEPARATOR)}, {text}), 256)"


def _nulled(value: str, kind: spark.DataType, path: _PathRedaction) -> str:
    return f"CASE WHEN FALSE THEN {value} END"  # null of the same type


def _constant(value: str, kind: spark.DataType, path: _PathRedaction) -> str:
    return quote_string(path.redaction.constant or "")


_REPLACEMENTS = {Redaction.HASH: _hashed, Redaction.NULL: _nulled, Redaction.CONSTANT: _constant}


def _steps(redaction: Redacted, publication: Publication) -> tuple[Step, ...]:
    try:
        return parse_path(redaction.field).steps
    except InvalidDocument as error:
        raise InvalidDocument(f"{publication.at}: redact: {error}") from None


def _unknown(redaction: Redacted, publication: Publication, step: Step, kind: spark.DataType) -> InvalidDocument:
    names = kind.names if isinstance(kind, spark.StructType) else None
    available = f"it is in {kind.simpleString()}" if names is None else f"there are: {', '.join(names)}"
    return InvalidDocument(
        f"{publication.at}: {redaction.field} is to be redacted, but there is no {step.text!r}; {available}. "
        "Nothing is published without this redaction"
    )
