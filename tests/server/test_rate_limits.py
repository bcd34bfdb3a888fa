"""Rate limits: who is counted, what is counted, and what a client over the limit gets."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.conftest import Serve
from tests.server.contracts import USERS, short
from tests.server.schema_client import ORDER, SchemaClient, failure
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.rate_limits import Cost, TokenBuckets, client_network
from treaty.server.routes import schema_registry
from treaty.server.routing import cost_of
from treaty.server.schema_registry_paths import PREFIX
from treaty.server.settings import LimitedClients, Limits, RateLimits

TWO = Limits(rates=RateLimits(LimitedClients.ALL, expensive=2, failed_sign_ins=2))
REMOTE = Limits(rates=RateLimits(LimitedClients.REMOTE, expensive=2, failed_sign_ins=2))
CHECK = "/contracts/check"
UNKNOWN = {"Authorization": f"Bearer treaty_{'0' * 12}_{'0' * 64}"}

EXPENSIVE = {
    "POST /contracts",
    "POST /contracts/check",
    "GET /metrics",
    "GET /catalog/contracts/{key}/lineage",
    "GET /catalog/contracts/{key}/publishers",
    "GET /catalog/exceptions",
    "GET /catalog/quarantine",
    "POST /catalog/act/accept-exception",
    "POST /api/v1/contracts",
    "GET /api/v1/contracts/{contract:path}/diff",
    "GET /api/v1/graph",
    "GET /api/v1/graph/layout",
    "GET /api/v1/map",
    "GET /api/v1/map/hidden",
    "GET /api/v1/map/near-duplicates",
    "GET /catalog/map",
    "GET /catalog/map.csv",
    "GET /api/v1/domains",
    "POST /api/v1/impact",
    "POST /api/v1/can-i-publish",
    "GET /api/v1/can-i-retire",
    "GET /api/v1/can-i-cut-over",
    "POST /api/v1/policies/check",
    "GET /api/v1/migration-path",
    "GET /api/v1/audit/verify",
    "GET /catalog/contracts/{key}/compare/{pair}",
    "GET /catalog/graph",
    "GET /catalog/graph/{key}",
    "GET /catalog/domains",
    "GET /catalog/domains/{key}",
    "POST /catalog/check",
    "POST /schema-registry/subjects/{subject}/versions",
    "POST /schema-registry/compatibility/subjects/{subject}/versions",
    "POST /schema-registry/compatibility/subjects/{subject}/versions/{version}",
}


class Seconds:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def create_token(client: httpx2.Client, name: str) -> dict[str, str]:
    """Return the header of a new token; the first one closes the server, so an admin has to be named."""
    token = client.post("/api/v1/tokens", json={"name": name, "role": "admin"}).json()["token"]
    return {"Authorization": f"Bearer {token}"}


def test_the_expensive_routes_are_these(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        routes = list(iter_route_contexts(create_app(registry).routes))
    schema_routes = [route for part in schema_registry.ROUTES for route in iter_route_contexts(part.router.routes)]

    declared = {
        f"{method} {prefix}{route.path}"
        for prefix, listed in (("", routes), (PREFIX, schema_routes))
        for route in listed
        if cost_of(getattr(route, "endpoint", None)) is Cost.EXPENSIVE
        for method in route.methods or ()
    }
    assert declared == EXPENSIVE


def test_a_client_over_the_limit_gets_429_with_the_seconds_to_wait(serve: Serve) -> None:
    client = serve(limits=TWO)

    statuses = [client.post(CHECK, json=short()).status_code for _ in range(2)]
    first_api = client.post(CHECK, json=short())
    api = client.post("/api/v1/impact", json=short())

    assert statuses == [200, 200]
    assert (first_api.status_code, first_api.headers["retry-after"]) == (429, "30")
    assert first_api.json() == {"detail": "too many expensive requests; try again in 30 s"}
    assert (api.status_code, api.json()["error"], api.json()["findings"]) == (429, "too_many_requests", [])
    assert client.get("/datasets").status_code == 200


def test_a_refused_registration_registers_nothing(serve: Serve) -> None:
    client = serve(limits=TWO)
    for version in ("1.0.0", "1.0.1"):
        assert client.post("/contracts", json=short(version=version)).status_code == 201

    assert client.post("/contracts", json=short(version="1.0.2")).status_code == 429
    history = client.get(f"/contracts/{USERS}/versions").json()
    assert [version["version"] for version in history] == ["1.0.0", "1.0.1"]


def test_a_large_body_counts_as_several_requests(serve: Serve) -> None:
    limits = Limits(rates=RateLimits(LimitedClients.ALL, expensive=4))
    client = serve(limits=limits)
    large = short() | {"description": "x" * 250_000}

    statuses = [client.post(CHECK, json=document).status_code for document in (large, short(), short())]

    assert statuses == [200, 200, 429]


def test_schemas_count_like_documents(serve: Serve) -> None:
    schemas = SchemaClient(serve(limits=TWO))
    described = json.dumps({"type": "record", "name": "A", "doc": "x" * 150_000, "fields": []})

    assert schemas.register("a-value", described).status_code == 200
    refused = schemas.register("b-value", ORDER)
    assert failure(refused) == (429, 429)
    assert 0 < int(refused.headers["retry-after"]) <= 30  # the large schema takes time itself
    assert schemas.get("/subjects").json() == ["a-value"]


def test_clients_on_this_machine_are_not_limited_by_default(serve: Serve) -> None:
    client = serve(limits=REMOTE)

    assert {client.post(CHECK, json=short()).status_code for _ in range(5)} == {200}


def test_a_trusted_proxy_says_which_client_is_counted(serve: Serve) -> None:
    client = serve(limits=REMOTE)

    def check(address: str) -> int:
        return client.post(CHECK, json=short(), headers={"X-Forwarded-For": address}).status_code

    assert [check("203.0.113.1") for _ in range(3)] == [200, 200, 429]
    assert check("203.0.113.2") == 200
    assert check("203.0.113.77, 203.0.113.1") == 429  # the proxy appends what it saw itself


def test_clients_that_signed_in_are_counted_by_who_they_are(serve: Serve) -> None:
    client = serve(limits=TWO)
    ada = create_token(client, "ada")
    ci = httpx2.Client(base_url=client.base_url, headers=ada)
    with ci:
        ci_token = create_token(ci, "ci")

    def check(headers: dict[str, str]) -> int:
        return client.post(CHECK, json=short(), headers=headers).status_code

    assert [check(ada) for _ in range(3)] == [200, 200, 429]
    assert [check(ci_token) for _ in range(3)] == [200, 200, 429]
    assert [check({}) for _ in range(3)] == [200, 200, 429]


def test_invalid_tokens_are_limited_by_address(serve: Serve) -> None:
    client = serve(limits=TWO)
    ada = create_token(client, "ada")
    assert client.get("/datasets", headers=ada).status_code == 200

    answers = [client.get("/datasets", headers=UNKNOWN) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert answers[2].headers["retry-after"] == "30"
    assert client.get("/datasets", headers=ada).status_code == 200  # a token that is known to be valid
    assert client.get("/datasets").status_code == 200


def test_failed_sign_ins_are_limited_by_address(serve: Serve) -> None:
    client = serve(limits=TWO)
    create_token(client, "ada")

    def sign_in() -> httpx2.Response:
        page = client.get("/catalog/sign-in", headers={"Accept": "text/html"})
        form_token = page.text.split('name="form_token" value="')[1].split('"')[0]
        form = {"token": "treaty_wrong", "form_token": form_token}
        headers = {"Origin": str(client.base_url).rstrip("/"), "Accept": "text/html"}
        return client.post("/catalog/sign-in", data=form, headers=headers)

    answers = [sign_in() for _ in range(3)]

    assert [answer.status_code for answer in answers] == [403, 403, 429]
    assert answers[2].headers["retry-after"] == "30"
    assert "Too many requests" in answers[2].text


@pytest.mark.parametrize(
    ("host", "network"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("::1", "::1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
        ("x" * 100, "x" * 64),
    ],
)
def test_a_network_is_one_client(host: str, network: str) -> None:
    assert client_network(host) == network


def test_a_bucket_fills_up_evenly() -> None:
    clock = Seconds()
    buckets = TokenBuckets(60, clock)

    buckets.take("a", 60)
    assert (buckets.seconds_to_wait("a"), buckets.seconds_to_wait("b")) == (1.0, 0.0)
    clock.now += 1
    assert buckets.seconds_to_wait("a") == 0.0
    buckets.take("a", 10)
    assert buckets.seconds_to_wait("a") == 10.0


def test_the_number_of_buckets_is_bounded() -> None:
    buckets = TokenBuckets(1, Seconds(), max_buckets=3)

    for key in ("a", "b", "c", "a", "d"):
        buckets.take(key)

    assert len(buckets) == 3
    assert [buckets.seconds_to_wait(key) > 0 for key in ("a", "b", "c", "d")] == [True, False, True, True]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 100), st.lists(st.floats(0, 30), min_size=1, max_size=200))
def test_no_client_gets_more_than_a_full_bucket_and_its_refill(per_minute: int, pauses: list[float]) -> None:
    clock = Seconds()
    buckets = TokenBuckets(per_minute, clock)
    admitted = 0
    for pause in pauses:
        clock.now += pause
        if not buckets.seconds_to_wait("a"):
            buckets.take("a")
            admitted += 1

    assert admitted <= per_minute + (clock.now - 1_000.0) * per_minute / 60 + 1e-6


def test_threads_take_each_token_once() -> None:
    buckets = TokenBuckets(1_000, Seconds())

    def take_many() -> None:
        for _ in range(250):
            buckets.take("a")

    threads = [threading.Thread(target=take_many) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert buckets.seconds_to_wait("a") == pytest.approx(60.06)
