"""A plain HTTP client of the schema registry, and schemas to send to it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx2

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
ORDER = '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"}]}'
ORDER_WITH_NOTE = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"},'
    '{"name":"note","type":["null","string"],"default":null}]}'
)
ORDER_WITH_AMOUNT = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"id","type":"string"},'
    '{"name":"amount","type":"double"}]}'
)


def order_with(*names: str) -> str:
    """Return an order with some more optional fields."""
    fields: list[dict[str, Any]] = [{"name": "id", "type": "string"}]
    fields += [{"name": name, "type": ["null", "string"], "default": None} for name in names]
    return json.dumps({"type": "record", "name": "Order", "namespace": "shop", "fields": fields})


class SchemaClient:
    """Sends requests below `/schema-registry`."""

    def __init__(self, client: httpx2.Client, prefix: str = "/schema-registry", **headers: str) -> None:
        self._client = client
        self._prefix = prefix
        self._headers = {"Content-Type": MEDIA_TYPE, **headers}

    def get(self, path: str) -> httpx2.Response:
        return self._client.get(self._prefix + path, headers=self._headers)

    def post(self, path: str, body: Any) -> httpx2.Response:
        return self._client.post(self._prefix + path, content=json.dumps(body), headers=self._headers)

    def put(self, path: str, body: Any) -> httpx2.Response:
        return self._client.put(self._prefix + path, content=json.dumps(body), headers=self._headers)

    def delete(self, path: str) -> httpx2.Response:
        return self._client.delete(self._prefix + path, headers=self._headers)

    def register(self, subject: str, schema: str, **more: Any) -> httpx2.Response:
        return self.post(f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema, **more})


def failure(response: httpx2.Response) -> tuple[int, int]:
    """Return the status and the number of an error."""
    body = response.json()
    assert set(body) == {"error_code", "message"}, body
    return response.status_code, body["error_code"]
