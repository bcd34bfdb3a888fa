"""Checked SQL of a rule by kind: row condition, row count, aggregate or query; and what a rule is about."""

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
    """Return the mark for a table whose view is not known yet; a NUL occurs nowhere else in checked SQL."""
    return f"\0{number}\0"


@dataclass(frozen=True, kw_only=True)
class ReadFields:
    """What a rule reads of its own object: columns by stored name, and fields by contract path."""

    fields: tuple[str, ...]
    paths: tuple[FieldPath, ...]


@dataclass(frozen=True, kw_only=True)
class RowValue(ReadFields):
    """One value computed from a row."""

    expression: str


@dataclass(frozen=True, kw_only=True)
class RowCondition(ReadFields):
    """A condition on one row; as with CHECK, a row violates it only if it is false, not if it is null."""

    condition: str
    is_row_level: ClassVar[bool] = True

    @property
    def broken(self) -> str:
        """SQL that is true for rows that violate the condition and false for all others, never null."""
        return f"coalesce(NOT ({self.condition}), false)"


@dataclass(frozen=True, kw_only=True)
class RowCount(ReadFields):
    """The number of rows for which a condition is true."""

    condition: str
    is_row_level: ClassVar[bool] = True


@dataclass(frozen=True, kw_only=True)
class AggregateMetric(ReadFields):
    """One aggregate expression over all rows of the object; `has_distinct` if it contains DISTINCT."""

    expression: str
    has_distinct: bool
    is_row_level: ClassVar[bool] = False


@dataclass(frozen=True, kw_only=True)
class RuleQuery(ReadFields):
    """A query of one column that must run separately, over the objects named in `tables`."""

    template: str
    tables: tuple[str, ...]
    is_row_level: ClassVar[bool] = False

    def render(self, views: Mapping[str, str]) -> str:
        """Return the SQL with the view names of the objects."""
        return _TABLE.sub(lambda match: quote_identifier(views[self.tables[int(match[1])]]), self.template)


RuleSql: TypeAlias = RowCondition | RowCount | AggregateMetric | RuleQuery


@dataclass(frozen=True)
class RuleTarget:
    """What a rule is about and may read: its object, its field if any, and the other objects of the contract."""

    object: SchemaObject
    field: FieldPath | None = None
    others: tuple[SchemaObject, ...] = ()

    @classmethod
    def of(cls, contract: Contract, schema: SchemaObject, field: FieldPath | None = None) -> RuleTarget:
        """Return the target of a rule on an object of a contract, or on one of its fields."""
        return cls(schema, field, tuple(other for other in contract.schema if other is not schema))

    def table(self, parts: tuple[str, ...]) -> SchemaObject | None:
        """Return the object with this contract or stored name, ignoring case."""
        wanted = ".".join(parts).lower()
        for schema in (self.object, *self.others):
            if wanted in (name.lower() for name in (schema.name, schema.physical_name) if name):
                return schema
        return None

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names a rule may read from."""
        return tuple(schema.name for schema in (self.object, *self.others))
