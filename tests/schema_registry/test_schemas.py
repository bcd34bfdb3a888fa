"""Parsing schemas, and the texts by which equal schemas are recognised."""

from __future__ import annotations

from base64 import b64decode

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from treaty.schema_registry import protobuf_schemas
from treaty.schema_registry.model import InvalidSchema, ParsedSchema, Reference, ReferencedSchema, SchemaType
from treaty.schema_registry.schemas import canonical, digest_of_schema, normalized, parse_schema

PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
option java_package = "org.shop";
option (shop.audit) = { level: 1 name: "x" };
// An order.
message Order {
  reserved 5, 7 to 9;
  reserved "old";
  string id = 1 [(shop.rules).min_length = 3, deprecated = true];
  optional int32 count = 2;
  map<string, Item> items = 3;
  oneof payment { string card = 10; Status status = 11; }
  google.protobuf.Timestamp at = 12;
  message Item { string sku = 1 [json_name = "SKU"]; }
  enum Status { UNKNOWN = 0; OPEN = 1 [deprecated = true]; }
}
service Orders { rpc Get(Order) returns (stream Order); }
"""
CANONICAL_PROTO = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
option java_package = "org.shop";
option (shop.audit) = { level: 1 name: "x" };
message Order {
  reserved 5, 7 to 9;
  reserved "old";
  string id = 1 [deprecated = true, (shop.rules).min_length = 3];
  optional int32 count = 2;
  map<string, .shop.Order.Item> items = 3;
  oneof payment {
    string card = 10;
    .shop.Order.Status status = 11;
  }
  .google.protobuf.Timestamp at = 12;
  enum Status {
    UNKNOWN = 0;
    OPEN = 1 [deprecated = true];
  }
  message Item {
    string sku = 1 [json_name = "SKU"];
  }
}
service Orders {
  rpc Get (.shop.Order) returns (stream .shop.Order);
}
"""


def reference(name: str, schema: ParsedSchema) -> ReferencedSchema:
    return ReferencedSchema(Reference(name, name, 1), schema)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"string"', '"string"'),
        ("string", '"string"'),
        ('{"type": "string"}', '"string"'),
        (
            '{"fields": [], "name": "a.b.R", "type": "record"}',
            '{"type":"record","name":"R","namespace":"a.b","fields":[]}',
        ),
        (
            '{"name":"R","type":"record","doc":"d","fields":[{"type":{"type":"long","logicalType":"x"},"name":"f","order":"ascending"}]}',
            '{"type":"record","name":"R","doc":"d","fields":[{"name":"f","type":{"type":"long","logicalType":"x"}}]}',
        ),
        ('["null", {"type":"array","items":{"type":"int"}}]', '["null",{"type":"array","items":"int"}]'),
    ],
)
def test_avro_is_written_in_one_order(text: str, expected: str) -> None:
    assert canonical(parse_schema(SchemaType.AVRO, text)) == expected


def test_normalized_avro_has_full_names() -> None:
    text = '{"type":"record","name":"R","namespace":"n","z":1,"a":2,"fields":[{"name":"f","type":["null","R"]}]}'

    assert normalized(parse_schema(SchemaType.AVRO, text)) == (
        '{"type":"record","name":"R","namespace":"n","fields":[{"name":"f","type":["null","n.R"]}],"a":2,"z":1}'
    )


def test_avro_uses_the_types_of_its_references() -> None:
    item = parse_schema(SchemaType.AVRO, '{"type":"record","name":"shop.Item","fields":[]}')
    line = parse_schema(
        SchemaType.AVRO,
        '{"type":"record","name":"shop.Line","fields":[{"name":"i","type":"shop.Item"}]}',
        [reference("shop.Item", item)],
    )

    order = (
        '{"type":"record","name":"Order","fields":[{"name":"l","type":"shop.Line"},{"name":"i","type":"shop.Item"}]}'
    )
    assert parse_schema(SchemaType.AVRO, order, [reference("shop.Line", line)]).text == order


def test_protobuf_text_and_descriptor_are_one_schema() -> None:
    schema = parse_schema(SchemaType.PROTOBUF, PROTO)

    assert schema.text == CANONICAL_PROTO
    assert parse_schema(SchemaType.PROTOBUF, CANONICAL_PROTO).text == CANONICAL_PROTO
    serialized = protobuf_schemas.serialize(schema)
    assert FileDescriptorProto.FromString(b64decode(serialized)).message_type[0].name == "Order"
    again = parse_schema(SchemaType.PROTOBUF, serialized)
    assert digest_of_schema(again, None, None) == digest_of_schema(schema, None, None)


def test_normalized_protobuf_has_its_fields_by_number() -> None:
    schema = parse_schema(SchemaType.PROTOBUF, 'syntax="proto3"; message A { string b = 2; string a = 1; }')

    assert normalized(schema) == 'syntax = "proto3";\nmessage A {\n  string a = 1;\n  string b = 2;\n}\n'


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (SchemaType.AVRO, " ", "the schema is empty"),
        (SchemaType.AVRO, '{"type":"record"}', "not valid"),
        (SchemaType.AVRO, '"Order"', "the type 'Order' is not defined"),
        (SchemaType.AVRO, '{"type":"record","name":"R","fields":[{"name":"f","type":"Gone"}]}', "Gone"),
        (SchemaType.JSON, '{"type":"nonsense"}', "not valid at type"),
        (SchemaType.JSON, '"text"', "an object, true or false"),
        (SchemaType.JSON, '{"$schema":"http://example.org/own"}', "unknown draft"),
        (SchemaType.JSON, '{"$ref":"http://example.org/a.json"}', "remote schemas are not fetched"),
        (SchemaType.JSON, '{"$ref":"#/definitions/a"}', "points to nothing"),
        (SchemaType.PROTOBUF, "nonsense", "cannot read Protobuf"),
        (SchemaType.PROTOBUF, "message A { B b = 1; }", "the type 'B' is not defined"),
        (SchemaType.PROTOBUF, 'import "b.proto"; message A { string a = 1; }', "the import 'b.proto'"),
        (SchemaType.PROTOBUF, "message A { optional int32 a = 1; optional int32 b = 1; }", "have the number 1"),
        (SchemaType.PROTOBUF, "message A { optional int32 a = 19000; }", "does not allow"),
    ],
)
def test_text_that_is_no_schema_is_refused(kind: SchemaType, text: str, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=reason):
        parse_schema(kind, text)


@pytest.mark.parametrize(
    "draft",
    [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ],
)
def test_drafts_of_json_schema_are_known(draft: str) -> None:
    text = f'{{"$schema":"{draft}","type":"object"}}'

    assert parse_schema(SchemaType.JSON, text).text == text
