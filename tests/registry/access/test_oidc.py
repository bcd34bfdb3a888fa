"""OIDC bearer tokens, signed with real keys."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc.jwk import ECKey

from tests.registry.access.key_server import AUDIENCE, EC, RSA, STRANGER, Clock, Issuer, key_server
from treaty.errors import InvalidDocument, NotAllowed, Unavailable
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.access.oidc import OidcSettings, OidcVerifier

READ = frozenset({Scope.READ})


@pytest.fixture(scope="module")
def server() -> Iterator[Issuer]:
    with key_server() as issuer:
        issuer.publish(RSA, EC)
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pinned(server: Issuer) -> OidcSettings:
    return OidcSettings(server.address, AUDIENCE, jwks_url=server.jwks_url)


@pytest.fixture
def verifier(pinned: OidcSettings, clock: Clock) -> OidcVerifier:
    return OidcVerifier(pinned, clock=clock)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def seconds(clock: Clock, by: int) -> int:
    return int(clock().timestamp()) + by


@pytest.mark.parametrize("key", [RSA, EC], ids=["RS256", "ES256"])
def test_a_signed_token_names_an_actor(verifier: OidcVerifier, server: Issuer, clock: Clock, key: Any) -> None:
    identity = f"{server.address}#ann"

    assert verifier.verify(server.sign(clock, key)) == Actor(
        "ann", (Grant(Role.VIEWER),), READ, "oidc", identity=identity
    )


@pytest.mark.parametrize(
    ("claimed", "grants", "scopes"),
    [
        (["steward"], ["steward"], {"read", "write"}),
        (["owner:growth", "contributor:sales"], ["owner:growth", "contributor:sales"], {"read", "write"}),
        (["admin", "admin"], ["admin"], {"read", "write", "admin"}),
        (["king", "owner", "steward:growth", 7, None, "viewer"], ["viewer"], {"read"}),
        ([], ["viewer"], {"read"}),
        (["king"], ["viewer"], {"read"}),
        ("admin", ["viewer"], {"read"}),
        ({"admin": True}, ["viewer"], {"read"}),
    ],
)
def test_roles_come_from_their_claim_and_unknown_ones_are_ignored(
    verifier: OidcVerifier, server: Issuer, clock: Clock, claimed: object, grants: list[str], scopes: set[str]
) -> None:
    actor = verifier.verify(server.sign(clock, treaty_roles=claimed))

    assert [str(grant) for grant in actor.grants] == grants
    assert actor.scopes == scopes


def test_other_claims_can_be_pinned(pinned: OidcSettings, server: Issuer, clock: Clock) -> None:
    verifier = OidcVerifier(replace(pinned, name_claim="email", roles_claim="groups"), clock=clock)
    token = server.sign(clock, email="ann@example.com", groups=["owner:growth"])

    actor = verifier.verify(token)

    assert (actor.name, [str(grant) for grant in actor.grants]) == ("ann@example.com", ["owner:growth"])
    with pytest.raises(NotAllowed, match="email is not verified"):
        verifier.verify(server.sign(clock, email="bob@example.com", email_verified=False))


@pytest.mark.parametrize("name", [None, "", " ", "a\nb", "a" * 201])
def test_a_token_without_a_name_is_refused(verifier: OidcVerifier, server: Issuer, clock: Clock, name: Any) -> None:
    with pytest.raises(NotAllowed, match="has no user name: its claim 'sub' is no name"):
        verifier.verify(server.sign(clock, sub=name))


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"aud": "https://other.example.com"}, "its claim aud is not accepted"),
        ({"aud": ["https://other.example.com"]}, "its claim aud is not accepted"),
        ({"aud": []}, "its claim aud is not accepted"),
        ({"aud": None}, "its claim aud is missing"),
        ({"iss": "https://evil.example.com"}, "its claim iss is not accepted"),
        ({"iss": ["a", "b"]}, "its claim iss is not accepted"),
        ({"iss": None}, "its claim iss is missing"),
        ({"exp": None}, "its claim exp is missing"),
        ({"exp": "tomorrow"}, "its claim exp is not accepted"),
        ({"exp": True}, "its claim exp is not accepted"),
        ({"exp": float("nan")}, "its claim exp is not accepted"),
        ({"sub": 7}, "its claim sub is not accepted"),
    ],
)
def test_claims_are_checked(
    verifier: OidcVerifier, server: Issuer, clock: Clock, claims: dict[str, Any], words: str
) -> None:
    with pytest.raises(NotAllowed, match=f"the bearer token is not accepted: {words}; sign in again"):
        verifier.verify(server.sign(clock, **claims))


def test_one_of_several_audiences_is_enough(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    assert verifier.verify(server.sign(clock, aud=["https://other.example.com", AUDIENCE])).name == "ann"


@pytest.mark.parametrize(
    ("claim", "accepted", "refused"),
    [("exp", -29, -30), ("nbf", 30, 31), ("iat", 30, 31)],
)
def test_clocks_may_differ_by_the_leeway(
    verifier: OidcVerifier, server: Issuer, clock: Clock, claim: str, accepted: int, refused: int
) -> None:
    inside: dict[str, Any] = {claim: seconds(clock, accepted)}
    outside: dict[str, Any] = {claim: seconds(clock, refused)}

    verifier.verify(server.sign(clock, **inside))
    with pytest.raises(NotAllowed, match=rf"it has expired|its claim {claim} is not accepted"):
        verifier.verify(server.sign(clock, **outside))


def test_a_token_stops_when_it_expires(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    token = server.sign(clock)
    verifier.verify(token)

    clock.forward(timedelta(seconds=330))

    with pytest.raises(NotAllowed, match="it has expired; sign in again"):
        verifier.verify(token)


def test_a_strangers_signature_is_refused(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    with pytest.raises(NotAllowed, match="its signature does not match"):
        verifier.verify(server.sign(clock, STRANGER))


def test_changed_claims_are_refused(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    header, _, signature = server.sign(clock).split(".")
    claims = {"iss": server.address, "aud": AUDIENCE, "sub": "eve", "exp": seconds(clock, 300)}

    with pytest.raises(NotAllowed, match="its signature does not match"):
        verifier.verify(f"{header}.{encoded(claims)}.{signature}")


@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "HS512", "RS512", "EdDSA", "", "RS256 "])
def test_an_algorithm_that_is_not_pinned_is_refused(
    verifier: OidcVerifier, server: Issuer, clock: Clock, algorithm: str
) -> None:
    header, claims, signature = server.sign(clock).split(".")
    changed = encoded({"alg": algorithm, "kid": "rsa-1"})

    for kept in (signature, ""):
        with pytest.raises(NotAllowed, match="its algorithm is not one of RS256, ES256"):
            verifier.verify(f"{changed}.{claims}.{kept}")
    assert header != changed


@pytest.mark.parametrize("secret", [RSA.as_pem(private=False), RSA.as_der(private=False)], ids=["PEM", "DER"])
def test_a_public_key_is_no_shared_secret(verifier: OidcVerifier, server: Issuer, clock: Clock, secret: bytes) -> None:
    claims = {"iss": server.address, "aud": AUDIENCE, "sub": "eve", "exp": seconds(clock, 300)}
    signed = f"{encoded({'alg': 'HS256', 'kid': 'rsa-1'})}.{encoded(claims)}"
    digest = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    signature = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    with pytest.raises(NotAllowed, match="its algorithm is not one of RS256, ES256"):
        verifier.verify(f"{signed}.{signature}")


def test_a_key_that_the_token_brings_along_is_not_used(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    own = ECKey.generate_key("P-256", {"kid": "ec-1"})
    brought = {"jwk": own.as_dict(private=False), "jku": "https://evil.example.com/keys"}

    with pytest.raises(NotAllowed, match="its signature does not match"):
        verifier.verify(server.sign(clock, own, brought))


def test_a_header_that_is_not_known_is_ignored_unless_critical(
    verifier: OidcVerifier, server: Issuer, clock: Clock
) -> None:
    from joserfc import jws

    claims = json.dumps({"iss": server.address, "aud": AUDIENCE, "sub": "ann", "exp": seconds(clock, 300)})
    lax = jws.JWSRegistry({"nonce": jws.default_registry.header_registry["cty"]}, ["RS256"])
    usual: dict[str, Any] = {"alg": "RS256", "kid": "rsa-1", "nonce": "n"}

    assert verifier.verify(jws.serialize_compact(usual, claims, RSA, registry=lax)).name == "ann"
    with pytest.raises(NotAllowed, match="it cannot be read"):
        verifier.verify(jws.serialize_compact({**usual, "crit": ["nonce"]}, claims, RSA, registry=lax))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["alg", "RS256", "rsa-1", "b64"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["alg", "kid", "crit", "b64", "typ"]), inner)
    ),
    max_leaves=6,
)


@settings(deadline=None, derandomize=True)
@given(json_values, json_values, st.text(max_size=10))
def test_hostile_tokens_are_refused_and_break_nothing(header: object, claims: object, rest: str) -> None:
    verifier = OidcVerifier(OidcSettings("https://issuer.example.com", AUDIENCE), fetch=_down)

    for token in (f"{encoded(header)}.{encoded(claims)}.{rest}", f"{encoded(header)}.{rest}", rest):
        with pytest.raises((NotAllowed, Unavailable)):
            verifier.verify(token)


def _down(url: str) -> bytes:
    raise Unavailable(f"cannot reach {url}")


@pytest.mark.parametrize(
    "token", ["", "..", "a.b.c", "\ud800.a.b", "e" * 1_000_000, encoded([[[]]]) + ".e30.", "🙂.🙂.🙂"]
)
def test_what_is_no_token_is_refused(verifier: OidcVerifier, token: str) -> None:
    with pytest.raises(NotAllowed, match="sign in again"):
        verifier.verify(token)


def test_a_refusal_never_shows_the_token(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    token = server.sign(clock, aud="https://other.example.com")

    with pytest.raises(NotAllowed) as caught:
        verifier.verify(token)
    assert not any(part in str(caught.value) for part in token.split("."))


@pytest.mark.parametrize("package", ["joserfc", "httpx2"])
def test_a_missing_package_is_reported_with_the_install_command(
    verifier: OidcVerifier, server: Issuer, clock: Clock, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = server.sign(clock)
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(Unavailable, match=rf"needs the package {package}; run: pip install 'treaty\[server\]'"):
        verifier.verify(token)


@pytest.mark.parametrize("algorithms", [("HS256",), ("RS256", "HS512"), ("none",), ("EdDSA",), (), ("dir",)])
def test_settings_pin_signatures_with_public_keys_only(algorithms: tuple[str, ...]) -> None:
    with pytest.raises(InvalidDocument, match="is not accepted; use one of: RS256, RS384"):
        OidcSettings("https://issuer.example.com", AUDIENCE, algorithms)


@pytest.mark.parametrize(
    "url",
    [
        "http://issuer.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "ftp://localhost",
        "file:///etc/passwd",
        "https://",
        "https://user:word@issuer.example.com",
        "https://issuer.example.com#fragment",
        "https://issuer.example.com/\nx",
        "https://[::1",
        "https://issuer.example.com:port",
        "",
    ],
)
def test_settings_need_https(url: str) -> None:
    with pytest.raises(InvalidDocument, match="https"):
        OidcSettings(url, AUDIENCE)
    with pytest.raises(InvalidDocument, match="https"):
        OidcSettings("https://issuer.example.com", AUDIENCE, jwks_url=url or "x")


@pytest.mark.parametrize("url", ["http://localhost:8080/realm", "http://127.0.0.1", "http://[::1]:80", "https://a.b/c"])
def test_settings_allow_https_and_this_machine(url: str) -> None:
    assert OidcSettings(url, AUDIENCE).issuer == url


def test_settings_need_an_audience_and_a_small_leeway() -> None:
    with pytest.raises(InvalidDocument, match="audience is missing"):
        OidcSettings("https://issuer.example.com", "")
    for leeway in (-1, 301):
        with pytest.raises(InvalidDocument, match="from 0 to 300 seconds"):
            OidcSettings("https://issuer.example.com", AUDIENCE, leeway=leeway)


@pytest.mark.parametrize("name", ["local", "calendar", "anonymous", "upgrade"])
def test_names_of_the_registry_itself_are_refused(
    verifier: OidcVerifier, server: Issuer, clock: Clock, name: str
) -> None:
    with pytest.raises(NotAllowed, match=f"the name '{name}' belongs to the registry itself"):
        verifier.verify(server.sign(clock, sub=name))


@pytest.mark.parametrize("subject", [None, " ", "a\nb", "a" * 256])
def test_a_token_without_a_subject_is_refused(pinned: OidcSettings, server: Issuer, clock: Clock, subject: Any) -> None:
    verifier = OidcVerifier(replace(pinned, name_claim="email"), clock=clock)

    with pytest.raises(NotAllowed, match="has no subject"):
        verifier.verify(server.sign(clock, sub=subject, email="ann@example.com"))
