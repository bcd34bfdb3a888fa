"""Certificates in a registry: issued from certifications that passed, valid until they expire or are revoked."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.certifications import certification
from tests.registry.backends import AnyRegistry, Clock
from tests.registry.offers import orders
from treaty.errors import Conflict, InvalidDocument, NotFound
from treaty.events.checks import CheckId
from treaty.registry.rules import CheckpointRules, RegistryRules
from treaty.registry.service import Registry

POLICY = {
    "id": "enterprise.events",
    "version": "1.0.0",
    "apiVersion": "v3.2.0",
    "kind": "DataContract",
    "status": "active",
    "tier": "enterprise",
    "owners": [{"team": "platform"}],
    "require": [{"name": "certified_publishers", "for": "contract", "must": {"certificate": True}}],
}


@pytest.fixture
def registry_with_orders(registry: AnyRegistry) -> AnyRegistry:
    registry.register(orders())
    return registry


def test_a_certificate_keeps_its_evidence_and_what_was_not_seen(registry_with_orders: AnyRegistry) -> None:
    issued = registry_with_orders.certificates.issue("orders@1", certification(), days=30)
    found = registry_with_orders.certificates.get(issued.id)

    assert found == issued
    assert (found.publisher, found.line, found.version, found.state) == ("shop", "orders@1", "1.0.0", "valid")
    assert found.expires_at - found.issued_at == timedelta(days=30)
    assert (found.evidence.events, found.evidence.keys) == (12, 3)
    assert [one.name for one in found.unseen] == ["note"]
    assert [check.examples[0].rule for check in found.checks if check.examples] == ["lifecycle.invariant.small"]


def test_certificates_are_listed_newest_first_page_by_page(registry_with_orders: AnyRegistry, clock: Clock) -> None:
    ids = []
    for publisher in ("shop", "app", "partner"):
        ids.append(registry_with_orders.certificates.issue("orders@1", certification(publisher=publisher)).id)
        clock.now += timedelta(hours=1)

    first = registry_with_orders.certificates.list(line="orders@1", limit=2)
    rest = registry_with_orders.certificates.list(line="orders@1", limit=2, cursor=first.next)

    assert [one.id for one in (*first.items, *rest.items)] == ids[::-1]
    assert [one.publisher for one in registry_with_orders.certificates.list(publisher="app").items] == ["app"]
    assert first.items[0].checks == []


def test_a_certificate_expires_and_can_be_revoked_once(registry_with_orders: AnyRegistry, clock: Clock) -> None:
    one = registry_with_orders.certificates.issue("orders@1", certification(), days=2)
    other = registry_with_orders.certificates.issue("orders@1", certification(publisher="app"))

    revoked = registry_with_orders.certificates.revoke(other.id, reason="the exporter was replaced")
    clock.now += timedelta(days=2)

    assert registry_with_orders.certificates.get(one.id).state == "expired"
    assert (revoked.state, revoked.revoked_reason) == ("revoked", "the exporter was replaced")
    with pytest.raises(Conflict, match="was revoked on"):
        registry_with_orders.certificates.revoke(other.id, reason="again")


@pytest.mark.parametrize(
    ("line", "changes", "days", "message"),
    [
        ("orders@1", {"failed": CheckId.GAPS}, 90, "shop is not certified: ordering.gaps failed"),
        ("orders@1", {"contract": "sales"}, 90, "the certification of shop is not about orders@1"),
        ("orders@1", {"version": "2.0.0"}, 90, "the certification of shop is not about orders@1"),
        ("orders@1", {}, 0, "1 to 730 days"),
    ],
)
def test_only_what_was_proven_is_certified(
    line: str, changes: dict[str, str], days: int, message: str, registry_with_orders: AnyRegistry
) -> None:
    found = certification(**changes)  # type: ignore[arg-type]

    with pytest.raises(InvalidDocument, match=message):
        registry_with_orders.certificates.issue(line, found, days=days)


def test_a_certification_without_events_of_the_line_is_no_proof(registry_with_orders: AnyRegistry) -> None:
    found = certification()
    silent = replace(found, contracts=(replace(found.contracts[0], events=0),))

    with pytest.raises(InvalidDocument, match=r"shop sent no events of orders@1"):
        registry_with_orders.certificates.issue("orders@1", silent)


@pytest.mark.parametrize(
    ("line", "version", "message"),
    [("sales@1", "1.0.0", "sales@1"), ("orders@1", "1.7.0", "orders@1 has no version 1.7.0")],
)
def test_unknown_lines_versions_and_certificates_are_not_found(
    line: str, version: str, message: str, registry_with_orders: AnyRegistry
) -> None:
    contract = line.partition("@")[0]

    with pytest.raises(NotFound, match=message):
        registry_with_orders.certificates.issue(line, certification(contract, version))
    with pytest.raises(NotFound, match="there is no certificate 'abc'"):
        registry_with_orders.certificates.get("abc")


def test_a_policy_can_demand_a_valid_certificate_of_publishers(registry: AnyRegistry, clock: Clock) -> None:
    registry.register(POLICY)
    registry.register({**orders(), "parent": "enterprise.events", "tier": "product"})

    before = registry.certificates.can_publish("orders@1", "shop")
    registry.certificates.issue("orders@1", certification(), days=1)
    certified = registry.certificates.can_publish("orders@1", "shop")
    clock.now += timedelta(days=1)
    later = registry.certificates.can_publish("orders@1", "shop")

    assert (before.answer, certified.answer, later.answer) == (False, True, False)
    assert [reason.message for reason in before.reasons] == [
        "the policy rule certified_publishers demands a certificate: shop has no certificate for it"
    ]
    assert later.reasons[0].message.endswith("is expired")


def test_without_such_a_policy_anybody_may_publish(registry_with_orders: AnyRegistry) -> None:
    decision = registry_with_orders.certificates.can_publish("orders@1", "shop")

    assert (decision.answer, decision.question) == (True, "may shop publish orders@1?")


def test_a_certificate_that_was_changed_in_the_database_is_found(tmp_path: Path) -> None:
    rules = RegistryRules(checkpoints=CheckpointRules("k" * 32, tmp_path / "checkpoints.jsonl", None))
    with Registry.open(str(tmp_path / "registry.db"), rules=rules) as registry:
        registry.register(orders())
        issued = registry.certificates.issue("orders@1", certification())
        with closing(sqlite3.connect(tmp_path / "registry.db")) as database, database:
            database.execute("UPDATE certificates SET publisher = 'somebody else'")

        assert issued.signed
        assert registry.certificates.get(issued.id).state == "altered"
