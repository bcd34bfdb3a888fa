"""Why a row is in quarantine: one entry for each rule it breaks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.rules import Rule

MASKED_VALUE = "***"
_LONGEST = 200
_PARTS = ("rule", "kind", "field", "value", "says", "severity", "contract", "version")
VIOLATIONS_TYPE = spark.ArrayType(spark.StructType([spark.StructField(part, spark.StringType()) for part in _PARTS]))
_PLACE, _VALUE = "place", "value"


@dataclass(frozen=True)
class Origin:
    """Which contract a row was judged by."""

    contract: str
    version: str


@dataclass(frozen=True)
class Reason:
    """A rule, when a row breaks it, and the value that does."""

    rule: Rule
    broken: Column
    shown: Column
    is_secret: bool = False


def violations_column(reasons: Sequence[Reason], origin: Origin) -> Column:
    """Return the list of what a row breaks; build it for bad rows only.

    What is said of a rule is looked up in a list that Spark works out once: as columns it would be most of the plan.
    """
    if not reasons:
        return F.array().cast(VIOLATIONS_TYPE)
    found = F.array_compact(F.array(*[_found(place, reason) for place, reason in enumerate(reasons)]))
    said = F.from_json(F.lit(json.dumps([_said(reason, origin) for reason in reasons])), VIOLATIONS_TYPE.simpleString())
    return F.transform(found, lambda one: F.get(said, one.getField(_PLACE)).withField(_VALUE, one.getField(_VALUE)))


def _found(place: int, reason: Reason) -> Column:
    text = F.substring(reason.shown.cast("string"), 1, _LONGEST)
    value = F.when(text.isNotNull(), F.lit(MASKED_VALUE)) if reason.is_secret else text
    return F.when(reason.broken, F.struct(F.lit(place).alias(_PLACE), value.alias(_VALUE)))


def _said(reason: Reason, origin: Origin) -> dict[str, str]:
    rule = reason.rule
    return {
        "rule": rule.id,
        "kind": rule.kind.value,
        "field": rule.field,
        "says": rule.says,
        "severity": rule.severity.value,
        "contract": origin.contract,
        "version": origin.version,
    }
