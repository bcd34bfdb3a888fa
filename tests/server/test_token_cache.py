"""Cached tokens: read and register without the token table, until the moment they are revoked."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from tests.server.conftest import Clock, Serve
from tests.server.contracts import USERS, short
from tests.server.test_authenticator import bearer
from tests.server.test_http import LATEST
from treaty.registry.access.actors import NotAuthenticated
from treaty.registry.service import Registry
from treaty.registry.service.access_tokens import revoke_token
from treaty.registry.store.tokens import sign_in


@dataclass
class Met:
    """A server that has met a token, and another process's way to the same registry."""

    client: httpx2.Client
    elsewhere: Registry
    token: str

    @property
    def id(self) -> str:
        return self.token.split("_")[1]

    def taken_back(self) -> None:
        self.elsewhere.access.revoke_token(self.id)

    def signed_in_elsewhere(self) -> Registry:
        with self.elsewhere.context.database.read() as connection:
            return self.elsewhere.acting_as(sign_in(connection, self.token, self.elsewhere.context.now))


@pytest.fixture
def met(serve: Serve, open_registry: Callable[..., Registry], database: str) -> Met:
    elsewhere = open_registry(database)
    token = elsewhere.access.create_token("ci", role="contributor", team="growth").token
    elsewhere.register(short())
    client = serve(database=database)
    client.headers |= bearer(token)
    assert client.get("/datasets").status_code == 200
    return Met(client, elsewhere, token)


def refused(answer: httpx2.Response, says: str) -> None:
    assert (answer.status_code, answer.headers.get("www-authenticate")) == (401, "Bearer")
    assert says in answer.json()["detail"]


def test_a_cached_token_reads_and_registers(met: Met) -> None:
    assert met.client.post("/contracts", json=short(version="1.0.1")).status_code == 201
    assert [met.client.get(LATEST).json()["version"] for _ in range(2)] == ["1.0.1", "1.0.1"]
    assert met.elsewhere.get(USERS, "1.0.1").registered_by == "ci"


def test_a_token_revoked_by_another_process_registers_nothing(met: Met) -> None:
    assert met.client.post("/contracts", json=short(version="1.0.1")).status_code == 201

    met.taken_back()

    refused(met.client.post("/contracts", json=short(version="1.0.2")), f"token {met.id} was revoked on 2026-03-02")
    assert [one.version for one in met.elsewhere.history(USERS).items] == ["1.0.0", "1.0.1"]


def test_a_token_revoked_by_another_process_reads_nothing(met: Met) -> None:
    for _ in range(2):  # the second time it is at hand
        assert met.client.get(LATEST).status_code == 200

    met.taken_back()

    refused(met.client.get(LATEST), "was revoked on 2026-03-02")
    refused(met.client.get("/datasets"), "was revoked on 2026-03-02")


def test_cached_reads_of_others_do_not_revive_a_revoked_token(met: Met) -> None:
    other = met.elsewhere.access.create_token("other", role="viewer").token
    met.taken_back()
    for _ in range(3):  # met by the routes, then asked for, then at hand
        assert met.client.get(LATEST, headers=bearer(other)).status_code == 200

    refused(met.client.get(LATEST), "was revoked on 2026-03-02")


def test_a_cached_token_expires(met: Met, clock: Clock) -> None:
    clock.forward(days=90)

    refused(met.client.post("/contracts", json=short(version="1.0.1")), "expired on 2026-05-31")
    refused(met.client.get(LATEST), "expired on 2026-05-31")


@pytest.mark.parametrize("wrong", ["0" * 64, "", "0" * 63])
def test_the_id_of_a_cached_token_is_refused_without_its_secret(met: Met, wrong: str) -> None:
    asked = met.client.post("/contracts", json=short(version="1.0.1"), headers=bearer(f"treaty_{met.id}_{wrong}"))

    refused(asked, "the token is not known here")


def test_a_cached_token_has_only_the_permissions_of_its_role(met: Met) -> None:
    theirs = short("theirs", owners=[{"team": "checkout"}])

    assert met.client.post("/contracts", json=theirs).status_code == 403
    assert met.elsewhere.datasets().items == [USERS]


def test_units_of_one_transaction_see_a_revocation_among_them(met: Met) -> None:
    context, ci = met.elsewhere.context, met.signed_in_elsewhere()
    handed_in: list[Future[Any]] = []

    def hand_in_more(_: object) -> None:  # they wait behind this one, and become one batch
        for unit in (
            lambda: ci.submit(short(version="1.0.1")),
            lambda: context.submit(lambda it: revoke_token(it, context.actor, met.id)),
            lambda: ci.submit(short(version="1.0.2")),
        ):
            handed_in.append(unit())

    context.write(hand_in_more)

    registered, revoked, late = handed_in
    assert (registered.result().version, revoked.result().id) == ("1.0.1", met.id)
    with pytest.raises(NotAuthenticated, match="was revoked"):
        late.result()
    assert [one.version for one in met.elsewhere.history(USERS).items] == ["1.0.0", "1.0.1"]


def test_a_token_revoked_while_its_request_waits_changes_nothing(met: Met) -> None:
    ci = met.signed_in_elsewhere()
    met.taken_back()

    with pytest.raises(NotAuthenticated, match="was revoked"):
        ci.consumers.subscribe("dashboard", f"{USERS}@1", consumer_class="operational_reporting", team="growth")
    assert met.elsewhere.consumers.subscriptions().items == []
