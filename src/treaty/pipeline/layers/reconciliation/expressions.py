"""SQL expressions in a reconciliation: over claims and attributes of one key, with the same result in every run."""

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
"""The name of the rows with the attributes; attributes are used without a prefix."""


@dataclass(frozen=True)
class Formula:
    """A parsed expression, and the columns that it reads."""

    sql: str
    attributes: tuple[str, ...]
    claims: tuple[tuple[str, str], ...]
    """Pairs of claim and column."""


def parse_formula(sql: str, where: str, rows: Mapping[str, spark.StructType]) -> Formula:
    """Parse an expression over the columns of claims, with the claim as prefix, and over attributes."""
    read = parse_expression(sql, where, rows)
    _refuse_other_rows(read)
    errors = [finding for finding in find_unrepeatable(read) if finding.severity is Severity.ERROR]
    if errors:
        raise error_from_findings(*errors)
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


def _refuse_other_rows(read: Expression) -> None:
    """Refuse expressions that read more than the values of one key."""
    for node in read.tree.walk():
        called = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, exp.Query | exp.Exists):
            problem = "an expression cannot contain a query"
        elif isinstance(node, exp.Window) or called in WINDOWS:
            problem = "an expression cannot contain a window function"
        elif called in AGGREGATES:
            problem = f"{called} is an aggregate function, which reads several rows"
        elif isinstance(node, exp.Star):
            problem = "an expression cannot contain *"
        else:
            continue
        hint = "an expression sees the values of one key; aggregate in the sql of the claim"
        raise error_from_findings(read.text.error("sql-expression", problem, hint, node))
