"""DDL: create a table, evolve its columns and set its properties, as Spark SQL statements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import types as spark

from treaty.contracts.sql_quoting import identifier_problem, quote_identifier
from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.snapshots import PREFIX

COMMENT = "comment"
"""The key of a column's comment in its metadata."""

_ICEBERG_TYPES: dict[type[spark.DataType], spark.DataType] = {
    spark.ByteType: spark.IntegerType(),
    spark.ShortType: spark.IntegerType(),
    spark.NullType: spark.StringType(),
    spark.CharType: spark.StringType(),
    spark.VarcharType: spark.StringType(),
}
"""Types that Iceberg does not have, and the types in which it stores their values."""


def stored_type(kind: spark.DataType) -> spark.DataType:
    """Return the type in which a table stores values of a type."""
    if isinstance(kind, spark.StructType):
        return spark.StructType(
            [spark.StructField(item.name, stored_type(item.dataType), item.nullable, item.metadata) for item in kind]
        )
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(stored_type(kind.elementType), kind.containsNull)
    if isinstance(kind, spark.MapType):
        return spark.MapType(stored_type(kind.keyType), stored_type(kind.valueType), kind.valueContainsNull)
    return _ICEBERG_TYPES.get(type(kind), kind)


def column_sql(item: spark.StructField) -> str:
    """Return the definition of a column: name, type, NOT NULL and comment."""
    return f"{quoted(item.name)} {type_sql(item.dataType)}{_constraints(item)}"


def type_sql(kind: spark.DataType) -> str:
    """Return a type in SQL."""
    if isinstance(kind, spark.StructType):
        inside = ", ".join(f"{quoted(item.name)}: {type_sql(item.dataType)}{_constraints(item)}" for item in kind)
        return f"STRUCT<{inside}>"
    if isinstance(kind, spark.ArrayType):
        return f"ARRAY<{type_sql(kind.elementType)}>"
    if isinstance(kind, spark.MapType):
        return f"MAP<{type_sql(kind.keyType)}, {type_sql(kind.valueType)}>"
    return kind.simpleString().upper()


def quoted(name: str) -> str:
    """Return a name in backticks."""
    problem = identifier_problem(name)
    if problem:
        raise InvalidDocument(f"a column name cannot have {problem}: {name!r}; rename the field in the contract")
    return quote_identifier(name)


def path_sql(path: tuple[str, ...]) -> str:
    """Return the path of a nested column in SQL."""
    return ".".join(map(quoted, path))


def literal(text: str) -> str:
    """Return a text as a SQL literal; `$` is escaped because Spark substitutes `${…}`."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def _constraints(item: spark.StructField) -> str:
    comment = item.metadata.get(COMMENT)
    return ("" if item.nullable else " NOT NULL") + (f" COMMENT {literal(comment)}" if comment else "")


MEANING = f"{PREFIX}meaning"
"""The property that is also the comment of the table."""

Path = tuple[str, ...]

_WIDER_TYPES: dict[type[spark.DataType], type[spark.DataType]] = {
    spark.IntegerType: spark.LongType,
    spark.FloatType: spark.DoubleType,
}


def create_statements(
    name: str, columns: spark.StructType, properties: Mapping[str, str], partition: Sequence[str]
) -> Iterator[str]:
    """Yield the statement that creates a table."""
    listed = ", ".join(column_sql(item) for item in _stored_columns(columns))
    by = f" PARTITIONED BY ({', '.join(map(quoted, partition))})" if partition else ""
    comment = f" COMMENT {literal(properties[MEANING])}" if MEANING in properties else ""
    yield f"CREATE TABLE {name} ({listed}) USING iceberg{by}{comment} TBLPROPERTIES ({_property_list(properties)})"


def evolve_statements(name: str, have: spark.StructType, want: spark.StructType) -> Iterator[str]:
    """Yield the statements that evolve a table to the wanted columns.

    Columns that are no longer wanted stay, since older snapshots have them, but become nullable. New columns are
    always nullable, since existing rows have no value for them.
    """
    yield from _evolve_struct(name, (), have, _stored_columns(want))


def property_statements(name: str, have: Mapping[str, str], want: Mapping[str, str]) -> Iterator[str]:
    """Yield the statements that set the wanted properties and remove those that no longer apply."""
    new = {key: value for key, value in want.items() if have.get(key) != value}
    if new:
        yield f"ALTER TABLE {name} SET TBLPROPERTIES ({_property_list(new)})"
    if MEANING in new:
        yield f"COMMENT ON TABLE {name} IS {literal(new[MEANING])}"
    old = [key for key in have if key.startswith(PREFIX) and key not in want]
    if old:
        yield f"ALTER TABLE {name} UNSET TBLPROPERTIES ({', '.join(map(literal, old))})"


def _stored_columns(columns: spark.StructType) -> spark.StructType:
    stored = stored_type(columns)
    assert isinstance(stored, spark.StructType)  # noqa: S101
    return stored


def _evolve_struct(name: str, path: Path, have: spark.StructType, want: spark.StructType) -> Iterator[str]:
    existing = {item.name: item for item in have}
    previous: str | None = None
    for item in want:
        if item.name in existing:
            yield from _evolve_column(name, (*path, item.name), existing.pop(item.name), item)
        else:
            place = f"AFTER {quoted(previous)}" if previous else "FIRST"
            yield f"ALTER TABLE {name} ADD COLUMN {_added_column(path, item)} {place}"
        previous = item.name
    for removed in existing.values():
        if not removed.nullable:
            yield f"ALTER TABLE {name} ALTER COLUMN {path_sql((*path, removed.name))} DROP NOT NULL"


def _added_column(path: Path, item: spark.StructField) -> str:
    inner = spark.StructField(item.name, item.dataType, True, item.metadata)
    above = f"{path_sql(path)}." if path else ""
    return above + column_sql(inner)


def _evolve_column(name: str, path: Path, have: spark.StructField, want: spark.StructField) -> Iterator[str]:
    yield from _evolve_type(name, path, have.dataType, want.dataType)
    if want.nullable and not have.nullable:
        yield f"ALTER TABLE {name} ALTER COLUMN {path_sql(path)} DROP NOT NULL"
    meaning = want.metadata.get(COMMENT)
    if meaning and meaning != have.metadata.get(COMMENT):
        yield f"ALTER TABLE {name} ALTER COLUMN {path_sql(path)} COMMENT {literal(meaning)}"


def _evolve_type(name: str, path: Path, have: spark.DataType, want: spark.DataType) -> Iterator[str]:
    if isinstance(have, spark.StructType) and isinstance(want, spark.StructType):
        yield from _evolve_struct(name, path, have, want)
    elif isinstance(have, spark.ArrayType) and isinstance(want, spark.ArrayType):
        yield from _evolve_type(name, (*path, "element"), have.elementType, want.elementType)
    elif isinstance(have, spark.MapType) and isinstance(want, spark.MapType) and have.keyType == want.keyType:
        yield from _evolve_type(name, (*path, "value"), have.valueType, want.valueType)
    elif have == want or _is_wider(have, want):
        return
    elif _is_wider(want, have):
        yield f"ALTER TABLE {name} ALTER COLUMN {path_sql(path)} TYPE {type_sql(want)}"
    else:
        raise Conflict(
            f"column {'.'.join(path)} of {name} is {have.simpleString()} and cannot become {want.simpleString()}; "
            "publish the change as a new MAJOR version of the contract, or drop the table and rebuild it with treaty "
            "replay"
        )


def _is_wider(wide: spark.DataType, narrow: spark.DataType) -> bool:
    """Tell whether Iceberg can widen the narrow type to the wide one without losing a value."""
    if isinstance(wide, spark.DecimalType) and isinstance(narrow, spark.DecimalType):
        return wide.scale == narrow.scale and wide.precision >= narrow.precision
    return _WIDER_TYPES.get(type(narrow)) is type(wide)


def _property_list(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
