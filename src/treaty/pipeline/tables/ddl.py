"""Columns and texts as Spark's SQL writes them in the definition of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import types as spark

from treaty.contracts.sql_quoting import identifier_problem, quote_identifier
from treaty.errors import Conflict, InvalidDocument
from treaty.pipeline.tables.snapshots import PREFIX

COMMENT = "comment"
"""Where Spark keeps the comment of a column."""

_AS_STORED: dict[type[spark.DataType], spark.DataType] = {
    spark.ByteType: spark.IntegerType(),
    spark.ShortType: spark.IntegerType(),
    spark.NullType: spark.StringType(),
    spark.CharType: spark.StringType(),
    spark.VarcharType: spark.StringType(),
}
"""Types that Iceberg has no counterpart of, and what it keeps them as."""


def stored(kind: spark.DataType) -> spark.DataType:
    """Return the type that a table keeps values of a type as."""
    if isinstance(kind, spark.StructType):
        return spark.StructType(
            [spark.StructField(item.name, stored(item.dataType), item.nullable, item.metadata) for item in kind]
        )
    if isinstance(kind, spark.ArrayType):
        return spark.ArrayType(stored(kind.elementType), kind.containsNull)
    if isinstance(kind, spark.MapType):
        return spark.MapType(stored(kind.keyType), stored(kind.valueType), kind.valueContainsNull)
    return _AS_STORED.get(type(kind), kind)


def column_sql(item: spark.StructField) -> str:
    """Write a column of a table: its name, type, whether it must have a value, and its meaning."""
    return f"{quoted(item.name)} {type_sql(item.dataType)}{_terms(item)}"


def type_sql(kind: spark.DataType) -> str:
    """Write a type."""
    if isinstance(kind, spark.StructType):
        inside = ", ".join(f"{quoted(item.name)}: {type_sql(item.dataType)}{_terms(item)}" for item in kind)
        return f"STRUCT<{inside}>"
    if isinstance(kind, spark.ArrayType):
        return f"ARRAY<{type_sql(kind.elementType)}>"
    if isinstance(kind, spark.MapType):
        return f"MAP<{type_sql(kind.keyType)}, {type_sql(kind.valueType)}>"
    return kind.simpleString().upper()


def quoted(name: str) -> str:
    """Write a name in backticks."""
    problem = identifier_problem(name)
    if problem:
        raise InvalidDocument(f"a column cannot have {problem}: {name!r}; rename it in the contract")
    return quote_identifier(name)


def path_sql(path: tuple[str, ...]) -> str:
    """Write the path of a column inside others."""
    return ".".join(map(quoted, path))


def literal(text: str) -> str:
    """Write a text where SQL takes nothing but a literal; Spark would substitute what stands in ${…}."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{escaped}'"


def _terms(item: spark.StructField) -> str:
    comment = item.metadata.get(COMMENT)
    return ("" if item.nullable else " NOT NULL") + (f" COMMENT {literal(comment)}" if comment else "")


MEANING = f"{PREFIX}meaning"
"""The property that is the comment of the table too."""

Path = tuple[str, ...]

_WIDER: dict[type[spark.DataType], type[spark.DataType]] = {
    spark.IntegerType: spark.LongType,
    spark.FloatType: spark.DoubleType,
}


def creation(
    name: str, columns: spark.StructType, properties: Mapping[str, str], partition: Sequence[str]
) -> Iterator[str]:
    """Yield the statement that makes a table."""
    listed = ", ".join(column_sql(item) for item in _as_stored(columns))
    by = f" PARTITIONED BY ({', '.join(map(quoted, partition))})" if partition else ""
    comment = f" COMMENT {literal(properties[MEANING])}" if MEANING in properties else ""
    yield f"CREATE TABLE {name} ({listed}) USING iceberg{by}{comment} TBLPROPERTIES ({_pairs(properties)})"


def evolution(name: str, have: spark.StructType, want: spark.StructType) -> Iterator[str]:
    """Yield the statements that give a table the columns that are wanted.

    Columns that are not wanted any more stay, for what was published with them; they need no value from now on. A new
    column never needs one, since the rows that are there have none.
    """
    yield from _inside(name, (), have, _as_stored(want))


def description(name: str, have: Mapping[str, str], want: Mapping[str, str]) -> Iterator[str]:
    """Yield the statements that give a table the properties that are wanted, and take away what is no longer said."""
    new = {key: value for key, value in want.items() if have.get(key) != value}
    if new:
        yield f"ALTER TABLE {name} SET TBLPROPERTIES ({_pairs(new)})"
    if MEANING in new:
        yield f"COMMENT ON TABLE {name} IS {literal(new[MEANING])}"
    old = [key for key in have if key.startswith(PREFIX) and key not in want]
    if old:
        yield f"ALTER TABLE {name} UNSET TBLPROPERTIES ({', '.join(map(literal, old))})"


def _as_stored(columns: spark.StructType) -> spark.StructType:
    kept = stored(columns)
    assert isinstance(kept, spark.StructType)  # noqa: S101
    return kept


def _inside(name: str, path: Path, have: spark.StructType, want: spark.StructType) -> Iterator[str]:
    there = {item.name: item for item in have}
    before: str | None = None
    for item in want:
        if item.name in there:
            yield from _changed(name, (*path, item.name), there.pop(item.name), item)
        else:
            place = f"AFTER {quoted(before)}" if before else "FIRST"
            yield f"ALTER TABLE {name} ADD COLUMN {_added(path, item)} {place}"
        before = item.name
    for left in there.values():
        if not left.nullable:
            yield f"ALTER TABLE {name} ALTER COLUMN {path_sql((*path, left.name))} DROP NOT NULL"


def _added(path: Path, item: spark.StructField) -> str:
    inner = spark.StructField(item.name, item.dataType, True, item.metadata)
    above = f"{path_sql(path)}." if path else ""
    return above + column_sql(inner)


def _changed(name: str, path: Path, have: spark.StructField, want: spark.StructField) -> Iterator[str]:
    yield from _retyped(name, path, have.dataType, want.dataType)
    if want.nullable and not have.nullable:
        yield f"ALTER TABLE {name} ALTER COLUMN {path_sql(path)} DROP NOT NULL"
    meaning = want.metadata.get(COMMENT)
    if meaning and meaning != have.metadata.get(COMMENT):
        yield f"ALTER TABLE {name} ALTER COLUMN {path_sql(path)} COMMENT {literal(meaning)}"


def _retyped(name: str, path: Path, have: spark.DataType, want: spark.DataType) -> Iterator[str]:
    if isinstance(have, spark.StructType) and isinstance(want, spark.StructType):
        yield from _inside(name, path, have, want)
    elif isinstance(have, spark.ArrayType) and isinstance(want, spark.ArrayType):
        yield from _retyped(name, (*path, "element"), have.elementType, want.elementType)
    elif isinstance(have, spark.MapType) and isinstance(want, spark.MapType) and have.keyType == want.keyType:
        yield from _retyped(name, (*path, "value"), have.valueType, want.valueType)
    elif have == want or _holds(have, want):
        return
    elif _holds(want, have):
        yield f"ALTER TABLE {name} ALTER COLUMN {path_sql(path)} TYPE {type_sql(want)}"
    else:
        raise Conflict(
            f"{'.'.join(path)} of {name} is {have.simpleString()} and cannot become {want.simpleString()}; give the "
            "change a new MAJOR version of the contract, or drop the table and build it again with treaty replay"
        )


def _holds(wide: spark.DataType, narrow: spark.DataType) -> bool:
    """Tell whether one type has every value of another, in a way that Iceberg can change it to."""
    if isinstance(wide, spark.DecimalType) and isinstance(narrow, spark.DecimalType):
        return wide.scale == narrow.scale and wide.precision >= narrow.precision
    return _WIDER.get(type(narrow)) is type(wide)


def _pairs(properties: Mapping[str, str]) -> str:
    return ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
