"""Subjects and contracts: each registration of one side shows on the other."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from tests.server.conftest import Clock, Serve
from tests.server.contracts import odcs
from tests.server.schema_client import ORDER, ORDER_WITH_NOTE, SchemaClient, failure, order_with
from treaty.registry.rules import RegistryRules
from treaty.schema_registry.contract_versions import Governance, write_subjects

RULES = RegistryRules(on_registered=write_subjects)
PRODUCT = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"sku","type":"string"}]}'


def kafka_contract(version: str = "1.0.0", format: str = "avro", **server: Any) -> dict[str, Any]:  # noqa: A002
    """Return a contract about a topic."""
    document = odcs(version=version)
    document["schema"][0]["physicalName"] = "orders"
    custom = [{"property": name, "value": value} for name, value in server.items()]
    return document | {
        "servers": [
            {"server": "broker", "type": "kafka", "host": "kafka:9092", "format": format, "customProperties": custom}
        ]
    }


@pytest.fixture
def client(serve: Serve) -> httpx2.Client:
    return serve(rules=RULES)


@pytest.fixture
def schemas(client: httpx2.Client) -> SchemaClient:
    return SchemaClient(client)


def latest(client: httpx2.Client, contract: str) -> dict[str, Any]:
    versions = client.get(f"/contracts/{contract}/versions").json()
    return max(versions, key=lambda one: tuple(map(int, one["version"].split("."))))


def test_subject_without_a_contract_gets_a_draft(client: httpx2.Client, schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)

    draft = client.get("/contracts/orders/versions/1.0.0").json()
    assert (draft["id"], draft["status"], draft["team"]) == ("orders", "draft", {"name": "unknown"})
    assert draft["schema"] == [
        {
            "name": "Order",
            "physicalName": "orders",
            "properties": [{"name": "id", "logicalType": "string", "required": True}],
        }
    ]


def test_draft_follows_its_schemas_with_the_computed_bump(client: httpx2.Client, schemas: SchemaClient) -> None:
    schemas.register("orders-value", ORDER)
    schemas.register("orders-value", ORDER_WITH_NOTE)
    assert latest(client, "orders")["version"] == "1.1.0"

    schemas.put("/config/orders-value", {"compatibility": "NONE"})
    schemas.register("orders-value", PRODUCT)
    assert latest(client, "orders")["version"] == "2.0.0"
    assert [field["name"] for field in latest(client, "orders")["schema"][0]["properties"]] == ["sku"]


def test_keys_and_single_values_have_no_contract(client: httpx2.Client, schemas: SchemaClient) -> None:
    assert schemas.register("orders-key", ORDER).status_code == 200
    assert schemas.register("names-value", '"string"').status_code == 200

    assert client.get("/datasets").json() == {"datasets": []}


def test_contract_version_writes_the_schema_of_its_subject(client: httpx2.Client, schemas: SchemaClient) -> None:
    assert client.post("/contracts", json=kafka_contract()).status_code == 201

    written = schemas.get("/subjects/orders-value/versions/1").json()
    assert json.loads(written["schema"]) == {
        "type": "record",
        "name": "orders",
        "namespace": "sales",
        "fields": [{"name": "order_id", "type": "string"}],
    }
    second = kafka_contract("1.1.0")
    second["schema"][0]["properties"].append({"name": "note", "logicalType": "string"})
    assert client.post("/contracts", json=second).status_code == 201
    assert schemas.get("/subjects/orders-value/versions").json() == [1, 2]
    assert schemas.get("/schemas/ids/2/versions").json() == [{"subject": "orders-value", "version": 2}]


def test_description_of_a_field_gives_no_new_version_of_the_subject(
    client: httpx2.Client, schemas: SchemaClient
) -> None:
    client.post("/contracts", json=kafka_contract())
    described = kafka_contract("1.0.1")
    described["schema"][0]["properties"][0]["description"] = "The number of the order."

    assert client.post("/contracts", json=described).status_code == 201
    assert schemas.get("/subjects/orders-value/versions").json() == [1]


@pytest.mark.parametrize(
    ("format", "server", "subject", "type"),
    [
        ("avro", {"subjectNameStrategy": "record"}, "sales.orders", None),
        ("avro", {"subjectNameStrategy": "topic-record"}, "orders-sales.orders", None),
        ("avro", {"topic": "eu.orders"}, "eu.orders-value", None),
        ("avro", {"schemaContext": "staging"}, ":.staging:orders-value", None),
        ("json", {}, "orders-value", "JSON"),
        ("protobuf", {}, "orders-value", "PROTOBUF"),
    ],
)
def test_server_states_format_and_name_strategy(
    client: httpx2.Client,
    schemas: SchemaClient,
    format: str,  # noqa: A002
    server: dict[str, Any],
    subject: str,
    type: str | None,  # noqa: A002
) -> None:
    assert client.post("/contracts", json=kafka_contract(format=format, **server)).status_code == 201

    assert schemas.get("/subjects").json() == [subject]
    listed = schemas.get("/schemas?subjectPrefix=:*:").json()
    assert [one.get("schemaType") for one in listed] == [type]


def test_schema_on_a_bound_subject_opens_a_contract_version(client: httpx2.Client, schemas: SchemaClient) -> None:
    client.post("/contracts", json=kafka_contract())
    written = json.loads(schemas.get("/subjects/orders-value/versions/1/schema").text)
    written["fields"].append({"name": "note", "type": ["null", "string"], "default": None})

    answer = schemas.register("orders-value", json.dumps(written))
    assert answer.status_code == 200, answer.text
    assert "warning" not in answer.headers
    opened = latest(client, "sales.orders")
    assert (opened["version"], opened["status"]) == ("1.1.0", "active")
    assert [field["name"] for field in opened["schema"][0]["properties"]] == ["order_id", "note"]
    assert opened["schema"][0]["properties"][0]["primaryKey"] is True
    assert schemas.get("/subjects/orders-value/versions").json() == [1, 2]


def breaking(schemas: SchemaClient) -> str:
    """Return a schema that Avro's readers can read, and the consumers of the contract cannot."""
    written = json.loads(schemas.get("/subjects/orders-value/versions/latest/schema").text)
    written["fields"] = [{"name": "number", "type": "string", "default": ""}]
    return json.dumps(written)


def test_observed_contract_warns_of_what_it_does_not_admit(client: httpx2.Client, schemas: SchemaClient) -> None:
    client.post("/contracts", json=kafka_contract())

    answer = schemas.register("orders-value", breaking(schemas))
    assert answer.status_code == 200, answer.text
    assert "required version of sales.orders: 2.0.0" in answer.headers["warning"]
    assert latest(client, "sales.orders")["version"] == "1.0.0"


def test_enforced_contract_refuses_with_consumers_fields_and_version(serve: Serve) -> None:
    client = serve(rules=RULES, governance=Governance.ENFORCE)
    schemas = SchemaClient(client)
    client.post("/contracts", json=kafka_contract())
    subscription = {"consumer": "tax-report", "line": "sales.orders@1", "consumer_class": "external_regulatory"}
    subscribed = client.put("/api/v1/subscriptions", json=subscription | {"fields": ["order_id"]})
    assert subscribed.is_success, subscribed.text
    schema = breaking(schemas)

    answer = schemas.register("orders-value", schema)
    assert failure(answer) == (409, 409)
    assert "order_id" in answer.json()["message"]
    assert "affected consumers: tax-report" in answer.json()["message"]
    assert "required version of sales.orders: 2.0.0" in answer.json()["message"]
    checked = schemas.post("/compatibility/subjects/orders-value/versions/latest?verbose=true", {"schema": schema})
    assert checked.json()["is_compatible"] is False
    assert schemas.get("/subjects/orders-value/versions").json() == [1]


def test_deprecated_contract_shows_in_headers(client: httpx2.Client, schemas: SchemaClient) -> None:
    client.post("/contracts", json=kafka_contract())
    plan = {"deprecation_uri": "https://wiki.example.org/move"}
    assert client.post("/contracts/sales.orders/versions/1.0.0/deprecate", json=plan).status_code == 200

    answer = schemas.get("/subjects/orders-value/versions/latest")
    assert answer.headers["deprecation"].startswith("@")
    assert "https://wiki.example.org/move" in answer.headers["link"]
    assert "sunset" in answer.headers


def test_retired_contract_refuses_schemas(client: httpx2.Client, schemas: SchemaClient, clock: Clock) -> None:
    client.post("/contracts", json=kafka_contract())
    plan = {"deprecation_uri": "https://wiki.example.org/move"}
    client.post("/contracts/sales.orders/versions/1.0.0/deprecate", json=plan)
    clock.forward(days=60)
    client.post("/api/v1/tick")
    assert client.post("/api/v1/lines/sales.orders@1/retire", json={}).status_code == 200

    answer = schemas.register("orders-value", order_with("note"))
    assert failure(answer) == (422, 42205)
    assert "retired" in answer.json()["message"]


def test_topic_of_another_contract_is_not_taken(client: httpx2.Client) -> None:
    client.post("/contracts", json=kafka_contract())
    other = kafka_contract() | {"id": "returns.orders"}

    answer = client.post("/contracts", json=other)
    assert answer.status_code == 400
    assert "belongs to the contract 'sales.orders'" in answer.text


def test_subject_of_a_private_contract_is_hidden(serve: Serve) -> None:
    client = serve(rules=RULES)
    client.post("/contracts", json=kafka_contract() | {"visibility": "private"})
    created = client.post("/api/v1/tokens", json={"name": "other", "role": "viewer", "scopes": ["read"]})
    other = SchemaClient(client, Authorization=f"Bearer {created.json()['token']}")

    assert other.get("/subjects").json() == []
    assert failure(other.get("/subjects/orders-value/versions")) == (404, 40401)
    assert failure(other.get("/schemas/ids/1")) == (404, 40403)


def test_only_owners_add_a_schema_that_leaves_their_contract_as_it_is(serve: Serve) -> None:
    client = serve(rules=RULES)
    client.post("/contracts", json=kafka_contract())
    admin = client.post("/api/v1/tokens", json={"name": "ada", "role": "admin"}).json()["token"]
    members = {}
    for name, team in (("owner", "sales"), ("other", "growth")):
        body = {"name": name, "role": "contributor", "team": team}
        created = client.post("/api/v1/tokens", json=body, headers={"Authorization": f"Bearer {admin}"})
        members[name] = SchemaClient(client, Authorization=f"Bearer {created.json()['token']}")
    written = members["owner"].get("/subjects/orders-value/versions/1/schema").text
    metadata = {"properties": {"reviewed": "yes"}}

    assert members["other"].register("orders-value", written, metadata=metadata).status_code == 403
    assert members["owner"].register("orders-value", written, metadata=metadata).json() == {"id": 2, "version": 2}
    assert latest(client, "sales.orders")["version"] == "1.0.0"
