"""Nothing of a private contract reaches those who may not read it, on any route, page or site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode

import pytest
from fastapi import FastAPI
from fastapi.dependencies.utils import get_dependant
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from tests.registry.backends import Clock, Names, bearer_of
from tests.registry.offers import ID, orders
from tests.server.private_registry import CONSUMER, DOMAIN, MARK, PRIVATE, RULES, TEAM, Ids, fill
from treaty.catalog.actions import ACTIONS
from treaty.catalog.links import encode_name
from treaty.catalog.site import PublishTarget, build, publish
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.settings import AccessSettings

PEOPLE = {
    "anonymous": None,
    "other owner": bearer_of("carl", "owner", "checkout"),
    "member": bearer_of("rita", "contributor", TEAM),
}
OUTSIDERS = ("anonymous", "other owner")
NAMES = (
    PRIVATE,
    f"{PRIVATE}@1",
    f"{MARK}_mart",
    TEAM,
    CONSUMER,
    DOMAIN,
    "orders",
    "orders@1",
    "checkout",
    "board",
    "sales",
)
PATH_VALUES: dict[str, tuple[str, ...]] = {
    "feed": (f"{MARK}_mart",),
    "dataset_id": (PRIVATE, "orders"),
    "contract": (PRIVATE, "orders"),
    "line": (f"{PRIVATE}@1", "orders@1"),
    "version": ("1.0.0", "latest"),
    "pair": ("1.0.0..1.1.0",),
    "form": ("odcs", "short"),
    "name": tuple(ACTIONS),
}
"""Values of the parameters in paths; `key` is an encoded name, `identity` and `number` are numbers."""

QUERY_VALUES: dict[str, tuple[str, ...]] = {
    "contract": (PRIVATE, "orders"),
    "dataset_id": (PRIVATE, "orders"),
    "consumer": (CONSUMER, PRIVATE, "board"),
    "team": (TEAM, "checkout", "insight"),
    "party": (TEAM, CONSUMER, "board"),
    "line": (f"{PRIVATE}@1", "orders@1"),
    "node": (PRIVATE, f"{PRIVATE}@1", CONSUMER, "orders", "board"),
    "source": (f"{PRIVATE}@1", "orders@1"),
    "feed": (f"{MARK}_mart",),
    "publisher": (f"{MARK} exporter",),
    "direct": ("true", "false"),
    "domain": (DOMAIN, "sales"),
    "owner": (TEAM, "checkout"),
    "q": (MARK, "ltv"),
    "name": (MARK, "rows"),
    "field": (f"{MARK}_amount", "ltv"),
    "tag": (f"{MARK}-tag",),
    "before": ("1.0.0",),
    "after": ("1.0.0", "1.1.0"),
    "version": ("1.0.0",),
    "direction": ("upstream", "downstream"),
    "format": ("odcs",),
    "days": ("3000",),
    "effective": ("true",),
}
HARMLESS = {"actor", "colors", "columns", "cursor", "depth", "head", "health", "hops", "kind", "limit", "mode", "since"}
HARMLESS |= {
    "as_of",
    "decision",
    "fields",
    "age",
    "reason",
    "rule",
    "earlier",
    "sort",
    "state",
    "status",
    "subject",
    "then",
    "tier",
    "code",
    "error",
    "error_description",
    "iss",
}
"""Parameters that name no contract, team or consumer; the routes are asked without them."""

SHOWN_TO_MEMBERS = {
    "/metrics",
    "/datasets",
    "/api/v1/contracts",
    "/api/v1/overview",
    "/api/v1/graph/layout",
    "/api/v1/map",
    "/api/v1/parallel-runs",
    "/api/v1/certificates",
    "/api/v1/drift/findings",
    "/api/v1/legacy-feeds",
    "/api/v1/domains",
    "/api/v1/subscriptions",
    "/api/v1/usage",
    "/api/v1/proposals",
    "/api/v1/migrations",
    "/api/v1/waivers",
    "/api/v1/notices",
    "/api/v1/channels",
    "/api/v1/measures",
    "/api/v1/measures/grid",
    "/api/v1/incidents",
    "/api/v1/health",
    "/api/v1/activity",
    "/api/v1/upcoming",
    "/api/v1/teams",
    "/catalog",
    "/catalog/graph",
    "/catalog/map",
    "/catalog/legacy",
    "/catalog/map.csv",
    "/catalog/changes",
    "/catalog/teams",
    "/catalog/health",
    "/catalog/drift",
    "/catalog/proposals",
}
"""Lists that show the private contract to a member without being asked for it: the marker is in the registry."""


EXPECTED = {200, 303, 401, 403, 404, 422}
"""What a route may answer; a limit or an error of the server would hide what it shows."""


class Side(NamedTuple):
    """A server on one of the two registries."""

    registry: Registry
    app: FastAPI
    client: TestClient
    ids: Ids

    def get(self, url: str, who: str, **headers: str) -> Any:
        token = PEOPLE[who]
        signed = {"Authorization": f"Bearer {token}"} if token else {}
        return self.client.get(
            url, headers={"X-Request-Id": "same-request", **signed, **headers}, follow_redirects=False
        )


class World(NamedTuple):
    """The registry with the private contract, and the one without it."""

    private: Side
    control: Side


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with ExitStack() as stack:
        sides = []
        for is_private in (True, False):
            clock = Clock()
            file = tmp_path_factory.mktemp("private") / "registry.db"
            registry = stack.enter_context(Registry.open(str(file), rules=RULES, clock=clock))
            app = create_app(registry, AccessSettings(required=True), cast(OidcVerifier, Names()))
            client = stack.enter_context(TestClient(app, base_url="http://localhost"))
            sides.append(Side(registry, app, client, fill(registry, clock, private=is_private)))
        yield World(*sides)


def routes(app: FastAPI) -> list[Any]:
    return [route for route in iter_route_contexts(app.routes) if "GET" in (route.methods or ())]


def urls(route: Any, ids: Ids) -> Iterator[str]:
    """Yield the addresses to ask a route at: each name in its path, and each parameter that may name something."""
    numbers = tuple(map(str, sorted({*ids.migrations, *ids.proposals})))
    names = re.findall(r"{(\w+)", route.path)
    of_contract = route.path.startswith("/catalog/contracts/")
    keys = tuple(encode_name(name) for name in ((PRIVATE, "orders") if of_contract else NAMES))
    more = {
        "certificate": ids.certificates,
        "fingerprint": ids.drift,
        "identity": numbers,
        "number": ("1.0.0",) if of_contract else numbers,
        "key": keys,
    }
    values = [{**more, **PATH_VALUES}[name] for name in names]
    query = {field.alias: field for field in get_dependant(path=route.path, call=route.endpoint).query_params}
    query = {name: field for name, field in query.items() if name not in names}
    unknown = query.keys() - QUERY_VALUES.keys() - HARMLESS
    assert not unknown, f"{route.path}: add {unknown} to QUERY_VALUES, or to HARMLESS if they name nothing"
    required = [name for name, field in query.items() if field.field_info.is_required()]
    for chosen in product(*values):
        path = re.sub(r"{\w+(:\w+)?}", "{}", route.path).format(*map(quote, chosen))
        for given in product(*(QUERY_VALUES[name] for name in required)):
            base = dict(zip(required, given, strict=True))
            yield f"{path}?{urlencode(base)}" if base else path
            for name in query.keys() - base.keys() - HARMLESS:
                for value in QUERY_VALUES[name]:
                    yield f"{path}?{urlencode({**base, name: value})}"
        if route.path == "/catalog/act/{name}":
            number = numbers[0] if numbers else "1"
            form = {"contract": PRIVATE, "version": "1.0.0", "line": f"{PRIVATE}@1", "consumer": CONSUMER}
            yield f"{path}?{urlencode({**form, 'migration': number, 'proposal': number})}"
            yield f"{path}?{urlencode({'contract': 'orders', 'version': '1.0.0', 'migration': number})}"


def test_no_route_shows_an_outsider_anything_of_a_private_contract(world: World) -> None:
    """What outsiders did not write into the address is not in the answer.

    An address that names the private contract, its team or a consumer gives the answer of the registry without it: a
    404 is the same byte for byte, and any other answer contains no more than what they wrote.
    """
    leaks: list[tuple[object, ...]] = []
    for route in routes(world.private.app):
        for url in urls(route, world.private.ids):
            for who in OUTSIDERS:
                answer = world.private.get(url, who)
                expected = world.control.get(url, who) if MARK in url else None
                assert answer.status_code in EXPECTED, (who, url, answer.status_code)
                if answer.text.count(MARK) != (expected.text.count(MARK) if expected else 0):
                    leaks.append((who, url, "shows the mark"))
                elif expected and answer.status_code != expected.status_code:
                    leaks.append((who, url, answer.status_code, expected.status_code))
                elif expected and answer.status_code == 404 and steady(answer) != steady(expected):
                    leaks.append((who, url, answer.text, expected.text))

    assert leaks == []


def steady(answer: Any) -> tuple[Any, ...]:
    """Return an answer without what differs between any two requests: form tokens and cookies."""
    headers = {name: value for name, value in answer.headers.items() if name not in ("set-cookie", "content-length")}
    return answer.status_code, re.sub(r'(name="form_token" value=)"[^"]*"', r"\1", answer.text), headers


@pytest.mark.parametrize("accept", ["application/json", "application/yaml", "application/odcs+json", "text/html"])
def test_content_negotiation_does_not_tell_that_a_contract_exists(world: World, accept: str) -> None:
    for path in ("latest", "versions", "versions/1.0.0", "versions/9.9.9"):
        for method in ("GET", "HEAD", "OPTIONS"):
            url, headers = f"/contracts/{PRIVATE}/{path}", {"Accept": accept, "X-Request-Id": "same-request"}
            answer, expected = (side.client.request(method, url, headers=headers) for side in world)

            assert steady(answer) == steady(expected)


def test_a_member_sees_the_contract_in_every_list(world: World) -> None:
    shown = {
        route.path for route in routes(world.private.app) if "{" not in route.path and _shows(world.private, route.path)
    }

    assert SHOWN_TO_MEMBERS - shown == set()
    assert world.private.get(f"/contracts/{PRIVATE}/latest", "member").json()["id"] == PRIVATE
    assert MARK in world.private.get(f"/catalog/contracts/{encode_name(PRIVATE)}", "member").text
    consumers = world.private.get(f"/catalog/contracts/{encode_name(PRIVATE)}/consumers", "member").text
    assert f'job <span class="mono"><bdi>airflow/{MARK}-notebook</bdi></span>' in consumers


def _shows(side: Side, path: str) -> bool:
    return MARK in side.get(path + ("?days=3000" if path.endswith("upcoming") else ""), "member").text


CONTRACT_METRICS = ("treaty_measure", "treaty_health", "treaty_incidents", "treaty_contracts", "treaty_metrics_omitted")


def test_metrics_neither_name_nor_count_a_private_contract(world: World) -> None:
    for who in PEOPLE:
        shown, expected = (
            [line for line in side.get("/metrics", who).text.splitlines() if line.startswith(CONTRACT_METRICS)]
            for side in world
        )

        assert (shown == expected) == (who in OUTSIDERS)
        assert any(f'contract="{PRIVATE}"' in line for line in shown) == (who not in OUTSIDERS)
        assert any('contract="orders"' in line for line in shown)


CHECKS = ("/contracts/check", "/api/v1/impact", "/api/v1/can-i-publish", "/api/v1/policies/check")


@pytest.mark.parametrize("path", CHECKS)
@pytest.mark.parametrize("contract", [PRIVATE, "orders"])
def test_a_check_tells_an_outsider_nothing_of_a_private_contract(world: World, path: str, contract: str) -> None:
    candidate = orders("1.1.0", [ID], id=contract)
    answer, expected = (side.client.post(path, json=candidate) for side in world)

    assert answer.status_code == expected.status_code == 200
    assert answer.text.count(MARK) == expected.text.count(MARK)
    if contract == PRIVATE:
        assert answer.text == expected.text


def test_a_site_has_what_everyone_may_read(world: World, tmp_path: Path) -> None:
    build(world.private.registry.shown_to(), tmp_path / "open")
    build(world.private.registry.shown_to(TEAM), tmp_path / "team", teams=[TEAM])

    assert [path for path in files(tmp_path / "open") if names_the_mark(path)] == []
    assert (tmp_path / "team" / "contracts" / encode_name(PRIVATE)).exists()
    assert len([path for path in files(tmp_path / "team") if names_the_mark(path)]) > 10


def test_a_published_site_loses_a_contract_that_becomes_private(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        target, source = PublishTarget(tmp_path / "site"), registry.shown_to()
        registry.register(orders())
        deals = orders(id=PRIVATE, lineage=[{"contract": "orders"}], owners=[{"team": TEAM}])
        registry.register(deals)
        publish(source, target)
        before = [path for path in files(tmp_path / "site") if names_the_mark(path)]
        registry.register({**deals, "version": "1.1.0", "visibility": "private"})
        publish(source, target)
        after = [path for path in files(tmp_path / "site") if names_the_mark(path)]

    assert len(before) > 5
    assert after == []


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def names_the_mark(path: Path) -> bool:
    return MARK in str(path) or MARK.encode() in path.read_bytes()
