"""Hostile schemas: each gets an answer within ten seconds, and nothing is fetched for it."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import httpx2
import pytest

from tests.server.schema_client import ORDER, SchemaClient, failure

LIMIT_S = 10.0
MEGABYTE = 1_000_000


def nested_record(depth: int) -> str:
    inner: Any = "string"
    for level in range(depth):
        inner = {"type": "record", "name": f"R{level}", "fields": [{"name": "f", "type": inner}]}
    return json.dumps(inner)


def nested_one_of(depth: int, width: int) -> dict[str, Any]:
    if depth == 0:
        return {"type": "string"}
    return {"oneOf": [{"properties": {f"p{number}": nested_one_of(depth - 1, width)}} for number in range(width)]}


def wide_record(fields: int) -> str:
    listed = [{"name": f"field_{number}", "type": ["null", "string"], "default": None} for number in range(fields)]
    return json.dumps({"type": "record", "name": "Wide", "fields": listed})


SCHEMAS = {
    "record that contains itself": (
        "AVRO",
        '{"type":"record","name":"Node","fields":[{"name":"next","type":["null","Node"],"default":null}]}',
        200,
    ),
    "deep record": ("AVRO", nested_record(100), 422),
    "wide record of a megabyte": ("AVRO", wide_record(14_000), 200),
    "a megabyte of brackets": ("AVRO", "[" * MEGABYTE, 422),
    "a megabyte of text": ("JSON", json.dumps({"description": "x" * MEGABYTE}), 200),
    "deep oneOf": ("JSON", json.dumps(nested_one_of(6, 5)), 200),
    "reference to itself": ("JSON", '{"$ref":"#"}', 200),
    "references in a circle": (
        "JSON",
        '{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}',
        200,
    ),
    "remote reference": ("JSON", '{"$ref":"http://127.0.0.1:9/schema.json"}', 422),
    "file reference": ("JSON", '{"$ref":"file:///etc/hostname"}', 422),
    "unknown draft": ("JSON", '{"$schema":"http://127.0.0.1:9/draft"}', 422),
    "repeated keys": ("JSON", '{"type":"object","type":"string"}', 422),
    "number without end": ("JSON", '{"maximum":1e99999}', 422),
    "NUL character": ("JSON", '{"description":"\\u0000"}', 200),
    "deep messages": ("PROTOBUF", "message A {" * 500 + "}" * 500, 422),
    "remote import": ("PROTOBUF", 'import "http://127.0.0.1:9/a.proto"; message A { string a = 1; }', 422),
    "message that contains itself": ("PROTOBUF", 'syntax = "proto3"; message A { A a = 1; }', 200),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_hostile_schema_gets_an_answer_in_time(
    client: httpx2.Client, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, text, status = SCHEMAS[name]
    schemas = SchemaClient(client)
    reached: list[Any] = []
    connect = socket.socket.connect

    def watch(own: socket.socket, address: Any) -> None:
        if address[1] == 9:
            reached.append(address)
        connect(own, address)

    monkeypatch.setattr(socket.socket, "connect", watch)
    start = time.process_time()  # of the server, too: it is a thread of this process
    answer = schemas.register("hostile", text, schemaType=kind)

    assert time.process_time() - start < LIMIT_S
    assert answer.status_code == status, answer.text[:500]
    if status == 422:
        assert failure(answer) == (422, 42201)
    assert reached == []


def test_large_schemas_are_compared_in_time(client: httpx2.Client) -> None:
    schemas = SchemaClient(client)
    schemas.register("wide", wide_record(10_000))
    start = time.process_time()

    assert schemas.register("wide", wide_record(10_001)).status_code == 200
    assert time.process_time() - start < LIMIT_S


def test_references_cannot_form_a_loop(client: httpx2.Client) -> None:
    schemas = SchemaClient(client)
    first = '{"type":"record","name":"A","fields":[{"name":"b","type":"B"}]}'
    loop = {"name": "B", "subject": "a", "version": 1}

    assert failure(schemas.register("a", first, references=[loop])) == (422, 42201)


def test_chain_of_references_is_limited(client: httpx2.Client) -> None:
    schemas = SchemaClient(client)
    schemas.register("r0", '{"type":"record","name":"R0","fields":[]}')
    statuses = []
    for number in range(1, 40):
        text = f'{{"type":"record","name":"R{number}","fields":[{{"name":"f","type":"R{number - 1}"}}]}}'
        reference = {"name": f"R{number - 1}", "subject": f"r{number - 1}", "version": 1}
        statuses.append(schemas.register(f"r{number}", text, references=[reference]).status_code)

    assert set(statuses) <= {200, 422}
    assert statuses[:25] == [200] * 25


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[1]",
        b'{"schema": 1}',
        b'{"schema": null}',
        b'{"schema": "\\ud800"}',
        b'{"schema": "{}", "references": {}}',
        b'{"schema": "{}", "references": [{"name": 1}]}',
        b'{"schema": "{}", "id": "x"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_bodies_that_are_no_schema_are_refused(shared: httpx2.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}

    assert failure(shared.post("/schema-registry/subjects/a/versions", content=body, headers=headers)) == (422, 42201)


def test_id_of_any_size_is_answered(shared: httpx2.Client) -> None:
    schemas = SchemaClient(shared)

    assert failure(schemas.get(f"/schemas/ids/{10**30}")) == (404, 40403)
    assert failure(schemas.get("/schemas/ids/-1")) == (404, 40403)
    assert failure(schemas.get(f"/schemas/ids/{2**63}")) == (404, 40403)
    assert failure(schemas.get(f"/subjects/a/versions/{2**31}")) == (422, 42202)
    assert failure(schemas.register("a", ORDER, id=2**70)) in ((422, 42201), (422, 42205), (422, 422))
