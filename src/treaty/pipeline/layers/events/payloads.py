"""Parsing raw payloads (JSON or CSV) into the fields of the contract, and finding fields that it does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field, SchemaObject
from treaty.pipeline.layers.events.event_table import ARRIVED_AT, FILE, MODIFIED, POSITION, RAW_RUN
from treaty.pipeline.layers.raw import COLUMNS
from treaty.pipeline.project.declarations import Files, Format, Source, ValueFormat
from treaty.spark.columns import INTERNAL_PREFIX, MALFORMED_COLUMN, evaluate_once, quoted_col
from treaty.spark.json_texts import is_complete, parse_json, record_of, without_byte_order_mark
from treaty.spark.schema import column_name, lenient_type, spark_type, struct_type

PAYLOAD, HEADERS = "payload", "headers"
POINTERS = {
    FILE: "file",
    POSITION: "position",
    ARRIVED_AT: "arrived_at",
    RAW_RUN: "_run",
    MODIFIED: "file_modified",
}
"""Columns of an event that point to its raw row, and their names in the raw table."""


def parse_payloads(
    raw: DataFrame,
    source: Source,
    schema: SchemaObject,
    wanted: Sequence[str] | None = None,
    beside: tuple[Column, ...] = (),
) -> DataFrame:
    """Return fields (all, or those wanted) as texts, the text of malformed payloads, and pointers to the raw rows."""
    carried = [*(quoted_col(name).alias(alias) for alias, name in POINTERS.items()), *beside]
    chosen = [field for field in schema.fields if wanted is None or column_name(field) in wanted]
    if (csv := _csv(source, schema)) is not None:
        return csv.records(raw, [column_name(field) for field in chosen], carried)
    records = json_records(raw, PAYLOAD, replace(schema, properties=tuple(chosen)), carried)
    return records if _is_text(source) else _with_bytes(records, chosen)


def _with_bytes(records: DataFrame, fields: Sequence[Field]) -> DataFrame:
    """Decode binary fields of records that arrived typed and were encoded as JSON, in which bytes are Base64."""
    binary = {column_name(field) for field in fields if isinstance(spark_type(field), spark.BinaryType)}
    columns = [
        _as_bytes(quoted_col(name)).alias(name) if name in binary else quoted_col(name) for name in records.columns
    ]
    return records.select(*columns)


def _as_bytes(text: Column) -> Column:
    """Return the bytes of a Base64 text; another text gives its own bytes."""
    return F.coalesce(F.try_to_binary(text, F.lit("base64")), text.cast("binary"))


def _is_text(source: Source) -> bool:
    """Tell whether records are texts as they arrived; others were encoded as JSON, in which bytes are Base64."""
    if source.change_feed is not None:
        return False
    if source.codec is not None:
        return source.codec.format is ValueFormat.JSON
    return isinstance(source.origin, Files) and source.origin.format in (Format.JSONL, Format.CSV)


def unknown_names(source: Source, schema: SchemaObject) -> Column:
    """Return the names in a payload for which the contract has no field."""
    csv = _csv(source, schema)
    return (
        unknown_json_names(without_byte_order_mark(quoted_col(PAYLOAD)), schema.fields)
        if csv is None
        else csv.unknown_names()
    )


def _csv(source: Source, schema: SchemaObject) -> CsvPayloads | None:
    if not isinstance(source.origin, Files) or source.origin.format is not Format.CSV:
        return None
    options = source.origin.options
    separator = options.get("separator", ",")
    return CsvPayloads(PAYLOAD, HEADERS, separator, tuple(map(column_name, schema.fields)))


def unknown_json_names(text: Column, fields: tuple[Field, ...]) -> Column:
    """Return the paths of unknown names with a value in a JSON text; empty if the text is not an object."""
    known = F.array(*[F.lit(column_name(field)) for field in fields]).cast("array<string>")
    values = F.from_json(text, "map<string,string>")
    own = F.map_keys(F.map_filter(values, lambda name, value: value.isNotNull() & ~F.array_contains(known, name)))
    nested = [
        _unknown_in_field(field, F.get_json_object(text, _path(column_name(field))))
        for field in fields
        if _has_nested_fields(field)
    ]
    nothing = F.array().cast("array<string>")
    names = [F.coalesce(paths, nothing) for paths in (own, *nested)]
    return F.array_distinct(F.concat(*names)) if nested else names[0]


def _unknown_in_field(field: Field, text: Column) -> Column:
    """Return the paths of unknown names inside a field."""
    kind = field.type.name if field.type else None
    prefix = column_name(field)
    if kind == "array" and field.items is not None:
        items = F.from_json(text, "array<string>")
        return _unknown_in_each(items, field.items.properties or (), f"{prefix}[].")
    if kind == "map" and field.map_value is not None:
        values = F.map_values(F.from_json(text, "map<string,string>"))
        return _unknown_in_each(values, field.map_value.properties or (), f"{prefix}{{}}.")
    return _with_prefix(unknown_json_names(text, field.properties or ()), f"{prefix}.")


def _unknown_in_each(texts: Column, fields: tuple[Field, ...], prefix: str) -> Column:
    return _with_prefix(F.flatten(F.transform(texts, lambda text: unknown_json_names(text, fields))), prefix)


def _with_prefix(names: Column, prefix: str) -> Column:
    return F.transform(names, lambda name: F.concat(F.lit(prefix), name))


def _has_nested_fields(field: Field) -> bool:
    """Tell whether a field has nested fields: it is an object, or an array or map of objects."""
    inner = field.items or field.map_value
    return bool(field.properties) or bool(inner and inner.properties)


def _path(name: str) -> str:
    return f"$['{name}']"


_TEXT, _TOKENS, _NAMES = f"{INTERNAL_PREFIX}text", f"{INTERNAL_PREFIX}tokens", f"{INTERNAL_PREFIX}names"
_QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'


@dataclass(frozen=True)
class CsvPayloads:
    """CSV records in raw rows: the columns that hold them, their separator and the fields of the contract.

    Files may have their columns in any order. Without a header, values are in the order of the contract.
    """

    payload: str
    headers: str
    separator: str
    fields: tuple[str, ...]

    def records(self, raw: DataFrame, wanted: Sequence[str], carried: list[Column]) -> DataFrame:
        """Return the wanted fields as texts, the text of malformed records, and the columns in `carried`."""
        texts = raw.select(self._text().alias(_TEXT), evaluate_once(self._names()).alias(_NAMES), *carried)
        others = [name for name in texts.columns if name not in (_TEXT, _NAMES)]
        read = texts.select("*", evaluate_once(_tokens(quoted_col(_TEXT), self.separator)).alias(_TOKENS))
        values = [_value_by_name(quoted_col(_TOKENS), quoted_col(_NAMES), F.lit(name)).alias(name) for name in wanted]
        malformed = F.when(~F.coalesce(_is_complete_csv(self.separator), F.lit(False)), quoted_col(_TEXT)).alias(
            MALFORMED_COLUMN
        )
        return read.select(*values, malformed, *map(quoted_col, others))

    def unknown_names(self) -> Column:
        """Return the names that have a value and are not fields of the contract."""
        names, tokens, known = self._names(), _tokens(self._text(), self.separator), F.array(*map(F.lit, self.fields))
        return F.filter(
            names, lambda name: ~F.array_contains(known, name) & _value_by_name(tokens, names, name).isNotNull()
        )

    def _text(self) -> Column:
        return _without_carriage_return(without_byte_order_mark(quoted_col(self.payload)))

    def _names(self) -> Column:
        header = _tokens(
            _without_carriage_return(without_byte_order_mark(quoted_col(self.headers).getItem(COLUMNS))), self.separator
        )
        return F.coalesce(F.transform(header, _value), F.array(*map(F.lit, self.fields)))


def _value_by_name(tokens: Column, names: Column, name: Column) -> Column:
    return _value(F.get(tokens, F.array_position(names, name) - F.lit(1)))


def _tokens(text: Column, separator: str) -> Column:
    """Return the values of a record as written; the pattern needs a separator before the first one."""
    mark = re.escape(separator)
    token = rf"{mark}({_QUOTED}|[^{mark}]*+)"
    return F.regexp_extract_all(F.concat(F.lit(separator), text), F.lit(token), F.lit(1))


def _value(token: Column) -> Column:
    """Return the value of a token: an empty token is null, two quotes are an empty text."""
    inside = F.replace(F.substr(token, F.lit(2), F.length(token) - F.lit(2)), F.lit('""'), F.lit('"'))
    return F.when(F.startswith(token, F.lit('"')), inside).when(token != F.lit(""), token)


def _is_complete_csv(separator: str) -> Column:
    """Tell whether a record has a value for every name, with all quotes closed and no text outside of them."""
    tokens, text = quoted_col(_TOKENS), quoted_col(_TEXT)
    torn = F.exists(tokens, lambda token: F.startswith(token, F.lit('"')) & ~F.rlike(token, F.lit(f"^{_QUOTED}$")))
    covered = F.array_join(tokens, separator) == text
    return F.is_valid_utf8(text) & (F.size(tokens) == F.size(_NAMES)) & covered & ~torn


def _without_carriage_return(text: Column) -> Column:
    return F.when(F.endswith(text, F.lit("\r")), F.substr(text, F.lit(1), F.length(text) - F.lit(1))).otherwise(text)


_JSON_TEXT, _READ = f"{INTERNAL_PREFIX}text", f"{INTERNAL_PREFIX}read"


def json_records(raw: DataFrame, payload: str, schema: SchemaObject, carried: list[Column]) -> DataFrame:
    """Return the fields of the contract as texts, the text of malformed records, and the columns in `carried`."""
    text = raw.select(without_byte_order_mark(quoted_col(payload)).alias(_JSON_TEXT), *carried)
    others = [name for name in text.columns if name != _JSON_TEXT]
    read = text.select("*", evaluate_once(_parse_record(quoted_col(_JSON_TEXT), schema)).alias(_READ))
    record = record_of(quoted_col(_READ))
    fields = [record.getField(name).alias(name) for name in map(column_name, schema.fields)]
    malformed = F.when(~is_complete(quoted_col(_READ)), quoted_col(_JSON_TEXT)).alias(MALFORMED_COLUMN)
    return read.select(*fields, malformed, *map(quoted_col, others))


def _parse_record(text: Column, schema: SchemaObject) -> Column:
    record = lenient_type(Field(logical_type="object", properties=schema.fields))
    assert isinstance(record, spark.StructType)  # noqa: S101  the type of an object with fields
    return parse_json(text, record, with_exact_numbers(text, schema))


_SAFE_DIGITS = 15
"""Number of decimal digits that a double preserves."""
_LONG = rf"-?(?=[0-9.]{{{_SAFE_DIGITS + 2}}})[0-9]++\.[0-9]++(?:[eE][+-]?[0-9]++)?"
_SHORT = r"-?[0-9.]++(?:[eE][+-]?[0-9]++)?"
_STRING = r'"(?:[^"\\]++|\\.)*+"'
_UP_TO_LONG = rf'\G((?:[^"0-9-]++|{_STRING}|(?!{_LONG}){_SHORT})*+)({_LONG})'


def with_exact_numbers(text: Column, schema: SchemaObject) -> Column:
    """Return JSON with long numbers quoted, if the contract has a decimal that a double would truncate."""
    if not _has_long_decimal(struct_type(schema)):
        return text
    # Spark parses every JSON number with a decimal point as a double, whatever type is read
    return F.when(F.rlike(text, F.lit(_LONG)), F.regexp_replace(text, _UP_TO_LONG, '$1"$2"')).otherwise(text)


def _has_long_decimal(kind: spark.DataType) -> bool:
    if isinstance(kind, spark.StructType):
        return any(_has_long_decimal(text.dataType) for text in kind)
    if isinstance(kind, spark.ArrayType):
        return _has_long_decimal(kind.elementType)
    if isinstance(kind, spark.MapType):
        return _has_long_decimal(kind.keyType) or _has_long_decimal(kind.valueType)
    return isinstance(kind, spark.DecimalType) and kind.scale > 0 and kind.precision > _SAFE_DIGITS
