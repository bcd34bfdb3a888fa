"""How a table comes to have the columns that are wanted: statements, from what it has and what it should have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import types as spark

from treaty.errors import Conflict
from treaty.pipeline.tables.ddl import COMMENT, column_sql, literal, path_sql, quoted, stored, type_sql
from treaty.pipeline.tables.stamps import PREFIX

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
