"""What holds for every draft: no row of the data breaks it, types and nulls are those of the data."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from pyspark.sql import DataFrame, SparkSession

from tests.spark.profile.drafts import NOW, drafted
from tests.spark.profile.strategies import Data, typed_data, untyped_data
from treaty.contracts import contract_from, document_of
from treaty.spark import enforce
from treaty.spark.profile import Typing
from treaty.spark.reading_values import same_type
from treaty.spark.schema import spark_type

_LAWS = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


def _frame(spark: SparkSession, drawn: Data) -> DataFrame:
    return spark.createDataFrame(drawn.rows, drawn.schema, verifySchema=False)


def _breaks_nothing(frame: DataFrame, typing: Typing) -> None:
    contract = drafted(frame, typing=typing).contract
    read_again = contract_from(document_of(contract))

    measures = enforce(frame, read_again).measures(NOW)

    assert [(item.rule.id, item.broken) for item in measures.breaches] == []
    assert measures.valid == measures.rows == frame.count()
    assert measures.unchecked == ()
    assert [str(spark_type(field)) for field in contract.schema[0].fields if "dropped" in str(field)] == []


@given(drawn=untyped_data())
@_LAWS
def test_no_row_of_texts_breaks_the_draft_made_from_them(spark: SparkSession, drawn: Data) -> None:
    _breaks_nothing(_frame(spark, drawn), Typing.NONE)


@given(drawn=typed_data())
@_LAWS
def test_no_row_breaks_the_draft_made_from_them(spark: SparkSession, drawn: Data) -> None:
    _breaks_nothing(_frame(spark, drawn), Typing.STORED)


@given(drawn=typed_data())
@_LAWS
def test_types_and_nulls_are_those_of_the_data(spark: SparkSession, drawn: Data) -> None:
    frame = _frame(spark, drawn)

    fields = drafted(frame).contract.schema[0].fields

    for field, column in zip(fields, frame.schema.fields, strict=True):
        place = frame.schema.names.index(column.name)
        has_nulls = any(row[place] is None for row in drawn.rows)
        stored = spark_type(field)
        assert stored is None or column.dataType.typeName() == "string" or same_type(stored, column.dataType)
        assert bool(field.required) == (len(drawn.rows) >= 50 and not has_nulls)
