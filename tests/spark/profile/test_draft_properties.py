"""Properties of every draft: its data satisfies it but for the near misses, with the types and nulls of the data."""

from __future__ import annotations

from hypothesis import given, settings
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as spark_types

from tests.spark.profile.drafts import NOW, drafted
from tests.spark.profile.strategies import Data, typed_data, untyped_data
from tests.spark.property_settings import FEW_EXAMPLES
from treaty.contracts import Contract, contract_from, document_of
from treaty.spark import enforce
from treaty.spark.profile import TypeOrigin
from treaty.spark.schema import spark_type
from treaty.spark.type_conversion import same_type

_FEW = settings(FEW_EXAMPLES, max_examples=2)
"""Each example is profiled, drafted and checked against its draft."""
_LITTLE = 50


def _frame(spark: SparkSession, drawn: Data) -> DataFrame:
    return spark.createDataFrame(drawn.rows, drawn.schema, verifySchema=False)


def _kept_by_nearly_all(frame: DataFrame, typing: TypeOrigin) -> Contract:
    inferred = drafted(frame, typing=typing)
    contract = inferred.contract

    measures = enforce(frame, contract_from(document_of(contract))).measures(NOW)

    breaches = {(result.rule.field, result.violating_rows) for result in measures.breaches}
    assert breaches == {(miss.field, miss.rows) for miss in inferred.near_misses}
    assert measures.quarantined == inferred.quarantined
    assert measures.rows == frame.count()
    assert measures.unchecked == ()
    assert "dropped" not in str(contract), "a guess had to be taken back"
    return contract


def _has_text(kind: spark_types.DataType) -> bool:
    return "string" in kind.simpleString()


@given(drawn=untyped_data())
@_FEW
def test_text_rows_nearly_satisfy_their_draft(spark: SparkSession, drawn: Data) -> None:
    _kept_by_nearly_all(_frame(spark, drawn), TypeOrigin.NONE)


@given(drawn=typed_data())
@_FEW
def test_typed_rows_nearly_satisfy_their_draft_which_keeps_types_and_nulls(spark: SparkSession, drawn: Data) -> None:
    frame = _frame(spark, drawn)

    contract = _kept_by_nearly_all(frame, TypeOrigin.STORED)

    for place, (field, column) in enumerate(zip(contract.schema[0].fields, frame.schema.fields, strict=True)):
        stored = spark_type(field)
        assert stored is None or _has_text(column.dataType) or same_type(stored, column.dataType)
        assert bool(field.required) == (
            len(drawn.rows) >= _LITTLE and all(row[place] is not None for row in drawn.rows)
        )
