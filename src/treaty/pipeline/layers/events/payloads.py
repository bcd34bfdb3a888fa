"""Payloads as rows of texts, whatever they are written in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from treaty.contracts.model import Field, SchemaObject
from treaty.pipeline.layers.events.event_table import ARRIVED_AT, FILE, POSITION, RAW_RUN
from treaty.pipeline.layers.raw import COLUMNS
from treaty.pipeline.project.declarations import Files, Format, Source
from treaty.spark.columns import INTERNAL_PREFIX, MALFORMED_COLUMN, evaluate_once, quoted_col
from treaty.spark.schema import column_name, lenient_type, spark_type, struct_type

PAYLOAD, HEADERS = "payload", "headers"
POINTERS = {FILE: "file", POSITION: "position", ARRIVED_AT: "arrived_at", RAW_RUN: "_run"}
"""Columns that lead from an event back to what arrived, and what they are called there."""


def parsed(
    raw: DataFrame,
    source: Source,
    schema: SchemaObject,
    wanted: Sequence[str] | None = None,
    beside: tuple[Column, ...] = (),
) -> DataFrame:
    """Return fields (all, or those wanted) as texts, what is malformed beside them, and pointers to the raw rows."""
    kept = [*(quoted_col(name).alias(alias) for alias, name in POINTERS.items()), *beside]
    chosen = [field for field in schema.fields if wanted is None or column_name(field) in wanted]
    if (csv := _csv(source, schema)) is not None:
        return csv.records(raw, [column_name(field) for field in chosen], kept)
    records = json_records(raw, PAYLOAD, replace(schema, properties=tuple(chosen)), kept)
    return records if _is_text(source) else _with_bytes(records, chosen)


def _with_bytes(records: DataFrame, fields: Sequence[Field]) -> DataFrame:
    """Return records that had types when they arrived, and were written down as JSON: bytes stand there in base64."""
    binary = {column_name(field) for field in fields if isinstance(spark_type(field), spark.BinaryType)}
    columns = [
        _as_bytes(quoted_col(name)).alias(name) if name in binary else quoted_col(name) for name in records.columns
    ]
    return records.select(*columns)


def _as_bytes(text: Column) -> Column:
    """Return the bytes that a text stands for; what was a text all along gives its own."""
    return F.coalesce(F.try_to_binary(text, F.lit("base64")), text.cast("binary"))


def _is_text(source: Source) -> bool:
    return isinstance(source.origin, Files) and source.origin.format in (Format.JSONL, Format.CSV)


def unknown_names_in(source: Source, schema: SchemaObject) -> Column:
    """Return the names in a raw row's payload that no field stands for."""
    csv = _csv(source, schema)
    return unknown_in(without_mark(quoted_col(PAYLOAD)), schema.fields) if csv is None else csv.unknown()


def _csv(source: Source, schema: SchemaObject) -> CsvPayloads | None:
    if not isinstance(source.origin, Files) or source.origin.format is not Format.CSV:
        return None
    options = source.origin.options
    if options.get("multiline") == "true":
        return None
    separator = options.get("separator", ",")
    return CsvPayloads(PAYLOAD, HEADERS, separator, tuple(map(column_name, schema.fields)))


def unknown_in(text: Column, fields: tuple[Field, ...]) -> Column:
    """Return the paths of unknown names that have a value in a JSON text; none where it is no record."""
    known = F.array(*[F.lit(column_name(field)) for field in fields]).cast("array<string>")
    values = F.from_json(text, "map<string,string>")
    own = F.map_keys(F.map_filter(values, lambda name, value: value.isNotNull() & ~F.array_contains(known, name)))
    inside = [
        _below(field, F.get_json_object(text, _path(column_name(field)))) for field in fields if _has_parts(field)
    ]
    nothing = F.array().cast("array<string>")
    found = [F.coalesce(names, nothing) for names in (own, *inside)]
    return F.array_distinct(F.concat(*found)) if inside else found[0]


def _below(field: Field, text: Column) -> Column:
    """Return the unknown names inside a field, with the way to them."""
    kind = field.type.name if field.type else None
    prefix = column_name(field)
    if kind == "array" and field.items is not None:
        items = F.from_json(text, "array<string>")
        return _of_each(items, field.items.properties or (), f"{prefix}[].")
    if kind == "map" and field.map_value is not None:
        values = F.map_values(F.from_json(text, "map<string,string>"))
        return _of_each(values, field.map_value.properties or (), f"{prefix}{{}}.")
    return _after(unknown_in(text, field.properties or ()), f"{prefix}.")


def _of_each(texts: Column, fields: tuple[Field, ...], prefix: str) -> Column:
    return _after(F.flatten(F.transform(texts, lambda item: unknown_in(item, fields))), prefix)


def _after(names: Column, prefix: str) -> Column:
    return F.transform(names, lambda name: F.concat(F.lit(prefix), name))


def _has_parts(field: Field) -> bool:
    """Tell whether a field declares names of its own: an object's, or those of the objects in a list or map."""
    inner = field.items or field.map_value
    return bool(field.properties) or bool(inner and inner.properties)


def _path(name: str) -> str:
    return f"$['{name}']"


_TEXT, _TOKENS, _NAMES = f"{INTERNAL_PREFIX}text", f"{INTERNAL_PREFIX}tokens", f"{INTERNAL_PREFIX}names"
_QUOTED = r'"[^"]*+(?:""[^"]*+)*+"'


@dataclass(frozen=True)
class CsvPayloads:
    """Where records stand in raw rows, and how they are written.

    Files of a source may have their columns in any order. Without a header, values stand in the order of the contract.
    """

    payload: str
    headers: str
    separator: str
    fields: tuple[str, ...]

    def records(self, raw: DataFrame, wanted: Sequence[str], kept: list[Column]) -> DataFrame:
        """Return the wanted fields as texts, the text of what is malformed, and the columns to keep."""
        texts = raw.select(self._text().alias(_TEXT), evaluate_once(self._names()).alias(_NAMES), *kept)
        others = [name for name in texts.columns if name not in (_TEXT, _NAMES)]
        read = texts.select("*", evaluate_once(_tokens(quoted_col(_TEXT), self.separator)).alias(_TOKENS))
        values = [_of_name(quoted_col(_TOKENS), quoted_col(_NAMES), F.lit(name)).alias(name) for name in wanted]
        malformed = F.when(~F.coalesce(_is_whole(self.separator), F.lit(False)), quoted_col(_TEXT)).alias(
            MALFORMED_COLUMN
        )
        return read.select(*values, malformed, *map(quoted_col, others))

    def unknown(self) -> Column:
        """Return the names that have a value and are none of the contract's."""
        names, tokens, known = self._names(), _tokens(self._text(), self.separator), F.array(*map(F.lit, self.fields))
        return F.filter(names, lambda name: ~F.array_contains(known, name) & _of_name(tokens, names, name).isNotNull())

    def _text(self) -> Column:
        return _without_return(without_mark(quoted_col(self.payload)))

    def _names(self) -> Column:
        header = _tokens(_without_return(without_mark(quoted_col(self.headers).getItem(COLUMNS))), self.separator)
        return F.coalesce(F.transform(header, _value), F.array(*map(F.lit, self.fields)))


def _of_name(tokens: Column, names: Column, name: Column) -> Column:
    return _value(F.get(tokens, F.array_position(names, name) - F.lit(1)))


def _tokens(text: Column, separator: str) -> Column:
    """Return the values of a record as they are written; one more separator goes before the first."""
    mark = re.escape(separator)
    token = rf"{mark}({_QUOTED}|[^{mark}]*+)"
    return F.regexp_extract_all(F.concat(F.lit(separator), text), F.lit(token), F.lit(1))


def _value(token: Column) -> Column:
    """Return what a token says: nothing is null, and two quotes are an empty text."""
    inside = F.replace(F.substr(token, F.lit(2), F.length(token) - F.lit(2)), F.lit('""'), F.lit('"'))
    return F.when(F.startswith(token, F.lit('"')), inside).when(token != F.lit(""), token)


def _is_whole(separator: str) -> Column:
    """Tell whether a record has a value for every name, none of them torn, and nothing between them."""
    tokens, text = quoted_col(_TOKENS), quoted_col(_TEXT)
    torn = F.exists(tokens, lambda token: F.startswith(token, F.lit('"')) & ~F.rlike(token, F.lit(f"^{_QUOTED}$")))
    covered = F.array_join(tokens, separator) == text
    return F.is_valid_utf8(text) & (F.size(tokens) == F.size(_NAMES)) & covered & ~torn


def _without_return(text: Column) -> Column:
    return F.when(F.endswith(text, F.lit("\r")), F.substr(text, F.lit(1), F.length(text) - F.lit(1))).otherwise(text)


_RECORD, _END, _BAD = "record", "end", "bad"
_OPTIONS = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _BAD, "allowSingleQuotes": "false"}
_BYTE_ORDER_MARK = "\ufeff"
_TEXT_JSON_PAYLOADS, _READ = f"{INTERNAL_PREFIX}text", f"{INTERNAL_PREFIX}read"


def json_records(raw: DataFrame, payload: str, schema: SchemaObject, kept: list[Column]) -> DataFrame:
    """Return the fields of the contract as texts, the text of what is malformed, and the columns to keep."""
    text = raw.select(without_mark(quoted_col(payload)).alias(_TEXT_JSON_PAYLOADS), *kept)
    others = [name for name in text.columns if name != _TEXT_JSON_PAYLOADS]
    read = text.select("*", evaluate_once(_parsed(quoted_col(_TEXT_JSON_PAYLOADS), schema)).alias(_READ))
    record = quoted_col(_READ).getField(_RECORD)
    fields = [record.getField(name).alias(name) for name in map(column_name, schema.fields)]
    malformed = F.when(~_is_whole_json_payloads(quoted_col(_READ)), quoted_col(_TEXT_JSON_PAYLOADS)).alias(
        MALFORMED_COLUMN
    )
    return read.select(*fields, malformed, *map(quoted_col, others))


def without_mark(payload: Column) -> Column:
    """Return bytes as a text, without the mark that some editors put in front."""
    text = payload.cast("string")
    return F.when(F.startswith(text, F.lit(_BYTE_ORDER_MARK)), F.substr(text, F.lit(2))).otherwise(text)


def _parsed(text: Column, schema: SchemaObject) -> Column:
    """Parse a text that holds exactly one record: inside another, whatever follows it would be out of place.

    Spark's parser takes the first of several records and the first of a list, and puts signs for bytes that are no
    text.
    """
    record = lenient_type(Field(logical_type="object", properties=schema.fields))
    kinds = {_RECORD: record, _END: spark.StringType(), _BAD: spark.StringType()}
    structure = spark.StructType([spark.StructField(name, kind) for name, kind in kinds.items()])
    wrapped = F.concat(F.lit(f'{{"{_RECORD}":'), with_exact_numbers(text, schema), F.lit(f',"{_END}":1}}'))
    return F.when(F.is_valid_utf8(text), F.from_json(wrapped, structure.json(), _OPTIONS))


def _is_whole_json_payloads(read: Column) -> Column:
    at_end = read.getField(_END).eqNullSafe(F.lit("1"))
    return at_end & read.getField(_RECORD).isNotNull() & read.getField(_BAD).isNull()


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
