"""What the SQL of a rule turns out to be, as checked SQL for Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from treaty.contracts.paths import FieldPath
from treaty.spark.guarded_sql.escaping import name_sql

_TABLE = re.compile("\0([0-9]+)\0")


def table_mark(number: int) -> str:
    """Return what stands for a table until its view is known; nothing else in checked SQL has this character."""
    return f"\0{number}\0"


@dataclass(frozen=True, kw_only=True)
class Read:
    """What is read of the rule's own object: columns by their names in the data, and fields by their contract paths."""

    fields: tuple[str, ...]
    paths: tuple[FieldPath, ...]


@dataclass(frozen=True, kw_only=True)
class RowValue(Read):
    """One value computed from a row."""

    expression: str


@dataclass(frozen=True, kw_only=True)
class RowCondition(Read):
    """A condition on one row; as with CHECK, a row breaks it only where it is false, not where it is unknown."""

    condition: str
    is_row_level: ClassVar[bool] = True

    @property
    def broken(self) -> str:
        """What is true for exactly the rows that break the condition, and never null."""
        return f"coalesce(NOT ({self.condition}), false)"


@dataclass(frozen=True, kw_only=True)
class RowsCounted(Read):
    """How many rows a condition holds for; rows for which it is unknown are not counted."""

    condition: str
    is_row_level: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class AggregateMetric(Read):
    """One aggregate expression over all rows of the object; `has_distinct` where it must tell values apart."""

    expression: str
    has_distinct: bool
    is_row_level: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class Query(Read):
    """A query of one column that must run by itself, over the objects whose names are in `tables`."""

    template: str
    tables: tuple[str, ...]
    is_row_level: ClassVar[bool] = False

    def render(self, views: Mapping[str, str]) -> str:
        """Return the SQL with the view of each object in its place."""
        return _TABLE.sub(lambda found: name_sql(views[self.tables[int(found[1])]]), self.template)


RuleSql: TypeAlias = RowCondition | RowsCounted | AggregateMetric | Query
