"""Write contracts as SQL DDL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.values import EMPTY
from treaty.formats.losses import find_losses
from treaty.formats.notes import require_objects
from treaty.formats.results import WriteResult
from treaty.formats.sql.columns import is_valid_reference
from treaty.formats.sql.dialects import CommentStyle
from treaty.formats.sql.reader import read
from treaty.formats.sql.renderer import SqlRenderer

TITLE = "SQL"
_COMPARISONS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
_LENGTHS = {"minLength": ">=", "maxLength": "<="}


def write(contract: Contract, dialect: str = "spark") -> WriteResult:
    """Write a contract as one CREATE TABLE statement per object."""
    plain = require_objects(contract, TITLE)
    renderer = SqlRenderer(dialect)
    tables = [_Table(item, renderer).text() for item in plain.schema]
    text = f"-- dialect: {dialect}\n" + "\n".join(tables)
    return WriteResult(text, find_losses(contract, read(text, contract.id).contracts, _reasons(dialect)))


def _reasons(dialect: str) -> dict[str, str]:
    return {
        "*": "a table definition cannot express it",
        "name": "a table has only physical column names",
        "id": "a table is identified by its name",
        "unique": f"{dialect} has no UNIQUE",
        "primaryKey": f"{dialect} has no PRIMARY KEY",
        "primaryKeyPosition": f"{dialect} has no PRIMARY KEY",
        "enum": f"{dialect} has no CHECK for it",
        "logicalTypeOptions": f"{dialect} has no CHECK for it",
        "relationships": f"{dialect} has no foreign key for it",
        "type": f"{dialect} has no such type",
        "physicalType": f"{dialect} stores it as another type",
    }


class _Table:
    """Writes one table."""

    def __init__(self, item: SchemaObject, renderer: SqlRenderer) -> None:
        self.item = item
        self.renderer = renderer
        self.can = renderer.dialect
        parts = (item.physical_name or item.name).split(".")
        self.name = ".".join(map(renderer.identifier, parts)) if all(parts) else renderer.identifier(item.name)

    def text(self) -> str:
        lines = [*(self._column(field) for field in self.item.fields), *self._constraints()]
        inner = ",\n".join(f"  {line}" for line in lines)
        tail = "".join(f"\n{line}" for line in self._tail())
        statements = [f"CREATE TABLE {self.name} (\n{inner}\n){tail};", *self._comments()]
        return "\n".join(statements) + "\n"

    def _column(self, field: Field) -> str:
        text = f"{self._column_name(field)} {self.renderer.type(field)}"
        if field.is_required:
            text += " NOT NULL"
        if (default := self._default(field)) is not None:
            text += f" DEFAULT {default}"
        if field.unique and self.can.unique:
            text += " UNIQUE"
        for condition in self._conditions(field) if self.can.checks else ():
            text += f" CHECK ({condition})"
        if self.can.references:
            text += "".join(f" REFERENCES {target}" for target in self._targets(field))
        return text + (self.renderer.comment(field.description) if field.description else "")

    def _column_name(self, field: Field) -> str:
        return self.renderer.identifier(field.physical_name or field.name or "")

    def _default(self, field: Field) -> str | None:
        value = field.treaty.get("default")
        return None if value is None else self.renderer.value(value)

    def _conditions(self, field: Field) -> Iterator[str]:
        name, options = self._column_name(field), field.options or EMPTY
        kind = field.logical_type
        if field.enum:
            values = [self.renderer.value(item["value"]) for item in field.enum]
            if all(value is not None for value in values):
                yield f"{name} IN ({', '.join(str(value) for value in values)})"
        for option, sign in _COMPARISONS.items():
            if _is_bound(options.get(option), kind):
                yield f"{name} {sign} {self.renderer.value(options[option])}"
        if kind != "string":
            return
        for option, sign in _LENGTHS.items():
            in_type = option == "maxLength" and f"({options.get(option)})" in self.renderer.type(field)
            if type(options.get(option)) is int and not in_type:
                yield f"LENGTH({name}) {sign} {options[option]}"
        if isinstance(options.get("pattern"), str):
            text = self.renderer.text(options["pattern"])
            yield f"{name} ~ {text}" if self.renderer.name == "postgres" else f"REGEXP_MATCHES({name}, {text})"

    def _targets(self, field: Field) -> Iterator[str]:
        """Return the column that a field refers to; only the first reference fits in a column definition."""
        for relation in (field.relationships or ())[:1]:
            to = relation.get("to")
            if isinstance(to, str) and to.count(".") == 1 and is_valid_reference(to):
                table, column = to.split(".")
                yield f"{self.renderer.identifier(table)} ({self.renderer.identifier(column)})"

    def _constraints(self) -> Iterator[str]:
        keys = sorted(
            (field for field in self.item.fields if field.primary_key),
            key=lambda field: field.primary_key_position or 0,
        )
        if keys and self.can.keys:
            yield self.can.keys.format(", ".join(map(self._column_name, keys)))

    def _tail(self) -> Iterator[str]:
        partition_fields = [field for field in self.item.fields if field.more.get("partitioned") is True]
        partition_fields.sort(key=lambda field: field.more.get("partitionKeyPosition") or 0)
        if partition_fields and self.can.partitions:
            yield f"PARTITIONED BY ({', '.join(map(self._column_name, partition_fields))})"
        if self.item.description and self.can.table_comment:
            yield self.can.table_comment.format(self.renderer.text(self.item.description))

    def _comments(self) -> Iterator[str]:
        if self.can.comments is not CommentStyle.STATEMENTS:
            return
        if self.item.description:
            yield f"COMMENT ON TABLE {self.name} IS {self.renderer.text(self.item.description)};"
        for field in self.item.fields:
            if field.description:
                description = self.renderer.text(field.description)
                yield f"COMMENT ON COLUMN {self.name}.{self._column_name(field)} IS {description};"


def _is_bound(value: Any, kind: str | None) -> bool:
    if kind in ("integer", "number"):
        return type(value) in (int, float)
    return kind in ("date", "timestamp", "time") and isinstance(value, str)
