"""Change feeds: from the envelopes of Debezium, as JSON, to the rows that they are about.

An envelope has the row before and after a change, the operation, and where the change came from. It may be wrapped in
an object with its schema. The row of a delete is the one before, of which often only the key is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field, SchemaObject
from treaty.pipeline.layers.decoding.decoded_rows import (
    DETAIL,
    FAILURE,
    IDENTITY,
    OPERATION,
    PAYLOAD,
    Failure,
    Operation,
)
from treaty.pipeline.project.declarations import ChangeFeed
from treaty.spark.columns import INTERNAL_PREFIX, bind, evaluate_once, quoted_col
from treaty.spark.json_texts import is_complete, parse_json, record_of, without_byte_order_mark
from treaty.spark.schema import column_name, spark_type

_OPENED = f"{INTERNAL_PREFIX}opened"
_TEXT, _INNER = "text", "inner"
_WRAPPED, _SCHEMA = "payload", "schema"
_PARTS = ("before", "after", "op", "source", "status", "id", "ddl", "tableChanges", "message")
_ENVELOPE = spark.StructType([spark.StructField(name, spark.StringType()) for name in (_WRAPPED, _SCHEMA, *_PARTS)])
_OPERATIONS: Mapping[str, Operation] = {
    "c": Operation.CREATE,
    "u": Operation.UPDATE,
    "d": Operation.DELETE,
    "r": Operation.SNAPSHOT,
    "m": Operation.CONTROL,
}
"""By the letter in `op`; `m` is a message that an application wrote into the log."""
_TRUNCATE = "t"
_TRANSACTION_STATES = ("BEGIN", "END")
_NULL_TEXT = "null"
_EPOCH_UNITS: Mapping[str, int] = {"ts_ms": 1_000, "ts_us": 1, "ts_ns": 0}
"""Elements of envelopes that are times since the epoch, and the factor to microseconds; 0: divide by 1,000."""
_TIMESTAMP = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'"


def is_tombstone(payload: Column) -> Column:
    """Tell whether a value of a change feed is a tombstone, also as text in a file."""
    return payload.isNull() | (F.trim(payload.cast("string")) == F.lit(_NULL_TEXT))


def open_envelopes(rows: DataFrame, feed: ChangeFeed, schema: SchemaObject, *, has_sequence: bool) -> DataFrame:
    """Return rows whose payload is the row of a change, with its operation, or with the failure.

    A payload that is not JSON stays as it is. With a sequence, a redelivered change is recognized by its content;
    without one the complete envelope identifies it.
    """
    changed = (PAYLOAD, FAILURE, DETAIL, IDENTITY)
    given = F.struct(*map(quoted_col, changed))
    opened = bind(given, lambda row: _opened(row, feed, schema, has_sequence=has_sequence))
    others = [quoted_col(name) for name in rows.columns if name not in changed]
    staged = rows.select(*others, evaluate_once(opened).alias(_OPENED))
    results = [quoted_col(_OPENED).getField(name).alias(name) for name in (*changed, OPERATION)]
    return staged.select(*[quoted_col(name) for name in staged.columns if name != _OPENED], *results)


def _opened(given: Column, feed: ChangeFeed, schema: SchemaObject, *, has_sequence: bool) -> Column:
    """Return payload, failure, detail, identity and operation of a value."""
    text = F.when(given.getField(FAILURE).isNull(), without_byte_order_mark(given.getField(PAYLOAD)))

    def change(envelope: Column) -> Column:
        inner, operation = envelope.getField(_INNER), _operation(envelope.getField(_INNER), given.getField(PAYLOAD))
        return bind(operation, lambda operation: result(envelope.getField(_TEXT), inner, operation))

    def result(text: Column, inner: Column, operation: Column) -> Column:
        failure = F.coalesce(given.getField(FAILURE), _failure(inner, operation))
        row = F.when(operation == F.lit(Operation.DELETE.value), inner.getField("before")).otherwise(
            inner.getField("after")
        )
        merged = bind(row, lambda row: _with_elements(row, text, feed, schema)).cast("binary")
        is_row = operation != F.lit(Operation.CONTROL.value)
        payload = F.when(operation.isNull(), given.getField(PAYLOAD)).when(is_row, merged)
        return bind(
            F.struct(failure.alias(FAILURE), payload.alias(PAYLOAD)),
            lambda decoded: _described(given, inner, operation, decoded, has_sequence=has_sequence),
        )

    def unwrapped(text: Column, root: Column) -> Column:
        is_wrapped = root.getField("op").isNull() & root.getField(_WRAPPED).isNotNull()
        inner = F.when(is_wrapped, root.getField(_WRAPPED)).otherwise(text)
        parsed = F.when(is_wrapped, _record(root.getField(_WRAPPED))).otherwise(root)
        return bind(F.struct(inner.alias(_TEXT), parsed.alias(_INNER)), change)

    return bind(text, lambda text: bind(_record(text), lambda root: unwrapped(text, root)))


def _described(given: Column, inner: Column, operation: Column, decoded: Column, *, has_sequence: bool) -> Column:
    is_decoded = decoded.getField(FAILURE).isNull()
    payload = F.when(is_decoded, decoded.getField(PAYLOAD))
    detail = F.coalesce(given.getField(DETAIL), F.when(~is_decoded, inner.getField("op")))
    content = F.when(is_decoded, F.concat(operation.cast("binary"), decoded.getField(PAYLOAD)))
    identity = F.coalesce(content, given.getField(IDENTITY)) if has_sequence else given.getField(IDENTITY)
    return F.struct(
        payload.alias(PAYLOAD),
        decoded.getField(FAILURE).alias(FAILURE),
        detail.alias(DETAIL),
        identity.alias(IDENTITY),
        F.when(is_decoded, operation).alias(OPERATION),
    )


def _record(text: Column) -> Column:
    """Return the parts of an envelope; null if the text is not one JSON object."""
    return bind(parse_json(text, _ENVELOPE), lambda parsed: F.when(is_complete(parsed), record_of(parsed)))


def _operation(envelope: Column, payload: Column) -> Column:
    """Return the operation; null if the value is not an envelope, or not JSON."""
    letter = envelope.getField("op")
    named = F.when(F.lit(False), F.lit(None))
    for code, operation in _OPERATIONS.items():
        named = named.when(letter == F.lit(code), F.lit(operation.value))
    is_transaction = envelope.getField("status").isin(*_TRANSACTION_STATES) & envelope.getField("id").isNotNull()
    is_schema_change = envelope.getField("ddl").isNotNull() | envelope.getField("tableChanges").isNotNull()
    is_control = letter.isNull() & (is_transaction | is_schema_change)
    return named.when(is_tombstone(payload) | is_control, F.lit(Operation.CONTROL.value))


def _failure(envelope: Column, operation: Column) -> Column:
    is_delete = operation == F.lit(Operation.DELETE.value)
    has_row = operation.isin(*[one.value for one in (Operation.CREATE, Operation.UPDATE, Operation.SNAPSHOT)])
    is_envelope = envelope.isNotNull()
    return (
        F.when(is_envelope & (envelope.getField("op") == F.lit(_TRUNCATE)), F.lit(Failure.TRUNCATED_TABLE.value))
        .when(is_delete & envelope.getField("before").isNull(), F.lit(Failure.DELETE_WITHOUT_KEY.value))
        .when(has_row & envelope.getField("after").isNull(), F.lit(Failure.NOT_AN_ENVELOPE.value))
        .when(is_envelope & operation.isNull(), F.lit(Failure.NOT_AN_ENVELOPE.value))
    )


def _with_elements(row: Column, envelope: Column, feed: ChangeFeed, schema: SchemaObject) -> Column:
    """Return the JSON of a row with the fields that the envelope provides; these win over columns of the table."""
    if not feed.envelope:
        return row
    fields = {field.name: field for field in schema.fields}
    values = [
        _element(envelope, path, fields[name]).alias(column_name(fields[name]))
        for name, path in feed.envelope.items()
        if name in fields
    ]
    if not values:
        return row
    elements = F.to_json(F.struct(*values))
    inside = F.trim(F.substr(row, F.lit(2), F.length(row) - F.lit(2)))
    separator = F.when((inside == F.lit("")) | (elements == F.lit("{}")), F.lit("")).otherwise(F.lit(","))
    return F.concat(F.lit("{"), inside, separator, F.substr(elements, F.lit(2)))


def _element(envelope: Column, path: str, field: Field) -> Column:
    """Return an element of the envelope as text; times since the epoch become timestamps if the field is one."""
    text = F.get_json_object(envelope, f"$.{path}")
    factor = _EPOCH_UNITS.get(path.rpartition(".")[2])
    if factor is None or not isinstance(spark_type(field), (spark.TimestampType, spark.TimestampNTZType)):
        return text
    number = F.try_to_number(text, F.lit("S9999999999999999999")).cast("decimal(20,0)")
    micros = number * F.lit(factor) if factor else number / F.lit(1_000)
    return F.date_format(F.timestamp_micros(F.floor(micros).cast("long")), _TIMESTAMP)
