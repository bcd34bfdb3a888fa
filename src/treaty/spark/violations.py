"""The violations of a quarantined row: one entry per violated rule."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.rules import Rule

MASKED_VALUE = "***"
_MAX_VALUE_LENGTH = 200
_VIOLATION_FIELDS = ("rule", "kind", "field", "value", "message", "severity", "contract", "version")
VIOLATIONS_TYPE = spark.ArrayType(
    spark.StructType([spark.StructField(part, spark.StringType()) for part in _VIOLATION_FIELDS])
)
_INDEX, _VALUE = "index", "value"


@dataclass(frozen=True)
class Origin:
    """The contract that a row was checked against."""

    contract: str
    version: str


@dataclass(frozen=True)
class Reason:
    """A rule, the condition under which a row violates it, and the value to show."""

    rule: Rule
    violated: Column
    value: Column
    is_secret: bool = False


def violations_column(reasons: Sequence[Reason], origin: Origin) -> Column:
    """Return the violations of a row; to be evaluated for invalid rows only.

    The texts of the rules are looked up in a constant list; as columns they would dominate the query plan.
    """
    if not reasons:
        return F.array().cast(VIOLATIONS_TYPE)
    violated = F.array_compact(F.array(*[_violation(index, reason) for index, reason in enumerate(reasons)]))
    descriptions = F.from_json(
        F.lit(json.dumps([_describe_rule(reason, origin) for reason in reasons])), VIOLATIONS_TYPE.simpleString()
    )
    return F.transform(
        violated, lambda entry: F.get(descriptions, entry.getField(_INDEX)).withField(_VALUE, entry.getField(_VALUE))
    )


def _violation(index: int, reason: Reason) -> Column:
    text = F.substring(reason.value.cast("string"), 1, _MAX_VALUE_LENGTH)
    value = F.when(text.isNotNull(), F.lit(MASKED_VALUE)) if reason.is_secret else text
    return F.when(reason.violated, F.struct(F.lit(index).alias(_INDEX), value.alias(_VALUE)))


def _describe_rule(reason: Reason, origin: Origin) -> dict[str, str]:
    rule = reason.rule
    return {
        "rule": rule.id,
        "kind": rule.kind.value,
        "field": rule.field,
        "message": rule.requirement,
        "severity": rule.severity.value,
        "contract": origin.contract,
        "version": origin.version,
    }
