"""JSON texts of exactly one record, parsed strictly, and records written as JSON without loss."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

LOSSLESS_JSON = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ignoreNullFields": "false",
}
"""Options of `to_json`: numbers keep all digits, timestamps their microseconds, and bytes are Base64."""
_RECORD, _END, _BAD = "record", "end", "bad"
_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _BAD, "allowSingleQuotes": "false"}
_BYTE_ORDER_MARK = "\ufeff"


def without_byte_order_mark(payload: Column) -> Column:
    """Return bytes as a text without a byte order mark."""
    text = payload.cast("string")
    return F.when(F.startswith(text, F.lit(_BYTE_ORDER_MARK)), F.substr(text, F.lit(2))).otherwise(text)


def parse_json(text: Column, record: spark.StructType, exact: Column | None = None) -> Column:
    """Parse a text that holds exactly one record, by wrapping it in another: text after the record breaks the wrapper.

    Spark's parser would accept the first of several records or of an array, and replace bytes that are not UTF-8.
    `exact` is the text to parse if it is not the same. See `record_of` and `is_complete` for what the result holds.
    """
    kinds = {_RECORD: record, _END: spark.StringType(), _BAD: spark.StringType()}
    structure = spark.StructType([spark.StructField(name, kind) for name, kind in kinds.items()])
    wrapped = F.concat(F.lit(f'{{"{_RECORD}":'), text if exact is None else exact, F.lit(f',"{_END}":1}}'))
    return F.when(F.is_valid_utf8(text), F.from_json(wrapped, structure.json(), _OPTIONS))


def record_of(parsed: Column) -> Column:
    """Return the record of a parsed text."""
    return parsed.getField(_RECORD)


def is_complete(parsed: Column) -> Column:
    """Tell whether a parsed text was one complete record."""
    at_end = parsed.getField(_END).eqNullSafe(F.lit("1"))
    return at_end & record_of(parsed).isNotNull() & parsed.getField(_BAD).isNull()
