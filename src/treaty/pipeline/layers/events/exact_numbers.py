"""Numbers in JSON with more digits than a double has: kept to the last digit where a contract asks for as many."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import SchemaObject
from treaty.spark.schema import struct_type

_SAFE_DIGITS = 15
"""So many digits of a decimal number survive as a double."""
_LONG = rf"-?(?=[0-9.]{{{_SAFE_DIGITS + 2}}})[0-9]++\.[0-9]++(?:[eE][+-]?[0-9]++)?"
_SHORT = r"-?[0-9.]++(?:[eE][+-]?[0-9]++)?"
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_UP_TO_LONG = rf'\G((?:[^"0-9-]++|{_STRING}|(?!{_LONG}){_SHORT})*+)({_LONG})'


def with_exact_numbers(text: Column, schema: SchemaObject) -> Column:
    """Return JSON in which long numbers are texts, if the contract has a decimal that a double would cut."""
    if not _is_long(struct_type(schema)):
        return text
    # Spark's parser of texts makes a double of every number with a point, whatever it is read as
    return F.when(F.rlike(text, F.lit(_LONG)), F.regexp_replace(text, _UP_TO_LONG, '$1"$2"')).otherwise(text)


def _is_long(kind: spark.DataType) -> bool:
    if isinstance(kind, spark.StructType):
        return any(_is_long(item.dataType) for item in kind)
    if isinstance(kind, spark.ArrayType):
        return _is_long(kind.elementType)
    if isinstance(kind, spark.MapType):
        return _is_long(kind.keyType) or _is_long(kind.valueType)
    return isinstance(kind, spark.DecimalType) and kind.scale > 0 and kind.precision > _SAFE_DIGITS
