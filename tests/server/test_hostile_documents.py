"""Hostile documents are refused at registration with findings, and answers do not repeat a foreign Host header."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.documents import document
from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from treaty.registry.service import Registry
from treaty.server.settings import AccessSettings

HOSTILE = {"id": "exit", "type": "sql", "query": "SELECT reflect('a', 'b')", "mustBe": 0}
SQL = document([{"name": "id", "logicalType": "string", "quality": [HOSTILE]}])
LINK = document({"status": "deprecated", "deprecation": {"migration_guide": "javascript:alert(1)"}})


@pytest.fixture
def client(serve: Serve) -> httpx2.Client:
    return serve()


@pytest.mark.parametrize("path", ["/contracts", "/contracts/check"])
def test_the_first_api_refuses_hostile_sql(client: httpx2.Client, path: str) -> None:
    answer = client.post(path, json=SQL)

    assert answer.status_code == 422
    assert answer.json()["detail"][0]["msg"] == (
        "the SQL of rule 'exit' calls reflect, which runs code outside the query; "
        "write one SELECT over the objects of the contract, or one condition on a row"
    )


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        (
            SQL,
            {
                "id": "quality-sql-hostile",
                "severity": "error",
                "message": "the SQL of rule 'exit' calls reflect, which runs code outside the query",
                "path": "id",
                "hint": "write one SELECT over the objects of the contract, or one condition on a row",
            },
        ),
        (
            LINK,
            {
                "id": "link-unsafe",
                "severity": "error",
                "message": "the link deprecation.migration_guide has the scheme javascript:, "
                "but only http and https links are allowed",
                "path": None,
                "hint": "link a page by its https address",
            },
        ),
    ],
    ids=["sql", "link"],
)
def test_the_api_names_the_rule_and_the_field(client: httpx2.Client, body: dict[str, Any], finding: Any) -> None:
    answer = client.post("/api/v1/impact", json=body)

    assert (answer.status_code, answer.json()["findings"]) == (422, [finding])


def test_the_line_of_the_rule_is_named(client: httpx2.Client) -> None:
    text = (
        "apiVersion: v3.2.0\nkind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\nschema:\n- name: t\n"
        "  quality:\n  - type: sql\n    query: DROP TABLE t\n    mustBe: 0\n"
    )

    answer = client.post("/api/v1/impact", content=text, headers={"Content-Type": "application/yaml"})

    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(
        "body:10: the SQL of a rule is no query, but a statement that begins with DROP"
    )


@pytest.mark.parametrize("uri", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://a.example/x"])
def test_a_version_is_deprecated_with_a_web_link_only(client: httpx2.Client, uri: str) -> None:
    client.post("/contracts", json=short())

    answer = client.post(f"/contracts/{USERS}/versions/1.0.0/deprecate", json={"deprecation_uri": uri})

    assert answer.status_code == 422
    assert "only http and https links are allowed" in answer.json()["detail"][0]["msg"]
    assert client.get(f"/contracts/{USERS}/versions/1.0.0").json()["status"] == "active"


@pytest.fixture
def public(serve: Serve) -> httpx2.Client:
    """Start a server that requires signing in and lets anyone read, so that it takes any Host header."""
    return serve(access=AccessSettings(required=True))


@pytest.mark.parametrize("path", ["/contracts/", "/datasets/", "/catalog/", "/api/v1/contracts/", "//evil.example/"])
def test_no_answer_repeats_a_foreign_host(public: httpx2.Client, path: str) -> None:
    answer = _raw(public, path)

    assert answer.startswith(b"HTTP/1.1 404")
    assert b"location:" not in answer.lower()
    assert b"http://evil.example" not in answer


def test_the_link_to_the_next_page_is_relative(open_registry: Callable[..., Registry], public: httpx2.Client) -> None:
    registry = open_registry()
    for name in ("a", "b"):
        registry.register(short(dataset_id=name))

    answer = _raw(public, "/datasets?limit=1")

    assert b"evil.example" not in answer
    assert b"link: </datasets?limit=1&cursor=" in answer.lower()


def _raw(client: httpx2.Client, path: str) -> bytes:
    """Send a request with a foreign Host header, and return the bytes of the answer."""
    where = urlsplit(str(client.base_url))
    with socket.create_connection((where.hostname, where.port), timeout=30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)
