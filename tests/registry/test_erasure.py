"""The name of a person is erased from every table and file; what the person did stays in a log that is whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import MetaData, select

from tests.registry.backends import Backend
from tests.registry.offers import ID, PLAN, PLAN_FIELD, orders
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound
from treaty.observability.measures import Measure
from treaty.registry.access.actors import Actor, Grant, Role, Scope
from treaty.registry.rules import Approval, CheckpointRules, RegistryRules
from treaty.registry.service.checkpoints import publish_checkpoint
from treaty.schema_registry.subjects import Subject
from treaty.schema_registry.usage import UsageRecorder
from treaty.server.authenticator import Authenticator
from treaty.server.settings import AccessSettings

on_databases = pytest.mark.parametrize("open_backend", ["sqlite", "postgresql"], indirect=True)
everywhere = pytest.mark.parametrize("open_backend", ["sqlite", "postgresql", "http"], indirect=True)
NAME = "wilhelmina"
SUBJECT = "subject-4711"
PERSON = Actor(NAME, (Grant(Role.ADMIN),), frozenset(Scope), "oidc", identity=f"https://login.example.com#{SUBJECT}")


@pytest.fixture
def backend(open_backend: Callable[[RegistryRules], Backend], tmp_path: Path) -> Backend:
    """Return a registry in which a person did something of every kind."""
    rules = RegistryRules(
        approval=Approval.REQUIRED, checkpoints=CheckpointRules("k" * 32, tmp_path / "checkpoints.jsonl", None)
    )
    backend = open_backend(rules)
    registry = backend.local.acting_as(PERSON)
    registry.register(orders())
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", fields=["ltv"])
    waiver = registry.governance.waive("sla_relaxed", owner="sales", reason="for now", until="2026-12-31")
    registry.governance.revoke_waiver(waiver.id)
    registry.notices.add_channel("checkout", kind="log", target="")
    registry.governance.assign_namespace("pay.", "payments")
    proposal = registry.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)).proposal
    backend.acting_as("otto", "admin").governance.decline(proposal or 0, reason="not now")
    token = backend.local.access.create_token(NAME, role="viewer", holder=PERSON.identity)
    backend.local.access.revoke_token(token.id)
    registry.access.create_token("ci", role="viewer")
    registry.measures.record([Measure("orders", "rows", backend.clock.now, 12)])
    usage = UsageRecorder(backend.database)
    usage.count_read(NAME, Subject(".", "orders-value"), 1, backend.clock.now.date())
    usage.flush()
    sessions = Authenticator(backend.database, AccessSettings()).sessions
    sessions.begin(PERSON)
    publish_checkpoint(backend.local.context)
    return backend


def texts(backend: Backend) -> str:
    """Return everything that the database contains as one text."""
    with backend.database.read() as connection:
        there = MetaData()
        there.reflect(connection)
        return "\n".join(
            str(value) for table in there.tables.values() for row in connection.execute(select(table)) for value in row
        )


@on_databases
def test_an_erased_name_is_nowhere_and_the_log_is_whole(backend: Backend) -> None:
    access = backend.local.access
    head = access.verify_audit().head
    before = texts(backend)

    erased = access.erase_actor(NAME)

    after = texts(backend)
    shown = f"erased user {erased.id}"
    checked = access.verify_audit(head=head)
    assert (NAME in before, SUBJECT in before) == (True, True)
    assert (NAME in after, SUBJECT in after) == (False, False)
    assert (checked.whole, checked.breaks, checked.differences, checked.checkpoints) == (True, [], [], 1)
    assert (erased.dry_run, erased.overwritten, erased.sessions, erased.notices) == (False, True, 1, 1)
    assert backend.local.history("orders").items[0].registered_by == shown
    assert backend.local.governance.waivers().items[0].granted_by == shown
    assert [one.name for one in access.tokens().items if one.revoked_at] == [shown]
    declined = next(one for one in access.audit().items if one.action == "proposal.decline")
    assert (declined.actor, declined.details["proposed_by"]) == ("otto", shown)
    assert any(one.headline.startswith(shown) for one in backend.local.activity().items)
    assert shown in texts(backend).splitlines()  # the client of a schema
    assert any(f"was revoked by {shown}" in one.headline for one in backend.local.notices.notices().items)


@pytest.mark.parametrize("open_backend", ["sqlite"], indirect=True)
def test_an_erased_name_is_not_in_the_files_of_sqlite(backend: Backend) -> None:
    file = Path(str(backend.database.url.database))
    before = [NAME.encode() in one.read_bytes() for one in file.parent.glob(f"{file.name}*")]

    backend.local.access.erase_actor(NAME)

    after = [NAME.encode() in one.read_bytes() for one in file.parent.glob(f"{file.name}*")]
    assert (any(before), any(after)) == (True, False)


@everywhere
def test_a_dry_run_counts_and_changes_nothing(backend: Backend) -> None:
    access = backend.acting_as("otto", "admin").access
    before = texts(backend)

    tried = access.erase_actor(NAME, dry_run=True)

    assert texts(backend) == before
    assert tried.dry_run
    done = access.erase_actor(NAME)
    assert tried.model_dump(exclude={"dry_run", "overwritten"}) == done.model_dump(exclude={"dry_run", "overwritten"})


@on_databases
def test_the_entry_of_an_erasure_does_not_contain_the_name(backend: Backend) -> None:
    erased = backend.acting_as("otto", "admin").access.erase_actor(NAME)

    entry = backend.local.access.audit().items[-1]
    assert (entry.actor, entry.action, entry.subject) == ("otto", "actor.erase", erased.id)
    assert entry.details == {"entries": erased.entries, "rows": erased.rows, "notices": 1, "sessions": 1}


@on_databases
def test_a_person_who_comes_back_is_somebody_else(backend: Backend) -> None:
    erased = backend.local.access.erase_actor(NAME)

    backend.local.acting_as(PERSON).register(orders("1.1.0", description={"purpose": "more"}))

    audit = backend.local.access.audit
    assert [one.seq for one in audit(actor=f"erased user {erased.id}").items][:2] == [1, 2]
    assert [one.action for one in audit(actor=NAME).items] == ["contract.register"]
    actors = [one.actor for one in backend.local.access.audit().items]
    assert (actors[0], actors[-1]) == (f"erased user {erased.id}", NAME)
    assert backend.local.access.verify_audit().whole


@on_databases
def test_a_renamed_actor_is_found(backend: Backend) -> None:
    backend.tamper("actors", "UPDATE actors SET name = 'somebody' WHERE name = 'wilhelmina'")

    checked = backend.local.access.verify_audit()
    assert [(one.part, one.reason.split(";")[0]) for one in checked.differences] == [
        ("actors", "was changed outside the registry")
    ]


@pytest.mark.parametrize("open_backend", ["sqlite"], indirect=True)
def test_a_name_that_is_in_use_is_not_erased(backend: Backend) -> None:
    access = backend.local.access
    with pytest.raises(Conflict, match=r"can still sign in with token [0-9a-f]{12}; revoke it first"):
        access.erase_actor("ci")
    proposal = backend.acting_as("pia", "owner", "checkout").register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))
    with pytest.raises(Conflict, match=f"proposal {proposal.proposal} of 'pia' is open"):
        access.erase_actor("pia")
    with pytest.raises(InvalidDocument, match="a name of the registry itself"):
        access.erase_actor("calendar")
    with pytest.raises(NotFound, match="no actor has the name 'nobody'"):
        access.erase_actor("nobody")
    with pytest.raises(NotAllowed):
        backend.acting_as("sten", "steward").access.erase_actor(NAME)


@on_databases
def test_measures_of_somebody_new_are_vouched_for(open_backend: Callable[[RegistryRules], Backend]) -> None:
    backend = open_backend(RegistryRules())
    backend.local.register(orders())

    backend.acting_as("meter", "admin").measures.record([Measure("orders", "rows", backend.clock.now, 12)])

    entry = backend.local.access.audit().items[-1]
    assert (entry.actor, entry.action) == ("meter", "actor.add")
    assert backend.local.access.verify_audit().whole


@everywhere
def test_the_erasure_of_a_key_is_one_audit_entry_without_the_key(backend: Backend) -> None:
    recorded = backend.acting_as("otto", "admin").governance.record_erasure(
        "orders@1", fields=["order_id"], rows=12, tables=["raw.placed", "products.orders"]
    )
    assert (recorded.line, recorded.rows) == ("orders@1", 12)
    entries = [entry for entry in backend.local.access.audit(subject="orders@1").items if entry.action == "key.erase"]
    assert [(entry.seq, entry.actor, entry.details) for entry in entries] == [
        (recorded.audit, "otto", {"fields": ["order_id"], "rows": 12, "tables": ["raw.placed", "products.orders"]})
    ]
    assert backend.local.access.verify_audit().whole
    with pytest.raises(NotFound, match="nothing@1"):
        backend.acting_as("otto", "admin").governance.record_erasure("nothing@1", fields=["id"], rows=1, tables=[])
    with pytest.raises(NotAllowed):
        backend.acting_as("vera", "viewer").governance.record_erasure("orders@1", fields=["id"], rows=1, tables=[])
