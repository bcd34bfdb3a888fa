"""How sources declare their values: formats, headers, schemas, registries and change feeds."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.projects import laid_out
from treaty.contracts.values import FrozenMap
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import (
    ChangeFeed,
    Codec,
    Framing,
    SchemaRegistryAddress,
    Source,
    ValueFormat,
)

_TOPIC = "contract: shop.orders@1\ntopic: orders\nbootstrap: broker:9092\n"


def _source(folder: Path, declared: str, **files: str) -> Source:
    named = {name.replace("_", "."): text for name, text in files.items()}
    return read_project(laid_out(folder, {"sources/orders.yaml": _TOPIC + declared, **named})).sources[0]


def test_values_of_a_topic_are_json_without_a_header_by_default(tmp_path: Path) -> None:
    source = _source(tmp_path, "")

    assert (source.codec, source.change_feed) == (Codec(ValueFormat.JSON, Framing.NONE), None)


def test_avro_has_a_header_by_default_and_a_registry_with_credentials_by_name(tmp_path: Path) -> None:
    address = "schema_registry: {url: 'https://schemas.example.org', user: SCHEMAS_USER, password: SCHEMAS_PASSWORD}\n"

    source = _source(tmp_path, f"value: avro\n{address}change_feed: debezium\nenvelope: {{lsn: source.lsn}}\n")

    registry = SchemaRegistryAddress("https://schemas.example.org", "SCHEMAS_USER", "SCHEMAS_PASSWORD")
    assert source.codec == Codec(ValueFormat.AVRO, Framing.CONFLUENT, None, registry)
    assert source.change_feed == ChangeFeed(envelope=FrozenMap({"lsn": "source.lsn"}))


def test_schema_of_values_without_a_header_is_read_from_its_file(tmp_path: Path) -> None:
    source = _source(tmp_path, "value: protobuf\nframing: none\nschema: order.proto\n", order_proto="message A {}")

    assert source.codec == Codec(ValueFormat.PROTOBUF, Framing.NONE, "message A {}")
