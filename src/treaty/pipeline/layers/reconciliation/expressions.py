"""The SQL in a declaration: one expression over claims and attributes, the same for the same values in every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import types as spark
from sqlglot import exp

from treaty.contracts.findings import Severity
from treaty.pipeline.project_sql import parse_expression
from treaty.sql.functions import AGGREGATES, WINDOWS
from treaty.sql.parser import error_from_findings
from treaty.sql.project_queries import Expression
from treaty.sql.relations import Reference
from treaty.sql.repeatability import find_unrepeatable

ATTRIBUTES = ""
"""The name under which attributes stand among rows: they need none."""


@dataclass(frozen=True)
class Formula:
    """An expression that was understood, and what it reads."""

    sql: str
    attributes: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]
    """The columns of claims, each with its claim."""


def formula(sql: str, where: str, rows: Mapping[str, spark.StructType]) -> Formula:
    """Read an expression over claims by their names, and attributes without one."""
    read = parse_expression(sql, where, rows)
    _refuse_beyond_a_key(read)
    lasting = [one for one in find_unrepeatable(read) if one.severity is Severity.ERROR]
    if lasting:
        raise error_from_findings(*lasting)
    known = {name.lower(): name for name in rows}
    used = sorted(
        {
            (known[source.alias.lower()], source.columns[number].name)
            for meaning in read.names.columns.values()
            if isinstance(meaning, Reference)
            for source, number in meaning.places
        }
    )
    attributes = tuple(column for name, column in used if name == ATTRIBUTES)
    return Formula(sql, attributes, tuple((name, column) for name, column in used if name != ATTRIBUTES))


def _refuse_beyond_a_key(read: Expression) -> None:
    """Refuse what looks at more than the values of one key."""
    for node in read.tree.walk():
        called = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, exp.Query | exp.Exists):
            what = "a query stands in an expression"
        elif isinstance(node, exp.Window) or called in WINDOWS:
            what = "a window stands in an expression"
        elif called in AGGREGATES:
            what = f"{called} looks at more than one row"
        elif isinstance(node, exp.Star):
            what = "* stands for columns"
        else:
            continue
        hint = "an expression sees the values of one key; aggregate in the claim's sql"
        raise error_from_findings(read.text.error("sql-expression", what, hint, node))
