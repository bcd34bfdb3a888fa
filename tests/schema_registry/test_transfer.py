"""Taking over another schema registry, and writing it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import httpx2
import pytest
from typer.testing import CliRunner

from tests.server.running import client_of, running
from tests.server.schema_client import ORDER, ORDER_WITH_AMOUNT, ORDER_WITH_NOTE, SchemaClient
from treaty.cli.app import build_app
from treaty.registry.model.contract_answers import Query
from treaty.registry.service import Registry
from treaty.schema_registry.endpoints import RemoteRegistry
from treaty.schema_registry.errors import SchemaRegistryError
from treaty.schema_registry.transfer import VersionRecord, transfer
from treaty.server.app import create_app

ITEM = '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"sku","type":"string"}]}'
BASKET = '{"type":"record","name":"Basket","fields":[{"name":"first","type":"shop.Item"}]}'
PROTO = 'syntax = "proto3"; message Order { string id = 1; }'


class Start(Protocol):
    """Starts a server with an empty registry, and returns its address and a client."""

    def __call__(self, name: str) -> tuple[str, SchemaClient]: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def begin(name: str) -> tuple[str, SchemaClient]:
            registry = stack.enter_context(Registry.open(str(tmp_path / f"{name}.db")))
            address = stack.enter_context(running(create_app(registry)))
            client: httpx2.Client = stack.enter_context(client_of(address))
            return f"{address}/schema-registry", SchemaClient(client)

        yield begin


def fill(schemas: SchemaClient) -> None:
    schemas.put("/config", {"compatibility": "FULL"})
    schemas.register("item", ITEM)
    schemas.register("orders-value", ORDER)
    schemas.register("orders-value", ORDER_WITH_NOTE)
    schemas.register("basket", BASKET, references=[{"name": "shop.Item", "subject": "item", "version": 1}])
    schemas.put("/config/amounts", {"compatibility": "NONE"})
    schemas.register("amounts", ORDER, metadata={"properties": {"owner": "shop"}})
    schemas.register("amounts", ORDER_WITH_AMOUNT)
    schemas.delete("/subjects/amounts/versions/1")
    schemas.register(":.eu:proto/1", PROTO, schemaType="PROTOBUF")
    schemas.put("/mode/item", {"mode": "READONLY"})


def state(schemas: SchemaClient) -> dict[str, object]:
    """Return everything that clients can see."""
    subjects = schemas.get("/subjects?deleted=true").json()
    return {
        "schemas": schemas.get("/schemas?subjectPrefix=:*:&deleted=true").json(),
        "active": schemas.get("/schemas?subjectPrefix=:*:").json(),
        "config": [schemas.get("/config").json(), schemas.get("/config/amounts").json()],
        "mode": [schemas.get("/mode").json(), schemas.get("/mode/item").json()],
        "subjects": subjects,
    }


def test_import_takes_everything_over_with_its_ids(start: Start) -> None:
    source_address, source = start("source")
    target_address, target = start("target")
    fill(source)
    before = state(source)

    with RemoteRegistry(source_address) as one, RemoteRegistry(target_address) as other:
        done = transfer(one, other)
    assert (done.subjects, done.copied, done.known) == (5, 7, 0)
    assert state(target) == before
    assert state(source) == before
    assert target.register("new", '"string"').status_code == 200


def test_interrupted_import_is_resumed(start: Start) -> None:
    source_address, source = start("source")
    target_address, target = start("target")
    fill(source)

    class Breaks(RemoteRegistry):
        """Fails at the fourth version."""

        left = 3

        def register(self, record: VersionRecord) -> int:
            if self.left == 0:
                raise SchemaRegistryError(50001, "gone")
            self.left -= 1
            return super().register(record)

    with (
        RemoteRegistry(source_address) as one,
        Breaks(target_address) as broken,
        pytest.raises(SchemaRegistryError, match="gone"),
    ):
        transfer(one, broken)
    with RemoteRegistry(source_address) as one, RemoteRegistry(target_address) as other:
        done = transfer(one, other)
        again = transfer(one, other)
    assert (done.copied, done.known) == (4, 3)
    assert (again.copied, again.known, again.digest) == (0, 7, done.digest)
    assert state(target) == state(source)


def test_commands_import_and_export(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source_address, source = start("source")
    target_address, target = start("target")
    fill(source)

    def run(*arguments: str) -> dict[str, object]:
        result = CliRunner().invoke(build_app(), ["schema-registry", *arguments, "--format", "json"])
        assert result.exit_code == 0, result.output
        data: dict[str, object] = json.loads(result.stdout.splitlines()[-1])
        return data

    own = str(tmp_path / "own.db")
    taken = run("import", source_address, "--registry", own)
    with Registry.open(own) as registry:
        drafts = {one.id: one.version for one in registry.search(Query()).items}
    assert drafts == {
        "orders": "1.1.0",
        "amounts": "2.0.0",
        "basket": "1.0.0",
        "item": "1.0.0",
        "eu.proto_1-3a3fa44f": "1.0.0",
    }
    written = run("export", target_address, "--registry", str(tmp_path / "own.db"))
    assert (taken["copied"], written["copied"]) == (7, 7)
    assert state(target) == state(source)


def test_import_does_not_overwrite_other_schemas(start: Start) -> None:
    source_address, source = start("source")
    target_address, target = start("target")
    source.register("orders-value", ORDER)
    target.register("other", ORDER_WITH_AMOUNT)

    with (
        RemoteRegistry(source_address) as one,
        RemoteRegistry(target_address) as other,
        pytest.raises(SchemaRegistryError, match="Overwrite new schema with id 1 is not permitted"),
    ):
        transfer(one, other)
    assert target.get("/schemas/ids/1").json() == {"schema": ORDER_WITH_AMOUNT}
