"""Rules on references: read from relationships, and checked with a join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.checks import Kind
from treaty.spark.columns import INTERNAL_PREFIX, all_of, quoted_col
from treaty.spark.rules import ReferenceRule, Rule, Unchecked
from treaty.spark.schema import column_name, is_classified
from treaty.spark.uniqueness import has_complete_key


def mark_missing_references(frame: DataFrame, rule: ReferenceRule, other: DataFrame, flag: str) -> DataFrame:
    """Mark rows whose values are not in the other data; an incomplete reference is not checked."""
    absent = [name for name in rule.target_columns if name not in other.columns]
    if absent:
        raise InvalidDocument(
            f"the data for {rule.target!r} has no column {absent[0]!r}, which {rule.rule.field} refers to; "
            f"it has: {', '.join(other.columns)}"
        )
    names = [f"{INTERNAL_PREFIX}to_{place}" for place in range(len(rule.columns))]
    targets = other.select(
        *[quoted_col(column).alias(name) for column, name in zip(rule.target_columns, names, strict=True)]
    )
    same = [quoted_col(column) == quoted_col(name) for column, name in zip(rule.columns, names, strict=True)]
    joined = frame.join(targets.distinct(), all_of(same), "left")
    return joined.withColumn(flag, has_complete_key(rule.columns) & quoted_col(names[0]).isNull()).drop(*names)


def reference_rules(
    contract: Contract, schema: SchemaObject, given: frozenset[str]
) -> Iterator[ReferenceRule | Unchecked]:
    """Yield a rule for each relationship whose target is given or is the object itself."""
    for field in schema.fields:
        for entry in field.relationships or ():
            yield _rule(contract, schema, given, (field.name or "",), entry)
    for entry in schema.relationships or ():
        yield _rule(contract, schema, given, tuple(_last_part(item) for item in _as_tuple(entry.get("from"))), entry)


def _rule(
    contract: Contract, schema: SchemaObject, given: frozenset[str], names: tuple[str, ...], entry: Mapping[str, Any]
) -> ReferenceRule | Unchecked:
    targets = [_target(contract, item) for item in _as_tuple(entry.get("to"))]
    where = ", ".join(names)
    target_names = ", ".join(map(str, _as_tuple(entry.get("to"))))
    by_name = {field.name: field for field in schema.fields}
    unknown = [name for name in names if name not in by_name]
    owners = {owner for owner, _ in targets}
    if unknown or len(owners) != 1 or len(targets) != len(names):
        return Unchecked(
            f"reference:{where} -> {target_names}",
            "it does not pair fields of this object with fields of one other object",
        )
    owner = owners.pop()
    if owner not in given and owner != schema.name:
        return Unchecked(f"reference:{where} -> {target_names}", f"no data was given for {owner!r}")
    fields = [by_name[name] for name in names]
    rule = Rule(f"reference:{where}", Kind.REFERENCE, where, f"must exist in {target_names}")
    columns = tuple(column_name(field) for field in fields)
    target_columns = tuple(_column_in(contract, owner, name) for _, name in targets)
    return ReferenceRule(rule, columns, owner, target_columns, any(map(is_classified, fields)))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _last_part(reference: Any) -> str:
    return str(reference).replace("/", ".").rpartition(".")[2]


def _target(contract: Contract, reference: Any) -> tuple[str, str]:
    """Return the names of object and field in `object.field` or `/schema/<id>/properties/<id>`."""
    text = str(reference).rpartition("#")[2]
    if "/" not in text:
        owner, _, name = text.rpartition(".")
        return owner, name
    parts = [part for part in text.split("/") if part]
    owner_id, field_id = (parts[1] if len(parts) > 1 else ""), parts[-1]
    schema = next((item for item in contract.schema if item.id == owner_id), None)
    field = next((item for item in schema.fields if item.id == field_id), None) if schema else None
    return (schema.name if schema else owner_id), ((field.name or "") if field else field_id)


def _column_in(contract: Contract, owner: str, name: str) -> str:
    schema = next((item for item in contract.schema if item.name == owner), None)
    field: Field | None = next((item for item in schema.fields if item.name == name), None) if schema else None
    return column_name(field) if field else name
