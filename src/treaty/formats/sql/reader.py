"""Read contracts from SQL DDL."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from treaty.contracts.findings import Place
from treaty.contracts.foreign import ForeignConstruct, add_constructs
from treaty.contracts.model import Field, SchemaObject
from treaty.contracts.paths import FieldPath
from treaty.contracts.text.limits import Limits, invalid_document
from treaty.contracts.values import FrozenMap, abbreviate
from treaty.errors import InvalidDocument
from treaty.formats.notes import make_contract, validate_contracts
from treaty.formats.results import Loss, ReadResult, no_contract
from treaty.formats.sql.columns import (
    NO_EQUIVALENT_RULE,
    apply_constraint,
    apply_reference,
    is_valid_reference,
    read_column,
    referenced_columns,
    render_sql,
)
from treaty.formats.sql.dialects import detect_dialect
from treaty.formats.sql.statements import SQL_DIALECTS, Parsed, Statement, parse_statement, table_statements

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # skipped statements are reported as losses


MAX_STATEMENTS = 10_000


def read(text: str, name: str, dialect: str | None = None) -> ReadResult:
    """Read every table that is created with a list of columns."""
    if len(text) > Limits().bytes:
        raise invalid_document("the file is too large", Place(name), "split it")
    dialect = dialect or detect_dialect(text)
    if dialect not in SQL_DIALECTS:
        raise invalid_document(
            f"unknown SQL dialect {dialect!r}", Place(name), f"use one of: {', '.join(SQL_DIALECTS)}"
        )
    file = FileReader(name, dialect)
    for count, statement in enumerate(table_statements(text)):
        if count == MAX_STATEMENTS:
            raise invalid_document(f"more than {MAX_STATEMENTS:,} statements about tables", Place(name), "split it")
        file.apply(statement)
    if not file.tables:
        raise no_contract("no CREATE TABLE statement lists columns", name, "write CREATE TABLE name (column type, …)")
    several = len(file.tables) > 1
    contracts = [make_contract(identity, table.object(several=several)) for identity, table in file.tables.items()]
    losses = (*file.losses, *(loss for table in file.tables.values() for loss in table.losses))
    return ReadResult(validate_contracts(contracts, name), losses)


class FileReader:
    """Applies the statements of a file to its tables."""

    def __init__(self, source: str, dialect: str) -> None:
        self.source = source
        self.dialect = dialect
        self.tables: dict[str, TableReader] = {}
        self.enums: dict[str, tuple[FrozenMap, ...]] = {}
        self.losses: list[Loss] = []

    def apply(self, statement: Statement) -> None:
        """Apply a statement; one about a table that cannot be parsed is refused, others are reported as losses."""
        if enum := _ENUM_TYPE.match(statement.text):
            values = (value.replace("''", "'") for value in _ENUM_VALUE.findall(enum["values"]))
            self.enums[enum["name"].replace('"', "").lower()] = tuple(FrozenMap({"value": value}) for value in values)
            return
        try:
            parsed = parse_statement(statement.text, self.dialect)
        except (SqlglotError, RecursionError, ValueError) as error:
            if statement.text.lstrip()[:6].upper() == "CREATE":
                raise _parse_error(error, self.source, self.dialect, statement.line) from None
            self._add_loss(abbreviate(" ".join(statement.text.split())), "the statement is not understood")
            return
        match parsed.expression:
            case exp.Create() as create if create.kind == "TABLE":
                self._create(create, parsed)
            case exp.Comment() as comment:
                self._comment(comment)
            case exp.Alter(this=exp.Table() as name) as alter if (table := self._table(name)) is not None:
                for action in alter.args.get("actions") or ():
                    table.alter(action)

    def _create(self, statement: exp.Create, parsed: Parsed) -> None:
        target, dialect = statement.this, parsed.dialect
        if isinstance(target, exp.Schema) and target.expressions and isinstance(target.this, exp.Table):
            table = TableReader(statement, dialect, self.enums)
            for words in parsed.left_out:
                table.add_loss("", words, STORAGE)
            self.tables[_full_name(target.this)] = table
        else:
            text = render_sql(target, dialect) if target is not None else ""
            self._add_loss(f"table {text}", "it is created without a list of columns")

    def _comment(self, statement: exp.Comment) -> None:
        target, text = statement.this, statement.expression.name
        if isinstance(target, exp.Column):
            owner = self.tables.get(".".join(part.name for part in target.parts[:-1]))
            if owner is not None:
                owner.describe(target.name, text)
        elif isinstance(target, exp.Table) and (table := self._table(target)):
            table.description = text or None

    def _table(self, node: exp.Table) -> TableReader | None:
        return self.tables.get(_full_name(node))

    def _add_loss(self, what: str, why: str) -> None:
        self.losses.append(Loss("", what, why))


_ENUM_TYPE = re.compile(
    r"CREATE\s+TYPE\s+(?P<name>[\w.\"]+)\s+AS\s+ENUM\s*\((?P<values>.*)\)\s*", re.IGNORECASE | re.DOTALL
)
_ENUM_VALUE = re.compile(r"'((?:[^']|'')*)'")


def _full_name(table: exp.Table) -> str:
    return ".".join(part.name for part in table.parts)


def _parse_error(error: Exception, source: str, dialect: str, first_line: int) -> InvalidDocument:
    details = getattr(error, "errors", None) or [{}]
    line = first_line + (details[0].get("line") or 1) - 1
    reason = (details[0].get("description") or str(error).splitlines()[0]).partition(" but got <")[0]
    near = f" near {details[0]['highlight']!r}" if details[0].get("highlight") else ""
    message = f"cannot read SQL as {dialect}: {reason}{near}"
    return invalid_document(message, Place(source, line), "name the dialect on the first line: -- dialect: snowflake")


STORAGE = "a contract does not state how rows are stored"


class TableReader:
    """Collects the statements about one table."""

    def __init__(self, statement: exp.Create, dialect: str, enums: Mapping[str, tuple[FrozenMap, ...]]) -> None:
        self.dialect = dialect
        self.enums = enums
        self.name: str = statement.this.this.name
        self.full = ".".join(part.name for part in statement.this.this.parts)
        self.description: str | None = None
        self.losses: list[Loss] = []
        self.relationships: list[FrozenMap] = []
        self.rules: list[ForeignConstruct] = []
        self.fields: dict[str, Field] = {}
        for part in statement.this.expressions:
            if isinstance(part, exp.ColumnDef):
                self._add_column(part)
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
            custom_properties=add_constructs(None, self.rules),
        )

    def describe(self, name: str, text: str) -> None:
        """Take the comment on a column."""
        if name in self.fields:
            self.fields[name] = replace(self.fields[name], description=text or None)

    def alter(self, action: Any) -> None:
        """Take what an ALTER TABLE adds."""
        if isinstance(action, exp.ColumnDef):
            self._add_column(action)
        elif isinstance(action, exp.Schema):  # Oracle adds several columns in parentheses
            for part in action.expressions:
                self.alter(part)
        elif isinstance(action, exp.AddConstraint):
            for part in action.expressions:
                self.constrain(part)
        else:
            self.add_loss("", f"ALTER TABLE {render_sql(action, self.dialect)}", "only additions are read")

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
            case exp.IndexColumnConstraint() | exp.Identifier():
                self.add_loss("", render_sql(part, self.dialect), STORAGE)
            case _:
                text = render_sql(part, self.dialect)
                self.add_loss("", text, NO_EQUIVALENT_RULE)
                self.rules.append(ForeignConstruct("sql", _rule_name(part, self.rules), text))

    def add_loss(self, field: str, what: str, why: str) -> None:
        """Record a loss."""
        loss = Loss(str(FieldPath().field(field)) if field else "", what, why)
        if loss not in self.losses:
            self.losses.append(loss)

    def _path(self, text: str) -> str:
        return f"{FieldPath(object=self.name)}{text}" if text else self.name

    def _add_column(self, node: exp.ColumnDef) -> None:
        field = read_column(node, self.dialect, self.add_loss)
        values = self.enums.get((field.physical_type or "").replace('"', "").lower())
        if values and field.logical_type is None:
            field = replace(field, logical_type="string", enum=values)
        self.fields[node.name] = field

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
            self.add_loss("", render_sql(reference, self.dialect), "a contract refers to named columns")

    def _property(self, part: Any) -> None:
        match part:
            case exp.SchemaCommentProperty():
                self.description = part.name or None
            case exp.Property() if part.name.lower() == "description" and self.dialect == "bigquery":
                self.description = part.args["value"].name or None
            case exp.PartitionedByProperty() if isinstance(part.this, exp.Schema) and part.this.find(exp.ColumnDef):
                for place, one in enumerate(part.this.expressions, start=1):  # Hive declares these columns here
                    self._add_column(one)
                    self._update(one.name, more=FrozenMap({"partitioned": True, "partitionKeyPosition": place}))
            case exp.PartitionedByProperty() if all(one.name in self.fields for one in _partition_columns(part)):
                for place, one in enumerate(_partition_columns(part), start=1):
                    terms = FrozenMap(
                        {**self.fields[one.name].more, "partitioned": True, "partitionKeyPosition": place}
                    )
                    self._update(one.name, more=terms)
            case _:
                self.add_loss("", render_sql(part, self.dialect), STORAGE)


def _rule_name(part: exp.Expression, rules: list[ForeignConstruct]) -> str:
    """Return a name for a rule of a table that is unique among its rules: its keyword and the columns in it."""
    columns = ", ".join(sorted({one.name for one in part.find_all(exp.Column, exp.Identifier) if one.name}))
    name = f"{part.key.removesuffix('columnconstraint')} {columns}".strip()
    count = sum(rule.name == name or rule.name.startswith(f"{name} (") for rule in rules)
    return f"{name} ({count + 1})" if count else name


def _partition_columns(part: exp.PartitionedByProperty) -> list[Any]:
    """Return the partition columns; an expression yields a null, which matches no column."""
    inner = part.this
    listed = inner.expressions if isinstance(inner, exp.Schema) else [inner]
    return listed if all(isinstance(one, exp.Identifier | exp.Column) for one in listed) else [exp.Null()]
