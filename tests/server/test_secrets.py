"""No secret in what is logged, answered, audited or told: it is sent everywhere, and looked for everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest

from tests.server.contracts import USERS, short
from tests.server.running import ServingProcess, client_of

CHANNEL_SECRET = "whsec-channel-0123456789"  # noqa: S105
HOOK_SECRET = "T0000-path-of-the-hook"  # noqa: S105
WEBHOOK = {
    "party": "growth",
    "kind": "webhook",
    "target": f"http://127.0.0.1:9/{HOOK_SECRET}",
    "secret": CHANNEL_SECRET,
}


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServingProcess]:
    folder = tmp_path_factory.mktemp("secrets")
    with ServingProcess(str(folder / "registry.db"), folder / "log") as one:
        yield one


def test_secrets_appear_nowhere(process: ServingProcess) -> None:
    with client_of(process.address) as client:
        admin = client.post("/api/v1/tokens", json={"name": "ops", "role": "admin"}).json()["token"]
        other = client.post(
            "/api/v1/tokens", json={"name": "ci", "role": "viewer"}, headers={"Authorization": f"Bearer {admin}"}
        ).json()["token"]
    secrets = [admin.rpartition("_")[2], other.rpartition("_")[2], CHANNEL_SECRET, HOOK_SECRET]

    with client_of(process.address, admin) as client:
        seen = [answer.text for answer in _ask_everything(client, other)]
        seen += [client.get(path).text for path in ("/api/v1/audit?limit=1000", "/api/v1/notices?limit=1000")]
        assert client.get("/api/v1/channels").json()["items"][0]["target"] == "http://127.0.0.1:9/…"
        seen += [client.get(path).text for path in ("/api/v1/channels", "/api/v1/tokens")]
    seen.append(process.log.read_text())

    for text in seen:
        assert [secret for secret in secrets if secret in text] == [], text[:500]


def _ask_everything(client: httpx2.Client, token: str) -> Iterator[httpx2.Response]:
    """Send a token where it belongs and where it does not: in paths, queries, headers and bodies, right and wrong."""
    assert client.post("/contracts", json=short()).status_code == 201
    assert client.post("/api/v1/channels", json=WEBHOOK).status_code == 201
    paths = client.get("/openapi.json").json()["paths"]
    for path, methods in paths.items():
        for method in methods:
            filled = path.replace("{identity}", "7")
            for name in ("dataset_id", "contract", "line", "version"):
                filled = filled.replace(f"{{{name}}}", token)
            if (method, path) == ("post", "/api/v1/tokens"):
                continue
            yield client.request(method, filled, params={"q": token, "cursor": token, "line": token, "node": token})
            yield client.request(method, filled, headers={"Authorization": f"Bearer {token}x", "X-Request-Id": token})
            if method in ("post", "put"):
                yield client.request(method, filled, json={"contract": token, "name": token, token: token})
                yield client.request(method, filled, content=f'{{"name": "{token}"', headers=_JSON)
    for path in ("/contracts", "/contracts/check", "/api/v1/can-i-publish", "/api/v1/policies/check"):
        yield client.post(path, json=short(version="1.0.1", colour=token))
        yield client.post(path, json=short(version="1.0.1") | {token: 1})
        yield client.post(path, json=short(version=token))
    yield client.post("/contracts", json={"contract": short(version="1.0.1"), "compatibility": token})
    yield client.post("/api/v1/channels", json={**WEBHOOK, "kind": "carrier pigeon"})
    yield client.post("/api/v1/channels", json={**WEBHOOK, "target": f"ftp://{HOOK_SECRET}/"})
    yield client.post("/api/v1/channels", json={**WEBHOOK, "party": "*", "target": f"http://[{HOOK_SECRET}"})
    yield client.post("/api/v1/channels", json={**WEBHOOK, "secret": {"value": CHANNEL_SECRET}})


_JSON = {"Content-Type": "application/json"}


def test_the_log_is_one_json_object_a_line_with_the_id_of_the_request(process: ServingProcess) -> None:
    with client_of(process.address) as client:
        identity = client.get(f"/contracts/{USERS}/nowhere", params={"token": "x"}).headers["x-request-id"]
        client.get("/healthz")

    lines = [json.loads(line) for line in process.log.read_text().splitlines()]

    (line,) = (one for one in lines if one.get("request_id") == identity)
    assert (line["method"], line["path"], line["status"]) == ("GET", f"/contracts/{USERS}/nowhere", 404)
    assert line.keys() >= {"timestamp", "level", "milliseconds"}
    assert not [one for one in lines if one.get("path") == "/healthz"]
