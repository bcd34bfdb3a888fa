"""Texts that no database keeps or no encoding writes are refused, wherever they are sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.server.conftest import Serve
from tests.server.contracts import USERS, short

ODD = {
    "NUL": "a\x00b",
    "half a character": "a\ud800b",
    "a huge number": 10**400,
    "no number": float("nan"),
    "endless": "x" * 100_000,
}
VALID = {
    "/contracts/{dataset_id}/versions/{version}/deprecate": {"deprecation_uri": "https://example.org"},
    "/api/v1/contracts/{contract}/versions/{version}/deprecate": {"deprecation_uri": "https://example.org"},
    "/api/v1/contracts/{contract}/versions/{version}/retire": {"override": "a reason"},
    "/api/v1/contracts/{contract}/versions/{version}/archive": {"override": "a reason"},
    "/api/v1/contracts/{contract}/breaches": {"kind": "sla_breach", "message": "late", "details": {"a": "b"}},
    "/api/v1/lines/{line}/deprecate": {"deprecation_uri": "https://example.org"},
    "/api/v1/lines/{line}/retire": {"override": "a reason"},
    "/api/v1/subscriptions": {
        "consumer": "c",
        "line": f"{USERS}@1",
        "consumer_class": "operational_reporting",
        "fields": ["ltv"],
        "purpose": "p",
        "latency": "1h",
        "contact": "#c",
        "team": "growth",
    },
    "/api/v1/waivers": {
        "rule": "sla_relaxed",
        "contract": "*",
        "path": "*",
        "owner": "growth",
        "reason": "r",
        "until": "2030-01-01",
    },
    "/api/v1/proposals/{identity}/approve": {"reason": "r"},
    "/api/v1/proposals/{identity}/decline": {"reason": "r"},
    "/api/v1/channels": {"party": "growth", "kind": "log", "target": "growth", "secret": "0123456789abcdef"},
    "/api/v1/notices/retry": {"channel": 1},
    "/api/v1/incidents/{identity}/acknowledge": {"reason": "r"},
    "/api/v1/measures": {
        "measures": [
            {
                "contract": USERS,
                "name": "freshness",
                "at": "2026-03-02T11:00:00Z",
                "value": 1,
                "unit": "s",
                "promise": 2,
                "state": "failing",
                "details": {"a": "b"},
            }
        ]
    },
    "/api/v1/drift/profiles": {
        "line": f"{USERS}@1",
        "profile": {
            "version": "1.0.0",
            "run": 1,
            "at": "2026-03-02T11:00:00Z",
            "events": 1_000,
            "received": 1_001,
            "keys": 900,
            "event_time": "at",
            "first": "2026-03-01T11:00:00Z",
            "last": "2026-03-02T11:00:00Z",
            "histograms": {"field:ltv": {"20": 1_000}},
            "violations": {"range:ltv": 1},
        },
    },
    "/api/v1/drift/findings/{line}/{fingerprint}/answer": {
        "answer": "explained",
        "owner": "growth",
        "reason": "r",
        "until": "2030-01-01",
    },
    "/api/v1/tokens": {"name": "ci", "role": "contributor", "team": "growth", "scopes": ["read"], "days": 9},
    "/contracts/owners/from-decision-card": {
        "buyer": {"name": "S", "contact": "#s"},
        "decision_maker": {"role": "R", "name": "N"},
    },
}
PATH = {
    "dataset_id": USERS,
    "contract": USERS,
    "version": "1.0.0",
    "line": f"{USERS}@1",
    "identity": "1",
    "key": "7",
    "feed": "nightly_users",
    "certificate": "cert-1",
    "fingerprint": "4be0643f1d98573b",
}


def spoiled(value: Any, odd: Any) -> Iterator[Any]:
    """Return a body once for each text in it that can be replaced by an odd one, and once for each key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            for worse in spoiled(inner, odd):
                yield {**value, key: worse}
        yield {**value, str(odd): "x"}
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            for worse in spoiled(inner, odd):
                yield [*value[:position], worse, *value[position + 1 :]]
    else:
        yield odd


def requests(api: dict[str, Any], odd: Any) -> Iterator[tuple[str, str, dict[str, str], Any]]:
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            usual = {name: PATH[name] for name in PATH if f"{{{name}}}" in path}
            body = VALID.get(path, short(version="1.0.1")) if "requestBody" in operation else None
            for name in usual:
                if isinstance(odd, str) and len(odd) < 100 and odd.isascii():
                    yield method, path.format(**{**usual, name: f"a{odd}"}), {}, body
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "query" and str(odd).isascii() and len(str(odd)) < 5_000:
                    needed = {"line": f"{USERS}@1", "node": USERS, "before": "1.0.0", "after": "1.0.0"}
                    needed |= {"consumer": "c", "contract": USERS, "name": "freshness"}
                    yield method, path.format(**usual), {**needed, parameter["name"]: str(odd)}, body
            for worse in spoiled(body, odd) if body is not None else ():
                yield method, path.format(**usual), {}, worse


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_unusual_texts_never_cause_an_internal_error(serve: Serve, database: str, odd: Any) -> None:
    client = serve(database=database)
    client.post("/contracts", json=short())
    wrong: list[str] = []
    for method, path, query, body in requests(client.get("/openapi.json").json(), odd):
        answer = _send(client, method, path, query, body)
        if answer.status_code >= 500:
            wrong.append(f"{method} {path} {query} {str(body)[:200]!r}: {answer.text}")
        if path == "/api/v1/tokens" and answer.status_code == 201:
            client.headers["Authorization"] = f"Bearer {answer.json()['token']}"

    assert wrong == []


def _send(client: httpx2.Client, method: str, path: str, query: dict[str, str], body: Any) -> httpx2.Response:
    quoted = path.replace("\x00", "%00")
    content = None if body is None else json.dumps(body)
    return client.request(
        method.upper(), quoted, params=query or None, content=content, headers={"Content-Type": "application/json"}
    )
