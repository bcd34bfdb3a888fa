"""SQL text to contracts."""

from __future__ import annotations

import logging
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.findings import Place
from treaty.contracts.reading.limits import Limits, refuse
from treaty.errors import InvalidDocument
from treaty.formats.assembling import checked, contract_of
from treaty.formats.results import Loss, Read
from treaty.formats.sql.dialects import dialect_of
from treaty.formats.sql.tables import Table

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # what it passes over is named as a loss, once


def read(text: str, name: str, dialect: str | None = None) -> Read:
    """Read every table that a text creates with columns."""
    spoken = dialect or dialect_of(text)
    losses: list[Loss] = []
    tables: dict[str, Table] = {}
    for statement in _statements(text, name, spoken):
        _take(statement, tables, losses, spoken)
    if not tables:
        raise refuse("no table is created with columns", Place(name), "write CREATE TABLE name (column type, …)")
    contracts = [contract_of(identity, table.object(several=len(tables) > 1)) for identity, table in tables.items()]
    return Read(checked(contracts, name), (*losses, *(loss for table in tables.values() for loss in table.losses)))


def _statements(text: str, source: str, dialect: str) -> list[Any]:
    if len(text) > Limits().bytes:
        raise refuse("the file is too large", Place(source), "split it")
    try:
        return [one for one in sqlglot.parse(text, read=dialect) if one is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        raise _unread(error, source, dialect) from None


def _take(statement: Any, tables: dict[str, Table], losses: list[Loss], dialect: str) -> None:
    """Take what a statement says of a table; statements that say nothing of tables are passed over."""
    target = statement.this if isinstance(statement, exp.Expression) else None
    if isinstance(statement, exp.Create) and statement.kind == "TABLE":
        if isinstance(target, exp.Schema) and target.expressions and isinstance(target.this, exp.Table):
            tables[_full(target.this)] = Table(statement, dialect)
        else:
            losses.append(
                Loss(
                    "",
                    f"table {target.sql(dialect=dialect) if target else ''}",
                    "it is created without a list of columns",
                )
            )
        return
    table = tables.get(_full(target)) if isinstance(target, exp.Table) else None
    if isinstance(statement, exp.Comment) and isinstance(target, exp.Column):
        owner = tables.get(".".join(part.name for part in target.parts[:-1]))
        if owner is not None:
            owner.describe(target.name, statement.expression.name)
    elif isinstance(statement, exp.Comment) and table is not None:
        table.description = statement.expression.name or None
    elif isinstance(statement, exp.Alter) and table is not None:
        for action in statement.args.get("actions") or ():
            table.alter(action)


def _full(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _unread(error: Exception, source: str, dialect: str) -> InvalidDocument:
    details = getattr(error, "errors", None) or [{}]
    line = details[0].get("line")
    told = (details[0].get("description") or str(error).splitlines()[0]).partition(" but got <")[0]
    near = f" near {details[0]['highlight']!r}" if details[0].get("highlight") else ""
    message = f"cannot read SQL as {dialect}: {told}{near}"
    return refuse(message, Place(source, line), "say the dialect in a first line: -- dialect: snowflake")
