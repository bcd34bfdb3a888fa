"""Sign-in with a token; the browser gets a session of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.catalog.members_server import Town, town
from tests.catalog.page_client import Browser, words
from tests.registry.access.key_server import AUDIENCE, RSA, key_server
from tests.registry.access.key_server import Clock as IssuerClock
from tests.server.contracts import USERS, short
from tests.server.running import client_of, running
from treaty.registry.access.oidc import OidcSettings, OidcVerifier
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.pages.sign_in import safe_redirect_path
from treaty.server.settings import AccessSettings


@pytest.fixture(scope="module")
def members_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with ExitStack() as stack:
        yield town(stack, tmp_path_factory.mktemp("closed"), AccessSettings(required=True, open_reading=False))


@pytest.fixture
def browser(members_only: Town) -> Iterator[Browser]:
    with Browser(members_only.address) as one:
        yield one


def set_cookies(answer: httpx2.Response) -> dict[str, str]:
    return {one.partition("=")[0]: one for one in answer.headers.get_list("set-cookie")}


def test_restricted_page_redirects_to_sign_in_and_back(members_only: Town, browser: Browser) -> None:
    asked = browser.get(f"/catalog/check?contract={USERS}")
    assert (asked.status_code, asked.headers["location"]) == (
        303,
        f"/catalog/sign-in?then=%2Fcatalog%2Fcheck%3Fcontract%3D{USERS}",
    )

    signed_in = browser.sign_in(members_only.token(), then=f"/catalog/check?contract={USERS}")

    assert (signed_in.status_code, signed_in.headers["location"]) == (303, f"/catalog/check?contract={USERS}")
    assert "You are signed in as ana" in words(browser.get(signed_in.headers["location"]))
    assert "You are signed in as" not in words(browser.get("/"))  # it is said once


def test_cookie_is_httponly_and_samesite(members_only: Town, browser: Browser) -> None:
    kept = set_cookies(browser.sign_in(members_only.token()))["treaty_session"].lower()

    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in kept.split(";")}
    assert "domain=" not in kept


def test_https_cookie_is_secure_and_bound_to_the_host(members_only: Town, browser: Browser) -> None:
    secure = {"X-Forwarded-Proto": "https"}  # from a proxy on this machine, which the server believes
    page = browser.get("/catalog/sign-in", headers=secure)

    kept = set_cookies(page)["__Host-treaty_visit"].lower()

    assert "domain=" not in kept
    assert {"secure", "path=/"} <= {part.strip() for part in kept.split(";")}


def test_session_ends_with_its_token_or_after_12_hours(members_only: Town, browser: Browser) -> None:
    kept = set_cookies(browser.sign_in(members_only.token()))["treaty_session"]
    assert "Max-Age=43200" in kept

    ending = members_only.token(days=1)
    members_only.clock.forward(hours=23)
    with Browser(members_only.address) as other:
        assert "Max-Age=3600" in set_cookies(other.sign_in(ending))["treaty_session"]


def test_revoked_session_cookie_is_removed(members_only: Town, browser: Browser) -> None:
    token = members_only.token()
    browser.sign_in(token)
    assert browser.get("/").status_code == 200
    members_only.registry.access.revoke_token(token.split("_")[1])

    asked = browser.get("/")

    assert asked.status_code == 303
    assert 'treaty_session=""; ' in set_cookies(asked)["treaty_session"]
    assert "treaty_session" not in browser.client.cookies


@pytest.mark.parametrize("cookie", ["treaty_0", "x" * 5_000, "treaty_session=\xe4", '"quoted"', "a b c"])
def test_unknown_cookies_are_ignored(members_only: Town, cookie: str) -> None:
    with client_of(members_only.address) as client:
        headers = [(b"Accept", b"text/html"), (b"Cookie", f"treaty_session={cookie}".encode("latin-1"))]

        assert client.get("/", headers=headers).status_code == 303


def test_api_ignores_the_session_cookie(members_only: Town, browser: Browser) -> None:
    browser.sign_in(members_only.token("admin", None))
    assert browser.get("/").status_code == 200

    json = {"Accept": "application/json"}
    for path in ("/", "/datasets", f"/contracts/{USERS}/latest", "/api/v1/contracts", "/api/v1/tokens"):
        assert browser.get(path, headers=json).status_code == 401, path
    assert browser.client.post("/contracts", json=short(version="1.0.1")).status_code == 401


@pytest.mark.parametrize("token", ["treaty_000000000000_" + "0" * 64, "nonsense", "eyJh.eyJh.sig", "tr\u00e4ty"])
def test_unknown_token_is_refused(browser: Browser, token: str) -> None:
    answer = browser.sign_in(token)

    assert answer.status_code == 403
    assert "the token is not known here" in words(answer)
    assert token not in answer.text
    assert "treaty_session" not in set_cookies(answer)


def test_empty_or_too_long_token_is_refused(browser: Browser) -> None:
    assert "paste a token" in words(browser.sign_in("  "))
    assert "the token has more than 16,000 characters; use the API" in words(browser.sign_in("x" * 16_001))


def test_tokens_are_not_logged(members_only: Town, browser: Browser) -> None:
    token = members_only.token()
    with capture_logs() as logged:
        browser.sign_in(token)
        browser.get("/")
        browser.get(f"/catalog/{token}")

    assert logged
    assert token.rpartition("_")[2] not in repr(logged)


def test_basic_authorization_is_ignored(browser: Browser) -> None:
    basic = {"Authorization": "Basic YW5hOnNlY3JldA=="}

    assert browser.get("/", headers=basic).status_code == 303
    assert browser.get("/catalog/sign-in", headers=basic).status_code == 200


def test_invalid_bearer_token_causes_no_redirect_loop(browser: Browser) -> None:
    assert browser.get("/catalog/sign-in", headers={"Authorization": "Bearer nonsense"}).status_code == 401


def test_identity_provider_token_signs_in_until_it_expires(tmp_path: Path) -> None:
    issuer_clock = IssuerClock()
    with ExitStack() as stack:
        issuer = stack.enter_context(key_server())
        issuer.publish(RSA)
        oidc = OidcVerifier(OidcSettings(issuer.address, AUDIENCE, jwks_url=issuer.jwks_url), clock=issuer_clock)
        registry = stack.enter_context(Registry.open(str(tmp_path / "registry.db"), clock=issuer_clock))
        address = stack.enter_context(running(create_app(registry, AccessSettings(), oidc)))
        browser = stack.enter_context(Browser(address))

        kept = set_cookies(browser.sign_in(issuer.sign(issuer_clock, treaty_roles=["owner:growth"])))["treaty_session"]

        assert "Max-Age=300" in kept
        assert "Sign out" in browser.get("/").text


def test_sign_out_removes_the_cookie(members_only: Town, browser: Browser) -> None:
    browser.sign_in(members_only.token())

    answer = browser.post("/catalog/sign-out")

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert browser.get("/").status_code == 303


def test_cross_site_sign_in_is_refused(members_only: Town, browser: Browser) -> None:
    form = browser.form_token("/catalog/sign-in")
    token = members_only.token()

    elsewhere = browser.post("/catalog/sign-in", {"token": token}, token=form, headers={"Origin": "https://evil.test"})
    without = browser.post("/catalog/sign-in", {"token": token}, token="0" * 64)

    for answer in (elsewhere, without):
        assert answer.status_code == 403
        assert "treaty_session" not in set_cookies(answer)


def test_sign_in_replaces_the_visit_cookie(members_only: Town, browser: Browser) -> None:
    browser.client.cookies.set("treaty_visit", "p" * 43, domain="127.0.0.1")
    before = browser.form_token("/catalog/sign-in")

    browser.sign_in(members_only.token())

    assert browser.form_token("/catalog/check") != before
    assert "treaty_visit" not in browser.client.cookies


@pytest.mark.parametrize(
    "then",
    [
        "https://evil.test/",
        "//evil.test/",
        "/\\evil.test",
        "\\/evil.test",
        "/%0d%0aSet-Cookie:x",
        "/\r\nSet-Cookie: x=1",
        "/catalog/\x00",
        "javascript:alert(1)",
        "/api/v1/tokens",
        "/docs",
        "/catalogue",
        "/catalog/sign-out",
        "/catalog/../docs\\",
        "catalog",
        " /",
        "/catalog/\u202e",
    ],
)
def test_unsafe_redirect_targets_are_replaced(then: str) -> None:
    assert safe_redirect_path(then) == "/"


@pytest.mark.parametrize(
    "then", ["/", "/?q=orders", "/catalog", "/catalog/check?contract=a%2Fb", "/catalog/contracts/a~2fb"]
)
def test_catalog_pages_are_valid_redirect_targets(then: str) -> None:
    assert safe_redirect_path(then) == then


def test_open_server_needs_no_sign_in(tmp_path: Path) -> None:
    with ExitStack() as stack:
        place = town(stack, tmp_path, AccessSettings())
        browser = stack.enter_context(Browser(place.address))

        assert "You do not have to sign in" in words(browser.get("/catalog/sign-in"))
        assert "Sign out" not in browser.get("/").text


@pytest.mark.parametrize(
    "way", ["/?q=users&status=active", "/catalog/health?domain=sales", "/catalog/changes?kind=breach"]
)
def test_sign_in_link_returns_to_the_page(tmp_path: Path, way: str) -> None:
    with ExitStack() as stack:
        there = town(stack, tmp_path, AccessSettings(required=True, open_reading=True))
        page = stack.enter_context(Browser(there.address)).get(way).text

    assert f'href="/catalog/sign-in?{urlencode({"then": way})}"' in page
