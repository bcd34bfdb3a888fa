"""One check of one value: what it looks at, when the value breaks it, and how the broken value is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.contracts.findings import Severity
from treaty.contracts.paths import FieldPath
from treaty.spark.reading_values import OfColumn
from treaty.spark.thresholds import NONE_AT_ALL, Threshold


class Kind(StrEnum):
    """What a rule is about."""

    REQUIRED = "required"
    TYPE = "type"
    ENUM = "enum"
    PATTERN = "pattern"
    RANGE = "range"
    LENGTH = "length"
    FORMAT = "format"
    MULTIPLE = "multiple_of"
    ITEM_COUNT = "item_count"
    UNIQUE_ITEMS = "unique_items"
    UNKNOWN_FIELD = "unknown_field"
    MALFORMED = "malformed"
    NULL_VALUES = "null_values"
    MISSING_VALUES = "missing_values"
    INVALID_VALUES = "invalid_values"
    SQL = "sql"
    UNIQUE = "unique"
    REFERENCE = "reference"
    ROW_COUNT = "row_count"
    FRESHNESS = "freshness"


@dataclass(frozen=True)
class Check:
    """A condition on a value of a field; columns are functions of the value, so that a check fits any nesting."""

    kind: Kind
    path: FieldPath
    says: str
    broken: OfColumn
    shown: OfColumn
    is_secret: bool = False
    name: str | None = None
    severity: Severity = Severity.ERROR
    allows: Threshold = NONE_AT_ALL

    def reached_by(self, reach: OfColumn) -> Check:
        """Return the check for a value that is reached from another."""
        broken, shown = self.broken, self.shown
        return replace(self, broken=lambda outer: broken(reach(outer)), shown=lambda outer: shown(reach(outer)))

    def below(self, reach: OfColumn) -> Check:
        """Return the check for a part of an object; where there is no object, no part is missing."""
        broken, shown = self.broken, self.shown
        return replace(
            self,
            broken=lambda outer: outer.isNotNull() & broken(reach(outer)),
            shown=lambda outer: shown(reach(outer)),
        )

    def for_any(self, elements: OfColumn) -> Check:
        """Return the check for each of several values: one that breaks it is enough, and the first is shown."""
        broken, shown = self.broken, self.shown

        def first(outer: Column) -> Column:
            return shown(F.get(F.filter(elements(outer), broken), F.lit(0)))

        return replace(self, broken=lambda outer: F.exists(elements(outer), broken), shown=first)
