"""Signing in: tokens and OIDC, what teams may do to each other, and what is never open to other machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest

from tests.registry.access.key_server import AUDIENCE, EC, RSA, STRANGER, Issuer, key_server
from tests.registry.access.key_server import Clock as IssuerClock
from tests.server.conftest import Clock, Serve
from tests.server.contracts import USERS, short
from tests.server.running import client_of, running
from tests.server.test_access import breaking
from treaty.errors import Refused
from treaty.registry.access.oidc import OidcSettings, OidcVerifier
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.server import ServerOptions, check_exposure
from treaty.server.settings import AccessSettings

SIGN_IN = AccessSettings(required=True)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def mint(client: httpx2.Client, role: str, team: str | None = None, by: str | None = None, **more: object) -> str:
    body = {"name": f"{role} of {team}", "role": role, "team": team, **more}
    answer = client.post("/api/v1/tokens", json=body, headers=bearer(by) if by else {})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with key_server() as one:
        one.publish(RSA, EC)
        yield one


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of a server where everybody may read, and one signs in for the rest."""
    file = tmp_path_factory.mktemp("guarded") / "registry.db"
    with ExitStack() as stack:
        registry = stack.enter_context(Registry.open(str(file)))
        yield stack.enter_context(client_of(stack.enter_context(running(create_app(registry, SIGN_IN)))))


def test_the_first_token_closes_an_open_server(client: httpx2.Client) -> None:
    assert client.post("/contracts", json=short()).status_code == 201

    admin = mint(client, "admin")

    assert client.post("/contracts", json=short(version="1.0.1")).status_code == 401
    assert client.get("/datasets").status_code == 200
    assert client.post("/contracts", json=short(version="1.0.1"), headers=bearer(admin)).status_code == 201


def test_a_token_made_elsewhere_closes_a_server_within_a_second(
    serve: Serve, open_registry: Callable[..., Registry], clock: Clock
) -> None:
    client = serve()
    assert client.post("/contracts", json=short()).status_code == 201

    open_registry().access.create_token("ops", role="admin")
    clock.forward(seconds=1)

    assert client.post("/contracts", json=short(version="1.0.1")).status_code == 401


def test_a_closed_server_stays_closed_when_its_last_token_expires(client: httpx2.Client, clock: Clock) -> None:
    admin = mint(client, "admin", days=1)
    assert client.post("/contracts", json=short()).status_code == 401

    clock.forward(days=2)

    assert client.post("/contracts", json=short()).status_code == 401
    assert client.post("/contracts", json=short(), headers=bearer(admin)).status_code == 401


def test_a_guarded_server_answers_to_any_name(client: httpx2.Client) -> None:
    mint(client, "admin")
    client.post("/contracts", json=short())

    assert client.get("/datasets", headers={"Host": "treaty.example.org"}).status_code == 200


def test_a_token_is_shown_once(client: httpx2.Client) -> None:
    admin = mint(client, "admin")
    secret = admin.rpartition("_")[2]

    for path in ("/api/v1/tokens", "/api/v1/audit", "/api/v1/notices"):
        answer = client.get(path, headers=bearer(admin))
        assert answer.status_code == 200
        assert secret not in answer.text


def test_a_revoked_token_is_refused(client: httpx2.Client) -> None:
    admin = mint(client, "admin")
    viewer = mint(client, "viewer", by=admin)
    assert client.get("/datasets", headers=bearer(viewer)).status_code == 200

    revoked = client.delete(f"/api/v1/tokens/{viewer.split('_')[1]}", headers=bearer(admin))

    assert revoked.json()["revoked_at"] is not None
    refused = client.get("/datasets", headers=bearer(viewer))
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert "was revoked on 2026-03-02" in refused.json()["detail"]


def test_an_expired_token_is_refused(client: httpx2.Client, clock: Clock) -> None:
    admin = mint(client, "admin")
    viewer = mint(client, "viewer", by=admin, days=7)

    clock.forward(days=7)

    refused = client.get("/datasets", headers=bearer(viewer))
    assert (refused.status_code, "expired on 2026-03-09" in refused.text) == (401, True)


@pytest.mark.parametrize(
    "header",
    [
        "Bearer nonsense",
        "Bearer",
        "Basic dXNlcjpwYXNz",
        f"Bearer treaty_{'0' * 12}_{'0' * 64}",
        f"Bearer treaty_{'0' * 12}_",
        "Bearer eyJhbGciOiJub25lIn0.e30.",
        "",
    ],
)
def test_invalid_credentials_are_refused_even_where_reading_is_open(guarded: httpx2.Client, header: str) -> None:
    answer = guarded.get("/datasets", headers={"Authorization": header})

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


def test_a_scope_narrows_what_a_role_may_do(client: httpx2.Client) -> None:
    admin = mint(client, "admin")
    reader = mint(client, "steward", by=admin, scopes=["read"])

    assert client.get("/api/v1/audit", headers=bearer(reader)).status_code == 200
    assert client.post("/contracts", json=short(), headers=bearer(reader)).status_code == 403


@pytest.mark.parametrize("path", ["/", "/datasets", "/api/v1/contracts", f"/contracts/{USERS}/latest"])
def test_without_open_reading_everything_requires_sign_in(serve: Serve, path: str) -> None:
    client = serve(access=AccessSettings(required=True, open_reading=False))

    assert client.get(path).status_code == 401
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_a_team_changes_only_what_it_owns(client: httpx2.Client) -> None:
    admin = mint(client, "admin")
    growth, sales = (mint(client, "owner", team, by=admin) for team in ("growth", "sales"))
    assert client.post("/contracts", json=short(), headers=bearer(growth)).status_code == 201

    theirs = short(version="1.0.1", owners=[{"team": "sales"}])
    for path, body in (
        ("/contracts", short(version="1.0.1")),
        ("/contracts", theirs),
        ("/contracts", short(version="1.0.1", owners=[{"team": "growth"}, {"team": "sales"}])),
        (f"/contracts/{USERS}/versions/1.0.0/archive", {}),
        (f"/api/v1/contracts/{USERS}/versions/1.0.0/deprecate", {"deprecation_uri": "https://example.org"}),
        (f"/api/v1/lines/{USERS}@1/deprecate", {"deprecation_uri": "https://example.org"}),
    ):
        refused = client.post(path, json=body, headers=bearer(sales))
        assert refused.status_code == 403, path
        assert "of team growth" in refused.json()["detail"]

    assert client.get(f"/contracts/{USERS}/versions").json()[0]["status"] == "active"
    assert client.post("/contracts", json=theirs, headers=bearer(growth)).status_code == 201
    assert client.post("/contracts", json=short(version="1.0.2"), headers=bearer(growth)).status_code == 403
    assert client.post("/contracts", json=short(version="1.0.2"), headers=bearer(sales)).status_code == 201


def test_a_new_contract_is_registered_by_a_team_that_it_names(client: httpx2.Client) -> None:
    admin = mint(client, "admin")
    sales = mint(client, "contributor", "sales", by=admin)

    assert client.post("/contracts", json=short(), headers=bearer(sales)).status_code == 403
    mine = short(owners=[{"team": "sales"}])
    assert client.post("/contracts", json=mine, headers=bearer(sales)).status_code == 201


def test_who_proposes_a_breaking_change_does_not_approve_it(serve: Serve) -> None:
    client = serve(rules=RegistryRules(approval=Approval.REQUIRED))
    admin = mint(client, "admin", None)
    ana, ben = (mint(client, "owner", "growth", by=admin, name=name) for name in ("ana", "ben"))
    client.post("/contracts", json=short(), headers=bearer(ana))

    proposed = client.post("/contracts", json=breaking(USERS), headers=bearer(ana))
    place = f"/api/v1/proposals/{proposed.json()['proposal']}/approve"

    assert (proposed.status_code, proposed.json()["status"]) == (202, "proposed")
    assert client.get(f"/contracts/{USERS}/versions/2.0.0").status_code == 404
    own = client.post(place, json={"reason": "trust me"}, headers=bearer(ana))
    assert (own.status_code, "ana proposed it" in own.json()["detail"]) == (403, True)
    override = {"override": True, "reason": "trust me"}
    assert client.post(place, json=override, headers=bearer(ana)).status_code == 403
    assert client.post(place, json={}, headers=bearer(ben)).json()["state"] == "approved"
    assert client.get(f"/contracts/{USERS}/versions/2.0.0").status_code == 200
    assert client.post(place, json={}, headers=bearer(ben)).status_code == 409


def test_an_override_needs_a_reason_and_is_audited(serve: Serve) -> None:
    client = serve(rules=RegistryRules(approval=Approval.REQUIRED))
    steward = mint(client, "steward", by=mint(client, "admin"))
    client.post("/contracts", json=short(), headers=bearer(steward))
    proposal = client.post("/contracts", json=breaking(USERS), headers=bearer(steward)).json()["proposal"]
    place = f"/api/v1/proposals/{proposal}/approve"

    assert client.post(place, json={"override": True}, headers=bearer(steward)).status_code == 403
    assert client.post(place, json={"override": True, "reason": " "}, headers=bearer(steward)).status_code == 403
    reason = "the only reader agreed on the phone"
    approved = client.post(place, json={"override": True, "reason": reason}, headers=bearer(steward))

    assert approved.json()["state"] == "approved"
    entries = client.get("/api/v1/audit", headers=bearer(steward)).json()["items"]
    assert [one["details"]["reason"] for one in entries if one["action"] == "proposal.override"] == [reason]


def test_an_oidc_bearer_token_signs_in(serve: Serve, issuer: Issuer) -> None:
    now = IssuerClock()
    settings = OidcSettings(issuer.address, AUDIENCE, jwks_url=issuer.jwks_url)
    client = serve(oidc=OidcVerifier(settings, clock=now))

    owner = issuer.sign(now, treaty_roles=["owner:growth"])
    assert client.post("/contracts", json=short()).status_code == 401
    assert client.post("/contracts", json=short(), headers=bearer(owner)).status_code == 201
    seen = client.get(f"/api/v1/contracts/{USERS}/versions/1.0.0").json()
    assert seen["registered_by"] == "ann"
    assert client.get("/api/v1/audit", headers=bearer(owner)).status_code == 403
    steward = issuer.sign(now, EC, treaty_roles=["steward"])
    assert client.get("/api/v1/audit", headers=bearer(steward)).status_code == 200


def test_an_oidc_user_with_the_name_of_a_token_is_told_apart(serve: Serve, issuer: Issuer, database: str) -> None:
    now = IssuerClock()
    client = serve(oidc=OidcVerifier(OidcSettings(issuer.address, AUDIENCE, jwks_url=issuer.jwks_url), clock=now))
    admin = issuer.sign(now, sub="boss", treaty_roles=["admin"])
    owner = issuer.sign(now, treaty_roles=["owner:growth"])
    for name, holder in (("ann", None), ("boss", f"{issuer.address}#boss")):
        body = {"name": name, "role": "viewer", "holder": holder}
        assert client.post("/api/v1/tokens", json=body, headers=bearer(admin)).status_code == 201

    for version, token in (("1.0.0", owner), ("1.0.1", admin)):
        assert client.post("/contracts", json=short(version=version), headers=bearer(token)).status_code == 201

    authors = [
        client.get(f"/api/v1/contracts/{USERS}/versions/1.0.{patch}").json()["registered_by"] for patch in (0, 1)
    ]
    assert authors == [f"ann ({issuer.address.removeprefix('http://')})", "boss"]


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"aud": "https://somebody.else"}, "claim aud is not accepted"),
        ({"iss": "https://somebody.else"}, "claim iss is not accepted"),
        ({"exp": 1}, "it has expired"),
        ({"sub": ""}, "has no user name"),
    ],
)
def test_an_oidc_token_with_wrong_claims_is_refused(
    serve: Serve, issuer: Issuer, claims: dict[str, Any], words: str
) -> None:
    now = IssuerClock()
    client = serve(oidc=OidcVerifier(OidcSettings(issuer.address, AUDIENCE, jwks_url=issuer.jwks_url), clock=now))
    token = issuer.sign(now, treaty_roles=["admin"], **claims)

    refused = client.get("/datasets", headers=bearer(token))

    assert (refused.status_code, words in refused.json()["detail"]) == (401, True), refused.text
    assert token not in refused.text
    forged = issuer.sign(now, STRANGER, treaty_roles=["admin"])
    assert "signature does not match" in client.get("/datasets", headers=bearer(forged)).json()["detail"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "treaty.example.org", ""])  # noqa: S104
def test_an_unguarded_registry_is_not_opened_to_other_machines(
    open_registry: Callable[..., Registry], host: str
) -> None:
    registry = open_registry()

    with pytest.raises(Refused, match="no token or OIDC provider is configured") as refusal:
        check_exposure(registry, ServerOptions(host, 8090, AccessSettings()))

    for way_on in ("treaty admin token create", "access.oidc", "--host 127.0.0.1"):
        assert way_on in str(refusal.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_an_unguarded_registry_serves_its_own_machine(open_registry: Callable[..., Registry], host: str) -> None:
    check_exposure(open_registry(), ServerOptions(host, 8090, AccessSettings()))


@pytest.mark.parametrize("how", ["a setting", "OIDC", "a token"])
def test_a_guarded_registry_may_be_opened_to_other_machines(open_registry: Callable[..., Registry], how: str) -> None:
    registry = open_registry()
    if how == "a token":
        registry.access.create_token("ops", role="admin")
    oidc = OidcSettings("https://login.example.org", AUDIENCE) if how == "OIDC" else None

    check_exposure(registry, ServerOptions("0.0.0.0", 8090, AccessSettings(required=how == "a setting"), oidc))  # noqa: S104


def test_a_registry_that_was_guarded_once_is_never_open_again(open_registry: Callable[..., Registry]) -> None:
    registry = open_registry()
    registry.access.revoke_token(registry.access.create_token("ops", role="admin").id)

    with running(create_app(registry)) as address, client_of(address) as client:
        assert client.post("/api/v1/tokens", json={"name": "mine", "role": "admin"}).status_code == 401


def test_a_guarded_server_answers_under_any_name(open_registry: Callable[..., Registry]) -> None:
    registry = open_registry()
    registry.access.create_token("ops", role="admin")

    with running(create_app(registry)) as address, client_of(address) as client:
        assert client.get("/datasets", headers={"Host": "registry.example.org"}).status_code == 200
