"""Compare the schema of data with its contract and grade the differences like changes of the contract."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from treaty.compatibility.changes import Changes
from treaty.compatibility.diff import diff
from treaty.compatibility.judge import Judged, judge
from treaty.compatibility.modes import Mode
from treaty.contracts.findings import Severity
from treaty.contracts.model import Contract, Field, SchemaObject
from treaty.spark.columns import MALFORMED_COLUMN
from treaty.spark.schema import column_name, fields_from_struct, find_struct_field, select_object, spark_type
from treaty.spark.type_conversion import is_lossless


class TextTyping(StrEnum):
    """Whether a text column is meant as text, or stands for any type as in CSV files."""

    TYPED = "typed"
    UNTYPED = "untyped"


@dataclass(frozen=True)
class Drift:
    """The differences between the declared and the actual schema, graded as changes of the contract."""

    changes: Changes
    judged: tuple[Judged, ...]

    @property
    def worst(self) -> Severity | None:
        """The highest severity of the differences; None without differences."""
        return min(
            (difference.severity for difference in self.judged), key=lambda severity: severity.rank, default=None
        )


def schema_drift(
    frame: DataFrame, contract: Contract, *, object_name: str | None = None, texts: TextTyping = TextTyping.TYPED
) -> Drift:
    """Compare the schema of a contract with that of a frame; untyped texts match any type."""
    return columns_drift(frame.schema, contract, object_name=object_name, texts=texts)


def columns_drift(
    columns: spark.StructType,
    contract: Contract,
    *,
    object_name: str | None = None,
    texts: TextTyping = TextTyping.TYPED,
) -> Drift:
    """Compare the schema of a contract with columns, without a Spark session."""
    schema = select_object(contract, object_name)
    declared, actual = _aligned(schema.fields, columns, texts)
    before, after = _contract(contract, schema, declared), _contract(contract, schema, actual)
    changes = diff(before, after)
    closed = contract.treaty.content == "closed"
    judged = tuple(_grade(change, declared, actual, closed=closed) for change in judge(changes, Mode.FULL).judged)
    return Drift(changes, judged)


def _contract(contract: Contract, schema: SchemaObject, struct: spark.StructType) -> Contract:
    """Return a contract that states only a schema."""
    shape = SchemaObject(schema.name, properties=fields_from_struct(struct))
    return Contract(contract.id, contract.version, contract.api_version, objects=(shape,))


def _aligned(
    fields: tuple[Field, ...], have: spark.StructType, texts: TextTyping
) -> tuple[spark.StructType, spark.StructType]:
    """Return the declared and the actual schema, both with the column names of the contract."""
    declared: list[spark.StructField] = []
    actual: list[spark.StructField] = []
    matched: set[str] = set()
    for field in fields:
        name, want = column_name(field), spark_type(field)
        column = find_struct_field(have, name)
        if column is None:
            declared.append(spark.StructField(name, want or spark.StringType()))
            continue
        matched.add(column.name)
        declared_type, actual_type = _pair(field, want, column.dataType, texts)
        declared.append(spark.StructField(name, declared_type))
        actual.append(spark.StructField(name, actual_type))
    extra = [column for column in have.fields if column.name not in matched and column.name != MALFORMED_COLUMN]
    actual.extend(spark.StructField(column.name, column.dataType) for column in extra)
    return spark.StructType(declared), spark.StructType(actual)


def _pair(
    field: Field, want: spark.DataType | None, have: spark.DataType, texts: TextTyping
) -> tuple[spark.DataType, spark.DataType]:
    if want is None or (texts is TextTyping.UNTYPED and isinstance(have, spark.StringType)):
        return have, have
    if isinstance(want, spark.StructType) and isinstance(have, spark.StructType):
        return _aligned(field.properties or (), have, texts)
    if isinstance(want, spark.ArrayType) and isinstance(have, spark.ArrayType) and field.items is not None:
        declared, actual = _pair(field.items, want.elementType, have.elementType, texts)
        return spark.ArrayType(declared), spark.ArrayType(actual)
    if isinstance(want, spark.MapType) and isinstance(have, spark.MapType) and field.map_value is not None:
        declared, actual = _pair(field.map_value, want.valueType, have.valueType, texts)
        return spark.MapType(want.keyType, declared), spark.MapType(have.keyType, actual)
    return want, have


def _grade(judged: Judged, declared: spark.StructType, actual: spark.StructType, *, closed: bool) -> Judged:
    """Adjust the severity of a difference: a type that can be read without loss is only informative."""
    if judged.change.kind == "field_added" and closed:
        return replace(judged, severity=Severity.ERROR)
    name = judged.change.field or ""
    if name in declared.names and name in actual.names and is_lossless(actual[name].dataType, declared[name].dataType):
        return replace(judged, severity=Severity.INFO)
    return judged
