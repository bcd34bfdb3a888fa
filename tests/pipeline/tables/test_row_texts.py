"""Values that are read without Spark look as Spark formats them."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.pipeline.tables.row_texts import record_json, value_text
from treaty.pipeline.tables.table_reader import _JSON, _text

VALUES = """
SELECT 1 AS i, -9223372036854775808L AS l, true AS b, CAST('0.00' AS DECIMAL(12, 2)) AS m, -1234567.890BD AS n,
  'Grüße "x"\\n' AS t, DATE '2024-02-29' AS day, TIMESTAMP '2024-01-02 03:04:05.5' AS at,
  TIMESTAMP '1969-12-31 23:59:59' AS early, X'FF00' AS bytes, CAST('ok' AS BINARY) AS utf8,
  CAST(NULL AS STRING) AS nothing,
  array(1.5D, 1e10D, 1e-5D, CAST('NaN' AS DOUBLE), CAST('-Infinity' AS DOUBLE), 0D, 123456.789D, -1e7D) AS doubles,
  array(0.1F, 3.4e38F, 16777216F) AS floats, 1e7D AS d, 0.001D AS small, 0.1F AS f, 1.25E-7D AS tiny,
  map('a', 1, 'b', NULL) AS counts, named_struct('x', X'01', 'at', TIMESTAMP '2024-01-02 03:04:05', 'n', NULL) AS st
"""


def test_texts_and_records_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.sql(VALUES)
    (row,) = frame.toArrow().to_pylist(maps_as_pydicts="strict")

    texts = {field.name: value_text(row[field.name], field.dataType) for field in frame.schema}

    (expected,) = frame.select(*[_text(frame, name).alias(name) for name in frame.columns]).collect()
    assert texts == expected.asDict()
    (record,) = frame.select(F.to_json(F.struct(*frame.columns), _JSON).alias("record")).collect()
    assert record_json(row, frame.schema) == record["record"]
