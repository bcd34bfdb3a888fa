"""JSON lines are read without losing digits, keys or lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.documents import contract
from tests.spark.readers.conftest import Write
from tests.spark.readers.frames import malformed, rows
from treaty.contracts.model import SchemaObject
from treaty.errors import InvalidDocument
from treaty.spark.readers import MALFORMED_COLUMN, open_data, read_data


def declared(*fields: dict[str, Any]) -> SchemaObject:
    return contract(list(fields)).schema[0]


NUMBER = {"name": "a", "logicalType": "number"}
TEXT = {"name": "a", "logicalType": "string"}
ADDRESS = {"name": "o", "logicalType": "object", "properties": [{"name": "x", "logicalType": "integer"}]}
LIST = {"name": "l", "logicalType": "array", "items": {"logicalType": "object", "properties": [TEXT]}}
MAP = {
    "name": "m",
    "logicalType": "map",
    "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "object", "properties": [TEXT]}},
}


VALUES = {
    '{"a":1.10}': "1.10",
    '{"a":1e400}': "1e400",
    '{"a":0.12345678901234567890123}': "0.12345678901234567890123",
    '{"a":-0}': "-0",
    '{"a":"x"}': "x",
    '{"a":true}': "true",
    '{"a":null}': None,
    "{}": None,
    '{"a":NaN}': "NaN",
    '{"a":{"b":  1.0}}': '{"b":  1.0}',
    '{"a":1,"a":2}': "2",
}


def test_declared_values_keep_their_text(any_spark: SparkSession, write: Write) -> None:
    frame = read_data(any_spark, write("orders.jsonl", "\n\n".join(VALUES)), declared=declared(NUMBER))

    assert dict(zip(VALUES, (value for (value,) in rows(frame)), strict=True)) == VALUES
    assert malformed(frame) == []


def test_a_byte_order_mark_is_ignored(spark: SparkSession, write: Write) -> None:
    frame = read_data(spark, write("orders.jsonl", '\ufeff{"a":1,"b":2}\n'), declared=declared(NUMBER))

    assert rows(frame) == [("1", "2")]


def test_lines_that_are_not_records_are_kept_as_malformed(spark: SparkSession, write: Write) -> None:
    lines = ["null", "42", '"text"', '{"a":1', '{"a":01}', "{'a':1}", '{"a":1,}', "a,b", "{a:1}"]
    frame = read_data(spark, write("orders.jsonl", "\n".join([*lines, '{"a":1}'])), declared=declared(NUMBER))

    assert malformed(frame) == lines
    assert frame.count() == len(frame.collect()) == len(lines) + 1


def test_a_record_with_another_structure_is_malformed_for_any_selected_columns(
    spark: SparkSession, write: Write
) -> None:
    good = '{"o":{"x":1},"l":[{"a":"q"}],"m":{"k":{"a":"v"}},"t":3}'
    bad = ['{"o":"text"}', '{"o":[1]}', '{"l":{"a":1}}', '{"l":[1,{"a":2}]}', '{"m":[1]}', '{"m":{"k":1}}']
    schema = declared(ADDRESS, LIST, MAP, {"name": "t", "logicalType": "integer"})

    frame = read_data(spark, write("orders.jsonl", "\n".join([good, *bad])), declared=schema)

    assert malformed(frame) == bad
    assert malformed(frame.select("t", MALFORMED_COLUMN)) == bad
    assert frame.agg(F.count_if(F.col(MALFORMED_COLUMN).isNotNull())).collect()[0][0] == len(bad)
    assert rows(frame)[0] == (("1",), [("q",)], {"k": ("v",)}, "3")


def test_undeclared_keys_become_columns_at_any_depth(spark: SparkSession, write: Write) -> None:
    lines = [
        {"a": "1", "o": {"x": 1, "more": 2}, "l": [{"a": "q"}, {"a": "r", "u": 3}]},
        {"a": "2", "m": {"k": {"a": "v"}, "j": {"a": "w", "s": [1]}}, "extra": {"deep": True}},
    ]
    file = write("orders.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    frame = read_data(spark, file, declared=declared(TEXT, ADDRESS, LIST, MAP))

    assert frame.schema.simpleString() == (
        "struct<a:string,o:struct<x:string,more:string>,l:array<struct<a:string,u:string>>,"
        "m:map<string,struct<a:string,s:array<string>>>,extra:struct<deep:string>,_corrupt_record:string>"
    )
    assert rows(frame.select("extra", "o.more")) == [(None, "2"), (("true",), None)]


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        pytest.param(TEXT, "struct<b:string>", id="an object in the place of a value stays one"),
        pytest.param({"name": "a", "logicalType": "object"}, "string", id="an open object is kept as JSON"),
        pytest.param(
            {"name": "a", "logicalType": "object", "physicalType": "json"}, "string", id="so is a JSON column"
        ),
        pytest.param({"name": "a"}, "string", id="and a field of no type"),
    ],
)
def test_an_object_in_place_of_a_scalar(spark: SparkSession, write: Write, field: dict[str, Any], kind: str) -> None:
    frame = read_data(spark, write("orders.jsonl", '{"a":{"b":1}}\n'), declared=declared(field))

    assert frame.schema["a"].dataType.simpleString() == kind


def test_a_key_that_differs_in_case_keeps_its_name(spark: SparkSession, write: Write) -> None:
    frame = read_data(spark, write("orders.jsonl", '{"A":1}\n'), declared=declared(NUMBER))

    assert (frame.columns, rows(frame)) == (["A", MALFORMED_COLUMN], [("1",)])


def test_unusual_key_names_are_read(spark: SparkSession, write: Write) -> None:
    line = {"a.b": 1, "c d": 2, "e`f": 3, "g:h": 4, "i,j>": 5, "é": 6}
    frame = read_data(spark, write("orders.jsonl", json.dumps(line)), declared=declared(NUMBER))

    assert sorted(frame.columns) == sorted([*line, "a", MALFORMED_COLUMN])
    assert sorted(value for value in rows(frame)[0] if value) == list("123456")


def test_without_a_contract_types_come_from_the_data(spark: SparkSession, write: Write) -> None:
    lines = '{"a":1,"b":"x","c":1.25,"d":[true],"e":null,"f":1}\n{"a":2,"f":"mixed"}\n'
    data = open_data(spark, write("orders.json", lines))

    assert data.frame.drop(MALFORMED_COLUMN).schema.simpleString() == (
        "struct<a:bigint,b:string,c:decimal(3,2),d:array<boolean>,e:string,f:string>"
    )
    assert not data.untyped


def test_an_empty_file_gives_no_rows_if_fields_are_declared(spark: SparkSession, write: Write) -> None:
    file = write("orders.jsonl", "")

    assert rows(read_data(spark, file, declared=declared(NUMBER))) == []
    with pytest.raises(InvalidDocument, match="no records and no declared fields"):
        read_data(spark, file)


def test_partition_folders_become_text_columns(spark: SparkSession, write: Write) -> None:
    folder = write("orders/shop=007/a.jsonl", '{"a":1}').partition("/shop")[0]

    assert rows(read_data(spark, folder, declared=declared(NUMBER))) == [("1", "007")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param('[\n{"a":\n1}\n]\n', "no JSON records; if it is a single document", id="one document"),
        pytest.param('{"a":1}\n{"b":1}\n{"B":2}\n', "'B' and 'b', which differ only in case", id="case only"),
        pytest.param('{"_corrupt_record":1}\n', "which Spark reserves", id="a name of Spark's"),
    ],
)
def test_records_that_would_lose_data_are_refused(spark: SparkSession, write: Write, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        read_data(spark, write("orders.jsonl", text), declared=declared(NUMBER))


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"a":1}{"a":2}', id="two at once"),
        pytest.param('{"a":1} rest', id="something after the record"),
        pytest.param('[{"a":1},{"a":2}]', id="a list on a line"),
    ],
)
def test_a_line_with_more_than_one_record_is_malformed(spark: SparkSession, write: Write, line: str) -> None:
    frame = read_data(spark, write("orders.jsonl", f'{line}\n{{"a":1}}\n'), declared=declared(NUMBER))

    found = [(row["a"], row[MALFORMED_COLUMN]) for row in frame.select("a", MALFORMED_COLUMN).collect()]
    assert sorted(found, key=str) == sorted([("1", None), (None, line)], key=str)
