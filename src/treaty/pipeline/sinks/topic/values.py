"""Values of records: a published row as JSON, Avro or Protobuf, as the schema of the contract says."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

from pyspark.sql import types as spark

from treaty.contracts.model import Contract, Field
from treaty.errors import InvalidDocument, MissingExtra
from treaty.formats.naming import make_field_names
from treaty.pipeline.project.declarations import ValueFormat
from treaty.pipeline.tables.row_texts import record_json
from treaty.schema_registry.model import ParsedSchema, SchemaType
from treaty.schema_registry.wire_header import encode_header
from treaty.spark.schema import column_name, select_object

Encoder: TypeAlias = Callable[[Mapping[str, Any]], bytes]
"""Returns the bytes of a row."""

SCHEMA_TYPES = {
    ValueFormat.JSON: SchemaType.JSON,
    ValueFormat.AVRO: SchemaType.AVRO,
    ValueFormat.PROTOBUF: SchemaType.PROTOBUF,
}
CONTENT_TYPES = {
    ValueFormat.JSON: "application/json",
    ValueFormat.AVRO: "application/avro",
    ValueFormat.PROTOBUF: "application/protobuf",
}


def json_encoder(columns: spark.StructType) -> Encoder:
    """Return what writes rows as JSON objects: numbers keep their digits, times are in UTC, bytes are Base64."""
    return lambda row: record_json(row, columns).encode()


def registered_encoder(contract: Contract, schema: ParsedSchema, schema_id: int) -> Encoder:
    """Return what writes rows in Avro or Protobuf, after the header with the id of the schema."""
    encode = _avro_encoder(contract, schema) if schema.type is SchemaType.AVRO else _protobuf_encoder(contract, schema)
    header = encode_header(schema_id, (0,) if schema.type is SchemaType.PROTOBUF else None)
    return lambda row: header + encode(row)


def _avro_encoder(contract: Contract, schema: ParsedSchema) -> Encoder:
    import json

    try:
        from fastavro import parse_schema, schemaless_writer
    except ModuleNotFoundError:
        raise MissingExtra("a topic with Avro values", "kafka") from None

    parsed = parse_schema(json.loads(schema.text))
    fields = select_object(contract).fields

    def encode(row: Mapping[str, Any]) -> bytes:
        buffer = io.BytesIO()
        schemaless_writer(buffer, parsed, _avro_record(fields, row))
        return buffer.getvalue()

    return encode


def _avro_record(fields: tuple[Field, ...], row: Mapping[str, Any]) -> dict[str, Any]:
    names = make_field_names([field.name for field in fields])
    return {name: _avro_value(field, row.get(column_name(field))) for field, name in zip(fields, names, strict=True)}


def _avro_value(field: Field | None, value: Any) -> Any:
    """Return a value as the Avro writer takes it."""
    if value is None or field is None or field.type is None:
        return value
    match field.type.name:
        case "object" if field.properties is not None:
            return _avro_record(field.properties, value)
        case "array":
            return [_avro_value(field.items, item) for item in value]
        case "map":
            return {str(key): _avro_value(field.map_value, item) for key, item in value.items()}
        case "time" if isinstance(value, str):
            return time.fromisoformat(value)
        case _:
            return value


def _protobuf_encoder(contract: Contract, schema: ParsedSchema) -> Encoder:
    new_message = message_class(schema)
    fields = select_object(contract).fields

    def encode(row: Mapping[str, Any]) -> bytes:
        message = new_message()
        _fill(message, fields, row)
        data: bytes = message.SerializeToString(deterministic=True)
        return data

    return encode


def message_class(schema: ParsedSchema) -> Any:
    """Return the class of the first message of a schema, with the well-known files that it imports."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    from treaty.schema_registry.protobuf_schemas import well_known_file

    pool = descriptor_pool.DescriptorPool()
    for name in schema.model.dependency:
        imported = well_known_file(name)
        if imported is None:
            raise InvalidDocument(f"the schema imports {name}, which is not installed")
        imported.name = name
        pool.Add(imported)
    file = descriptor_pb2.FileDescriptorProto()
    file.CopyFrom(schema.model)
    file.name = "value.proto"
    pool.Add(file)
    message = file.message_type[0].name
    full_name = f"{file.package}.{message}" if file.package else message
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(full_name))


def _fill(message: Any, fields: tuple[Field, ...], row: Mapping[str, Any]) -> None:
    """Set the fields of a message, which are in the order of the contract's fields."""
    targets = sorted(message.DESCRIPTOR.fields, key=lambda target: target.index)
    for field, target in zip(fields, targets, strict=True):
        value = row.get(column_name(field))
        if value is not None:
            _set(message, target, field, value)


def _set(message: Any, target: Any, field: Field, value: Any) -> None:
    if target.message_type is not None and target.message_type.GetOptions().map_entry:
        _set_map(getattr(message, target.name), target, field, value)
    elif target.is_repeated:
        values = getattr(message, target.name)
        for item in value:
            if target.message_type is None:
                values.append(_scalar(target, item))
            else:
                _fill_message(values.add(), field.items, item)
    elif target.message_type is not None:
        inner = getattr(message, target.name)
        inner.SetInParent()
        _fill_message(inner, field, value)
    else:
        setattr(message, target.name, _scalar(target, value))


def _set_map(entries: Any, target: Any, field: Field, value: Mapping[Any, Any]) -> None:
    kind = target.message_type.fields_by_name["value"]
    for key, item in value.items():
        key = str(key) if target.message_type.fields_by_name["key"].cpp_type == kind.CPPTYPE_STRING else key
        if kind.message_type is None:
            entries[key] = _scalar(kind, item)
        else:
            _fill_message(entries[key], field.map_value, item)


def _scalar(target: Any, value: Any) -> Any:
    if target.enum_type is not None:
        return _enum_number(target.enum_type, str(value))
    if target.cpp_type in (target.CPPTYPE_DOUBLE, target.CPPTYPE_FLOAT):
        return float(value)
    return value if isinstance(value, (bool, int, bytes)) else str(value)


def _enum_number(enum: Any, value: str) -> int:
    number = enum.values_by_name.get(value)
    if number is None:  # names are made unique by a prefix
        number = next((one for one in enum.values if one.name.lower().endswith(f"_{value.lower()}")), None)
    if number is None:
        raise InvalidDocument(f"{value!r} is not a value of the enum {enum.full_name}")
    return int(number.number)


def _fill_message(message: Any, field: Field | None, value: Any) -> None:
    """Set a message inside a message: one of Google's well-known types, or an object of the contract."""
    kind = message.DESCRIPTOR.full_name
    if kind == "google.protobuf.Timestamp" and isinstance(value, datetime):
        message.FromDatetime(value)
    elif kind == "google.type.Date" and isinstance(value, date):
        message.year, message.month, message.day = value.year, value.month, value.day
    elif kind == "google.type.TimeOfDay":
        moment = value if isinstance(value, time) else time.fromisoformat(str(value))
        message.hours, message.minutes, message.seconds = moment.hour, moment.minute, moment.second
        message.nanos = moment.microsecond * 1_000
    elif kind == "google.type.Decimal":
        message.value = format(value, "f") if isinstance(value, Decimal) else str(value)
    elif kind in ("google.protobuf.Struct", "google.protobuf.ListValue"):
        _fill_json(message, value)
    elif kind.startswith("google.protobuf.") and kind.endswith("Value"):
        message.value = _scalar(message.DESCRIPTOR.fields_by_name["value"], value)
    elif field is not None and field.properties is not None:
        _fill(message, field.properties, value)
    else:
        raise InvalidDocument(f"a value of the type {kind} cannot be written")


def _fill_json(message: Any, value: Any) -> None:
    import json

    from google.protobuf import json_format

    if isinstance(value, str):
        json_format.Parse(value, message)
    else:
        json_format.Parse(json.dumps(value, default=str), message)
