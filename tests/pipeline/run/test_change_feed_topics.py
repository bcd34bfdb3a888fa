"""Debezium's topics on a broker, as JSON and as Avro: every kind of record, out of order, as rows of a product."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession

from tests.kafka import Kafka, Record
from tests.pipeline.layers.arrivals import contract
from tests.pipeline.projects import laid_out
from tests.server.running import running
from treaty.cli.schema_resolution import schema_resolver
from treaty.contracts.versions import Line
from treaty.pipeline.project import read_project
from treaty.pipeline.project.declarations import SchemaRegistryAddress
from treaty.pipeline.run import Counts, RunEnvironment, RunOptions, run_project
from treaty.pipeline.run.writer_schemas import SchemaResolver
from treaty.pipeline.tables import Tables
from treaty.registry.service import Registry
from treaty.schema_registry.schema_lookup import SchemaSource
from treaty.server.app import create_app
from treaty.settings import load_settings

FORMATS = ("json", "avro")
_ID = {"logicalType": "integer", "required": True}
_NAME = {"required": True, "logicalTypeOptions": {"minLength": 1}}
_LSN = {"logicalType": "integer", "logicalTypeOptions": {"format": "i64"}}
CONTRACTS = {
    Line(one.id, 1): one
    for name in FORMATS
    for one in (
        contract(
            f"{name}_rows",
            {"id": _ID, "name": _NAME, "lsn": _LSN, "transaction": {}},
            ordering={"key": ["id"], "sequence": "lsn"},
        ),
        contract(f"{name}_customers", {"id": {**_ID, "primaryKey": True}, "name": _NAME}),
    )
}
_ROW: dict[str, Any] = {
    "type": "record",
    "name": "Value",
    "namespace": "crm.public.customers",
    "fields": [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}],
}
_SOURCE = {"type": "record", "name": "Source", "fields": [{"name": "lsn", "type": ["null", "long"], "default": None}]}
_TRANSACTION = {
    "type": "record",
    "name": "block",
    "namespace": "event",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "total_order", "type": "long"},
        {"name": "data_collection_order", "type": "long"},
    ],
}
ENVELOPE: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": "crm.public.customers",
    "fields": [
        {"name": "before", "type": ["null", _ROW], "default": None},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": _SOURCE},
        {"name": "transaction", "type": ["null", _TRANSACTION], "default": None},
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}
ENVELOPE_WITH_EMAIL = deepcopy(ENVELOPE)
ENVELOPE_WITH_EMAIL["fields"][0]["type"][1]["fields"].append(
    {"name": "email", "type": ["null", "string"], "default": None}
)
BEGIN = {"status": "BEGIN", "id": "571", "ts_ms": 1_700_000_000_000, "event_count": None, "data_collections": None}
NEW_COLUMN = {"source": {"lsn": 20}, "databaseName": "crm", "ddl": "ALTER TABLE customers ADD email text"}


def change(op: str, lsn: int, identity: int, name: str = "", **more: Any) -> dict[str, Any]:
    """Return an envelope; the row of a delete has its key and an empty name, as databases log it by default."""
    row = {"id": identity, "name": name, **more}
    transaction = {"id": "571", "total_order": lsn, "data_collection_order": lsn}
    return {
        "before": row if op == "d" else None,
        "after": None if op == "d" else row,
        "source": {"lsn": lsn},
        "transaction": None if op == "r" else transaction,
        "op": op,
        "ts_ms": 1_700_000_000_000 + lsn,
    }


@dataclass
class Topic:
    """A topic of one format, and how envelopes are written to it."""

    kafka: Kafka
    name: str
    write: Callable[[dict[str, Any]], bytes]
    others: tuple[dict[str, Any], ...] = field(default=())
    """Records without an envelope, which Debezium writes into JSON topics if they are routed there."""

    def produce(self, *values: dict[str, Any] | None) -> None:
        """Append changes; None is a tombstone."""
        written = [None if value is None else self.write(value) for value in values]
        self.kafka.produce(self.name, [Record(value, b"key") for value in written])


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Return the address of an empty schema registry of Treaty."""
    with Registry.open(str(tmp_path / "registry.db")) as registry, running(create_app(registry)) as server:
        yield f"{server}/schema-registry"


@pytest.fixture
def topics(kafka: Kafka, address: str) -> dict[str, Topic]:
    """Return a topic for each format; later Avro values have a schema with a new column."""
    names = {form: kafka.create_topic(f"customers_{form}") for form in FORMATS}
    client = SchemaRegistryClient({"url": address})
    writers = [AvroSerializer(client, json.dumps(schema)) for schema in (ENVELOPE, ENVELOPE_WITH_EMAIL)]
    context = SerializationContext(names["avro"], MessageField.VALUE)

    def write_avro(envelope: dict[str, Any]) -> bytes:
        row = envelope["after"] or envelope["before"]
        written = writers["email" in row](envelope, context)
        assert isinstance(written, bytes)
        return written

    def write_json(envelope: dict[str, Any]) -> bytes:
        is_wrapped = envelope.get("op") == "u"  # by the setting of the converter
        return json.dumps({"schema": {"type": "struct"}, "payload": envelope} if is_wrapped else envelope).encode()

    return {
        "json": Topic(kafka, names["json"], write_json, (BEGIN, NEW_COLUMN)),
        "avro": Topic(kafka, names["avro"], write_avro),
    }


def _project(folder: Path, kafka: Kafka, topics: dict[str, Topic], address: str) -> Path:
    read_as = {"json": "", "avro": f"value: avro\nschema_registry: {{url: {address}}}\n"}
    files = {"treaty.yaml": "name: crm\n"}
    for form, topic in topics.items():
        files[f"sources/{form}_rows.yaml"] = (
            f"contract: shop.{form}_rows@1\ntopic: {topic.name}\nbootstrap: {kafka.bootstrap}\n"
            "change_feed: debezium\nenvelope: {lsn: source.lsn, transaction: transaction.id}\n" + read_as[form]
        )
        files[f"products/{form}_customers.yaml"] = f"contract: shop.{form}_customers@1\nfrom: [{form}_rows]\n"
    return laid_out(folder, files)


def _resolver(folder: Path, opened: list[str]) -> SchemaResolver:
    """Return the resolver of a process, which notes when it opens a registry."""
    resolver = schema_resolver(read_project(folder), load_settings(None, start=folder))
    assert resolver is not None
    open_registry = resolver.open_registry

    def note(address: SchemaRegistryAddress | None) -> AbstractContextManager[SchemaSource]:
        opened.append("" if address is None else address.url)
        return open_registry(address)

    return SchemaResolver(note)


def _run(tables: Tables, folder: Path, resolver: SchemaResolver) -> dict[str, Counts]:
    environment = RunEnvironment(schema_resolver=resolver)
    summary = run_project(tables, read_project(folder), CONTRACTS, RunOptions(), environment)
    assert summary.succeeded, [step.reasons for step in summary.steps]
    return {step.name: step.counts for step in summary.steps if step.layer == "events"}


def _customers(tables: Tables, form: str) -> list[tuple[int, str]]:
    return sorted((row["id"], row["name"]) for row in tables.current_rows(f"products.{form}_customers").collect())


def test_every_record_of_debezium_reaches_the_product_in_the_order_of_the_log(
    spark: SparkSession, tmp_path: Path, kafka: Kafka, topics: dict[str, Topic], address: str
) -> None:
    folder = _project(tmp_path / "project", kafka, topics, address)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.crm_topics")
    tables = Tables(spark, "lake.crm_topics")
    opened: list[str] = []
    resolver = _resolver(folder, opened)
    for topic in topics.values():
        topic.produce(
            *topic.others, change("r", 1, 1, "Ada"), change("r", 1, 2, "Bo"), change("r", 1, 3, "Cy"), change("c", 5, 4)
        )
        topic.produce(change("c", 5, 4, "Di"))  # the row before has an empty name, which the contract refuses

    first = _run(tables, folder, resolver)
    after_first = {form: _customers(tables, form) for form in FORMATS}
    for topic in topics.values():
        topic.produce(
            change("u", 12, 1, "Ada L."),
            change("u", 11, 1, "Ada, late"),
            change("u", 12, 1, "Ada L."),  # delivered again
            change("d", 13, 2),
            None,
            change("u", 21, 3, "Cyd", email="cyd@example.com"),
            change("d", 22, 4),
            change("c", 23, 4, "Di again", email=None),
        )
    second = _run(tables, folder, resolver)

    assert {form: (counts.accepted, counts.quarantined, counts.control) for form, counts in _by(first).items()} == {
        "json": (4, 1, 2),
        "avro": (4, 1, 0),
    }
    assert after_first == {form: [(1, "Ada"), (2, "Bo"), (3, "Cy"), (4, "Di")] for form in FORMATS}
    assert {form: (counts.accepted, counts.duplicate, counts.control) for form, counts in _by(second).items()} == {
        "json": (6, 1, 1),
        "avro": (6, 1, 1),
    }
    assert {form: _customers(tables, form) for form in FORMATS} == {
        form: [(1, "Ada L."), (3, "Cyd"), (4, "Di again")] for form in FORMATS
    }
    assert opened == [address, address], "each schema id is asked for once"
    of_transaction = tables.read("events.avro_rows").where("transaction = '571'").count()
    assert of_transaction == tables.read("events.json_rows").where("transaction = '571'").count() == 8


def _by(counts: dict[str, Counts]) -> dict[str, Counts]:
    return {name.removesuffix("_rows"): found for name, found in counts.items()}
