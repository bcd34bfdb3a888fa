"""Schema ids of topics: resolved once at a registry, with everything that a schema refers to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient

from tests.server.running import running
from treaty.cli.schema_resolution import schema_resolver
from treaty.contracts.versions import Line
from treaty.errors import InvalidDocument, Unavailable
from treaty.pipeline.project.declarations import (
    Codec,
    Framing,
    Kafka,
    Project,
    SchemaRegistryAddress,
    Source,
    ValueFormat,
)
from treaty.pipeline.run.writer_schemas import SchemaResolver
from treaty.registry.service import Registry
from treaty.schema_registry.model import ParsedSchema
from treaty.schema_registry.writer_judgement import inline_references
from treaty.server.app import create_app
from treaty.settings import load_settings

STATE = {"type": "enum", "name": "State", "namespace": "shop", "symbols": ["OPEN"]}
ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "state", "type": "State"}]}


def _source(address: SchemaRegistryAddress | None) -> Source:
    codec = Codec(ValueFormat.AVRO, Framing.CONFLUENT, None, address)
    return Source("orders", Line("orders", 1), Kafka("broker:9092", "orders"), codec=codec, at="sources/orders.yaml:1")


def _resolver(source: Source, folder: Path) -> SchemaResolver:
    (folder / "treaty.yaml").write_text(f"name: shop\nregistry: {folder / 'registry.db'}\n")
    resolver = schema_resolver(Project(folder, (source,)), load_settings(folder / "treaty.yaml"))
    assert resolver is not None
    return resolver


def _register(address: str) -> int:
    with SchemaRegistryClient({"url": address}) as client:
        client.register_schema("state-value", Schema(json.dumps(STATE), "AVRO"))
        references = [SchemaReference("shop.State", "state-value", 1)]
        return int(client.register_schema("orders-value", Schema(json.dumps(ORDER), "AVRO", references)))


def test_ids_are_resolved_with_references_and_asked_for_once(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "other.db")) as registry, running(create_app(registry)) as server:
        address = f"{server}/schema-registry"
        identity = _register(address)
        source = _source(SchemaRegistryAddress(address))
        resolver = _resolver(source, tmp_path)
        found = resolver.resolve(source, [identity, 99])

    schema = found[identity]
    assert isinstance(schema, ParsedSchema)
    assert inline_references(schema) == {**ORDER, "fields": [{"name": "state", "type": STATE}]}
    assert found[99] is None
    assert resolver.resolve(source, [identity]) == {identity: schema}
    message = (
        f"sources/orders.yaml:1: the schema registry at {address} cannot be reached: ConnectError; check "
        "schema_registry.url of the source; nothing of this batch was published"
    )
    with pytest.raises(Unavailable) as refused:
        resolver.resolve(source, [identity, 99])
    assert str(refused.value) == message


def test_registry_of_the_project_is_its_file_by_default(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry, running(create_app(registry)) as server:
        identity = _register(f"{server}/schema-registry")
    source = _source(None)

    assert isinstance(_resolver(source, tmp_path).resolve(source, [identity])[identity], ParsedSchema)


def test_missing_variable_of_a_credential_is_named(tmp_path: Path) -> None:
    source = _source(SchemaRegistryAddress("http://127.0.0.1:1", token="SHOP_TOKEN"))  # noqa: S106  a name

    with pytest.raises(InvalidDocument, match="the environment variable SHOP_TOKEN, which schema_registry names"):
        _resolver(source, tmp_path).resolve(source, [1])
