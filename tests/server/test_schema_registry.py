"""The schema registry over HTTP, as Kafka clients use it."""

from __future__ import annotations

import sqlite3
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from fastapi.routing import APIRoute

from tests.server.conftest import Serve
from tests.server.running import client_of, running
from tests.server.schema_client import (
    MEDIA_TYPE,
    ORDER,
    ORDER_WITH_AMOUNT,
    ORDER_WITH_NOTE,
    SchemaClient,
    failure,
    order_with,
)
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.routes.schema_registry import ROUTES
from treaty.server.routing import action_of
from treaty.server.schema_registry_paths import SchemaRegistryPort

PROTO = 'syntax = "proto3"; package shop; message Order { string id = 1; }'
ITEM = 'syntax = "proto3"; package shop; message Item { string sku = 1; }'


@pytest.fixture
def schemas(database: str, serve: Serve) -> SchemaClient:
    return SchemaClient(serve(database=database))


def test_schema_gets_an_id_that_it_keeps(schemas: SchemaClient) -> None:
    first = schemas.register("orders-value", ORDER)

    assert (first.status_code, first.json()["id"], first.json()["version"]) == (200, 1, 1)
    assert first.headers["content-type"].startswith(MEDIA_TYPE)
    assert schemas.register("orders-value", ORDER).json()["id"] == 1
    assert schemas.register("returns-value", ORDER.replace(",", ", ")).json()["id"] == 1
    assert schemas.register("orders-value", ORDER_WITH_NOTE).json()["id"] == 2
    assert schemas.get("/subjects").json() == ["orders-value", "returns-value"]
    assert schemas.get("/subjects/orders-value/versions").json() == [1, 2]
    assert schemas.get("/schemas/ids/1").json() == {"schema": ORDER}
    assert schemas.get("/schemas/ids/1?fetchMaxId=true").json() == {"schema": ORDER, "maxId": 2}
    assert schemas.get("/schemas/ids/1/schema").text == ORDER
    assert schemas.get("/schemas/ids/1/subjects").json() == ["orders-value", "returns-value"]
    assert schemas.get("/schemas/ids/2/versions").json() == [{"subject": "orders-value", "version": 2}]
    assert schemas.get("/subjects/orders-value/versions/latest").json() == {
        "subject": "orders-value",
        "version": 2,
        "id": 2,
        "schema": ORDER_WITH_NOTE,
    }


def test_schema_is_looked_up_under_its_subject(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)

    assert schemas.post("/subjects/orders-value", {"schema": ORDER}).json() == {
        "subject": "orders-value",
        "version": 1,
        "id": 1,
        "schema": ORDER,
    }
    assert failure(schemas.post("/subjects/orders-value", {"schema": ORDER_WITH_NOTE})) == (404, 40403)
    assert failure(schemas.post("/subjects/nobody", {"schema": ORDER})) == (404, 40401)


def test_errors_have_the_numbers_that_clients_know(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)

    assert failure(schemas.get("/subjects/nobody/versions")) == (404, 40401)
    assert failure(schemas.get("/subjects/orders-value/versions/9")) == (404, 40402)
    assert failure(schemas.get("/schemas/ids/9")) == (404, 40403)
    assert failure(schemas.get("/subjects/orders-value/versions/first")) == (422, 42202)
    assert failure(schemas.get("/subjects/orders-value/versions/0")) == (422, 42202)
    assert failure(schemas.register("orders-value", "{}")) == (422, 42201)
    assert failure(schemas.register("orders-value", ORDER, schemaType="XML")) == (422, 42201)
    assert failure(schemas.post("/subjects/orders-value/versions", {})) == (422, 42201)
    assert failure(schemas.post("/subjects/orders-value/versions", [])) == (422, 42201)
    assert failure(schemas.register("orders-value", ORDER_WITH_AMOUNT)) == (409, 409)
    assert failure(schemas.put("/config", {"compatibility": "SOMETIMES"})) == (422, 42203)
    assert failure(schemas.put("/mode", {"mode": "SOMETIMES"})) == (422, 42204)
    assert failure(schemas.get("/config/orders-value")) == (404, 40408)
    assert failure(schemas.get("/mode/orders-value")) == (404, 40409)
    assert failure(schemas.register("__GLOBAL", ORDER)) == (422, 42208)
    assert failure(schemas.get("/nothing/here")) == (404, 404)


def test_compatibility_is_checked_without_registering(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)
    path = "/compatibility/subjects/orders-value/versions"

    assert schemas.post(f"{path}/latest", {"schema": ORDER_WITH_NOTE}).json() == {"is_compatible": True}
    refused = schemas.post(f"{path}/1?verbose=true", {"schema": ORDER_WITH_AMOUNT}).json()
    assert refused["is_compatible"] is False
    assert "amount" in refused["messages"][0]
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in refused["messages"][0]
    assert schemas.post(f"{path}?verbose=true", {"schema": ORDER_WITH_NOTE}).json() == {
        "is_compatible": True,
        "messages": [],
    }
    assert failure(schemas.post(f"{path}/7", {"schema": ORDER})) == (404, 40402)
    assert schemas.get("/subjects/orders-value/versions").json() == [1]


def test_level_of_a_subject_overrides_the_global_one(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)

    assert schemas.get("/config").json() == {"compatibilityLevel": "BACKWARD"}
    assert schemas.put("/config", {"compatibility": "FULL"}).json() == {"compatibility": "FULL"}
    assert schemas.get("/config/orders-value?defaultToGlobal=true").json() == {"compatibilityLevel": "FULL"}
    assert schemas.put("/config/orders-value", {"compatibility": "none"}).json() == {"compatibility": "NONE"}
    assert schemas.get("/config/orders-value").json() == {"compatibilityLevel": "NONE"}
    assert schemas.register("orders-value", ORDER_WITH_AMOUNT).status_code == 200
    assert schemas.delete("/config/orders-value").json() == {"compatibilityLevel": "NONE"}
    assert failure(schemas.get("/config/orders-value")) == (404, 40408)


def test_transitive_level_compares_all_versions(schemas: SchemaClient) -> None:
    schemas.put("/config/orders-value", {"compatibility": "BACKWARD"})
    schemas.register("orders-value", ORDER)
    schemas.register("orders-value", order_with("note"))
    required = ORDER_WITH_NOTE.replace(',"default":null', "")

    path = "/compatibility/subjects/orders-value/versions"
    assert schemas.post(path, {"schema": required}).json() == {"is_compatible": True}
    schemas.put("/config/orders-value", {"compatibility": "BACKWARD_TRANSITIVE"})
    assert schemas.post(path, {"schema": required}).json() == {"is_compatible": False}


def test_read_only_subject_refuses_registration(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)

    assert schemas.get("/mode").json() == {"mode": "READWRITE"}
    assert schemas.put("/mode/orders-value", {"mode": "READONLY"}).json() == {"mode": "READONLY"}
    assert failure(schemas.register("orders-value", ORDER_WITH_NOTE)) == (422, 42205)
    assert failure(schemas.delete("/subjects/orders-value")) == (422, 42205)
    assert schemas.register("returns-value", ORDER).status_code == 200
    assert schemas.delete("/mode/orders-value").json() == {"mode": "READONLY"}
    assert schemas.register("orders-value", ORDER_WITH_NOTE).status_code == 200


def test_versions_are_deleted_softly_and_permanently(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)
    schemas.register("orders-value", ORDER_WITH_NOTE)
    version = "/subjects/orders-value/versions/1"

    assert failure(schemas.delete(f"{version}?permanent=true")) == (404, 40407)
    assert schemas.delete(version).json() == 1
    assert failure(schemas.delete(version)) == (404, 40406)
    assert failure(schemas.get(version)) == (404, 40402)
    assert schemas.get(f"{version}?deleted=true").json()["id"] == 1
    assert schemas.get("/subjects/orders-value/versions").json() == [2]
    assert schemas.get("/subjects/orders-value/versions?deleted=true").json() == [1, 2]
    assert schemas.get("/subjects/orders-value/versions?deletedOnly=true").json() == [1]
    assert schemas.delete(f"{version}?permanent=true").json() == 1
    assert schemas.get("/subjects/orders-value/versions?deleted=true").json() == [2]
    assert schemas.get("/schemas/ids/1").json() == {"schema": ORDER}


def test_subject_that_was_deleted_begins_again(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)
    schemas.register("orders-value", ORDER_WITH_NOTE)

    assert failure(schemas.delete("/subjects/orders-value?permanent=true")) == (404, 40405)
    assert schemas.delete("/subjects/orders-value").json() == [1, 2]
    assert failure(schemas.delete("/subjects/orders-value")) == (404, 40404)
    assert schemas.get("/subjects").json() == []
    assert schemas.get("/subjects?deleted=true").json() == ["orders-value"]
    restored = schemas.register("orders-value", ORDER).json()
    assert (restored["id"], restored["version"]) == (1, 3)
    schemas.delete("/subjects/orders-value")
    assert schemas.delete("/subjects/orders-value?permanent=true").json() == [1, 2, 3]
    assert failure(schemas.delete("/subjects/orders-value")) == (404, 40401)
    again = schemas.register("orders-value", ORDER_WITH_AMOUNT).json()
    assert (again["id"], again["version"]) == (3, 1)


def test_references_are_resolved_and_protect_what_they_point_to(schemas: SchemaClient) -> None:
    item = '{"type":"record","name":"Item","namespace":"shop","fields":[{"name":"sku","type":"string"}]}'
    order = '{"type":"record","name":"Order","fields":[{"name":"items","type":{"type":"array","items":"shop.Item"}}]}'
    reference = {"name": "shop.Item", "subject": "item", "version": 1}
    schemas.register("item", item)

    assert failure(schemas.register("orders-value", order)) == (422, 42201)
    missing = {**reference, "version": 5}
    assert failure(schemas.register("orders-value", order, references=[missing])) == (422, 42201)
    registered = schemas.register("orders-value", order, references=[reference])
    assert registered.json() == {"id": 2, "version": 1}
    assert schemas.get("/schemas/ids/2").json() == {"schema": order, "references": [reference]}
    assert schemas.get("/subjects/item/versions/1/referencedby").json() == [2]
    assert failure(schemas.delete("/subjects/item")) == (422, 42206)
    assert failure(schemas.delete("/subjects/item/versions/1")) == (422, 42206)
    schemas.delete("/subjects/orders-value")
    assert schemas.get("/subjects/item/versions/1/referencedby").json() == []
    assert schemas.delete("/subjects/item").json() == [1]


def test_protobuf_is_the_same_as_text_and_as_a_descriptor(schemas: SchemaClient) -> None:
    schemas.register("item.proto", ITEM, schemaType="PROTOBUF")
    order = PROTO.replace("message Order {", 'import "item.proto"; message Order { Item item = 2;')
    reference = {"name": "item.proto", "subject": "item.proto", "version": 1}
    text = schemas.register("orders-value", order, schemaType="PROTOBUF", references=[reference]).json()

    serialized = schemas.get(f"/schemas/ids/{text['id']}?format=serialized").json()["schema"]
    again = schemas.register("orders-value", serialized, schemaType="PROTOBUF", references=[reference]).json()
    assert again["id"] == text["id"]
    assert schemas.get(f"/schemas/ids/{text['id']}").json()["schema"] == (
        'syntax = "proto3";\npackage shop;\nimport "item.proto";\n'
        "message Order {\n  .shop.Item item = 2;\n  string id = 1;\n}\n"
    )


def test_json_schema_keeps_its_references_and_metadata(schemas: SchemaClient) -> None:
    address = '{"$id":"https://example.org/address.json","type":"object","properties":{"city":{"type":"string"}}}'
    order = '{"type":"object","properties":{"to":{"$ref":"https://example.org/address.json"}}}'
    reference = {"name": "https://example.org/address.json", "subject": "address", "version": 1}
    metadata = {"properties": {"owner": "shop"}}
    rules = {"domainRules": [{"name": "r", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "true"}]}
    schemas.register("address", address, schemaType="JSON")

    assert failure(schemas.register("orders-value", order, schemaType="JSON")) == (422, 42201)
    body = {"schemaType": "JSON", "references": [reference], "metadata": metadata, "ruleSet": rules}
    identity = schemas.register("orders-value", order, **body).json()["id"]
    assert schemas.get(f"/schemas/ids/{identity}").json() == {"schema": order, **body}
    found = schemas.get("/subjects/orders-value/metadata?key=owner&value=shop").json()
    assert (found["id"], found["version"]) == (identity, 1)
    assert failure(schemas.get("/subjects/orders-value/metadata?key=owner&value=other")) == (404, 40403)


def test_normalized_schemas_are_the_same_in_any_order(schemas: SchemaClient) -> None:
    one = {"schema": '{"type":"object","properties":{"a":{},"b":{}}}', "schemaType": "JSON"}
    other = {"schema": '{"properties":{"b":{},"a":{}},"type":"object"}', "schemaType": "JSON"}
    path = "/subjects/orders-value/versions?normalize=true"

    assert schemas.post(path, one).json()["id"] == schemas.post(path, other).json()["id"] == 1
    assert failure(schemas.post("/subjects/orders-value", other)) == (404, 40403)
    assert schemas.post("/subjects/orders-value?normalize=true", other).json()["id"] == 1


def test_contexts_have_ids_of_their_own(schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)
    schemas.register("orders-value", ORDER_WITH_NOTE)

    assert schemas.register(":.staging:orders-value", ORDER_WITH_AMOUNT).json()["id"] == 1
    assert schemas.get("/contexts").json() == [".", ".staging"]
    assert schemas.get("/contexts/.staging/schemas/ids/1").json() == {"schema": ORDER_WITH_AMOUNT}
    assert schemas.get("/contexts/.staging/subjects").json() == [":.staging:orders-value"]
    assert schemas.get("/schemas/ids/1").json() == {"schema": ORDER}
    assert schemas.get("/subjects").json() == ["orders-value", ":.staging:orders-value"]
    assert schemas.get("/subjects?subjectPrefix=:.staging:").json() == [":.staging:orders-value"]
    listed = schemas.get("/schemas?subjectPrefix=:*:&latestOnly=true").json()
    assert [(one["subject"], one["version"]) for one in listed] == [("orders-value", 2), (":.staging:orders-value", 1)]


@pytest.mark.parametrize("name", ["a/b", "50%", "%2F", "grün 值", "a b", "x" * 900, "-", "a/versions/1"])
def test_subject_may_have_any_printable_name(schemas: SchemaClient, name: str) -> None:
    assert schemas.register(name, ORDER).status_code == 200

    assert schemas.get("/subjects").json() == [name]
    assert schemas.get(f"/subjects/{quote(name, safe='')}/versions").json() == [1]
    assert schemas.delete(f"/subjects/{quote(name, safe='')}").json() == [1]


def test_storm_of_the_same_schema_gives_one_id(schemas: SchemaClient) -> None:
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(lambda _: schemas.register("orders-value", ORDER), range(64)))

    assert {answer.status_code for answer in answers} == {200}
    assert {(answer.json()["id"], answer.json()["version"]) for answer in answers} == {(1, 1)}
    assert schemas.get("/subjects/orders-value/versions").json() == [1]


def test_clients_that_extend_one_subject_lose_nothing(schemas: SchemaClient) -> None:
    schemas.put("/config/orders-value", {"compatibility": "NONE"})

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: schemas.register("orders-value", order_with(f"f{n}")).json(), range(24)))

    assert sorted(answer["id"] for answer in answers) == list(range(1, 25))
    assert sorted(answer["version"] for answer in answers) == list(range(1, 25))


def test_token_is_used_as_basic_and_as_bearer_credentials(serve: Serve, open_registry: object) -> None:
    client = serve()
    created = client.post(
        "/api/v1/tokens", json={"name": "producer", "role": "contributor", "team": "shop", "scopes": ["read", "write"]}
    )
    token = created.json()["token"]
    identity, secret = token.split("_")[1:]

    def basic(user: str, password: str) -> SchemaClient:
        text = b64encode(f"{user}:{password}".encode()).decode()
        return SchemaClient(client, Authorization=f"Basic {text}")

    assert failure(SchemaClient(client).register("orders-value", ORDER)) == (401, 401)
    assert failure(basic(identity, "wrong").register("orders-value", ORDER)) == (401, 401)
    assert failure(basic("other", token).register("orders-value", ORDER)) == (401, 401)
    assert basic(identity, token).register("orders-value", ORDER).status_code == 200
    assert basic(identity, secret).register("orders-value", ORDER).status_code == 200
    bearer = SchemaClient(client, Authorization=f"Bearer {token}")
    assert bearer.register("orders-value", ORDER_WITH_NOTE).status_code == 200
    assert failure(bearer.put("/config", {"compatibility": "NONE"})) == (403, 403)
    assert bearer.get("/schemas/ids/1").status_code == 200


def test_schema_registry_answers_on_a_port_of_its_own(open_registry: object, tmp_path: object) -> None:
    with Registry.open(f"{tmp_path}/own.db") as registry:
        app = create_app(registry)
        with running(app) as address, client_of(address) as client:
            port = int(address.rpartition(":")[2])
            wrapped = SchemaRegistryPort(app, port)
            with running(wrapped) as other, client_of(other) as own:  # type: ignore[arg-type]
                wrapped._port = int(other.rpartition(":")[2])
                assert SchemaClient(own, "").register("orders-value", ORDER).json()["id"] == 1
                assert SchemaClient(own, "").get("/subjects").json() == ["orders-value"]
                assert failure(own.get("/api/v1/contracts")) == (404, 404)
            assert SchemaClient(client).get("/subjects").json() == ["orders-value"]


def test_fetching_schemas_is_counted_by_client(open_registry: object, serve: Serve, tmp_path: object) -> None:
    client = serve()
    schemas = SchemaClient(client, **{"User-Agent": "billing/1.0"})
    schemas.register("orders-value", ORDER)
    for _ in range(3):
        schemas.get("/schemas/ids/1")
    schemas.get("/subjects/orders-value/versions/1")

    rows = schemas.get("/usage/orders").json()
    assert rows == [
        {
            "client": "billing/1.0",
            "subject": "orders-value",
            "version": 1,
            "id": 1,
            "day": "2026-03-02",
            "reads": 4,
            "registrations": 1,
            "is_declared": False,
        }
    ]
    assert failure(schemas.get("/usage/nothing")) == (404, 404)


def test_clients_that_make_up_names_are_counted_together(serve: Serve) -> None:
    client = serve()
    SchemaClient(client, **{"User-Agent": "billing/1.0"}).register("orders-value", ORDER)
    for number in range(250):
        SchemaClient(client, **{"User-Agent": f"made up {number}"}).get("/schemas/ids/1")

    rows = SchemaClient(client).get("/usage/orders").json()
    assert len(rows) == 201
    assert {row["client"]: row["reads"] for row in rows}["other clients"] == 51


def test_media_types_and_bodies_are_checked(shared: httpx2.Client) -> None:
    schemas = SchemaClient(shared)

    assert failure(
        shared.post("/schema-registry/subjects/a/versions", content="x", headers={"Content-Type": "text/html"})
    ) == (415, 415)
    assert failure(
        shared.post("/schema-registry/subjects/a/versions", content="{", headers={"Content-Type": MEDIA_TYPE})
    ) == (422, 42201)
    assert failure(schemas.put("/config", [])) == (422, 422)


def test_every_route_names_its_action() -> None:
    declared = [route for routes in ROUTES for route in routes.router.routes]
    found = [action_of(route.endpoint) for route in declared if isinstance(route, APIRoute)]

    assert len(found) == 35
    assert None not in found


def test_changed_schema_is_found_by_the_audit_check(open_registry: Callable[..., Registry], tmp_path: Path) -> None:
    registry = open_registry()
    with running(create_app(registry)) as address, client_of(address) as client:
        SchemaClient(client).register("orders-value", ORDER)
    with closing(sqlite3.connect(tmp_path / "registry.db")) as connection, connection:
        connection.execute("UPDATE schemas SET text = replace(text, 'id', 'no')")

    result = registry.access.verify_audit()
    assert result.whole is False
    assert [one.subject for one in result.differences] == ["schema . 1"]
