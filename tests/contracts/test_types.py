"""Types in common terms, and which widens into which."""

from __future__ import annotations

from typing import Any

import pytest

from tests.documents import contract
from treaty.contracts.types import DataType, data_type, widens

I8, I16, I32, I64, I128 = (DataType("integer", f"i{bits}") for bits in (8, 16, 32, 64, 128))
U8, U16, U32, U64, U128 = (DataType("integer", f"u{bits}") for bits in (8, 16, 32, 64, 128))
F32, F64 = DataType("number", "f32"), DataType("number", "f64")


def decimal(precision: int | None = None, scale: int | None = None) -> DataType:
    """A decimal in common terms."""
    return DataType("number", "decimal", precision, scale)


TYPES: list[tuple[str | None, str | None, dict[str, Any], str | None]] = [
    # logical, physical, options, in common terms
    ("string", None, {}, "string"),
    ("string", "varchar(20)", {"maxLength": 20}, "string"),
    ("boolean", None, {}, "boolean"),
    ("date", None, {}, "date"),
    ("time", None, {}, "time"),
    ("timestamp", None, {"timezone": True}, "timestamp"),
    ("object", None, {}, "object"),
    ("object", "json", {}, "json"),
    ("object", "JSONB", {}, "json"),
    ("array", None, {}, "array"),
    ("map", None, {}, "map"),
    ("vector", None, {"dimensions": 3}, "vector(3×float32)"),
    ("vector", None, {"dimensions": 3, "elementType": "int8"}, "vector(3×int8)"),
    ("integer", None, {}, "integer"),
    ("integer", None, {"format": "i32"}, "integer"),
    ("integer", None, {"format": "i64"}, "integer(i64)"),
    ("integer", None, {"format": "u8"}, "integer(u8)"),
    ("integer", "bigint", {}, "integer(i64)"),
    ("integer", "BIGINT", {}, "integer(i64)"),
    ("integer", "smallint", {}, "integer(i16)"),
    ("integer", "int unsigned", {}, "integer(u32)"),
    ("integer", "bigint", {"format": "i16"}, "integer(i16)"),
    ("number", None, {}, "number"),
    ("number", None, {"format": "f32"}, "number(f32)"),
    ("number", "float", {}, "number(f32)"),
    ("number", "double", {}, "number"),
    ("number", "decimal(10,2)", {}, "decimal(10,2)"),
    ("number", " DECIMAL ( 10 , 2 ) ", {}, "decimal(10,2)"),
    ("number", "numeric(10)", {}, "decimal(10,0)"),
    ("number", "numeric", {}, "decimal"),
    ("number", "decimal(10,2)", {"format": "f32"}, "number(f32)"),
    ("number", "geometry", {}, "number"),
    (None, "varchar(20)", {}, "string"),
    (None, "INT", {}, "integer"),
    (None, "long", {}, "integer(i64)"),
    (None, "bytes", {}, "binary"),
    (None, "Geometry", {}, "geometry"),
    (None, "x" * 5_000, {}, "x" * 5_000),
    (None, None, {}, None),
]


@pytest.mark.parametrize(("logical", "physical", "options", "expected"), TYPES)
def test_a_type_is_read_from_what_the_field_says(
    logical: str | None, physical: str | None, options: dict[str, Any], expected: str | None
) -> None:
    found = data_type(logical, physical, options)

    assert (found and str(found)) == expected


SYNONYMS = [
    ("varchar(20)", "VARCHAR ( 20 )", "character varying(20)", "string", "text"),
    ("int", "integer", "INT4", "int32"),
    ("bigint", "long", "int64", "BigInt"),
    ("double", "float64", "float8", "double precision", "DOUBLE PRECISION"),
    ("float", "real", "float4"),
    ("decimal(10,2)", "numeric(10, 2)", "DEC(10,2)"),
    ("timestamptz", "timestamp with time zone", "TIMESTAMP WITH TIME ZONE"),
    ("timestamp_ntz", "timestamp without time zone"),
    ("boolean", "BOOL"),
    ("bytea", "binary", "varbinary(20)"),
]


@pytest.mark.parametrize("names", SYNONYMS, ids=lambda names: names[0])
def test_two_names_of_one_stored_type_are_the_same_type(names: tuple[str, ...]) -> None:
    assert len({data_type(None, name, {}) for name in names}) == 1


WIDENS = [
    *((I8, wide) for wide in (I16, I32, I64, I128)),
    *((I16, wide) for wide in (I32, I64, I128)),
    *((I32, wide) for wide in (I64, I128)),
    (I64, I128),
    *((U8, wide) for wide in (U16, U32, U64, U128, I16, I32, I64, I128)),
    *((U16, wide) for wide in (U32, U64, U128, I32, I64, I128)),
    *((U32, wide) for wide in (U64, U128, I64, I128)),
    *((U64, wide) for wide in (U128, I128)),
    (F32, F64),
    (decimal(10, 2), decimal(12, 2)),
    (decimal(10, 0), decimal(38, 0)),
]
INTEGERS = (I8, I16, I32, I64, I128, U8, U16, U32, U64, U128)
OTHERS = (F32, F64, decimal(), decimal(10, 0), decimal(10, 2), decimal(12, 2), decimal(12, 3), decimal(38, 0))
UNKNOWN = (
    DataType("string"),
    DataType("json"),
    DataType("geometry"),
    DataType("geography"),
    DataType("vector", "3×int8"),
)


@pytest.mark.parametrize("narrow", [*INTEGERS, *OTHERS, *UNKNOWN], ids=str)
@pytest.mark.parametrize("wide", [*INTEGERS, *OTHERS, *UNKNOWN], ids=str)
def test_a_type_widens_only_into_one_that_holds_all_its_values(narrow: DataType, wide: DataType) -> None:
    assert widens(narrow, wide) is ((narrow, wide) in WIDENS)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (DataType("string"), "string"),
        (I32, "integer"),
        (I64, "integer(i64)"),
        (F64, "number"),
        (F32, "number(f32)"),
        (decimal(), "decimal"),
        (decimal(10, 2), "decimal(10,2)"),
        (decimal(10), "decimal(10,0)"),
        (DataType("vector", "3×float32"), "vector(3×float32)"),
    ],
)
def test_a_type_is_printed_as_people_write_it(kind: DataType, text: str) -> None:
    assert str(kind) == text


def test_a_field_knows_its_type() -> None:
    fields = (
        contract(
            [
                {"name": "a", "logicalType": "number", "physicalType": "decimal(10,2)"},
                {"name": "b", "logicalType": "integer", "logicalTypeOptions": {"format": "i64"}},
                {"name": "c", "physicalType": "varchar(3)"},
            ]
        )
        .schema[0]
        .fields
    )

    assert [field.type for field in fields] == [decimal(10, 2), I64, DataType("string")]
