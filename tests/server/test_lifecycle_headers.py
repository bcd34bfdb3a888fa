"""The headers of versions that are ending, and the body of a deprecation, over HTTP."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.registry.offers import orders, users
from treaty.registry.model import VersionAnswer
from treaty.server.lifecycle_headers import lifecycle_headers

GUIDE = "https://wiki.example.org/move"
NOTICE = {
    "migration_guide": GUIDE,
    "replacement": "orders@2",
    "reason": "orders have lines now",
    "announced": "2999-01-01",
    "sunset_date": "2999-03-01",
}


def version(**values: Any) -> VersionAnswer:
    fields = {
        "contract": "orders",
        "version": "1.0.0",
        "line": "orders@1",
        "form": "odcs",
        "digest": "",
        "mode": "full",
    }
    times = {"registered_at": "2026-03-01T00:00:00Z", "registered_by": "ana", "owners": []}
    return VersionAnswer(**{**fields, **times, "status": "deprecated", **values})


@pytest.mark.parametrize(
    ("values", "headers"),
    [
        ({"status": "active"}, {}),
        ({"status": "active", "announced_on": date(2026, 3, 1), "sunset_on": date(2026, 4, 1)}, {}),  # it expires
        (
            {"announced_on": date(2026, 3, 1), "sunset_on": date(2026, 4, 1), "deprecation_uri": GUIDE},
            {
                "Deprecation": "@1772323200",
                "Sunset": "Wed, 01 Apr 2026 00:00:00 GMT",
                "Link": f'<{GUIDE}>; rel="deprecation"',
            },
        ),
        (
            {"announced_on": date(2026, 3, 1), "replacement": "sales/orders@2", "deprecation_uri": "ask the team"},
            {
                "Deprecation": "@1772323200",
                "Link": '</api/v1/contracts/sales/orders/lines>; rel="successor-version"',
            },
        ),
        (
            {"announced_on": date(2026, 3, 1), "replacement": 'new"> one\r\nX: y'},
            {
                "Deprecation": "@1772323200",
                "Link": '</api/v1/contracts/new%22%3E%20one%0D%0AX%3A%20y/lines>; rel="successor-version"',
            },
        ),
    ],
)
def test_the_headers_say_when_it_ends_and_where_to_go(values: dict[str, Any], headers: dict[str, str]) -> None:
    assert lifecycle_headers(version(**values)) == headers


@pytest.mark.parametrize("path", ["/contracts/orders/versions/1.0.0", "/api/v1/contracts/orders/versions/1.0.0"])
def test_every_reader_of_a_version_gets_the_headers(client: TestClient, path: str) -> None:
    client.post("/contracts", json=orders())
    assert "deprecation" not in client.get(path).headers

    answer = client.post("/api/v1/contracts/orders/versions/1.0.0/deprecate", json=NOTICE)

    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["replacement"]) == ("active", "orders@2")
    headers = client.get(path).headers
    assert headers["sunset"] == "Fri, 01 Mar 2999 00:00:00 GMT"
    assert headers["deprecation"] == "@32472144000"
    assert headers["link"] == (
        f'<{GUIDE}>; rel="deprecation", </api/v1/contracts/orders/lines>; rel="successor-version"'
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"deprecation_uri": GUIDE, "sunset_on": "2999-03-01"}, 200),  # the names of the first version of the API
        ({"replacement": "orders@2"}, 200),
        ({"reason": "no way on"}, 422),
        ({}, 422),
        ({"migration_guide": GUIDE, "announced": "soon"}, 422),
        ({"migration_guide": GUIDE, "replaced_by": "orders@2"}, 422),
    ],
)
def test_a_deprecation_says_where_consumers_go(client: TestClient, body: dict[str, Any], status: int) -> None:
    client.post("/contracts", json=orders())

    assert client.post("/api/v1/lines/orders@1/deprecate", json=body).status_code == status


def test_the_same_version_with_another_status_is_a_step_only_in_the_second_api(client: TestClient) -> None:
    client.post("/contracts", json=users())
    again = users(status="deprecated", deprecation_uri=GUIDE)

    assert client.post("/contracts", json=again).status_code == 400
    answer = client.post("/api/v1/contracts", json=again)

    assert (answer.status_code, answer.json()["status"]) == (200, "updated")
    assert answer.json()["lifecycle"].startswith("users.daily_active@1 is deprecated; sunset on ")


def test_an_export_has_the_deprecation_as_a_custom_property(client: TestClient) -> None:
    client.post("/contracts", json=orders())
    client.post("/api/v1/contracts/orders/versions/1.0.0/deprecate", json=NOTICE)

    exported = client.get("/contracts/orders/versions/1.0.0", params={"format": "odcs"}).json()

    assert {"property": "deprecation", "value": NOTICE} in exported["customProperties"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/contracts/orders/versions/1.0.0", "sunset"),
        ("/api/v1/contracts/orders/lines", "sunset"),
        ("/api/v1/contracts/orders/versions", "sunset"),
    ],
)
def test_another_time_is_asked_for_in_the_query(client: TestClient, path: str, status: str) -> None:
    client.post("/contracts", json=orders())
    client.post("/api/v1/lines/orders@1/deprecate", json={"replacement": "orders@2"})

    assert f'"{status}"' not in client.get(path).text
    assert f'"status":"{status}"' in client.get(path, params={"now": "2999-01-01T00:00:00Z"}).text
    for wrong in ("2999-01-01T00:00:00", "0", "0001-01-01T00:00:00+14:00"):
        assert client.get(path, params={"now": wrong}).status_code == 422
    assert client.get("/api/v1/tick").json() == []
    (step,) = client.get("/api/v1/tick", params={"now": "2999-01-01T00:00:00Z"}).json()
    assert (step["before"], step["after"]) == ("deprecated", "sunset")


def test_subscriptions_warn_as_of_another_time(client: TestClient) -> None:
    client.post("/contracts", json=orders())
    reader = {"consumer": "ledger", "line": "orders@1", "consumer_class": "operational_reporting"}
    assert client.put("/api/v1/subscriptions", json=reader).status_code == 200
    client.post("/api/v1/lines/orders@1/deprecate", json={"replacement": "orders@2"})

    def warning(**parameters: str) -> str:
        (subscription,) = client.get("/api/v1/subscriptions", params=parameters).json()["items"]
        return str(subscription["warnings"][0])

    assert warning().startswith("orders@1 is deprecated; sunset on ")
    assert warning(now="2999-01-01T00:00:00Z").startswith("orders@1 is sunset")
    assert "Immediate migration required to: orders@2" in warning(now="2999-01-01T00:00:00Z")
    assert client.get("/api/v1/subscriptions", params={"now": "tomorrow"}).status_code == 422
    assert warning().startswith("orders@1 is deprecated; sunset on ")
