"""DDL in Spark SQL: create tables, evolve their columns, set their properties, and create or replace views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from pyspark.sql import SparkSession
from pyspark.sql import types as spark

from treaty.contracts.sql_quoting import identifier_problem, quote_identifier
from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.layout import SORTED_BY, TableNamespace
from treaty.pipeline.tables.schema_conversion import COMMENT
from treaty.pipeline.tables.snapshots import PREFIX, NewStamp, Stamp, parse_stamp
from treaty.pipeline.tables.spark_errors import translate_errors

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
            [
                spark.StructField(column.name, stored_type(column.dataType), column.nullable, column.metadata)
                for column in kind
            ]
        )
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(stored_type(kind.elementType), kind.containsNull)
    if isinstance(kind, spark.MapType):
        return spark.MapType(stored_type(kind.keyType), stored_type(kind.valueType), kind.valueContainsNull)
    return _ICEBERG_TYPES.get(type(kind), kind)


def column_sql(column: spark.StructField) -> str:
    """Return the definition of a column: name, type, NOT NULL and comment."""
    return f"{quoted(column.name)} {type_sql(column.dataType)}{_constraints(column)}"


def type_sql(kind: spark.DataType) -> str:
    """Return a type in SQL."""
    if isinstance(kind, spark.StructType):
        inside = ", ".join(
            f"{quoted(column.name)}: {type_sql(column.dataType)}{_constraints(column)}" for column in kind
        )
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


def _constraints(column: spark.StructField) -> str:
    comment = column.metadata.get(COMMENT)
    return ("" if column.nullable else " NOT NULL") + (f" COMMENT {literal(comment)}" if comment else "")


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
    listed = ", ".join(column_sql(column) for column in _stored_columns(columns))
    by = f" PARTITIONED BY ({', '.join(map(quoted, partition))})" if partition else ""
    comment = f" COMMENT {literal(properties[MEANING])}" if MEANING in properties else ""
    yield f"CREATE TABLE {name} ({listed}) USING iceberg{by}{comment} TBLPROPERTIES ({_property_list(properties)})"


def evolve_statements(name: str, have: spark.StructType, want: spark.StructType) -> Iterator[str]:
    """Yield the statements that evolve a table to the wanted columns.

    Columns that are no longer wanted stay, since older snapshots have them, but become nullable. New columns are
    always nullable, since existing rows have no value for them.
    """
    yield from _evolve_struct(name, (), have, _stored_columns(want))


def order_statements(name: str, have: Mapping[str, str], want: Mapping[str, str]) -> Iterator[str]:
    """Yield the statement that sorts what is written to a table from now on, or stops to."""
    if want.get(SORTED_BY) == have.get(SORTED_BY):
        return
    columns = want.get(SORTED_BY)
    order = f"ORDERED BY {', '.join(map(quoted, columns.split(',')))}" if columns else "UNORDERED"
    yield f"ALTER TABLE {name} WRITE {order}"


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
    existing = {column.name: column for column in have}
    previous: str | None = None
    for column in want:
        if column.name in existing:
            yield from _evolve_column(name, (*path, column.name), existing.pop(column.name), column)
        else:
            place = f"AFTER {quoted(previous)}" if previous else "FIRST"
            yield f"ALTER TABLE {name} ADD COLUMN {_added_column(path, column)} {place}"
        previous = column.name
    for removed in existing.values():
        if not removed.nullable:
            yield f"ALTER TABLE {name} ALTER COLUMN {path_sql((*path, removed.name))} DROP NOT NULL"


def _added_column(path: Path, column: spark.StructField) -> str:
    inner = spark.StructField(column.name, column.dataType, True, column.metadata)
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


_COMMITTED = f"{PREFIX}committed_at"
_TAKEN = "Table with same name already exists"


def create_view(
    session: SparkSession, namespace: TableNamespace, view: str, query: str, stamp: NewStamp, committed_at: datetime
) -> None:
    """Create a view such as `publications.sales_v1`, or replace it in one commit."""
    name = namespace.full_name(view)
    properties = {**stamp.properties(), _COMMITTED: committed_at.isoformat()}
    listed = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
    try:
        with translate_errors(view):
            session.sql(f"CREATE NAMESPACE IF NOT EXISTS {namespace.layer_namespace(view.partition('.')[0])}").collect()
            session.sql(f"CREATE OR REPLACE VIEW {name} TBLPROPERTIES ({listed}) AS {query}").collect()
    except InvalidDocument as error:
        if _TAKEN not in str(error.__cause__):
            raise
        raise Conflict(
            f"{view} is a table, so it cannot become a view; drop the table, or name the view with table: NAME"
        ) from None


def view_stamp(session: SparkSession, namespace: TableNamespace, view: str) -> Stamp | None:
    """Return the stamp of a view, or None if there is no such view or it has no stamp."""
    if view not in views_in(session, namespace, view.partition(".")[0]):
        return None
    with translate_errors(view):
        rows = session.sql(f"SHOW TBLPROPERTIES {namespace.full_name(view)}").collect()
    properties = {row["key"]: row["value"] for row in rows}
    committed = properties.get(_COMMITTED)
    committed_at = datetime.fromisoformat(committed) if committed else datetime.fromtimestamp(0, UTC)
    return parse_stamp(properties, 0, committed_at)


def views_in(session: SparkSession, namespace: TableNamespace, layer: str) -> tuple[str, ...]:
    """Return the views of a layer."""
    with translate_errors(layer):
        namespaces = session.sql(f"SHOW NAMESPACES IN {namespace.name}").collect()
        if not any(row[0].rpartition(".")[2] == layer for row in namespaces):
            return ()
        views = session.sql(f"SHOW VIEWS IN {namespace.layer_namespace(layer)}").collect()
    return tuple(sorted(f"{layer}.{row['viewName']}" for row in views))
