"""Sign-in in the browser with an identity provider, and attacks on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from fastapi.responses import JSONResponse, PlainTextResponse

from tests.catalog.identity_provider import CLIENT_ID, CLIENT_SECRET, Provider, identity_provider
from tests.catalog.page_client import Browser, words
from tests.catalog.test_sign_in import set_cookies
from tests.registry.access.key_server import STRANGER
from tests.server.conftest import Clock
from tests.server.contracts import short
from tests.server.running import running
from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.access.oidc_settings import OidcSettings
from treaty.registry.access.oidc_sign_in import OidcSignIn
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.settings import AccessSettings

START = "/catalog/sign-in/provider"
CALLBACK = "/catalog/sign-in/callback"
AGAIN = "start again from the sign-in page"


class Place:
    """A server whose users sign in with a provider, and one browser."""

    def __init__(self, provider: Provider, registry: Registry, browser: Browser, clock: Clock) -> None:
        self.provider = provider
        self.registry = registry
        self.browser = browser
        self.clock = clock

    def begin(self, browser: Browser | None = None, then: str = "/") -> str:
        """Begin in a browser, sign in at the provider and return the address that it sends the browser to."""
        began = (browser or self.browser).get(START, params={"then": then})
        assert began.status_code == 303, words(began)
        answer = httpx2.get(began.headers["location"], trust_env=False)
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])

    def sign_in(self, then: str = "/") -> httpx2.Response:
        return self.browser.get(self.begin(then=then))

    def is_signed_in(self) -> bool:
        return self.browser.get("/").status_code == 200


@contextmanager
def place_with(folder: Path, settings: dict[str, Any] | None = None, **behaviour: Any) -> Iterator[Place]:
    clock = Clock()
    with ExitStack() as stack:
        provider = stack.enter_context(identity_provider(**behaviour))
        given = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, **(settings or {})}
        oidc = OidcSettings(provider.address, "https://treaty.example.com", **given)
        registry = stack.enter_context(Registry.open(str(folder / "registry.db"), clock=clock))
        registry.register(short())
        verifier = OidcVerifier(oidc)
        sign_in = OidcSignIn(oidc, verifier, clock)
        app = create_app(registry, AccessSettings(True, False), verifier, provider=sign_in)
        browser = stack.enter_context(Browser(stack.enter_context(running(app))))
        yield Place(provider, registry, browser, clock)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place_with(tmp_path_factory.mktemp("provider")) as one:
        yield one


@pytest.fixture
def place(server: Place) -> Iterator[Place]:
    """The server without sessions, its provider as it began, and a new browser."""
    server.provider.reset()
    for session in server.registry.access.sessions().items:
        server.registry.access.end_session(session.id)
    with Browser(server.browser.address) as browser:
        yield Place(server.provider, server.registry, browser, server.clock)


def refused(answer: httpx2.Response, status: int, text: str) -> None:
    assert (answer.status_code, "treaty_session" in set_cookies(answer)) == (status, False)
    assert text in words(answer)


def test_a_user_signs_in_and_returns_to_the_page(place: Place) -> None:
    place.provider.claims = {"treaty_roles": ["owner:growth"]}
    host = place.provider.address.removeprefix("http://")
    assert f"Sign in with {host}" in words(place.browser.get("/catalog/sign-in"))

    answer = place.sign_in(then="/catalog/check?contract=a")

    assert (answer.status_code, answer.headers["location"]) == (303, "/catalog/check?contract=a")
    assert "You are signed in as a1b2." in words(place.browser.get("/catalog/check"))
    (session,) = place.registry.access.sessions().items
    assert (session.name, session.identity, session.token) == ("a1b2", f"{place.provider.address}#a1b2", None)
    assert "treaty_login" not in place.browser.client.cookies
    assert f"{place.provider.address}#a1b2" in words(place.browser.get("/catalog/sign-in"))


def test_the_request_has_pkce_state_and_nonce(place: Place) -> None:
    began = place.browser.get(START)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(began.headers["location"]).query).items()}
    cookie = set_cookies(began)["treaty_login"].lower()

    assert (asked["client_id"], asked["scope"]) == (CLIENT_ID, "openid profile email")
    assert asked["redirect_uri"] == f"{place.browser.address}{CALLBACK}"
    assert (len(asked["state"]), len(asked["nonce"]), len(asked["code_challenge"])) == (64, 64, 43)
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    assert {"httponly", "samesite=lax", "path=/", "max-age=600"} <= {part.strip() for part in cookie.split(";")}
    assert asked["state"] not in cookie


@pytest.mark.parametrize(
    ("settings", "behaviour"),
    [
        ({"client_secret": None}, {"secret": None}),
        ({}, {"methods": ("client_secret_post",)}),
        ({}, {"metadata": {"authorization_response_iss_parameter_supported": False}}),
    ],
    ids=["public client", "secret in the form", "without issuer in the answer"],
)
def test_other_providers_work(tmp_path: Path, settings: dict[str, Any], behaviour: dict[str, Any]) -> None:
    with place_with(tmp_path, settings, **behaviour) as place:
        assert place.sign_in().status_code == 303
        assert place.is_signed_in()


@pytest.mark.parametrize(
    ("claims", "header", "why"),
    [
        ({"nonce": "other"}, {}, "its claim nonce is not accepted"),
        ({"nonce": None}, {}, "its claim nonce is missing"),
        ({"aud": "https://treaty.example.com"}, {}, "its claim aud is not accepted"),
        ({"aud": "another-client"}, {}, "its claim aud is not accepted"),
        ({"aud": [CLIENT_ID, "other"], "azp": "other"}, {}, "it was issued for another client"),
        ({"iss": "https://evil.test"}, {}, "its claim iss is not accepted"),
        ({"exp": 1}, {}, "it has expired"),
        ({}, {"alg": "none"}, "its algorithm is not one of RS256, ES256"),
        ({"sub": None}, {}, "has no user name"),
    ],
)
def test_an_id_token_that_is_not_for_this_sign_in_is_refused(
    place: Place, claims: dict[str, Any], header: dict[str, Any], why: str
) -> None:
    place.provider.claims, place.provider.header = claims, header

    refused(place.sign_in(), 403, why)
    assert not place.is_signed_in()


def test_an_id_token_with_a_foreign_signature_is_refused(place: Place) -> None:
    place.provider.key = STRANGER

    refused(place.sign_in(), 403, "its signature does not match")


@pytest.mark.parametrize("state", ["", "0" * 64, "\u00e4", "x" * 3_000])
def test_a_wrong_state_is_refused_before_the_code_is_used(place: Place, state: str) -> None:
    code = parse_qs(urlsplit(place.begin()).query)["code"][0]

    refused(place.browser.get(CALLBACK, params={"code": code, "state": state}), 403, "did not begin in this browser")
    assert place.provider.exchanges == 0


def test_an_answer_for_another_browser_is_refused(place: Place) -> None:
    attackers = place.begin()
    with Browser(place.browser.address) as victim:
        refused(victim.get(attackers), 403, "did not begin in this browser")
        place.begin(victim)
        refused(victim.get(attackers), 403, "did not begin in this browser")
    assert place.provider.exchanges == 0


def test_a_repeated_answer_is_refused(place: Place) -> None:
    answer = place.begin()
    login = place.browser.client.cookies["treaty_login"]
    place.browser.get(answer)
    place.browser.post("/catalog/sign-out")

    refused(place.browser.get(answer), 403, "did not begin in this browser")
    place.browser.client.cookies.set("treaty_login", login, domain="127.0.0.1")
    refused(place.browser.get(answer), 403, "did not accept the sign-in (invalid_grant)")


def test_a_state_is_good_for_one_session_even_with_another_code(place: Place) -> None:
    answer = place.begin()
    login = place.browser.client.cookies["treaty_login"]
    asked = next(iter(place.provider.codes.values()))
    place.browser.get(answer)
    place.provider.codes["fresh"] = asked
    place.browser.client.cookies.set("treaty_login", login, domain="127.0.0.1")

    repeated = place.browser.get(CALLBACK, params={"code": "fresh", "state": asked["state"]})

    refused(repeated, 409, "this sign-in was completed before")


def test_a_code_without_the_verifier_of_the_browser_is_refused(place: Place) -> None:
    stolen = parse_qs(urlsplit(place.begin()).query)["code"][0]
    with Browser(place.browser.address) as attacker:
        state = parse_qs(urlsplit(place.begin(attacker)).query)["state"][0]

        answer = attacker.get(CALLBACK, params={"code": stolen, "state": state})

    refused(answer, 403, "did not accept the sign-in (invalid_grant)")


def test_a_sign_in_that_took_too_long_is_refused(place: Place) -> None:
    answer = place.begin()
    place.clock.forward(minutes=10)

    refused(place.browser.get(answer), 403, f"the sign-in took more than 10 minutes; {AGAIN}")


def test_an_answer_of_another_provider_is_refused(place: Place) -> None:
    answer = place.begin()

    refused(place.browser.get(f"{answer}&iss=https%3A%2F%2Fevil.test"), 403, "came from another identity provider")
    assert place.provider.exchanges == 0


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ({"error": "access_denied"}, "the sign-in was cancelled, or you may not use this registry (access_denied)"),
        (
            {"error": "server_error", "error_description": "<script>alert(1)</script>"},
            "the identity provider has an internal error (server_error: <script>alert(1)</script>)",
        ),
        ({"error": "<b>bold</b>"}, "the identity provider did not accept the sign-in (no reason given)"),
        ({}, "the identity provider sent no code"),
    ],
)
def test_an_error_of_the_provider_is_shown_as_text(place: Place, error: dict[str, str], text: str) -> None:
    place.provider.error = error

    answer = place.sign_in()

    refused(answer, 403, text)
    assert "<script>alert" not in answer.text
    assert "<b>bold" not in answer.text


def test_an_error_that_nobody_asked_for_shows_no_foreign_text(place: Place) -> None:
    answer = place.browser.get(CALLBACK, params={"error": "x", "error_description": "call 555-1234", "state": "x"})

    refused(answer, 403, "did not begin in this browser")
    assert "555-1234" not in answer.text


@pytest.mark.parametrize(
    ("response", "status", "text"),
    [
        (JSONResponse({"access_token": "x"}), 403, "did not accept the sign-in"),
        (JSONResponse({"id_token": 7}), 403, "did not accept the sign-in"),
        (JSONResponse(["x"]), 503, "answers 200 without JSON"),
        (PlainTextResponse("oops", 500), 503, "answers 500 without JSON"),
        (JSONResponse({"id_token": "not.a.token"}), 403, "the ID token"),
    ],
)
def test_a_token_endpoint_that_misbehaves_is_named(place: Place, response: Any, status: int, text: str) -> None:
    place.provider.token_answer = response

    refused(place.sign_in(), status, text)


def test_a_wrong_client_secret_is_named(tmp_path: Path) -> None:
    with place_with(tmp_path, {"client_secret": "wrong"}) as place:
        refused(place.sign_in(), 403, "did not accept the sign-in (invalid_client)")


@pytest.mark.parametrize("then", ["https://evil.test/", "//evil.test", "/\\evil.test", "/api/v1/tokens"])
def test_no_redirect_leaves_the_server(place: Place, then: str) -> None:
    assert place.sign_in(then=then).headers["location"] == "/"


def test_a_planted_cookie_cannot_redirect_elsewhere(place: Place) -> None:
    answer = place.begin()
    secret, expires, _ = place.browser.client.cookies["treaty_login"].split("~")
    place.browser.client.cookies.set("treaty_login", f"{secret}~{expires}~aHR0cHM6Ly9ldmlsLnRlc3Qv", domain="127.0.0.1")

    assert place.browser.get(answer).headers["location"] == "/"


def test_every_sign_in_has_a_new_session(place: Place) -> None:
    planted = "p" * 43
    place.browser.client.cookies.set("treaty_session", planted, domain="127.0.0.1")
    place.sign_in()
    first = place.browser.client.cookies["treaty_session"]
    place.sign_in()
    second = place.browser.client.cookies["treaty_session"]

    assert len({planted, first, second}) == 3
    assert [session.name for session in place.registry.access.sessions().items] == ["a1b2"]


@pytest.mark.parametrize(
    ("metadata", "text"),
    [
        ({"issuer": "https://evil.test"}, "speaks for another issuer"),
        ({"authorization_endpoint": "http://evil.test/authorize"}, "must be an https address"),
        ({"authorization_endpoint": None}, "must be an https address"),
    ],
)
def test_metadata_that_cannot_be_trusted_is_refused(tmp_path: Path, metadata: dict[str, Any], text: str) -> None:
    with place_with(tmp_path, metadata=metadata) as place:
        refused(place.browser.get(START), 503, text)


def test_a_provider_that_is_down_is_asked_once_in_five_seconds() -> None:
    asked: list[str] = []
    clock = Clock()

    def fail(url: str) -> bytes:
        asked.append(url)
        raise Unavailable("cannot reach the provider")

    settings = OidcSettings("https://login.example.com", "treaty", client_id="treaty")
    sign_in = OidcSignIn(settings, OidcVerifier(settings, fail), clock, fail)
    for seconds in (0, 1, 3, 1, 4, 1):
        clock.forward(seconds=seconds)
        with pytest.raises(Unavailable, match="cannot reach the provider"):
            sign_in.authorization_url(sign_in.begin(), "https://treaty.example.com/catalog/sign-in/callback")

    assert asked == ["https://login.example.com/.well-known/openid-configuration"] * 3


def test_another_host_needs_the_redirect_url(place: Place) -> None:
    refused(
        place.browser.get(START, headers={"Host": "treaty.example.com"}), 503, "set access.oidc.redirect_url to the"
    )


def test_the_redirect_url_is_that_of_the_settings(tmp_path: Path) -> None:
    url = f"https://treaty.example.com{CALLBACK}"
    with place_with(tmp_path, {"redirect_url": url}) as place:
        location = place.browser.get(START, headers={"Host": "evil.test"}).headers["location"]

    assert parse_qs(urlsplit(location).query)["redirect_uri"] == [url]


@pytest.mark.parametrize("url", ["http://treaty.example.com/catalog/sign-in/callback", "https://treaty.example.com/"])
def test_a_redirect_url_that_cannot_work_is_refused(url: str) -> None:
    with pytest.raises(InvalidDocument, match="redirect URL"):
        OidcSettings("https://login.example.com", "treaty", client_id="treaty", redirect_url=url)


def test_without_a_client_id_there_is_no_button(tmp_path: Path) -> None:
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        app = create_app(registry, AccessSettings(True, False))
        with running(app) as address, Browser(address) as browser:
            assert (
                "Sign in with" not in browser.get("/catalog/sign-in").text.partition("<form")[0].partition("<main")[2]
            )
            assert browser.get(START).status_code == 404


def test_the_client_secret_is_not_shown(place: Place) -> None:
    settings = OidcSettings("https://login.example.com", "treaty", client_id="t", client_secret=CLIENT_SECRET)

    assert CLIENT_SECRET not in repr(settings)
