"""Write contracts as SQL DDL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.contracts.values import EMPTY
from treaty.errors import InvalidDocument
from treaty.formats.losses import find_losses
from treaty.formats.notes import require_objects
from treaty.formats.results import Loss, WriteResult
from treaty.formats.sql.columns import is_valid_reference
from treaty.formats.sql.dialects import CommentStyle
from treaty.formats.sql.reader import read
from treaty.formats.sql.renderer import SqlRenderer

TITLE = "SQL"
_COMPARISONS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "exclusiveMaximum": "<"}
_TEMPORAL = ("date", "timestamp", "time")
_NOT_IN_POSTGRES = re.compile(r"\(\?(?!:)|\\[pPQCzGkK]|\\x\{|\[\[:\^|\*\+|\+\+|\?\+")
"""Parts of RE2 patterns that PostgreSQL reads differently or not at all."""
_LENGTHS = {"minLength": ">=", "maxLength": "<="}


def write(contract: Contract, dialect: str = "spark") -> WriteResult:
    """Write a contract as one CREATE TABLE statement per object."""
    plain = require_objects(contract, TITLE)
    tables = _Tables(tuple(item for item in plain.schema if item.fields), SqlRenderer(dialect))
    if not tables.items:
        raise InvalidDocument(f"{contract.id} has no fields; a table needs at least one column")
    text = f"-- dialect: {dialect}\n" + "\n".join(tables.statements())
    written = replace(contract, objects=tuple(item for item in contract.schema if item.fields))
    losses = find_losses(written, read(text, contract.id).contracts, _reasons(dialect))
    left_out = [Loss(item.name, "the object", "a table has columns") for item in plain.schema if not item.fields]
    return WriteResult(text, (*losses, *left_out))


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
        "relationships": f"{dialect} has no foreign key for it, or it refers to no key of this contract",
        "type": f"{dialect} has no such type",
        "physicalType": f"{dialect} stores it as another type",
    }


def bound_conditions(field: Field, renderer: SqlRenderer) -> Iterator[str]:
    """Yield the conditions for the range of a column and the length of its texts."""
    name, options = renderer.identifier(field.physical_name or field.name or ""), field.options or EMPTY
    for option, sign in _COMPARISONS.items():
        bound = options.get(option)
        if field.logical_type in ("integer", "number") and type(bound) in (int, float):
            yield f"{name} {sign} {renderer.value(bound)}"  # integers may have a decimal bound
        elif field.logical_type in _TEMPORAL and (value := renderer.typed_value(bound, field)) is not None:
            yield f"{name} {sign} {value}"
    for option, sign in _LENGTHS.items() if _is_text(field, renderer) else ():
        in_type = option == "maxLength" and f"({options.get(option)})" in renderer.type(field)
        if type(options.get(option)) is int and not in_type:
            yield f"LENGTH({name}) {sign} {options[option]}"


def _is_text(field: Field, renderer: SqlRenderer) -> bool:
    """Return whether a column stores text, which has a length and can match a pattern; a UUID does not."""
    return field.logical_type == "string" and renderer.type(field) != "UUID"


class _Tables:
    """The tables of a contract, in the order in which they are created."""

    def __init__(self, items: tuple[SchemaObject, ...], renderer: SqlRenderer) -> None:
        self.items = items
        self.renderer = renderer

    def statements(self) -> Iterator[str]:
        """Yield the statements of each table, and then foreign keys to tables that are created later."""
        tables = [_Table(item, self.renderer, self) for item in self.items]
        yield from (table.text() for table in tables)
        if self.renderer.dialect.later_references:
            yield from (statement for table in tables for statement in table.later_references())

    def find_key(self, reference: str, field: Field) -> tuple[int, str, str] | None:
        """Return position, table and column of the key that a reference names, if the field can refer to it."""
        name, _, column = reference.partition(".")
        for position, item in enumerate(self.items):
            target = next((one for one in item.fields if item.name == name and one.name == column), None)
            if target is not None and self._is_key(target, item) and self._same_type(target, field):
                table = _Table(item, self.renderer, self)
                return position, table.name, table.column_name(target)
        return None

    def _is_key(self, field: Field, item: SchemaObject) -> bool:
        dialect = self.renderer.dialect
        is_primary = bool(field.primary_key) and len(item.primary_key) == 1 and bool(dialect.keys)
        return is_indexable(field) and (is_primary or bool(field.unique and dialect.unique))

    def _same_type(self, one: Field, other: Field) -> bool:
        return self.renderer.type(one) == self.renderer.type(other)


def is_indexable(field: Field) -> bool:
    """Whether a column can be part of a key: nested columns and documents cannot."""
    return field.type is None or field.type.name not in _NOT_INDEXABLE


_NOT_INDEXABLE = frozenset({"object", "array", "map", "json", "vector"})


class _Table:
    """Writes one table."""

    def __init__(self, item: SchemaObject, renderer: SqlRenderer, tables: _Tables) -> None:
        self.tables = tables
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
        text = f"{self.column_name(field)} {self.renderer.type(field)}"
        if field.is_required:
            text += " NOT NULL"
        if (default := self._default(field)) is not None:
            text += f" DEFAULT {default}"
        if field.unique and self.can.unique and is_indexable(field):
            text += " UNIQUE"
        for condition in self._conditions(field) if self.can.checks else ():
            text += f" CHECK ({condition})"
        position = self.tables.items.index(self.item)
        text += "".join(f" REFERENCES {key}" for place, key in self._targets(field) if place <= position)
        return text + (self.renderer.comment(field.description) if field.description else "")

    def column_name(self, field: Field) -> str:
        """Return the name of a column, quoted if necessary."""
        return self.renderer.identifier(field.physical_name or field.name or "")

    def _default(self, field: Field) -> str | None:
        value = field.treaty.get("default")
        return None if value is None else self.renderer.typed_value(value, field)

    def _conditions(self, field: Field) -> Iterator[str]:
        name, options = self.column_name(field), field.options or EMPTY
        if field.enum and (field.logical_type != "string" or _is_text(field, self.renderer)):
            values = [self.renderer.typed_value(item["value"], field) for item in field.enum]
            if all(value is not None for value in values):
                yield f"{name} IN ({', '.join(str(value) for value in values)})"
        yield from bound_conditions(field, self.renderer)
        if not _is_text(field, self.renderer):
            return
        pattern = options.get("pattern")
        if isinstance(pattern, str) and self.renderer.name != "postgres":
            yield f"REGEXP_MATCHES({name}, {self.renderer.text(pattern)})"
        elif isinstance(pattern, str) and not _NOT_IN_POSTGRES.search(pattern):
            yield f"{name} ~ {self.renderer.text(pattern)}"

    def _targets(self, field: Field) -> Iterator[tuple[int, str]]:
        """Return the key that a field refers to and its table; only the first reference fits in a column definition."""
        for relation in (field.relationships or ())[:1] if self.can.references else ():
            to = relation.get("to")
            if isinstance(to, str) and to.count(".") == 1 and is_valid_reference(to):
                key = self.tables.find_key(to, field)
                if key is not None:
                    yield key[0], f"{key[1]} ({key[2]})"

    def later_references(self) -> Iterator[str]:
        """Yield the statements that add foreign keys to tables that are created after this one."""
        position = self.tables.items.index(self.item)
        for field in self.item.fields:
            for place, key in self._targets(field):
                if place > position:
                    name = self.column_name(field)
                    yield f"ALTER TABLE {self.name} ADD FOREIGN KEY ({name}) REFERENCES {key};\n"

    def _constraints(self) -> Iterator[str]:
        keys = sorted(
            (field for field in self.item.fields if field.primary_key),
            key=lambda field: field.primary_key_position or 0,
        )
        if keys and self.can.keys and all(map(is_indexable, keys)):
            yield self.can.keys.format(", ".join(map(self.column_name, keys)))

    def _tail(self) -> Iterator[str]:
        partition_fields = [field for field in self.item.fields if field.more.get("partitioned") is True]
        partition_fields.sort(key=lambda field: field.more.get("partitionKeyPosition") or 0)
        if partition_fields and self.can.partitions:
            yield f"PARTITIONED BY ({', '.join(map(self.column_name, partition_fields))})"
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
                yield f"COMMENT ON COLUMN {self.name}.{self.column_name(field)} IS {description};"
