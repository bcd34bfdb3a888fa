"""Documents in and out: any form, in JSON or YAML, under any id."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.server.conftest import Serve
from tests.server.contracts import USERS, odcs, short
from treaty.server.request_documents import extract_contract

YAML = {"Content-Type": "application/yaml"}
IDS = [
    "eu/sales/orders",
    "Verkäufe.Übersicht",
    "売上/日次",
    "daily-orders",
    "100%",
    "a%2Fb",
    "a+b&c=d",
    "a?b#c",
    "ünï.códe/ß",
]


@pytest.mark.parametrize("form", [short, odcs], ids=["short form", "ODCS"])
@pytest.mark.parametrize("packed", [False, True], ids=["bare", "in an envelope"])
@pytest.mark.parametrize("media", ["application/json", "application/yaml", "text/yaml", "application/x-yaml"])
def test_a_contract_comes_in_any_form(
    shared: httpx2.Client, form: Callable[[str], dict[str, Any]], packed: bool, media: str
) -> None:
    identity = f"{form.__name__}/{packed}/{media}"
    sent = {"contract": form(identity), "compatibility": "full"} if packed else form(identity)
    content = json.dumps(sent) if "json" in media else yaml.safe_dump(sent)

    answer = shared.post("/contracts", content=content, headers={"Content-Type": f"{media}; charset=utf-8"})

    assert answer.status_code == 201, answer.text
    assert answer.json()["compatibility"]["mode"] == ("full" if packed else "backward")
    assert identity in shared.get("/datasets").json()["datasets"]


def test_documents_are_stored_byte_for_byte(client: httpx2.Client) -> None:
    content = b"# ours\n" + yaml.safe_dump(short(), sort_keys=False).encode()

    assert client.post("/contracts", content=content, headers=YAML).status_code == 201

    given = client.get(f"/api/v1/contracts/{USERS}/versions/1.0.0/document")
    assert (given.content, given.headers["content-type"]) == (content, "application/yaml")


def test_a_document_without_a_contract_is_refused_with_what_is_missing(shared: httpx2.Client) -> None:
    answer = shared.post("/contracts", json={"dataset": "x"})

    assert answer.status_code == 422
    assert "neither 'apiVersion' and 'schema' (ODCS) nor 'dataset_id' and 'fields'" in answer.json()["detail"][0]["msg"]


@pytest.mark.parametrize(
    "content",
    [b"", b"   ", b"{", b"\xff\xfe", b"null", b"5", b'"text"', b'{"a": NaN}', b"[" * 100_000, b'{"a": "\\ud800"}'],
)
@pytest.mark.parametrize("path", ["/contracts", "/contracts/check", "/api/v1/impact"])
def test_a_body_that_is_no_document_is_malformed(shared: httpx2.Client, path: str, content: bytes) -> None:
    answer = shared.post(path, content=content, headers={"Content-Type": "application/json"})

    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize(
    ("asked", "registered", "key"),
    [
        ({}, short(), "dataset_id"),
        ({"params": {"format": "odcs"}}, short(), "apiVersion"),
        ({"headers": {"Accept": "application/odcs+json"}}, short(), "apiVersion"),
        ({}, odcs(USERS), "apiVersion"),
        ({"params": {"format": "short"}}, odcs(USERS), "dataset_id"),
        ({"params": {"format": "short"}, "headers": {"Accept": "application/odcs+json"}}, odcs(USERS), "dataset_id"),
    ],
)
def test_a_contract_is_read_in_the_form_that_is_asked_for(
    client: httpx2.Client, asked: dict[str, Any], registered: dict[str, Any], key: str
) -> None:
    client.post("/contracts", json=registered)

    for path in (f"/contracts/{USERS}/latest", f"/contracts/{USERS}/versions/1.0.0"):
        assert key in client.get(path, **asked).json()
    assert key in client.get(f"/contracts/{USERS}/versions", **asked).json()[0]
    uri = {"deprecation_uri": "https://example.org/plan"}
    assert key in client.post(f"/contracts/{USERS}/versions/1.0.0/deprecate", json=uri, **asked).json()
    assert key in client.post(f"/contracts/{USERS}/versions/1.0.0/archive", **asked).json()


@pytest.mark.parametrize(
    ("accept", "key", "media"),
    [
        ("application/json;q=0.9, application/odcs+json;q=0.1", "dataset_id", "application/json"),
        ("application/odcs+json;q=0, */*", "dataset_id", "application/json"),
        ("application/json, application/odcs+json", "apiVersion", "application/json"),
        ("application/json;q=0.5, text/yaml", "dataset_id", "application/yaml"),
        ("application/odcs+yaml", "apiVersion", "application/yaml"),
        ("text/html, */*;q=0.1", "dataset_id", "application/json"),
    ],
)
@pytest.mark.parametrize("path", ["latest", "versions/1.0.0", "versions"])
def test_the_media_type_with_the_highest_quality_is_returned(
    client: httpx2.Client, accept: str, key: str, media: str, path: str
) -> None:
    client.post("/contracts", json=short())

    answer = client.get(f"/contracts/{USERS}/{path}", headers={"Accept": accept})

    assert answer.headers["content-type"] == media
    found = yaml.safe_load(answer.text)
    assert key in (found[0] if path == "versions" else found)


def test_yaml_is_answered_where_it_is_accepted(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())

    answer = client.get(f"/contracts/{USERS}/latest", headers={"Accept": "application/yaml"})

    assert answer.headers["content-type"] == "application/yaml"
    assert yaml.safe_load(answer.text) == client.get(f"/contracts/{USERS}/latest").json()


def test_an_unknown_format_is_invalid(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())

    for path in ("latest", "versions", "versions/1.0.0"):
        assert client.get(f"/contracts/{USERS}/{path}", params={"format": "avro"}).status_code == 422


def test_an_id_may_have_slashes_and_any_letter(serve: Serve, database: str) -> None:
    client = serve(database=database)
    for identity in IDS:
        _live_a_life(client, identity, quote(identity, safe="/"))

    assert client.get("/datasets").json() == {"datasets": sorted(IDS)}


def _live_a_life(client: httpx2.Client, identity: str, place: str) -> None:
    assert client.post("/contracts", json={"contract": short(identity)}).json()["dataset_id"] == identity
    assert client.get(f"/contracts/{place}/latest").json()["dataset_id"] == identity
    assert len(client.get(f"/contracts/{place}/versions").json()) == 1
    assert client.get(f"/contracts/{place}/versions/1.0.0").json()["dataset_id"] == identity
    assert client.get(f"/api/v1/contracts/{place}/lines").json()[0]["line"] == f"{identity}@1"
    uri = {"deprecation_uri": "https://example.org/plan"}
    assert client.post(f"/contracts/{place}/versions/1.0.0/deprecate", json=uri).json()["status"] == "deprecated"
    assert client.post(f"/contracts/{place}/versions/1.0.0/archive").json()["status"] == "archived"


@pytest.mark.parametrize("identity", ["", " ", " a", "a/", "/a", "a//b", "../a", "a/./b", "a\nb", "a\x00b", "x" * 257])
def test_an_invalid_id_is_refused(shared: httpx2.Client, identity: str) -> None:
    assert shared.post("/contracts", json={"contract": short(identity)}).status_code == 422


@pytest.mark.parametrize("identity", ["versions/versions", "a/versions/1.0.0", "latest", "owners/from-decision-card"])
def test_an_id_may_look_like_a_path_of_the_api(client: httpx2.Client, identity: str) -> None:
    assert client.post("/contracts", json={"contract": short(identity)}).status_code == 201

    assert client.get(f"/contracts/{identity}/versions/1.0.0").json()["dataset_id"] == identity
    assert client.get(f"/contracts/{identity}/latest").json()["dataset_id"] == identity
    assert [one["dataset_id"] for one in client.get(f"/contracts/{identity}/versions").json()] == [identity]


@pytest.mark.parametrize("identity", [USERS, "заказы", "日本/注文", "été", "a%2Fb%", "a-b?c#d", "Ω&limit=1"])
def test_a_long_history_is_read_in_pages(client: httpx2.Client, identity: str) -> None:
    for patch in range(5):
        client.post("/contracts", json=short(identity, f"1.0.{patch}"))

    seen: list[str] = []
    link: str | None = f"/contracts/{quote(identity)}/versions?limit=2"
    while link:
        answer = client.get(link)
        seen += [one["version"] for one in answer.json()]
        link = answer.links["next"]["url"] if "next" in answer.links else None

    assert seen == [f"1.0.{patch}" for patch in range(5)]


def test_a_page_of_nothing_is_not_there(client: httpx2.Client) -> None:
    for patch in range(2):
        client.post("/contracts", json=short(version=f"1.0.{patch}"))
    cursor = client.get(f"/api/v1/contracts/{USERS}/versions", params={"limit": 1}).json()["next"]

    for path in ("/contracts/nobody/versions", "/api/v1/contracts/nobody/versions"):
        assert client.get(path, params={"cursor": cursor}).status_code == 404


def test_an_invalid_cursor_is_reported_with_its_place(client: httpx2.Client) -> None:
    client.post("/contracts", json=short())

    (problem,) = client.get(f"/contracts/{USERS}/versions", params={"cursor": "nonsense"}).json()["detail"]

    assert problem["loc"] == ["query", "cursor"]


NUMBERS = '{"long": 123456789.123456789123456789, "large": 1E5, "text": "\\u00e9, \\"}"}'


@pytest.mark.parametrize(
    "envelope",
    [
        '{"contract": %s, "compatibility": "backward"}',
        '{"contract":%s}',
        ' { "compatibility" : "none" , "contract" :  %s }  \n',
        '\n{\n"contract": %s\n,\n "compatibility": "full"\n}\n',
        "%s",
    ],
)
def test_a_document_is_kept_to_the_letter_whatever_it_came_in(client: httpx2.Client, envelope: str) -> None:
    document = json.dumps(odcs() | {"customProperties": [{"property": "numbers", "value": "HERE"}]})
    document = document.replace('"HERE"', NUMBERS)

    answer = client.post(
        "/contracts", content=(envelope % document).encode(), headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 201, answer.text
    assert client.get("/api/v1/contracts/sales.orders/versions/1.0.0/document").text == document


@given(
    st.dictionaries(st.text(), st.recursive(st.none() | st.floats(allow_nan=False) | st.text(), st.lists)),
    st.booleans(),
)
def test_the_document_in_an_envelope_is_found_whatever_it_says(document: dict[str, Any], has_mode: bool) -> None:
    written = json.dumps(document)
    mode = ', "compatibility": "full"' if has_mode else ""

    for body in (f'{{"contract": {written}{mode}}}', f'{{{mode[2:]}{mode[:2]}"contract": {written}}}'):
        assert extract_contract(body.encode(), has_mode) == written.encode()


def test_unusual_envelopes_are_understood(client: httpx2.Client) -> None:
    odd = json.dumps({"contract": short(), "compatibility": "backward"}).replace("compatibility", "compatib\\u0069lity")

    answer = client.post("/contracts", content=odd.encode(), headers={"Content-Type": "application/json"})

    assert answer.status_code == 201, answer.text
    assert client.get(f"/contracts/{USERS}/latest").json()["dataset_id"] == USERS


@pytest.mark.parametrize("sunset", ["9999-12-31", "9999-12-30"])
def test_a_date_out_of_range_is_refused(client: httpx2.Client, sunset: str) -> None:
    client.post("/contracts", json=short())
    leaving = odcs() | {"status": "deprecated", "deprecation": {"sunset_date": sunset, "migration_guide": "https://x"}}
    asked = {"deprecation_uri": "https://example.org/plan", "sunset_on": sunset}

    answers = [
        client.post(f"/api/v1/contracts/{USERS}/versions/1.0.0/deprecate", json=asked),
        client.post("/contracts", json=leaving),
        client.post("/contracts/check", json=leaving),
    ]

    for answer in answers:
        assert answer.status_code == 422
        assert f"7 days after {sunset} is beyond the calendar" in answer.text
