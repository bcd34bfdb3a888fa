"""Every access is in the log, without values, and is observed usage."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving.shop import LINE, Shop
from treaty.errors import InvalidDocument, NotAllowed, NotFound
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.client import RegistryClient
from treaty.registry.consumer_views import find_view_to_read
from treaty.registry.model import AccessDecision, AccessReport

PATH = "/data/shop.orders@1"


def member_of(team: str, scope: Scope = Scope.READ) -> Actor:
    return Actor(f"somebody of {team}", (Grant(Role.CONTRIBUTOR, team),), frozenset({Scope.READ, scope}), "token")


def test_who_asked_for_what_and_what_was_decided(own_shop: Shop) -> None:
    own_shop.client("support").get(f"{PATH}/ORD-0001", params={"fields": "order_id,email"})
    own_shop.client("analytics").get(PATH, params={"country": "de", "limit": "all", "fields": "order_id"})
    own_shop.client("partner").get(PATH, params={"fields": "amount"})
    own_shop.client("analytics").get(PATH, params={"email.ge": "mail9@example.org"})
    own_shop.client("outsiders").get(PATH)
    own_shop.recorder.flush()

    entries = own_shop.registry.lineage.accesses(contract="shop.orders").items

    assert [(one.actor, one.consumer, one.decision, one.rows, one.purpose, one.run) for one in reversed(entries)] == [
        ("support of support-team", "support", "served", 1, "support", 1),
        ("analytics of analytics-team", "analytics", "served", 34, "analytics", 1),
        ("partner of partner-team", "partner", "field", 0, "partner", None),
        ("analytics of analytics-team", "analytics", "filter", 0, "analytics", None),
        ("outsiders of outsiders", None, "no_subscription", 0, None, None),
    ]
    assert [(one.fields, one.filters, one.version) for one in reversed(entries)] == [
        (["order_id", "email"], ["order_id"], "1.0.0"),
        (["order_id"], ["country"], "1.0.0"),
        (["amount"], [], "1.0.0"),
        ([], ["email"], "1.0.0"),
        ([], [], None),
    ]


def test_the_log_contains_no_values(own_shop: Shop, tmp_path: Path) -> None:
    client = own_shop.client("support")
    client.get(f"{PATH}/ORD-0001")
    client.get(PATH, params={"email": "mail1@example.org", "customer": "customer 1"})
    client.get(PATH, params={"ORD-0001=mail1@example.org": "x"})
    own_shop.recorder.flush()

    with sqlite3.connect(tmp_path / "registry.db") as database:
        text = "\n".join(map(str, database.execute("SELECT * FROM data_accesses")))
    database.close()

    assert "mail1@example.org" not in text
    assert "ORD-0001" not in text
    assert "customer 1" not in text


def test_entries_are_neither_changed_nor_deleted(own_shop: Shop, tmp_path: Path) -> None:
    own_shop.client("support").get(f"{PATH}/ORD-0001")
    own_shop.recorder.flush()

    database = sqlite3.connect(tmp_path / "registry.db")
    for statement in ("DELETE FROM data_accesses", "UPDATE data_accesses SET rows = 0"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            database.execute(statement)
    database.close()


def test_reads_are_observed_usage_by_field(own_shop: Shop) -> None:
    own_shop.client("support").get(PATH, params={"fields": "order_id,email", "country": "de"})
    own_shop.client("support").get(PATH, params={"fields": "amount"})
    own_shop.recorder.flush()

    (usage,) = own_shop.registry.lineage.usage(contract="shop.orders").items

    assert (usage.consumer, usage.line, usage.usage) == ("support", LINE, "read")
    assert usage.fields == ["amount", "country", "email", "order_id"]
    assert usage.reported_by == "read-api"


def test_owners_read_the_log_of_their_contract_and_stewards_that_of_all(own_shop: Shop) -> None:
    own_shop.client("support").get(f"{PATH}/ORD-0001")
    own_shop.recorder.flush()
    owner = own_shop.registry.acting_as(member_of("orders"))
    consumer = own_shop.registry.acting_as(member_of("support-team"))
    steward = own_shop.registry.acting_as(Actor("steward", (Grant(Role.STEWARD),), frozenset({Scope.READ}), "token"))

    assert len(owner.lineage.accesses(contract="shop.orders").items) == 1
    assert len(steward.lineage.accesses().items) == 1
    with pytest.raises(NotAllowed):
        consumer.lineage.accesses(contract="shop.orders")
    with pytest.raises(NotAllowed):
        owner.lineage.accesses()


def test_deliveries_are_reported_by_the_owners_and_reads_by_the_consumer(own_shop: Shop) -> None:
    report = AccessReport(line=LINE, consumer="support", version="1.0.0", fields=("email",), run=3)
    delivered = report.model_copy(update={"rows": 7, "decision": AccessDecision.DELIVERED})

    own_shop.registry.acting_as(member_of("support-team", Scope.WRITE)).lineage.report_accesses([report])
    own_shop.registry.acting_as(member_of("orders", Scope.WRITE)).lineage.report_accesses([delivered])
    entries = own_shop.registry.lineage.accesses(contract="shop.orders").items
    (usage,) = own_shop.registry.lineage.usage(contract="shop.orders").items

    assert [(one.decision, one.actor, one.rows, one.purpose) for one in entries] == [
        ("delivered", "somebody of orders", 7, "support"),
        ("served", "somebody of support-team", None, "support"),
    ]
    assert (usage.consumer, usage.fields) == ("support", ["email"])


def test_a_consumer_with_the_role_viewer_reports_its_own_accesses_only(own_shop: Shop) -> None:
    report = {"line": LINE, "consumer": "support", "version": "1.0.0", "fields": ["email"], "rows": 2}
    token = own_shop.token("support", "viewer")
    itself = own_shop.open(token)
    viewer = own_shop.open(own_shop.token("vera", "viewer"))

    with RegistryClient(own_shop.address, token=token) as client:
        view = find_view_to_read(client, "shop.orders", "1.0.0", "support", "eu")
    recorded = itself.post("/api/v1/accesses", json=[report])
    of_others = [
        client.post("/api/v1/accesses", json=[{**report, "consumer": consumer}])
        for client, consumer in ((viewer, "support"), (viewer, "nobody"), (itself, "analytics"))
    ]
    mixed = itself.post("/api/v1/accesses", json=[report, {**report, "consumer": "analytics"}])
    entries = own_shop.registry.lineage.accesses(contract="shop.orders").items

    assert view.refusal is None
    assert (recorded.status_code, recorded.json()) == (201, {"recorded": 1})
    assert [answer.status_code for answer in (*of_others, mixed)] == [403, 403, 403, 403]
    assert "vera may not report that nobody read shop.orders@1: it is not that consumer" in of_others[1].text
    assert own_shop.open().post("/api/v1/accesses", json=[report]).status_code == 401
    assert [(one.actor, one.consumer, one.fields, one.rows) for one in entries] == [
        ("support", "support", ["email"], 2)
    ]


def test_nobody_reports_accesses_of_other_consumers(own_shop: Shop) -> None:
    report = AccessReport(line=LINE, consumer="support", version="1.0.0")

    with pytest.raises(NotAllowed):
        own_shop.registry.acting_as(member_of("partner-team", Scope.WRITE)).lineage.report_accesses([report])
    with pytest.raises(NotFound, match="nobody has no subscription"):
        own_shop.registry.lineage.report_accesses([report.model_copy(update={"consumer": "nobody"})])
    with pytest.raises(InvalidDocument, match="send 1,000 at most"):
        own_shop.registry.lineage.report_accesses([report] * 1_001)


def test_the_log_over_http(own_shop: Shop) -> None:
    own_shop.client("support").get(f"{PATH}/ORD-0001")
    own_shop.client("support").get(PATH, params={"fields": "country"})
    own_shop.recorder.flush()
    owner = own_shop.open(own_shop.token("orders bot", "contributor", "orders"))

    first = owner.get("/api/v1/accesses", params={"contract": "shop.orders", "limit": 1}).json()
    second = owner.get("/api/v1/accesses", params={"contract": "shop.orders", "limit": 1, "cursor": first["next"]})

    assert first["items"][0]["fields"] == ["country"]
    assert len(second.json()["items"][0]["fields"]) == 7
    assert second.json()["next"] is None


def test_a_server_without_data_imports_neither_arrow_nor_pyiceberg() -> None:
    code = (
        "import sys, treaty.server.server, treaty.cli.commands.serve\n"
        "from treaty.registry.service import Registry\n"
        "from treaty.server.app import create_app\n"
        "from fastapi.testclient import TestClient\n"
        "import tempfile\n"
        "with tempfile.TemporaryDirectory() as folder, Registry.open(folder + '/r.db') as registry:\n"
        "    client = TestClient(create_app(registry), base_url='http://localhost')\n"
        "    assert client.get('/data/a@1').status_code == 404\n"
        "    assert client.get('/openapi.json').status_code == 200\n"
        "print([name for name in ('pyarrow', 'pyiceberg', 'pyspark', 'numpy') if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert result.stdout.splitlines()[-1] == "[]"
