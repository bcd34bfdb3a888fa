"""Lint rules for what a contract reveals about the inside of its producer: storage and the structure of identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract
from treaty.contracts.names import split_words
from treaty.contracts.values import EMPTY
from treaty.governance.lint.rule_table import FieldContext, Remark, field_rule
from treaty.governance.lint.text_analysis import split_text, stems

_DATABASES = frozenset(
    {
        *("postgres", "postgresql", "mysql", "mariadb", "oracle", "mongodb", "mongo", "dynamodb", "cassandra"),
        *("sqlite", "redis", "mssql", "db2", "aurora", "elasticsearch", "snowflake", "bigquery", "redshift"),
    }
)
_STORAGE_WORDS = stems(("table", "column", "row", "key", "schema", "sequence", "database", "collection", "index"))
_STORAGE_PHRASES = (
    *("primary key of the table", "auto increment", "auto incremented", "autoincrement", "surrogate key"),
    *("database sequence", "database table", "database column", "row id of", "foreign key to the table"),
)
"""Words of a description that refer to storage: a phrase, or a database together with one of the storage words."""

_IDENTIFIERS = frozenset({"id", "ids", "identifier", "key", "uid", "guid", "uuid"})
_PARTS_PHRASES = (
    *("consists of", "composed of", "made up of", "concatenation of", "concatenated", "is built from", "encodes"),
    *("starts with the", "begins with the", "ends with the", "followed by", "first two characters"),
    *("first three characters", "first four characters", "last two characters", "last three characters"),
    *("last four characters", "first two digits", "first four digits", "last two digits", "last four digits"),
    *("prefixed with the", "prefixed by the", "is embedded in", "embeds", "contains the region", "contains the row id"),
)
_JOINED_PARTS = re.compile(r"[\])}+*][-_/:.|#~\\]{1,2}[\[(\\]")
"""A separator between two parts of a pattern that vary."""

_UUID = re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_SEPARATOR = re.compile(r"[-_/:.|#~]")


@field_rule(Severity.WARNING)
def storage_described(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """A description explains a field by the producer's storage: "Primary key of the table in Postgres".

    Why: tables, columns and sequences are internal to the producer. A consumer that relies on them breaks when the
    producer changes its database, although the contract stays the same.

    Fix: describe what the value means to the business, or remove the field.
    """
    words = split_text((spot.field.description or "").lower())
    stemmed = stems(words)
    if phrase := next((phrase for phrase in _STORAGE_PHRASES if f" {phrase} " in f" {' '.join(words)} "), None):
        detail = phrase
    elif stemmed & _STORAGE_WORDS and (engines := [word for word in words if word in _DATABASES]):
        detail = engines[0]
    else:
        return
    message = f"the description of {spot.path_text} refers to the producer's storage ({detail})"
    yield Remark(message, "describe what it means to the business", (*spot.pointer, "description"))


@field_rule(Severity.WARNING)
def identifier_structured(spot: FieldContext, contract: Contract) -> Iterator[Remark]:
    """An identifier has an inner structure: its description, pattern or examples show that it has parts.

    Why: consumers will take it apart, for example to extract a region or a row id, and then the producer can neither
    change the format nor where the parts come from. Nothing in the contract shows this dependency.

    Fix: make the identifier opaque and offer each part as a field of its own. UUIDs and a fixed prefix such as `ord_`
    are opaque.
    """
    if not split_words(spot.name)[-1:] or split_words(spot.name)[-1] not in _IDENTIFIERS:
        return
    if evidence := _inner_structure(spot):
        message = f"the identifier {spot.path_text} has an inner structure: {evidence}"
        yield Remark(message, "make it opaque, and offer its parts as fields", spot.pointer)


def _inner_structure(spot: FieldContext) -> str | None:
    """Return what shows that an identifier has parts, or None if it looks opaque."""
    text = f" {' '.join(split_text(spot.field.description or ''))} "
    if phrase := next((phrase for phrase in _PARTS_PHRASES if f" {phrase} " in text), None):
        return f'its description says "{phrase}"'
    pattern = (spot.field.options or EMPTY).get("pattern")
    if isinstance(pattern, str) and not _is_uuid_pattern(pattern) and _JOINED_PARTS.search(pattern):
        return f"its pattern {pattern} joins parts"
    examples = [str(example) for example in spot.field.more.get("examples") or ()]
    if examples and all(map(_has_parts, examples)):
        return f"its example {examples[0]} has parts"
    return None


def _is_uuid_pattern(pattern: str) -> bool:
    """Return whether a pattern has the lengths of the groups of a UUID, which carry no meaning."""
    return "{8}" in pattern and "{12}" in pattern


def _has_parts(example: str) -> bool:
    """Return whether a text joins parts: three, or two with digits; a UUID has none."""
    if _UUID.fullmatch(example):
        return False
    parts = [part for part in _SEPARATOR.split(example) if part]
    return len(parts) > 2 or sum(any(map(str.isdigit, part)) for part in parts) > 1
