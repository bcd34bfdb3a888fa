"""Rules on the age of the newest row, from the service levels of the contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.quantities import parse_seconds
from treaty.spark.checks import Kind
from treaty.spark.rules import FreshnessRule, Rule, Unchecked
from treaty.spark.schema import column_name, spark_type

_TIMESTAMP_TYPES = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)


def freshness_rules(contract: Contract, schema: SchemaObject) -> Iterator[FreshnessRule | Unchecked]:
    """Yield a rule for each freshness level that names a timestamp to measure it by."""
    for level in contract.sla or ():
        if str(level.get("property", "")).lower() == "freshness":
            rule = _rule(level, contract, schema)
            if rule is not None:
                yield rule


def _rule(level: Mapping[str, Any], contract: Contract, schema: SchemaObject) -> FreshnessRule | Unchecked | None:
    promised = parse_seconds(level.get("value"), level.get("unit"))
    what = f"freshness of {level.get('value')} {level.get('unit') or ''}".strip()
    if promised is None:
        return Unchecked(what, "its value is not a duration such as 4 h")
    element = level.get("element")
    if not element:
        return Unchecked(
            what, "it names no element; name the timestamp to measure it by, such as element: orders.updated_at"
        )
    owner, _, name = str(element).strip().rpartition(".")
    if owner and owner not in (schema.name, schema.physical_name) and len(contract.schema) > 1:
        return None
    field = _field(schema, name)
    if field is None or not isinstance(spark_type(field), _TIMESTAMP_TYPES):
        return Unchecked(what, f"its element {element!r} is not a top-level date or timestamp of {schema.name}")
    says = f"newest row must be at most {level.get('value')} {level.get('unit') or 's'} old"
    rule = Rule(f"freshness:{field.name}", Kind.FRESHNESS, field.name or "", says, of_rows=False)
    return FreshnessRule(rule, column_name(field), float(promised))


def _field(schema: SchemaObject, name: str) -> Field | None:
    return next((field for field in schema.fields if name in (field.name, field.physical_name)), None)
