"""Error pages for browsers; programs get JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack

import httpx2
import pytest

from tests.catalog.members_server import Town, town
from tests.catalog.page_client import Browser, words
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused, TreatyError, Unavailable
from treaty.registry.service import Registry
from treaty.server.settings import AccessSettings, Limits

JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with ExitStack() as stack:
        folder = tmp_path_factory.mktemp("problems")
        yield town(stack, folder, AccessSettings(), limits=Limits(body=20_000), catalog_name="Harbour")


@pytest.fixture
def browser(place: Town) -> Iterator[Browser]:
    with Browser(place.address) as one:
        yield one


def is_page(answer: httpx2.Response) -> bool:
    """Tell whether an answer is a whole page, guarded like all pages."""
    return (
        answer.headers["content-type"] == "text/html; charset=utf-8"
        and "default-src 'none'" in answer.headers["content-security-policy"]
        and answer.headers["x-request-id"] in answer.text
        and "<h1>" in answer.text
    )


def test_unknown_url_shows_an_error_page(browser: Browser) -> None:
    for path in ("/catalog/nowhere", "/catalog/act/none", "/catalog/assets/none.css", "/catalog/act/"):
        answer = browser.get(path)
        assert (answer.status_code, is_page(answer)) == (404, True), path


def test_error_page_has_the_name_of_the_catalog(browser: Browser) -> None:
    for path in ("/catalog/nowhere", "/catalog/x%00y"):  # one is said by a page, the other before any is asked
        answer = browser.get(path)
        assert re.search(r"<title>[^<]*Harbour</title>", answer.text), path


def test_url_is_escaped(browser: Browser) -> None:
    answer = browser.get("/catalog/<script>alert(1)</script>")

    assert answer.status_code == 404
    assert "<script>alert" not in answer.text


def test_wrong_method_lists_the_allowed_ones(browser: Browser) -> None:
    answer = browser.client.put("/catalog/check")

    assert (answer.status_code, is_page(answer)) == (405, True)
    assert answer.headers["allow"] == "GET, POST"


def test_too_large_body_shows_an_error_page(browser: Browser) -> None:
    said = browser.post("/catalog/check", {"document": "x" * 30_000})
    drops = (b"document=" + b"x" * 10_000 for _ in range(5))
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": browser.address}
    unsaid = browser.client.post("/catalog/check", content=drops, headers=kind)

    assert [(one.status_code, is_page(one)) for one in (said, unsaid)] == [(413, True), (413, True)]
    assert "the body is larger than 20,000 bytes" in words(said)


@pytest.mark.parametrize("media", ["application/json", "text/plain", "application/yaml"])
def test_wrong_content_type_shows_an_error_page(browser: Browser, media: str) -> None:
    headers = {"Content-Type": media, "Origin": browser.address}
    answer = browser.client.post("/catalog/check", content=b"{}", headers=headers)

    assert (answer.status_code, is_page(answer)) == (415, True)


@pytest.mark.parametrize("media", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
def test_api_refuses_forms(browser: Browser, media: str) -> None:
    for path in ("/contracts", "/contracts/check", "/api/v1/subscriptions"):
        answer = browser.client.post(path, content=b"a=b", headers={"Content-Type": media})
        assert answer.status_code == 415
        assert answer.json()["detail"] == "send application/json or application/yaml"


@pytest.mark.parametrize("path", ["/catalog/x%00y", "/?q=%00", "/?cursor=nonsense", f"/catalog?q={'x' * 300}"])
def test_invalid_query_shows_an_error_page(browser: Browser, path: str) -> None:
    answer = browser.get(path)

    assert (answer.status_code, is_page(answer)) == (422, True)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InvalidDocument("what is wrong"), 422),
        (NotFound("what is wrong"), 404),
        (Conflict("what is wrong"), 409),
        (Refused("what is wrong"), 409),
        (NotAllowed("what is wrong"), 403),
    ],
)
def test_registry_error_is_shown(
    browser: Browser, monkeypatch: pytest.MonkeyPatch, error: TreatyError, status: int
) -> None:
    def fail(_: Registry) -> None:
        raise error

    monkeypatch.setattr(Registry, "overview", fail)

    answer = browser.get("/")

    assert (answer.status_code, is_page(answer)) == (status, True)
    assert "what is wrong" in words(answer)


def test_outage_is_shown_without_details(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Registry) -> None:
        raise Unavailable("cannot reach postgresql://db.internal")

    monkeypatch.setattr(Registry, "overview", fail)

    answer = browser.get("/")

    assert (answer.status_code, is_page(answer), answer.headers["retry-after"]) == (503, True, "2")
    assert "db.internal" not in answer.text


def test_internal_error_shows_the_request_id(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: Registry) -> None:
        raise RuntimeError("the secret of success")

    monkeypatch.setattr(Registry, "overview", fail)

    answer = browser.get("/catalog")

    assert (answer.status_code, is_page(answer)) == (500, True)
    assert "the secret of success" not in answer.text


def test_programs_get_json_at_the_same_urls(browser: Browser) -> None:
    for path, status in (("/catalog/nowhere", 404), ("/?q=%00", 422), ("/nowhere", 404)):
        answer = browser.get(path, headers=JSON)
        assert (answer.status_code, list(answer.json())) == (status, ["detail"])


@pytest.mark.parametrize(
    ("accept", "is_asked_for"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("TEXT/HTML", True),
        ("text/html, application/json;q=0.9", True),
        ("application/json, text/html;q=0.1", False),
        ("application/json, text/plain, */*", False),
        ("text/html;q=0", False),
        ("text/html;q=nonsense", True),
        ("*/*", False),
        ("", False),
    ],
)
def test_accept_header_selects_json_or_html(browser: Browser, accept: str, is_asked_for: bool) -> None:
    for path in ("/", "/catalog/nowhere", "/catalog/x%00y"):
        answer = browser.get(path, headers={"Accept": accept})
        assert answer.headers["content-type"].startswith("text/html") == is_asked_for, path


def test_api_answers_browsers_in_json(browser: Browser) -> None:
    for path in ("/contracts/none/latest", "/api/v1/contracts/none/lines"):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
