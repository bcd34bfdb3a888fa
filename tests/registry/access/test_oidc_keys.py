"""The keys of an issuer: found, kept, rotated, and missing, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event

import pytest
from joserfc.jwk import OctKey

from tests.registry.access.key_server import AUDIENCE, EC, RSA, RSA_NEXT, Clock, Issuer, key_server
from treaty.errors import NotAllowed, Unavailable
from treaty.registry.access.oidc import MAX_DOCUMENT_BYTES, OidcSettings, OidcVerifier, fetch_document

DISCOVERY = "/.well-known/openid-configuration"
WEAK_MODULUS = "x" * 170 + "w"  # 1,024 bits


@pytest.fixture
def server() -> Iterator[Issuer]:
    with key_server() as issuer:
        issuer.publish(RSA)
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def verifier(server: Issuer, clock: Clock) -> OidcVerifier:
    return OidcVerifier(OidcSettings(server.address, AUDIENCE, jwks_url=server.jwks_url), clock=clock)


def discovering(server: Issuer, clock: Clock) -> OidcVerifier:
    return OidcVerifier(OidcSettings(server.address, AUDIENCE), clock=clock)


def test_keys_are_found_through_the_issuer(server: Issuer, clock: Clock) -> None:
    assert discovering(server, clock).verify(server.sign(clock)).name == "ann"
    assert server.asked == [DISCOVERY, "/keys"]


def test_the_metadata_must_name_the_same_issuer(server: Issuer, clock: Clock) -> None:
    said = {"issuer": "https://evil.example.com", "jwks_uri": server.jwks_url}
    server.documents[DISCOVERY] = (200, json.dumps(said).encode())

    with pytest.raises(Unavailable, match="speaks for another issuer"):
        discovering(server, clock).verify(server.sign(clock))


@pytest.mark.parametrize("address", ["http://evil.example.com/keys", "file:///etc/passwd", None, 7])
def test_an_issuer_must_lead_to_keys_over_https(server: Issuer, clock: Clock, address: object) -> None:
    server.documents[DISCOVERY] = (200, json.dumps({"issuer": server.address, "jwks_uri": address}).encode())

    with pytest.raises(Unavailable, match="must be an https address"):
        discovering(server, clock).verify(server.sign(clock))


def test_an_issuer_on_https_does_not_lead_to_plain_http(server: Issuer, clock: Clock) -> None:
    issuer = "https://issuer.example.com"
    document = json.dumps({"issuer": issuer, "jwks_uri": server.jwks_url}).encode()
    verifier = OidcVerifier(OidcSettings(issuer, AUDIENCE), fetch=lambda url: document, clock=clock)

    with pytest.raises(Unavailable, match="leads to keys over plain http"):
        verifier.verify(server.sign(clock, iss=issuer))


def test_keys_are_cached_for_an_hour(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    verifier.verify(server.sign(clock))
    clock.forward(timedelta(minutes=59))
    verifier.verify(server.sign(clock))
    assert server.asked == ["/keys"]

    clock.forward(timedelta(minutes=1))
    verifier.verify(server.sign(clock))
    assert server.asked == ["/keys", "/keys"]


def test_a_key_that_was_withdrawn_is_refused_after_an_hour(
    verifier: OidcVerifier, server: Issuer, clock: Clock
) -> None:
    verifier.verify(server.sign(clock))
    server.publish(RSA_NEXT)
    clock.forward(timedelta(hours=1))

    with pytest.raises(NotAllowed, match="its issuer has no such key"):
        verifier.verify(server.sign(clock))


def test_a_new_key_is_fetched_when_a_token_names_it(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    verifier.verify(server.sign(clock))
    server.publish(RSA, RSA_NEXT)
    clock.forward(timedelta(minutes=1))

    assert verifier.verify(server.sign(clock, RSA_NEXT)).name == "ann"
    assert verifier.verify(server.sign(clock, RSA)).name == "ann"
    assert server.asked == ["/keys", "/keys"]


def test_unknown_keys_are_fetched_at_most_once_a_minute(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    for _ in range(3):
        with pytest.raises(NotAllowed, match="its issuer has no such key"):
            verifier.verify(server.sign(clock, RSA_NEXT))
        clock.forward(timedelta(seconds=29))
    assert server.asked == ["/keys"]

    with pytest.raises(NotAllowed):
        verifier.verify(server.sign(clock, RSA_NEXT))
    assert server.asked == ["/keys", "/keys"]


def test_no_key_is_fetched_for_an_algorithm_that_is_not_allowed(server: Issuer, clock: Clock) -> None:
    verifier = OidcVerifier(OidcSettings(server.address, AUDIENCE, ("ES256",)), clock=clock)

    with pytest.raises(NotAllowed, match="its algorithm is not one of ES256"):
        verifier.verify(server.sign(clock, RSA))
    assert server.asked == []


def test_a_token_that_names_no_key_is_accepted_where_there_is_one(
    verifier: OidcVerifier, server: Issuer, clock: Clock
) -> None:
    assert verifier.verify(server.sign(clock, RSA, {"kid": None})).name == "ann"


@pytest.mark.parametrize("name", [None, "", "RSA-1"])
def test_a_token_that_leaves_its_key_in_doubt_is_refused(
    verifier: OidcVerifier, server: Issuer, clock: Clock, name: str | None
) -> None:
    server.publish(RSA, RSA_NEXT)

    with pytest.raises(NotAllowed, match="no such key"):
        verifier.verify(server.sign(clock, RSA, {"kid": name}))


def test_keys_with_the_same_id_are_selected_by_type(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    server.publish(RSA, EC)
    server.keys[1]["kid"] = "rsa-1"

    assert verifier.verify(server.sign(clock, RSA)).name == "ann"
    assert verifier.verify(server.sign(clock, EC, {"kid": "rsa-1"})).name == "ann"


def test_keys_that_cannot_be_used_are_left_out(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    good = RSA.as_dict(private=False)
    server.keys = [
        OctKey.generate_key(256, {"kid": "rsa-1"}).as_dict(private=True),
        {"kty": "RSA", "kid": "rsa-1", "n": WEAK_MODULUS, "e": "AQAB"},
        {**good, "use": "enc"},
        {**good, "use": ["sig"]},
        {**good, "n": 7},
        {**good, "n": "é"},
        {**good, "n": None},
        {**good, "key_ops": 7},
        {"kty": "RSA", "kid": "rsa-1"},
        {"kty": ["RSA"], "kid": "rsa-1"},
        {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "AKP", "kid": "rsa-1"},
        {},
        good,
    ]

    assert verifier.verify(server.sign(clock)).name == "ann"


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (500, b"", "answers 500, not 200"),
        (302, b"", "answers 302, not 200"),
        (200, b"<html>", "is not a JSON document"),
        (200, b"[]", "is not a JSON document"),
        (200, b"[" * 100_000, "is not a JSON document"),
        (200, b"{}", "has no key for RS256, ES256"),
        (200, b'{"keys": {}}', "has no key for RS256, ES256"),
        (200, b'{"keys": [7]}', "has no key for RS256, ES256"),
        (200, b" " * (MAX_DOCUMENT_BYTES + 1), "sends more than 1000000 bytes"),
    ],
)
def test_a_key_server_that_fails_is_unavailable(
    verifier: OidcVerifier, server: Issuer, clock: Clock, status: int, body: bytes, words: str
) -> None:
    server.documents["/keys"] = (status, body)

    with pytest.raises(Unavailable, match=words):
        verifier.verify(server.sign(clock))


def test_a_key_server_that_is_down_is_unavailable(clock: Clock) -> None:
    with key_server() as server:
        token = server.sign(clock)
        verifier = OidcVerifier(OidcSettings(server.address, AUDIENCE, jwks_url=server.jwks_url), clock=clock)

    with pytest.raises(Unavailable, match=f"cannot reach {server.jwks_url}"):
        verifier.verify(token)


def test_a_recovered_key_server_is_used_again(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    server.documents["/keys"] = (500, b"")
    for _ in range(3):
        with pytest.raises(Unavailable, match="answers 500"):
            verifier.verify(server.sign(clock))
    assert server.asked == ["/keys"]

    server.documents.clear()
    clock.forward(timedelta(seconds=5))
    assert verifier.verify(server.sign(clock)).name == "ann"


def test_known_keys_outlive_a_key_server_for_their_hour(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    verifier.verify(server.sign(clock))
    server.documents["/keys"] = (500, b"")
    clock.forward(timedelta(minutes=59))

    with pytest.raises(Unavailable, match="answers 500"):
        verifier.verify(server.sign(clock, RSA_NEXT))
    assert verifier.verify(server.sign(clock)).name == "ann"

    clock.forward(timedelta(minutes=1))
    with pytest.raises(Unavailable, match="answers 500"):
        verifier.verify(server.sign(clock))


def test_many_threads_fetch_the_keys_once(verifier: OidcVerifier, server: Issuer, clock: Clock) -> None:
    tokens = [server.sign(clock, jti=str(number)) for number in range(16)]

    with ThreadPoolExecutor(8) as threads:
        names = {actor.name for actor in threads.map(verifier.verify, tokens)}

    assert names == {"ann"}
    assert server.asked == ["/keys"]


def test_known_keys_do_not_wait_for_a_fetch(server: Issuer, clock: Clock) -> None:
    started, released = Event(), Event()
    fetched: list[str] = []

    def slow(url: str) -> bytes:
        fetched.append(url)
        if len(fetched) > 1:
            started.set()
            assert released.wait(10)
        return fetch_document(url)

    verifier = OidcVerifier(OidcSettings(server.address, AUDIENCE, jwks_url=server.jwks_url), fetch=slow, clock=clock)
    verifier.verify(server.sign(clock))
    clock.forward(timedelta(minutes=1))
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(verifier.verify, server.sign(clock, RSA_NEXT))
        assert started.wait(10)

        assert verifier.verify(server.sign(clock)).name == "ann"
        assert not waiting.done()

        released.set()
        with pytest.raises(NotAllowed, match="no such key"):
            waiting.result()
