"""CSV files are read as text, and no line is lost."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tests.spark.readers.conftest import Write
from tests.spark.readers.frames import malformed, rows
from treaty.errors import InvalidDocument
from treaty.spark.readers import MALFORMED_COLUMN, explain_errors, open_data, read_data

RAGGED = "id,name,note\n1,ann,ok\n2,bob\n3,cy,x,extra\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a,b\n007,1.10\n", [("007", "1.10")], id="values keep their digits"),
        pytest.param('a,b\n,""\n', [(None, "")], id="nothing is null, quotes with nothing in them are a text"),
        pytest.param("a,b\nNULL,null\n", [("NULL", "null")], id="words are words"),
        pytest.param('a,b\n1,"two\nlines"\n', [("1", "two\nlines")], id="a text of several lines"),
        pytest.param('a,b\n1,"say ""hi"", please"\n', [("1", 'say "hi", please')], id="quotes and commas in quotes"),
        pytest.param("a,b\n \\ , x\n", [(" \\ ", " x")], id="spaces and backslashes"),
        pytest.param("a,b\n#1,2\n", [("#1", "2")], id="no comments"),
        pytest.param("\ufeffa,b\n1,2\n", [("1", "2")], id="a byte order mark"),
        pytest.param("a,b\r\n1,2\r\n", [("1", "2")], id="line ends of Windows"),
        pytest.param("a,b\n1,2\n\n\n3,4", [("1", "2"), ("3", "4")], id="blank lines are no rows"),
        pytest.param("a,b\n", [], id="a header alone"),
        pytest.param("a,\n1,2\n", [("1", "2")], id="a column without a name"),
    ],
)
def test_values(spark: SparkSession, write: Write, text: str, expected: list[tuple[str | None, ...]]) -> None:
    frame = read_data(spark, write("orders.csv", text))

    assert rows(frame) == expected
    assert malformed(frame) == []


def test_lines_with_too_few_or_too_many_values_are_kept_as_malformed(any_spark: SparkSession, write: Write) -> None:
    frame = read_data(any_spark, write("orders.csv", RAGGED))

    assert malformed(frame) == ["2,bob", "3,cy,x,extra"]
    assert frame.count() == len(frame.collect()) == 3


def test_an_unclosed_quote_loses_no_data(spark: SparkSession, write: Write) -> None:
    frame = read_data(spark, write("orders.csv", 'a,b\n1,"open\n2,3\n'))

    assert rows(frame) == [("1", "open\n2,3\n")]


def test_a_header_may_span_lines(spark: SparkSession, write: Write) -> None:
    assert read_data(spark, write("orders.csv", '"id","amount\n(EUR)"\n1,2\n')).columns[1] == "amount\n(EUR)"


@pytest.mark.parametrize("asked", [["id"], ["note"], []])
def test_malformed_lines_do_not_depend_on_the_selected_columns(
    spark: SparkSession, write: Write, asked: list[str]
) -> None:
    frame = read_data(spark, write("orders.csv", RAGGED)).select(*asked, MALFORMED_COLUMN)

    assert len(malformed(frame)) == 2
    assert frame.agg(F.count_if(F.col(MALFORMED_COLUMN).isNotNull())).collect()[0][0] == 2


def test_tab_separated_and_compressed_files_are_read(spark: SparkSession, write: Write) -> None:
    assert rows(read_data(spark, write("orders.tsv", "a\tb\n1\t2,3\n"))) == [("1", "2,3")]
    assert rows(read_data(spark, write("orders.csv.gz", "a,b\n1,2\n"))) == [("1", "2")]


def test_options_override_the_defaults(spark: SparkSession, write: Write) -> None:
    file = write("orders.csv", 'a;b\n1;""\n')

    assert rows(read_data(spark, file, options={"sep": ";", "nullValue": ""})) == [("1", None)]


def test_partition_folders_become_text_columns(spark: SparkSession, write: Write) -> None:
    write("orders/shop=007/a.csv", "a,b\n1,2\n")
    folder = write("orders/shop=008/a.csv", "a,b\n3,4\n").partition("/shop")[0]

    frame = read_data(spark, folder)

    assert frame.columns == ["a", "b", "shop", MALFORMED_COLUMN]
    assert sorted(rows(frame)) == [("1", "2", "007"), ("3", "4", "008")]


def test_files_with_different_headers_are_refused(spark: SparkSession, write: Write) -> None:
    write("orders/a.csv", "a,b\n1,2\n")
    folder = write("orders/b.csv", "b,a\n2,1\n").rpartition("/")[0]
    frame = read_data(spark, folder)

    with pytest.raises(InvalidDocument, match="different headers"), explain_errors("orders"):
        frame.collect()


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "is empty: a CSV file needs at least a header"), ("a,b,A\n", "several columns named 'a'")],
)
def test_invalid_csv_files_are_refused(spark: SparkSession, write: Write, text: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        read_data(spark, write("orders.csv", text))


def test_csv_columns_are_untyped(spark: SparkSession, write: Write) -> None:
    assert open_data(spark, write("orders.csv", "a\n1\n")).untyped
