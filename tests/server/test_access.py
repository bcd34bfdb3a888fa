"""Who may do what over HTTP: every route has a rule, and every rule holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from tests.server.conftest import Clock
from tests.server.contracts import short, without
from tests.server.running import client_of, running
from treaty.compatibility.migration.proof import contract_digest
from treaty.contracts.loader import contract_from
from treaty.errors import NotAllowed
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.access.permissions import Action
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.authenticator import check_permission
from treaty.server.routing import action_of
from treaty.server.settings import AccessSettings

NUMBERS = count(1)
ROLES = {
    "anonymous": None,
    "viewer": ("viewer", None),
    "contributor": ("contributor", "growth"),
    "owner": ("owner", "growth"),
    "other contributor": ("contributor", "sales"),
    "other owner": ("owner", "sales"),
    "steward": ("steward", None),
    "admin": ("admin", None),
}
EVERYBODY = frozenset(ROLES)
SIGNED_IN_TEAMS = frozenset({"contributor", "owner", "other contributor", "other owner", "steward", "admin"})
MEMBERS = frozenset({"contributor", "owner", "steward", "admin"})
OWNERS = frozenset({"owner", "steward", "admin"})
STEWARDS = frozenset({"steward", "admin"})
ADMINS = frozenset({"admin"})
OPEN = frozenset({"/openapi.json", "/docs", "/docs/oauth2-redirect"})


class Asked(NamedTuple):
    """A request that is fine in itself, and who may make it."""

    ask: str
    may: frozenset[str]
    body: Callable[[str], Any] | None = None
    at: str | None = None
    """The path to ask at; the route's own where there is nothing to fill in."""


def next_version(contract: str) -> dict[str, Any]:
    return short(contract, "1.0.1")


def subscription(contract: str) -> dict[str, Any]:
    reads = {"consumer": "dashboard", "line": f"{contract}@1", "consumer_class": "operational_reporting"}
    return reads | {"team": "growth"}


def measure(contract: str) -> dict[str, Any]:
    return {"contract": contract, "name": "freshness", "at": "2026-03-02T11:00:00Z", "value": 60}


WAIVER = {"rule": "sla_relaxed", "owner": "growth", "reason": "until the feed is live", "until": "2026-12-31"}
URI = {"deprecation_uri": "https://wiki.example.org/plan"}

TABLE = [
    Asked("GET /", EVERYBODY),
    Asked("GET /healthz", EVERYBODY),
    Asked("GET /readyz", EVERYBODY),
    Asked("GET /datasets", EVERYBODY),
    Asked("POST /contracts", MEMBERS, next_version),
    Asked("POST /contracts/check", EVERYBODY, next_version),
    Asked("POST /contracts/owners/from-decision-card", EVERYBODY, lambda _: {"buyer": {"name": "S"}}),
    Asked("GET /contracts/{dataset_id}/latest", EVERYBODY, at="/contracts/{c}/latest"),
    Asked("GET /contracts/{dataset_id}/versions", EVERYBODY, at="/contracts/{c}/versions"),
    Asked("GET /contracts/{dataset_id}/versions/{version}", EVERYBODY, at="/contracts/{c}/versions/1.0.0"),
    Asked(
        "POST /contracts/{dataset_id}/versions/{version}/deprecate",
        OWNERS,
        lambda _: URI,
        "/contracts/{c}/versions/1.0.0/deprecate",
    ),
    Asked(
        "POST /contracts/{dataset_id}/versions/{version}/archive", OWNERS, at="/contracts/{c}/versions/1.0.0/archive"
    ),
    Asked("GET /api/v1/contracts", EVERYBODY),
    Asked("GET /api/v1/overview", EVERYBODY),
    Asked("GET /api/v1/map", EVERYBODY),
    Asked("GET /api/v1/domains", EVERYBODY),
    Asked("GET /api/v1/contracts/{contract}/lines", EVERYBODY, at="/api/v1/contracts/{c}/lines"),
    Asked(
        "GET /api/v1/contracts/{contract}/diff",
        EVERYBODY,
        at="/api/v1/contracts/{c}/diff?before=1.0.0&after=1.0.0",
    ),
    Asked("GET /api/v1/contracts/{contract}/versions", EVERYBODY, at="/api/v1/contracts/{c}/versions"),
    Asked("GET /api/v1/contracts/{contract}/versions/{version}", EVERYBODY, at="/api/v1/contracts/{c}/versions/1.0.0"),
    Asked(
        "GET /api/v1/contracts/{contract}/versions/{version}/document",
        EVERYBODY,
        at="/api/v1/contracts/{c}/versions/1.0.0/document",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/activate",
        OWNERS,
        at="/api/v1/contracts/{c}/versions/1.0.0/activate",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/deprecate",
        OWNERS,
        lambda _: URI,
        "/api/v1/contracts/{c}/versions/1.0.0/deprecate",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/archive",
        OWNERS,
        lambda _: {},
        "/api/v1/contracts/{c}/versions/1.0.0/archive",
    ),
    Asked(
        "POST /api/v1/contracts/{contract}/versions/{version}/retire",
        STEWARDS,
        lambda _: {"override": "nobody reads it"},
        "/api/v1/contracts/{c}/versions/1.0.0/retire",
    ),
    Asked("POST /api/v1/lines/{line}/deprecate", OWNERS, lambda _: URI, "/api/v1/lines/{c}@1/deprecate"),
    Asked(
        "POST /api/v1/lines/{line}/retire",
        STEWARDS,
        lambda _: {"override": "nobody reads it"},
        "/api/v1/lines/{c}@1/retire",
    ),
    Asked("POST /api/v1/tick", STEWARDS),
    Asked("GET /api/v1/subscriptions", EVERYBODY),
    Asked("PUT /api/v1/subscriptions", MEMBERS, subscription),
    Asked("DELETE /api/v1/subscriptions", MEMBERS, at="/api/v1/subscriptions?consumer=reader&line={c}@1"),
    Asked("GET /api/v1/graph", EVERYBODY, at="/api/v1/graph?node={c}"),
    Asked("POST /api/v1/impact", EVERYBODY, next_version),
    Asked("POST /api/v1/can-i-publish", EVERYBODY, next_version),
    Asked("GET /api/v1/can-i-retire", EVERYBODY, at="/api/v1/can-i-retire?line={c}@1"),
    Asked("GET /api/v1/policies", EVERYBODY),
    Asked("POST /api/v1/policies/check", EVERYBODY, next_version),
    Asked("GET /api/v1/waivers", EVERYBODY),
    Asked("POST /api/v1/waivers", STEWARDS, lambda _: WAIVER),
    Asked("DELETE /api/v1/waivers/{identity}", STEWARDS, at="/api/v1/waivers/{waiver}"),
    Asked("GET /api/v1/proposals", EVERYBODY),
    Asked("POST /api/v1/proposals/{identity}/approve", OWNERS, lambda _: {}, "/api/v1/proposals/{proposal}/approve"),
    Asked("POST /api/v1/proposals/{identity}/decline", OWNERS, lambda _: {}, "/api/v1/proposals/{proposal}/decline"),
    Asked("GET /api/v1/migrations", EVERYBODY),
    Asked("GET /api/v1/migrations/{identity}", EVERYBODY, at="/api/v1/migrations/{migration}"),
    Asked(
        "POST /api/v1/migrations/{identity}/acknowledge",
        MEMBERS,
        lambda _: {"consumer": "reader"},
        "/api/v1/migrations/{migration}/acknowledge",
    ),
    Asked(
        "POST /api/v1/migrations/{identity}/move",
        MEMBERS,
        lambda _: {"consumer": "reader"},
        "/api/v1/migrations/{migration}/move",
    ),
    Asked(
        "POST /api/v1/migrations/{identity}/waive",
        STEWARDS,
        lambda _: {"consumer": "reader", "reason": "switched off", "until": "2026-12-31"},
        "/api/v1/migrations/{migration}/waive",
    ),
    Asked(
        "POST /api/v1/migrations/{identity}/proof",
        MEMBERS,
        lambda contract: {"proof": proof(contract)},
        "/api/v1/migrations/{migration}/proof",
    ),
    Asked(
        "GET /api/v1/migration-path",
        EVERYBODY,
        at="/api/v1/migration-path?contract={c}&before=1.0.0&after=1.0.0",
    ),
    Asked("GET /api/v1/channels", SIGNED_IN_TEAMS),
    Asked("POST /api/v1/channels", MEMBERS, lambda _: {"party": "growth", "kind": "log", "target": "growth"}),
    Asked("DELETE /api/v1/channels/{identity}", MEMBERS, at="/api/v1/channels/{channel}"),
    Asked("GET /api/v1/notices", EVERYBODY),
    Asked("POST /api/v1/notices/retry", STEWARDS, lambda _: {}),
    Asked(
        "POST /api/v1/contracts/{contract}/breaches",
        MEMBERS,
        lambda _: {"kind": "sla_breach", "message": "31 h old"},
        "/api/v1/contracts/{c}/breaches",
    ),
    Asked("GET /api/v1/measures", EVERYBODY),
    Asked("GET /api/v1/measures/history", EVERYBODY, at="/api/v1/measures/history?contract={c}&name=freshness"),
    Asked("GET /api/v1/measures/grid", EVERYBODY),
    Asked("POST /api/v1/measures", MEMBERS, lambda contract: {"measures": [measure(contract)]}),
    Asked("GET /api/v1/activity", EVERYBODY),
    Asked("GET /api/v1/upcoming", EVERYBODY),
    Asked("GET /api/v1/teams", EVERYBODY),
    Asked("GET /api/v1/tokens", ADMINS),
    Asked("POST /api/v1/tokens", ADMINS, lambda _: {"name": "ci", "role": "viewer"}),
    Asked("DELETE /api/v1/tokens/{identity}", ADMINS, at="/api/v1/tokens/{token}"),
    Asked("GET /api/v1/audit", STEWARDS),
    Asked("GET /api/v1/audit/verify", STEWARDS),
]


def breaking(contract: str) -> dict[str, Any]:
    """Return a version that takes a field away, with the plan that makes it admissible."""
    plan = {"guide": "https://wiki.example.org/plan", "window": "60 d", "owner": "growth"}
    return without(short(contract, "2.0.0"), "ltv") | {"migration": plan}


def proof(contract: str) -> dict[str, Any]:
    """Return what a proof of the move to that version says."""
    documents = {"before": short(contract), "after": breaking(contract)}
    sides = {side: {"digest": contract_digest(contract_from(one))} for side, one in documents.items()}
    return {**sides, "holds": True, "shims": []}


class World(NamedTuple):
    """A server that asks people to sign in, with a client for each role."""

    registry: Registry
    clients: dict[str, httpx2.Client]

    def prepare(self, path: str) -> tuple[str, str]:
        """Make a contract and what a path speaks of; return the contract and the path that leads there."""
        registry, contract = self.registry, f"users.{next(NUMBERS)}"
        registry.register(short(contract))
        made: dict[str, Any] = {}
        if "consumer=reader" in path:
            registry.consumers.subscribe(
                "reader", f"{contract}@1", consumer_class="operational_reporting", team="growth"
            )
        if "{waiver}" in path:
            made["waiver"] = registry.governance.waive(**WAIVER).id
        if "{channel}" in path:
            made["channel"] = registry.notices.add_channel("growth", kind="log", target="growth").id
        if "{token}" in path:
            made["token"] = registry.access.create_token(f"ci-{token_hex(4)}", role="viewer").id
        if "{proposal}" in path:
            made["proposal"] = registry.register(breaking(contract)).proposal
        if "{migration}" in path:
            made["migration"] = self._migration(contract)
        return contract, path.format(c=contract, **made)

    def _migration(self, contract: str) -> int:
        registry = self.registry
        registry.consumers.subscribe("reader", f"{contract}@1", consumer_class="decision_automation", team="growth")
        proposal = registry.register(breaking(contract)).proposal
        assert proposal is not None
        registry.governance.approve(proposal, override=True, reason="for the test")
        (migration,) = registry.migrations.list(contract=contract).items
        return migration.id


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    rules = RegistryRules(approval=Approval.REQUIRED, addresses=AddressRule.ALLOW_PRIVATE)
    with ExitStack() as stack:
        file = tmp_path_factory.mktemp("access") / "registry.db"
        registry = stack.enter_context(Registry.open(str(file), rules=rules, clock=Clock()))
        address = stack.enter_context(running(create_app(registry, AccessSettings(required=True))))
        clients = {}
        for name, held in ROLES.items():
            token = registry.access.create_token(name, role=held[0], team=held[1]).token if held else None
            clients[name] = stack.enter_context(client_of(address, token))
        yield World(registry, clients)


def test_every_route_names_its_action(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        routes = list(iter_route_contexts(create_app(registry).routes))

    assert [one.path for one in routes if one.path not in OPEN and action_of(one.endpoint) is None] == []


def test_the_table_of_roles_has_every_route(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        paths = create_app(registry).openapi()["paths"]

    assert {one.ask for one in TABLE} == {
        f"{method.upper()} {path}" for path, found in paths.items() for method in found
    }


@pytest.mark.parametrize("asked", TABLE, ids=[one.ask for one in TABLE])
def test_each_role_may_do_what_the_table_says(world: World, asked: Asked) -> None:
    method, _, path = asked.ask.partition(" ")
    said = {}
    for role, client in world.clients.items():
        contract, place = world.prepare(asked.at or path)
        answer = client.request(method, place, **({"json": asked.body(contract)} if asked.body else {}))
        said[role] = "yes" if answer.is_success else f"{answer.status_code}"

    assert said == {role: "yes" if role in asked.may else "401" if role == "anonymous" else "403" for role in ROLES}


@pytest.mark.parametrize(
    ("action", "whose"),
    [
        (Action.ADVANCE, "a steward, or of an owner of the team, with the scope write"),
        (Action.AUDIT, "a steward, with the scope read"),
        (Action.MANAGE_TOKENS, "an admin, with the scope admin"),
    ],
)
def test_a_refusal_names_the_role_to_ask_for(action: Action, whose: str) -> None:
    viewer = Actor("vera", (Grant(Role.VIEWER),), frozenset({Scope.READ}), "test")

    with pytest.raises(NotAllowed) as refused:
        check_permission(viewer, action)

    assert str(refused.value) == (
        f"vera may not {action}: none of its roles and scopes allows it; "
        f"ask an admin for a token of {whose}: treaty admin token create"
    )
