"""A row that was changed without the registry is found and named, on real databases whose triggers were dropped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text

from tests.registry.backends import Backend, drop_guards
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import Unavailable
from treaty.registry.model import AuditCheckAnswer
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.store import audit_check
from treaty.registry.store.row_digests import COVERED, NOT_COVERED
from treaty.registry.store.tables import METADATA

on_databases = pytest.mark.parametrize("open_backend", ["sqlite", "postgresql"], indirect=True)

RULES = RegistryRules(approval=Approval.REQUIRED)
CHANGED = "was changed outside the registry; entry {} recorded it differently"
DELETED = "was deleted outside the registry; entry {} recorded it"
ADDED = "was added outside the registry; no entry records it"


@pytest.fixture
def filled(open_backend: Callable[[RegistryRules], Backend]) -> Backend:
    """Return a registry with a row in every covered table."""
    backend = open_backend(RULES)
    registry = backend.local
    registry.register(orders())  # 1
    registry.register(made_from("revenue", "orders:ltv"))  # 2
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", fields=["ltv"])  # 3
    waiver = {"owner": "sales", "reason": "for now", "until": "2026-12-31"}
    registry.governance.waive("sla_relaxed", **waiver)  # 4
    registry.notices.add_channel("checkout", kind="log", target="")  # 5
    proposal = registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)).proposal  # 6
    assert proposal is not None
    backend.acting_as("vera", "admin").governance.approve(proposal)
    registry.access.create_token("ci", role="viewer")
    return backend


@on_databases
def test_every_table_is_covered_or_named_as_not_covered(filled: Backend) -> None:
    result = filled.local.access.verify_audit()

    assert {part.table.name for part in COVERED} | set(NOT_COVERED) | {"audit"} == set(METADATA.tables)
    assert result.not_covered == ["notices", "deliveries", "measures", "current_measures"]
    assert (result.whole, result.differences, result.covered_since) == (True, [], 1)
    assert result.rows == {
        "contracts": 2,
        "versions": 3,
        "upstreams": 1,
        "subscriptions": 1,
        "proposals": 1,
        "migrations": 1,
        "migration_consumers": 1,
        "waivers": 1,
        "channels": 1,
        "tokens": 1,
    }


TAMPERING = [
    ("versions", "UPDATE versions SET parsed = '{}' WHERE seq = 1", "version orders 1.0.0", CHANGED.format(1)),
    ("versions", "UPDATE versions SET document = '' WHERE seq = 2", "version revenue 1.0.0", CHANGED.format(2)),
    ("versions", "UPDATE versions SET registered_by = 'x' WHERE seq = 2", "version revenue 1.0.0", CHANGED.format(2)),
    ("versions", "DELETE FROM versions WHERE seq = 2", "version revenue 1.0.0", DELETED.format(2)),
    (
        "versions",
        "UPDATE versions SET status = 'retired' WHERE seq = 2",
        "status of version revenue 1.0.0",
        CHANGED.format(2),
    ),
    (
        "versions",
        "INSERT INTO versions SELECT 99, contract, '9.0.0', 9, minor, patch, form, media, document, parsed, digest,"
        " mode, owners, registered_at, registered_by, status, deprecation_uri, announced_on, sunset_on,"
        " retire_on, expires_on FROM versions WHERE seq = 2",
        "version revenue 9.0.0",
        ADDED,
    ),
    ("contracts", "UPDATE contracts SET domain = 'x' WHERE id = 'revenue'", "contract revenue", CHANGED.format(2)),
    ("upstreams", "UPDATE upstreams SET fields = '[]'", "upstream orders@1 of revenue@1", CHANGED.format(2)),
    ("subscriptions", "UPDATE subscriptions SET team = 'x'", "subscription board -> orders@1", CHANGED.format(3)),
    ("subscriptions", "DELETE FROM subscriptions", "subscription board -> orders@1", DELETED.format(3)),
    ("waivers", "UPDATE waivers SET reason = 'forever' WHERE id = 4", "waiver 4", CHANGED.format(4)),
    ("channels", "UPDATE channels SET target = 'x' WHERE id = 5", "channel 5", CHANGED.format(5)),
    ("proposals", "UPDATE proposals SET decided_by = 'local'", "proposal 6", CHANGED.format(9)),
    ("migrations", "UPDATE migrations SET state = 'closed'", "migration 9", CHANGED.format(9)),
    (
        "migration_consumers",
        "UPDATE migration_consumers SET state = 'moved'",
        "consumer of migration 9: board",
        CHANGED.format(9),
    ),
    (
        "tokens",
        "INSERT INTO tokens SELECT 'intruder', 'x', digest, 'admin', team, scopes, created_at, created_by, expires_at,"
        " revoked_at FROM tokens",
        "token intruder",
        ADDED,
    ),
]


class _Undo(Exception):
    """Carries the result out of a transaction that is rolled back."""

    def __init__(self, result: AuditCheckAnswer) -> None:
        self.result = result


def verify_tampered(backend: Backend, table: str, statement: str) -> AuditCheckAnswer:
    """Verify the log after a change of a table, and undo the change."""

    def unit(connection: Connection) -> None:
        drop_guards(connection, table)
        connection.execute(text(statement))
        raise _Undo(audit_check.verify(connection))

    with pytest.raises(_Undo) as undone:
        backend.database.change(unit)
    return undone.value.result


@on_databases
def test_tampering_with_a_row_is_named(filled: Backend) -> None:
    results = {statement: verify_tampered(filled, table, statement) for table, statement, _, _ in TAMPERING}

    assert {
        statement: [(one.subject, one.reason) for one in result.differences] for statement, result in results.items()
    } == {statement: [(subject, reason)] for _, statement, subject, reason in TAMPERING}
    assert not any(result.whole or result.breaks for result in results.values())
    assert filled.local.access.verify_audit().whole


@on_databases
def test_a_revived_token_is_named(filled: Backend) -> None:
    token = filled.local.access.tokens().items[0].id
    filled.local.access.revoke_token(token)

    filled.tamper("tokens", "UPDATE tokens SET revoked_at = NULL")

    result = filled.local.access.verify_audit()
    assert [(one.part, one.subject, one.entry) for one in result.differences] == [("tokens", f"token {token}", 11)]


@pytest.mark.parametrize("open_backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("table", ["audit", "versions", "notices"])
def test_postgresql_refuses_to_truncate_history(backend: Backend, table: str) -> None:
    with pytest.raises(Unavailable, match="history does not change"):
        backend.database.change(lambda connection: connection.execute(text(f"TRUNCATE {table} CASCADE")))
