"""A row that was changed without the registry is found and named, on real databases whose triggers were dropped."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, text

from tests.registry.backends import Backend, drop_guards
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import Unavailable
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.model import AuditCheckAnswer
from treaty.registry.rules import Approval, RegistryRules
from treaty.registry.store import audit_check
from treaty.registry.store.row_digests import COVERED, NOT_COVERED
from treaty.registry.store.tables import METADATA
from treaty.server.authenticator import Authenticator
from treaty.server.settings import AccessSettings

on_databases = pytest.mark.parametrize("open_backend", ["sqlite", "postgresql"], indirect=True)

RULES = RegistryRules(approval=Approval.REQUIRED)
VERA = Actor("vera", (Grant(Role.VIEWER),), frozenset({Scope.READ}), "oidc", identity="https://id.example#vera")
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
    registry.governance.assign_namespace("pay.", "payments")  # 11
    registry.consumers.record_lineage("revenue@1", None, layer="publication")  # 12
    Authenticator(backend.database, AccessSettings()).sessions.begin(VERA)  # 13
    return backend


@on_databases
def test_every_table_is_covered_or_named_as_not_covered(filled: Backend) -> None:
    result = filled.local.access.verify_audit()

    assert {part.table.name for part in COVERED} | set(NOT_COVERED) | {"audit"} == set(METADATA.tables)
    assert result.not_covered == [
        "notices",
        "deliveries",
        "measures",
        "current_measures",
        "line_health",
        "datasets",
        "lineage_events",
        "observed_usage",
        "scanned_reads",
        "parallel_runs",
        "legacy_reads",
        "event_profiles",
        "drift_findings",
        "data_accesses",
        "schema_references",
        "schema_usage",
    ]
    assert (result.whole, result.differences, result.covered_since) == (True, [], 1)
    assert result.rows == {
        "actors": 5,
        "contracts": 2,
        "versions": 3,
        "namespaces": 1,
        "upstreams": 1,
        "line_layers": 1,
        "subscriptions": 1,
        "proposals": 1,
        "migrations": 1,
        "migration_consumers": 1,
        "waivers": 1,
        "incidents": 0,
        "consumer_profiles": 0,
        "certificates": 0,
        "finding_dispositions": 0,
        "legacy_feeds": 0,
        "cutover_steps": 0,
        "drift_decisions": 0,
        "channels": 1,
        "schemas": 0,
        "subjects": 0,
        "subject_versions": 0,
        "tokens": 1,
        "sessions": 1,
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
        "INSERT INTO versions (seq, contract, version, major, minor, patch, form, media, document, parsed, digest,"
        " mode, owners, registered_at, registered_by, status) SELECT 99, contract, '9.0.0', 9, minor, patch, form,"
        " media, document, parsed, digest, mode, owners, registered_at, registered_by, status"
        " FROM versions WHERE seq = 2",
        "version revenue 9.0.0",
        ADDED,
    ),
    ("contracts", "UPDATE contracts SET domain = 'x' WHERE id = 'revenue'", "contract revenue", CHANGED.format(2)),
    ("namespaces", "UPDATE namespaces SET team = 'x'", "namespace pay.", CHANGED.format(11)),
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
        " revoked_at, holder, last_used_at FROM tokens",
        "token intruder",
        ADDED,
    ),
    ("line_layers", "UPDATE line_layers SET layer = 'x'", "layer of line revenue@1", CHANGED.format(12)),
    ("line_layers", "DELETE FROM line_layers", "layer of line revenue@1", DELETED.format(12)),
    (
        "sessions",
        "INSERT INTO sessions SELECT 'forged0123456789', name, identity, via, token, grants, scopes, login, created_at,"
        " expires_at, seen_at FROM sessions",
        "session forged0123456789",
        ADDED,
    ),
]

FORGED_SESSIONS = (
    """UPDATE sessions SET grants = '["admin"]'""",
    """UPDATE sessions SET scopes = '["admin"]'""",
    "UPDATE sessions SET expires_at = expires_at + 1",
    "UPDATE sessions SET name = (SELECT id FROM actors WHERE name = 'local')",
    "UPDATE sessions SET identity = (SELECT id FROM actors WHERE name = 'local')",
)


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
def test_a_session_with_more_rights_or_another_user_is_named(filled: Backend) -> None:
    (session,) = filled.local.access.sessions().items

    results = [verify_tampered(filled, "sessions", statement) for statement in FORGED_SESSIONS]

    assert [[(one.subject, one.reason) for one in result.differences] for result in results] == [
        [(f"session {session.id}", CHANGED.format(13))]
    ] * len(FORGED_SESSIONS)


@on_databases
def test_a_session_that_was_revived_is_named_and_one_that_is_deleted_is_not(filled: Backend) -> None:
    (session,) = filled.local.access.sessions().items
    filled.local.access.end_session(session.id)
    sessions = Authenticator(filled.database, AccessSettings()).sessions
    ended = filled.local.access.verify_audit()

    revived = verify_tampered(filled, "sessions", "UPDATE sessions SET expires_at = expires_at + 3600000000")
    filled.clock.pass_days(1)
    sessions.delete_ended()

    assert ended.whole
    assert [(one.subject, one.entry) for one in revived.differences] == [(f"session {session.id}", 14)]
    assert filled.rows("SELECT count(*) FROM sessions")[0][0] == 0
    assert filled.local.access.verify_audit().whole


@on_databases
def test_a_revived_token_is_named(filled: Backend) -> None:
    token = filled.local.access.tokens().items[0].id
    filled.local.access.revoke_token(token)

    filled.tamper("tokens", "UPDATE tokens SET revoked_at = NULL")

    result = filled.local.access.verify_audit()
    assert [(one.part, one.subject, one.entry) for one in result.differences] == [("tokens", f"token {token}", 14)]


@pytest.mark.parametrize("open_backend", ["postgresql"], indirect=True)
@pytest.mark.parametrize("table", ["audit", "versions", "notices"])
def test_postgresql_refuses_to_truncate_history(backend: Backend, table: str) -> None:
    with pytest.raises(Unavailable, match="history does not change"):
        backend.database.change(lambda connection: connection.execute(text(f"TRUNCATE {table} CASCADE")))
