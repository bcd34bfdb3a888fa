"""Why a row is in quarantine: one entry for each rule it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.spark.rules import Rule

MASKED = "***"
_LONGEST = 200
_PARTS = ("rule", "kind", "field", "value", "says", "severity", "contract", "version")
VIOLATIONS_TYPE = spark.ArrayType(spark.StructType([spark.StructField(part, spark.StringType()) for part in _PARTS]))


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


def violations(reasons: Sequence[Reason], origin: Origin) -> Column:
    """Return the list of what a row breaks; build it for bad rows only."""
    entries = [F.when(reason.broken, _entry(reason, origin)) for reason in reasons]
    return F.array_compact(F.array(*entries)) if entries else F.array().cast(VIOLATIONS_TYPE)


def _entry(reason: Reason, origin: Origin) -> Column:
    text = F.substring(reason.shown.cast("string"), 1, _LONGEST)
    value = F.when(text.isNotNull(), F.lit(MASKED)) if reason.is_secret else text
    return F.struct(
        F.lit(reason.rule.id).alias("rule"),
        F.lit(reason.rule.kind.value).alias("kind"),
        F.lit(reason.rule.field).alias("field"),
        value.alias("value"),
        F.lit(reason.rule.says).alias("says"),
        F.lit(reason.rule.severity.value).alias("severity"),
        F.lit(origin.contract).alias("contract"),
        F.lit(origin.version).alias("version"),
    )
