"""What the SQL of a rule turns out to be, as checked SQL for Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.sql_quoting import quote_identifier

_TABLE = re.compile("\0([0-9]+)\0")


def table_mark(number: int) -> str:
    """Return what stands for a table until its view is known; nothing else in checked SQL has this character."""
    return f"\0{number}\0"


@dataclass(frozen=True, kw_only=True)
class ReadFields:
    """What is read of the rule's own object: columns by their names in the data, and fields by their contract paths."""

    fields: tuple[str, ...]
    paths: tuple[FieldPath, ...]


@dataclass(frozen=True, kw_only=True)
class RowValue(ReadFields):
    """One value computed from a row."""

    expression: str


@dataclass(frozen=True, kw_only=True)
class RowCondition(ReadFields):
    """A condition on one row; as with CHECK, a row breaks it only where it is false, not where it is unknown."""

    condition: str
    is_row_level: ClassVar[bool] = True

    @property
    def broken(self) -> str:
        """What is true for exactly the rows that break the condition, and never null."""
        return f"coalesce(NOT ({self.condition}), false)"


@dataclass(frozen=True, kw_only=True)
class RowCount(ReadFields):
    """How many rows a condition holds for; rows for which it is unknown are not counted."""

    condition: str
    is_row_level: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class AggregateMetric(ReadFields):
    """One aggregate expression over all rows of the object; `has_distinct` where it must tell values apart."""

    expression: str
    has_distinct: bool
    is_row_level: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class RuleQuery(ReadFields):
    """A query of one column that must run by itself, over the objects whose names are in `tables`."""

    template: str
    tables: tuple[str, ...]
    is_row_level: ClassVar[bool] = False

    def render(self, views: Mapping[str, str]) -> str:
        """Return the SQL with the view of each object in its place."""
        return _TABLE.sub(lambda found: quote_identifier(views[self.tables[int(found[1])]]), self.template)


RuleSql: TypeAlias = RowCondition | RowCount | AggregateMetric | RuleQuery


@dataclass(frozen=True)
class RuleScope:
    """The object a rule is about, the field it stands on if any, and the objects beside it."""

    object: SchemaObject
    field: FieldPath | None = None
    others: tuple[SchemaObject, ...] = ()

    @classmethod
    def of(cls, contract: Contract, item: SchemaObject, field: FieldPath | None = None) -> RuleScope:
        """Return the scope of a rule on an object of a contract, or on one of its fields."""
        return cls(item, field, tuple(other for other in contract.schema if other is not item))

    def table(self, parts: tuple[str, ...]) -> SchemaObject | None:
        """Return the object of that name, be it the contract's or the stored one, whatever its case."""
        wanted = ".".join(parts).lower()
        for item in (self.object, *self.others):
            if wanted in (name.lower() for name in (item.name, item.physical_name) if name):
                return item
        return None

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names a rule may read from."""
        return tuple(item.name for item in (self.object, *self.others))
