"""Nothing of the subjects of a private contract reaches those who may not read the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple, cast
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from tests.registry.backends import Clock, Names, bearer_of
from tests.server.contracts import odcs
from tests.server.schema_client import MEDIA_TYPE, ORDER
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.rules import RegistryRules
from treaty.registry.service import Registry
from treaty.schema_registry.contract_versions import write_subjects
from treaty.server.app import create_app
from treaty.server.routes.schema_registry import ROUTES
from treaty.server.settings import AccessSettings

MARK, TEAM = "zq7mark", "zq7team"
TOPIC, CONTEXT = f"{MARK}-topic", f".{MARK}"
VALUE, KEY, REMOVED, IN_CONTEXT = f"{TOPIC}-value", f"{TOPIC}-key", f"{MARK}-gone-value", f":{CONTEXT}:{MARK}-far-value"
PRIVATE = (VALUE, KEY, REMOVED, IN_CONTEXT)
OPEN = ("orders-value", "alias-value")
MEMBER = bearer_of("rita", "owner", TEAM)
STEWARD = bearer_of("stella", "steward")
OUTSIDERS = {"anonymous": None, "other owner": bearer_of("carl", "owner", "growth")}
REFERRING = '{"type":"record","name":"Any","fields":[{"name":"one","type":"deals"}]}'
FLAGS = ("", "?deleted=true", "?deletedOnly=true", "?defaultToGlobal=true", "?latestOnly=true", "?subjectPrefix=:*:")


class Side(NamedTuple):
    """A server on one of the two registries."""

    client: TestClient
    ids: int

    def ask(self, method: str, path: str, who: str | None, body: Any = None) -> Any:
        headers = {"Content-Type": MEDIA_TYPE, "X-Request-Id": "same-request"}
        headers |= {"Authorization": f"Bearer {who}"} if who else {}
        content = None if body is None else json.dumps(body)
        return self.client.request(method, f"/schema-registry{path}", headers=headers, content=content)

    def do(self, method: str, path: str, who: str, body: Any = None) -> Any:
        answer = self.ask(method, path, who, body)
        assert answer.is_success, (method, path, answer.text)
        return answer.json()

    def register(self, subject: str, schema: str, who: str, **more: Any) -> int:
        body = {"schema": schema, **more}
        return int(self.do("POST", f"/subjects/{quote(subject, safe='')}/versions", who, body)["id"])


class World(NamedTuple):
    """The registry with private subjects, and the one without them."""

    private: Side
    control: Side


def contract(identity: str, topic: str, team: str, field: str, **server: str) -> dict[str, Any]:
    document = odcs(identity)
    document["schema"] = [
        {
            "name": "deals",
            "physicalName": topic,
            "properties": [{"name": field, "logicalType": "string", "required": True, "primaryKey": True}],
        }
    ]
    custom = [{"property": name, "value": value} for name, value in server.items()]
    broker = {"server": "broker", "type": "kafka", "host": "kafka:9092", "format": "avro", "customProperties": custom}
    return document | {"team": {"name": team}, "servers": [broker]}


def fill(side: Side, registry: Registry, *, private: bool) -> int:
    """Fill a registry with an open subject, and with private ones of all kinds; return its highest id."""
    registry.register(contract("sales.orders", "orders", "growth", "order_id"))
    side.do("PUT", "/config/alias-value", STEWARD, {"alias": VALUE})
    if not private:
        return 1
    side.register(VALUE, '"string"', MEMBER)  # before the subject has a contract
    side.register(KEY, '"long"', MEMBER)
    for identity, topic, server in (
        (f"{MARK}.deals", TOPIC, {}),
        (f"{MARK}.gone", f"{MARK}-gone", {}),
        (f"{MARK}.far", f"{MARK}-far", {"schemaContext": CONTEXT}),
    ):
        document = contract(identity, topic, TEAM, f"{MARK}_{identity[-4:]}", **server)
        registry.register({**document, "visibility": "private"})
    side.do("PUT", f"/config/{VALUE}", MEMBER, {"compatibility": "NONE"})
    side.register(VALUE, ORDER, MEMBER)
    reference = {"name": "orders", "subject": "orders-value", "version": 1}
    referring = json.dumps({"type": "record", "name": MARK, "fields": [{"name": "one", "type": "deals"}]})
    highest = side.register(VALUE, referring, MEMBER, references=[reference])
    side.do("PUT", f"/mode/{VALUE}", MEMBER, {"mode": "READONLY"})
    side.do("DELETE", f"/subjects/{REMOVED}", MEMBER)
    side.do("DELETE", f"/subjects/{REMOVED}?permanent=true", MEMBER)
    return highest


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        sides = []
        for is_private in (True, False):
            file = tmp_path_factory.mktemp("subjects") / "registry.db"
            rules = RegistryRules(on_registered=write_subjects)
            registry = stack.enter_context(Registry.open(str(file), rules=rules, clock=Clock()))
            app = create_app(registry, AccessSettings(required=True), cast(OidcVerifier, Names()))
            client = stack.enter_context(TestClient(app, base_url="http://localhost"))
            side = Side(client, 0)
            sides.append(side._replace(ids=fill(side, registry, private=is_private)))
        yield World(*sides)


def paths(ids: int) -> Iterator[str]:
    """Yield the addresses of all routes that read, with each private and open name, id and flag."""
    values = {
        "subject": (*PRIVATE, *OPEN),
        "version": ("1", "2", "latest"),
        "identity": tuple(map(str, range(1, ids + 2))),
        "contract": (f"{MARK}.deals", "sales.orders"),
    }
    for routes in ROUTES:
        for route in routes.router.routes:
            if not isinstance(route, APIRoute) or "GET" not in (route.methods or ()):
                continue
            found = [route.path]
            for name in re.findall(r"{(\w+)}", route.path):
                found = [path.replace(f"{{{name}}}", quote(one, safe="")) for path in found for one in values[name]]
            yield from (f"{path}{flag}" for path in found for flag in FLAGS)
            if "identity" in route.path:
                yield from (f"/contexts/{CONTEXT}{path}" for path in found)


def test_no_address_shows_an_outsider_anything_of_a_private_subject(world: World) -> None:
    leaks = []
    for path in paths(world.private.ids):
        for name, token in OUTSIDERS.items():
            answer, expected = (side.ask("GET", path, token) for side in world)
            if _comparable(answer) != _comparable(expected):
                leaks.append((name, path, answer.status_code, answer.text, expected.text))

    assert leaks == []


def _comparable(answer: Any) -> tuple[Any, ...]:
    return answer.status_code, answer.text, dict(answer.headers)


def test_a_member_sees_the_subjects(world: World) -> None:
    seen = {path for path in paths(world.private.ids) if MARK in world.private.ask("GET", path, MEMBER).text}

    assert {"/subjects", "/schemas", "/contexts", f"/subjects/{VALUE}/versions/latest"} <= seen
    assert world.private.ask("GET", f"/mode/{VALUE}", MEMBER).json() == {"mode": "READONLY"}
    assert world.private.ask("GET", "/subjects/orders-value/versions/1/referencedby", MEMBER).json() == [
        world.private.ids
    ]


@pytest.mark.parametrize("subject", PRIVATE)
@pytest.mark.parametrize("schema", [ORDER, '"string"', '"long"', "no schema"])
def test_a_registration_does_not_tell_what_a_private_subject_contains(world: World, subject: str, schema: str) -> None:
    path = f"/subjects/{quote(subject, safe='')}/versions"
    for token in (OUTSIDERS["other owner"], bearer_of("vic", "contributor", "sales")):
        answer = world.private.ask("POST", path, token, {"schema": schema})

        assert (answer.status_code, answer.json()) == (
            404,
            {"error_code": 40401, "message": f"Subject '{subject}' not found."},
        )


@pytest.mark.parametrize("subject", PRIVATE)
@pytest.mark.parametrize("schema", [ORDER, '"string"', '"long"'])
def test_a_lookup_or_check_does_not_tell_that_a_subject_exists(world: World, subject: str, schema: str) -> None:
    name = quote(subject, safe="")
    for path in (f"/subjects/{name}", f"/compatibility/subjects/{name}/versions/latest?verbose=true"):
        answer, expected = (side.ask("POST", path, OUTSIDERS["other owner"], {"schema": schema}) for side in world)

        assert _comparable(answer) == _comparable(expected)


@pytest.mark.parametrize("subject", PRIVATE)
@pytest.mark.parametrize("path", ["/compatibility/subjects/orders-value/versions", "/subjects/orders-value"])
def test_a_private_subject_cannot_be_referred_to(world: World, subject: str, path: str) -> None:
    body = {"schema": REFERRING, "references": [{"name": "deals", "subject": subject, "version": 1}]}
    answer, expected = (side.ask("POST", path, OUTSIDERS["other owner"], body) for side in world)

    assert _comparable(answer) == _comparable(expected)
    assert answer.json()["message"].endswith("which has no schema")


def test_the_owner_of_a_topic_is_not_named_to_those_who_may_not_read_its_contract(world: World) -> None:
    other = contract("growth.deals", TOPIC, "growth", "deal_id")
    answer = world.private.client.post(
        "/api/v1/contracts", json=other, headers={"Authorization": f"Bearer {OUTSIDERS['other owner']}"}
    )

    assert answer.status_code == 409
    assert MARK not in answer.text.replace(TOPIC, "")
    assert "choose another topic" in answer.text
