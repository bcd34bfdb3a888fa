"""Answers that are none become the errors that a local registry raises."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from typing import Any

import httpx2
import pytest

from treaty.errors import (
    Conflict,
    InvalidDocument,
    NotAllowed,
    NotFound,
    Refused,
    TreatyError,
    Unavailable,
)
from treaty.registry.client import RegistryClient
from treaty.registry.client.transport import BY_CODE, refusal
from treaty.registry.report import VersionRefused
from treaty.server.errors import STATUS

URL = "http://registry.test"
TOKEN = "treaty_0123456789ab_" + "5" * 64
REPORT = {
    "compatible": False,
    "mode": "full",
    "issues": [{"severity": "error", "field": "ltv", "kind": "field_removed", "message": "gone"}],
}


def said(error: str, detail: str = "words", **more: Any) -> dict[str, Any]:
    return {"error": error, "detail": detail, "findings": [], "request_id": "12345678", **more}


CASES: list[tuple[int, Any, type[TreatyError], str]] = [
    (422, said("invalid"), InvalidDocument, "words"),
    (404, said("not_found"), NotFound, "words"),
    (409, said("conflict"), Conflict, "words"),
    (409, said("refused"), Refused, "words"),
    (401, said("not_signed_in"), NotAllowed, "words"),
    (403, said("not_allowed"), NotAllowed, "words"),
    (413, said("too_large"), InvalidDocument, "words"),
    (415, said("unsupported_media_type"), InvalidDocument, "words"),
    (503, said("unavailable"), Unavailable, f"{URL} cannot answer now: words"),
    (500, said("failed"), Unavailable, f"{URL} made a mistake (500): words (request 12345678)"),
    (400, {"detail": "taken"}, Conflict, "taken"),
    (404, {"detail": "gone"}, NotFound, "gone"),
    (401, {"detail": "who?"}, NotAllowed, "who?"),
    (422, {"detail": [{"type": "x", "loc": ["body"], "msg": "a"}, {"msg": "b"}]}, InvalidDocument, "a; b"),
    (302, "", Unavailable, "sends its visitors elsewhere"),
    (404, "<html>", Unavailable, "not as a registry does"),
    (502, "[]", Unavailable, "answered 502"),
]


@pytest.mark.parametrize(("status", "body", "kind", "words"), CASES)
def test_status_and_code_select_the_error(status: int, body: Any, kind: type[TreatyError], words: str) -> None:
    content = body if isinstance(body, str) else json.dumps(body)

    error = refusal(URL, status, content.encode())

    assert type(error) is kind
    assert words in str(error)


def test_every_code_of_the_server_has_its_error() -> None:
    for kind, (_, code) in STATUS.items():
        if kind.__name__ != "BadCard":  # no method of the client hands in a card
            assert issubclass(kind, BY_CODE[code])


def test_findings_are_restored_from_a_response() -> None:
    finding = {"id": "rule", "severity": "warning", "message": "look", "path": "a.b", "hint": "there"}

    error = refusal(URL, 422, json.dumps(said("invalid", findings=[finding])).encode())

    assert isinstance(error, InvalidDocument)
    (one,) = error.findings
    assert (one.id, one.severity, one.message, one.path, one.hint) == ("rule", "warning", "look", "a.b", "there")


def test_a_refused_version_is_restored_with_its_report() -> None:
    error = refusal(URL, 422, json.dumps({"detail": REPORT}).encode())

    assert isinstance(error, VersionRefused)
    assert error.report.model_dump() == REPORT
    assert not error.report.admissible


def test_a_refused_version_is_put_together_from_the_one_shape() -> None:
    findings = [{"id": "field_removed", "severity": "error", "message": "gone", "path": "ltv", "hint": None}]
    detail = "a is refused under b 1.0.0 is refused under full\nfield_removed: gone"

    error = refusal(URL, 422, json.dumps(said("refused", detail, findings=findings)).encode())

    assert isinstance(error, VersionRefused)
    assert error.report.model_dump() == REPORT
    assert str(error) == detail


def answering(response: httpx2.Response, **more: Any) -> RegistryClient:
    return RegistryClient(URL, TOKEN, transport=httpx2.MockTransport(lambda _: response), pause=lambda _: None, **more)


@pytest.mark.parametrize("body", ["", "[]", "{}", "<html>", '{"items": "none"}'])
def test_a_response_that_is_not_json_is_reported(body: str) -> None:
    with answering(httpx2.Response(200, text=body)) as client, pytest.raises(Unavailable, match="did not answer as"):
        client.governance.policies()


def test_unknown_fields_in_a_response_are_ignored() -> None:
    with answering(httpx2.Response(200, json={"items": [], "next": None, "total": 0})) as client:
        assert client.governance.policies().items == []


def test_a_redirect_is_not_followed_and_gets_no_token() -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(302, headers={"Location": "http://elsewhere.test/datasets"})

    with (
        RegistryClient(URL, TOKEN, transport=httpx2.MockTransport(answer)) as client,
        pytest.raises(Unavailable, match="use that address"),
    ):
        client.datasets()

    assert [request.url.host for request in asked] == ["registry.test"]


def test_the_token_is_sent_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(403, json=said("not_allowed"))

    client = RegistryClient(URL, TOKEN, transport=httpx2.MockTransport(answer))
    with client, pytest.raises(NotAllowed) as refused:
        client.datasets()

    assert asked[0].headers["authorization"] == f"Bearer {TOKEN}"
    secret = TOKEN.rpartition("_")[2]
    shown = f"{client!r} {vars(client)!r} {vars(client.consumers)!r} {refused.value!r} {caplog.text}"
    assert secret not in shown


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ü"])
def test_an_invalid_token_is_refused_without_repeating_it(token: str) -> None:
    with pytest.raises(InvalidDocument, match="the token is none") as refused:
        RegistryClient(URL, token)

    assert token == "" or token not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "registry.test",
        "ftp://registry.test",
        "http://",
        "http://[::1",
        "http://registry.test:99999",
        "http://ana:geheim@registry.test",
        "http://registry.test/?token=geheim",
        "http://registry.test/#geheim",
    ],
)
def test_an_invalid_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(InvalidDocument, match="address of a registry") as refused:
        RegistryClient(url)

    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://registry.test/", "http://registry.test", " http://registry.test// "])
def test_an_address_may_end_in_slashes(url: str) -> None:
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, json={"items": []})

    with RegistryClient(url, transport=httpx2.MockTransport(answer)) as client:
        client.governance.policies(limit=5)

    assert asked == ["http://registry.test/api/v1/policies?limit=5"]


def test_a_missing_package_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with pytest.raises(Unavailable, match=r"pip install 'treaty\[registry\]'"):
        RegistryClient(URL)


def test_the_client_loads_no_database_and_treaty_no_client() -> None:
    script = (
        "import sys, treaty; assert 'httpx2' not in sys.modules; import treaty.registry.client; "
        "assert not {'sqlalchemy', 'httpx2', 'alembic', 'rustworkx'} & set(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", script], check=True)
