"""Renders shims as Spark SQL views and DataFrame projections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from treaty.compatibility.migration.path import Fidelity, Shim
from treaty.compatibility.migration.sql_types import quote_column, stored_name
from treaty.contracts.sql_quoting import line_comment
from treaty.errors import InvalidDocument, Refused

TableName = Sequence[str]
"""The parts of a table's name: catalog, namespace, table."""


def view_sql(shim: Shim, view: TableName, source: TableName) -> str:
    """Return the view that serves the schema of one line from the table of the other; raises Refused if it cannot."""
    _refuse_unless_servable(shim)
    lines = list(_lines(shim))
    return f"CREATE OR REPLACE VIEW {table_sql(view)} AS\nSELECT\n" + "\n".join(lines) + f"\nFROM {table_sql(source)}\n"


def select_sql(shim: Shim, source: TableName) -> str:
    """Return the query of the view."""
    return view_sql(shim, ("view",), source).partition(" AS\n")[2]


def projection(shim: Shim) -> tuple[str, ...]:
    """Return the column expressions for `DataFrame.selectExpr`."""
    _refuse_unless_servable(shim)
    return tuple(f"{step.sql} AS {quote_column(stored_name(step.field))}" for step in shim.steps)


def pyspark_text(shim: Shim, name: str, source: TableName) -> str:
    """Return the projection as PySpark code."""
    columns = "".join(f"    {column!r},\n" for column in projection(shim))
    table = ".".join(map(quote_column, source))
    return f"{name} = spark.table({table!r}).selectExpr(\n{columns})\n"


def table_sql(name: TableName) -> str:
    """Return a quoted table name."""
    return ".".join(map(quote_column, name))


def _lines(shim: Shim) -> Iterator[str]:
    last = len(shim.steps) - 1
    for place, step in enumerate(shim.steps):
        lost = "; ".join(
            f"{one.target}: {one.reason}" if one is not step else one.reason for one in step.walk() if one.reasons
        )
        comment = step.fidelity.value if step.fidelity is Fidelity.EXACT else f"{step.fidelity}: {lost}"
        comma = "," if place < last else ""
        yield f"  {step.sql} AS {quote_column(stored_name(step.field))}{comma} {line_comment(comment)}"


def _refuse_unless_servable(shim: Shim) -> None:
    if shim.blocked:
        first = shim.blocked[0]
        more = f" and {len(shim.blocked) - 1} more" if len(shim.blocked) > 1 else ""
        raise Refused(f"cannot serve {shim.way.meaning}: no value for {first.target}{more}; {first.reason}")
    if shim.unread:
        raise InvalidDocument(
            f"the SQL declared for {shim.unread[0].target} was not checked; compute the path with a guard"
        )
