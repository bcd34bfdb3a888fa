"""Columns and texts as Spark's SQL writes them in the definition of a table."""

from __future__ import annotations

from pyspark.sql import types as spark

from treaty.errors import InvalidDocument
from treaty.spark.guarded_sql.escaping import name_problem, name_sql

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
    problem = name_problem(name)
    if problem:
        raise InvalidDocument(f"a column cannot have {problem}: {name!r}; rename it in the contract")
    return name_sql(name)


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
