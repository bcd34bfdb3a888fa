"""The example queries of a guide: what a consumer reads now, and the same from the next line."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from treaty.compatibility.migration.making import narrowed
from treaty.compatibility.migration.path import Fidelity, MigrationPath, ObjectPath
from treaty.compatibility.migration.sql_types import quoted, stored_name
from treaty.compatibility.migration.writing import table_sql
from treaty.consumers.guide import Example
from treaty.consumers.subscriptions import Line
from treaty.contracts.model import Contract, SchemaObject
from treaty.contracts.paths import FieldPath


def line_of(contract: Contract) -> Line | None:
    """Return the line a contract belongs to."""
    version = contract.semantic_version
    return Line(contract.id, version.major) if version else None


def line_table(contract: Contract, item: SchemaObject) -> tuple[str, ...]:
    """Return the name of an object's table in the namespace of its line."""
    line = line_of(contract)
    name = item.physical_name or item.name
    return (line.namespace, name) if line else (name,)


def example(path: MigrationPath, item: ObjectPath, fields: Collection[FieldPath]) -> Example | None:
    """Write the query for the fields that somebody reads; one that is gone is left out of the new one."""
    columns = narrowed(path, item, fields).steps
    if not columns:
        return None
    old, new = line_table(path.before, item.before), line_table(path.after, item.after)
    names = [quoted(stored_name(step.field)) for step in columns]
    made = [
        step.sql if step.sql == name else f"{step.sql} AS {name}"
        for step, name in zip(columns, names, strict=True)
        if step.fidelity is not Fidelity.IMPOSSIBLE or step.inside
    ]
    return Example(_select(names, old), _select(made, new), _frame(names, old), _frame(made, new))


def _select(columns: Sequence[str], table: Sequence[str]) -> str:
    listed = ",\n".join(f"  {column}" for column in columns) or "  1 -- nothing is left to read"
    return f"SELECT\n{listed}\nFROM {table_sql(table)}"


def _frame(columns: Sequence[str], table: Sequence[str]) -> str:
    listed = "".join(f"    {column!r},\n" for column in columns) or "    '1',  # nothing is left to read\n"
    return f"spark.table({table_sql(table)!r}).selectExpr(\n{listed})"
