"""How old the newest row may be, from the contract's service levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.quantities import parse_seconds
from treaty.spark.checks import Kind
from treaty.spark.rules import FreshnessRule, Rule, Unchecked
from treaty.spark.schema import column_name, spark_type

_MOMENTS = (spark.DateType, spark.TimestampType, spark.TimestampNTZType)


def freshness_rules(contract: Contract, schema: SchemaObject) -> Iterator[FreshnessRule | Unchecked]:
    """Yield a rule for each freshness that names the element it is measured by."""
    for level in contract.sla or ():
        if str(level.get("property", "")).lower() == "freshness":
            found = _rule(level, contract, schema)
            if found is not None:
                yield found


def _rule(level: Mapping[str, Any], contract: Contract, schema: SchemaObject) -> FreshnessRule | Unchecked | None:
    promised = parse_seconds(level.get("value"), level.get("unit"))
    what = f"freshness of {level.get('value')} {level.get('unit') or ''}".strip()
    if promised is None:
        return Unchecked(what, "it is not a duration that can be read, such as 4 h")
    element = level.get("element")
    if not element:
        return Unchecked(
            what, "it names no element; say which timestamp it is measured by, such as element: orders.updated_at"
        )
    owner, _, name = str(element).strip().rpartition(".")
    if owner and owner not in (schema.name, schema.physical_name) and len(contract.schema) > 1:
        return None
    field = _field(schema, name)
    if field is None or not isinstance(spark_type(field), _MOMENTS):
        return Unchecked(what, f"its element {element!r} is not a date or timestamp at the top of {schema.name}")
    says = f"newest row must be at most {level.get('value')} {level.get('unit') or 's'} old"
    rule = Rule(f"freshness:{field.name}", Kind.FRESHNESS, field.name or "", says, of_rows=False)
    return FreshnessRule(rule, column_name(field), float(promised))


def _field(schema: SchemaObject, name: str) -> Field | None:
    return next((field for field in schema.fields if name in (field.name, field.physical_name)), None)
