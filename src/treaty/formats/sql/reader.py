"""Read contracts from SQL DDL."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.findings import Place
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text.limits import Limits, invalid_document
from treaty.contracts.values import FrozenMap
from treaty.errors import InvalidDocument
from treaty.formats.notes import make_contract, validate_contracts
from treaty.formats.results import Loss, ReadResult
from treaty.formats.sql.columns import (
    apply_constraint,
    apply_reference,
    is_valid_reference,
    read_column,
    referenced_columns,
)
from treaty.formats.sql.dialects import detect_dialect

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # skipped statements are reported as losses


def read(text: str, name: str, dialect: str | None = None) -> ReadResult:
    """Read every table that is created with a list of columns."""
    dialect = dialect or detect_dialect(text)
    losses: list[Loss] = []
    tables: dict[str, TableReader] = {}
    for statement in _statements(text, name, dialect):
        _apply_statement(statement, tables, losses, dialect)
    if not tables:
        raise invalid_document(
            "no CREATE TABLE statement lists columns", Place(name), "write CREATE TABLE name (column type, …)"
        )
    contracts = [make_contract(identity, table.object(several=len(tables) > 1)) for identity, table in tables.items()]
    return ReadResult(
        validate_contracts(contracts, name), (*losses, *(loss for table in tables.values() for loss in table.losses))
    )


def _statements(text: str, source: str, dialect: str) -> list[Any]:
    if len(text) > Limits().bytes:
        raise invalid_document("the file is too large", Place(source), "split it")
    try:
        return [one for one in sqlglot.parse(text, read=dialect) if one is not None]
    except (SqlglotError, RecursionError, ValueError) as error:
        raise _parse_error(error, source, dialect) from None


def _apply_statement(statement: Any, tables: dict[str, TableReader], losses: list[Loss], dialect: str) -> None:
    """Apply a statement to the tables; statements about other things are skipped."""
    target = statement.this if isinstance(statement, exp.Expression) else None
    if isinstance(statement, exp.Create) and statement.kind == "TABLE":
        if isinstance(target, exp.Schema) and target.expressions and isinstance(target.this, exp.Table):
            tables[_full_name(target.this)] = TableReader(statement, dialect)
        else:
            losses.append(
                Loss(
                    "",
                    f"table {target.sql(dialect=dialect) if target else ''}",
                    "it is created without a list of columns",
                )
            )
        return
    table = tables.get(_full_name(target)) if isinstance(target, exp.Table) else None
    if isinstance(statement, exp.Comment) and isinstance(target, exp.Column):
        owner = tables.get(".".join(part.name for part in target.parts[:-1]))
        if owner is not None:
            owner.describe(target.name, statement.expression.name)
    elif isinstance(statement, exp.Comment) and table is not None:
        table.description = statement.expression.name or None
    elif isinstance(statement, exp.Alter) and table is not None:
        for action in statement.args.get("actions") or ():
            table.alter(action)


def _full_name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _parse_error(error: Exception, source: str, dialect: str) -> InvalidDocument:
    details = getattr(error, "errors", None) or [{}]
    line = details[0].get("line")
    reason = (details[0].get("description") or str(error).splitlines()[0]).partition(" but got <")[0]
    near = f" near {details[0]['highlight']!r}" if details[0].get("highlight") else ""
    message = f"cannot read SQL as {dialect}: {reason}{near}"
    return invalid_document(message, Place(source, line), "name the dialect on the first line: -- dialect: snowflake")


_STORAGE = "a contract does not state how rows are stored"


class TableReader:
    """Collects the statements about one table."""

    def __init__(self, statement: exp.Create, dialect: str) -> None:
        self.dialect = dialect
        self.name: str = statement.this.this.name
        self.full = ".".join(part.name for part in statement.this.this.parts)
        self.description: str | None = None
        self.losses: list[Loss] = []
        self.relationships: list[FrozenMap] = []
        self.fields: dict[str, Field] = {}
        for part in statement.this.expressions:
            if isinstance(part, exp.ColumnDef):
                self.fields[part.name] = read_column(part, dialect, self.add_loss)
        for part in statement.this.expressions:
            if not isinstance(part, exp.ColumnDef):
                self.constrain(part)
        for part in getattr(statement.args.get("properties"), "expressions", ()):
            self._property(part)

    def object(self, *, several: bool) -> SchemaObject:
        """Return the object; with several tables, the losses carry its name."""
        if several:
            self.losses = [replace(loss, path=str(self._path(loss.path))) for loss in self.losses]
        return SchemaObject(
            self.name,
            physical_name=self.full if self.full != self.name else None,
            description=self.description,
            properties=tuple(self.fields.values()),
            relationships=tuple(self.relationships) or None,
        )

    def describe(self, name: str, text: str) -> None:
        """Take the comment on a column."""
        if name in self.fields:
            self.fields[name] = replace(self.fields[name], description=text or None)

    def alter(self, action: Any) -> None:
        """Take what an ALTER TABLE adds."""
        if isinstance(action, exp.ColumnDef):
            self.fields[action.name] = read_column(action, self.dialect, self.add_loss)
        elif isinstance(action, exp.AddConstraint):
            for part in action.expressions:
                self.constrain(part)
        else:
            self.add_loss("", f"ALTER TABLE {action.sql(dialect=self.dialect)}", "only additions are read")

    def constrain(self, part: Any) -> None:
        """Apply a table constraint."""
        match part:
            case exp.Constraint():
                for inner in part.expressions:
                    self.constrain(inner)
            case exp.PrimaryKey():
                single = len(part.expressions) == 1
                for place, one in enumerate(part.expressions, start=1):
                    self._update(one.name, primary_key=True, primary_key_position=None if single else place)
            case exp.UniqueColumnConstraint() if isinstance(part.this, exp.Schema) and len(part.this.expressions) == 1:
                self._update(part.this.expressions[0].name, unique=True)
            case exp.CheckColumnConstraint() if (
                len(names := referenced_columns(part.this)) == 1 and names <= self.fields.keys()
            ):
                (name,) = names
                self.fields[name] = apply_constraint(self.fields[name], part, self.dialect, self.add_loss)
            case exp.ForeignKey() if part.args.get("reference") is not None:
                self._refer([one.name for one in part.expressions], part.args["reference"])
            case _:
                self.add_loss("", part.sql(dialect=self.dialect), "contracts have no equivalent rule")

    def add_loss(self, field: str, what: str, why: str) -> None:
        """Record a loss."""
        self.losses.append(Loss(str(FieldPath().field(field)) if field else "", what, why))

    def _path(self, text: str) -> str:
        return f"{FieldPath(object=self.name)}{text}"

    def _update(self, name: str, **terms: Any) -> None:
        if name in self.fields:
            self.fields[name] = replace(self.fields[name], **terms)

    def _refer(self, names: list[str], reference: exp.Reference) -> None:
        if len(names) == 1 and names[0] in self.fields:
            self.fields[names[0]] = apply_reference(self.fields[names[0]], reference, self.add_loss)
            return
        target = reference.this
        table = target.find(exp.Table) if target is not None else None
        others = [one.name for one in target.expressions] if isinstance(target, exp.Schema) else []
        ends = ([f"{self.name}.{name}" for name in names], [f"{table.name}.{name}" for name in others] if table else [])
        if len(names) == len(others) and all(map(is_valid_reference, (*ends[0], *ends[1]))):
            self.relationships.append(FrozenMap({"type": "foreignKey", "from": ends[0], "to": ends[1]}))
        else:
            self.add_loss("", reference.sql(dialect=self.dialect), "a contract refers to named columns")

    def _property(self, part: Any) -> None:
        match part:
            case exp.SchemaCommentProperty():
                self.description = part.name or None
            case exp.Property() if part.name.lower() == "description" and self.dialect == "bigquery":
                self.description = part.args["value"].name or None
            case exp.PartitionedByProperty() if all(one.name in self.fields for one in _partition_columns(part)):
                for place, one in enumerate(_partition_columns(part), start=1):
                    terms = FrozenMap(
                        {**self.fields[one.name].more, "partitioned": True, "partitionKeyPosition": place}
                    )
                    self._update(one.name, more=terms)
            case _:
                self.add_loss("", part.sql(dialect=self.dialect), _STORAGE)


def _partition_columns(part: exp.PartitionedByProperty) -> list[Any]:
    """Return the partition columns; an expression yields a null, which matches no column."""
    inner = part.this
    listed = inner.expressions if isinstance(inner, exp.Schema) else [inner]
    return listed if all(isinstance(one, exp.Identifier | exp.Column) for one in listed) else [exp.Null()]
