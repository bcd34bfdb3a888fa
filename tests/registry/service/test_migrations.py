"""Consumers on their way to the next line: whose word is waited for, who has moved, who is reminded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from tests.registry.backends import START, AnyRegistry, Backend
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, orders
from treaty.compatibility.migration.proof import contract_digest
from treaty.contracts.loader import contract_from
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound, Refused
from treaty.registry.model import BoardAnswer
from treaty.registry.rules import Acknowledgement, Approval, RegistryRules

MONEY = {"name": "money", "id": "ltv", "logicalType": "number"}
V1 = orders("1.0.0", [ID, PLAN_FIELD, {**LTV, "id": "ltv"}])
V2 = orders("2.0.0", [ID, MONEY], migration=PLAN)
"""Drops the plan, and calls the value another name."""


def subscribe(registry: AnyRegistry, consumer: str, kind: str, *fields: str, line: str = "orders@1") -> None:
    registry.consumers.subscribe(consumer, line, consumer_class=kind, fields=fields, team=f"{consumer}-team")


@pytest.fixture
def filled(registry: AnyRegistry) -> AnyRegistry:
    """A line that a dashboard and a ledger read; the ledger is critical."""
    registry.register(V1)
    subscribe(registry, "dashboard", "exploratory_analytics", "plan")
    subscribe(registry, "ledger", "external_regulatory", "ltv")
    subscribe(registry, "names", "decision_automation", "id")
    return registry


def only(registry: AnyRegistry) -> BoardAnswer:
    (one,) = registry.migrations.list().items
    return registry.migrations.get(one.id)


def states(board: BoardAnswer) -> dict[str, str]:
    return {one.consumer: one.state for one in board.consumers}


def versions(registry: AnyRegistry) -> list[str]:
    return [one.version for one in registry.history(ORDERS).items]


def audited(registry: AnyRegistry, action: str) -> list[Any]:
    return [one for one in registry.access.audit().items if one.action == action]


def told(registry: AnyRegistry, kind: str) -> list[Any]:
    return [one for one in registry.notices.notices(limit=500).items if one.kind == kind]


def test_a_breaking_change_waits_for_the_critical_consumers_it_hits(filled: AnyRegistry) -> None:
    answer = filled.register(V2)

    assert (answer.status, answer.waits_for) == ("proposed", ["ledger"])
    assert versions(filled) == ["1.0.0"]
    board = only(filled)
    assert (board.state, board.before, board.after, board.missing) == ("proposed", "orders@1", "orders@2", ["ledger"])
    assert board.proposal == answer.proposal
    assert states(board) == {"dashboard": "waiting", "ledger": "waiting", "names": "waiting"}
    assert {one.consumer: one.effect for one in board.consumers} == {
        "dashboard": "hit",
        "ledger": "hit",
        "names": "safe",
    }
    (notice,) = told(filled, "migration.proposed")
    assert notice.parties == ["ledger", "ledger-team"]


def test_the_same_version_again_waits_in_the_same_migration(filled: AnyRegistry) -> None:
    first, again = filled.register(V2), filled.register(V2)

    assert (first.proposal, first.waits_for) == (again.proposal, again.waits_for)
    assert len(filled.migrations.list().items) == 1


def test_the_last_acknowledgement_registers_the_version(filled: AnyRegistry) -> None:
    filled.register(V2)

    board = filled.migrations.acknowledge(only(filled).id, "ledger", note="we move in May")

    assert versions(filled) == ["1.0.0", "2.0.0"]
    assert (board.state, board.proposal, board.missing) == ("open", None, [])
    assert board.ends_on == date(2026, 5, 30)
    (row,) = [one for one in board.consumers if one.consumer == "ledger"]
    assert (row.state, row.reason, row.changed_by) == ("acknowledged", "we move in May", "local")
    assert [one.state for one in filled.governance.proposals().items] == ["approved"]
    assert len(audited(filled, "migration.acknowledged")) == 1
    assert [one.version for one in told(filled, "line.opened")] == ["2.0.0"]


def test_without_critical_consumers_it_is_registered_at_once(registry: AnyRegistry) -> None:
    registry.register(V1)
    subscribe(registry, "dashboard", "operational_reporting", "plan")

    assert registry.register(V2).status == "registered"

    board = only(registry)
    assert (board.state, board.window, board.owner, states(board)) == (
        "open",
        "90d",
        "growth",
        {"dashboard": "waiting"},
    )


def test_unaffected_critical_consumers_need_not_acknowledge(registry: AnyRegistry) -> None:
    registry.register(V1)
    subscribe(registry, "names", "decision_automation", "id")

    assert registry.register(V2).status == "registered"


def test_without_readers_there_is_no_migration(registry: AnyRegistry) -> None:
    registry.register(V1)

    assert registry.register(V2).status == "registered"
    assert registry.migrations.list().items == []


def test_a_change_that_affects_no_consumer_starts_no_migration(filled: AnyRegistry) -> None:
    more = {"name": "more", "logicalType": "string"}

    assert filled.register(orders("1.1.0", [ID, PLAN_FIELD, {**LTV, "id": "ltv"}, more])).status == "registered"
    assert filled.migrations.list().items == []


def test_a_version_is_registered_at_once_if_no_acknowledgement_is_needed(open_backend: Callable[..., Backend]) -> None:
    registry = open_backend(RegistryRules(acknowledgement=Acknowledgement.OFF)).local
    registry.register(V1)
    subscribe(registry, "ledger", "external_regulatory", "ltv")

    assert registry.register(V2).status == "registered"
    assert only(registry).state == "open"


def test_approval_does_not_replace_acknowledgements(open_backend: Callable[..., Backend]) -> None:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    ana, ben = (backend.acting_as(name, "owner", "checkout") for name in ("ana", "ben"))
    ana.register(V1)
    subscribe(backend.local, "ledger", "external_regulatory", "ltv")
    proposal = ana.register(V2).proposal
    assert proposal is not None

    with pytest.raises(Refused, match="waits for acknowledgement by ledger"):
        ben.governance.approve(proposal)
    board = backend.local.migrations.acknowledge(only(ana).id, "ledger")
    assert (board.state, versions(ana)) == ("proposed", ["1.0.0"])

    assert ben.governance.approve(proposal).state == "approved"
    assert (only(ana).state, versions(ana)) == ("open", ["1.0.0", "2.0.0"])


def test_a_steward_overrides_for_a_reason_that_is_audited(backend: Backend, filled: AnyRegistry) -> None:
    stella, olga = backend.acting_as("stella", "steward"), backend.acting_as("olga", "owner", "checkout")
    proposal = olga.register(V2).proposal
    assert proposal is not None
    with pytest.raises(NotAllowed):
        olga.governance.approve(proposal, override=True, reason="in a hurry")
    with pytest.raises(NotAllowed, match="needs a reason"):
        stella.governance.approve(proposal, override=True)

    stella.governance.approve(proposal, override=True, reason="the regulator agreed")

    assert (only(filled).state, states(only(filled))["ledger"]) == ("open", "waiting")
    (entry,) = audited(filled, "proposal.override")
    assert (entry.actor, entry.details["unacknowledged"]) == ("stella", ["ledger"])


def test_a_proposal_that_is_declined_takes_its_migration_along(filled: AnyRegistry) -> None:
    proposal = filled.register(V2).proposal
    assert proposal is not None

    filled.governance.decline(proposal, reason="not now")

    assert only(filled).state == "withdrawn"
    with pytest.raises(Conflict, match="is withdrawn; it takes no more changes"):
        filled.migrations.acknowledge(only(filled).id, "ledger")


def test_a_waiver_replaces_an_acknowledgement_until_it_expires(backend: Backend, filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id

    board = filled.migrations.waive(identity, "ledger", reason="switched off in April", until=date(2026, 4, 1))

    assert (board.state, states(board)["ledger"]) == ("open", "waived")
    backend.clock.pass_days(32)
    assert states(only(filled))["ledger"] == "waiting"


def test_a_waiver_has_a_reason_and_a_day_to_come(filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id

    with pytest.raises(InvalidDocument, match="choose a day to come"):
        filled.migrations.waive(identity, "ledger", reason="x", until=date(2026, 2, 1))
    with pytest.raises(InvalidDocument, match="needs a reason"):
        filled.migrations.waive(identity, "ledger", reason=" ", until=date(2026, 4, 1))


def test_who_moves_reads_the_new_line_by_its_new_names(filled: AnyRegistry) -> None:
    filled.register(V2)
    filled.migrations.acknowledge(only(filled).id, "ledger")

    board = filled.migrations.move(only(filled).id, "ledger")

    assert states(board) == {"dashboard": "waiting", "ledger": "moved", "names": "waiting"}
    assert [(one.line, one.fields) for one in filled.consumers.subscriptions(consumer="ledger").items] == [
        ("orders@2", ["money"])
    ]
    assert filled.migrations.move(only(filled).id, "ledger") == board


def test_a_consumer_that_migrates_may_name_new_fields(filled: AnyRegistry) -> None:
    filled.register(V2)
    filled.migrations.acknowledge(only(filled).id, "ledger")

    filled.migrations.move(only(filled).id, "dashboard", fields=["id"])

    (read,) = filled.consumers.subscriptions(consumer="dashboard").items
    assert (read.line, read.fields, read.team) == ("orders@2", ["id"], "dashboard-team")


def test_a_consumer_cannot_migrate_to_an_unknown_line(filled: AnyRegistry) -> None:
    filled.register(V2)

    with pytest.raises(Conflict, match="orders@2 is not registered yet"):
        filled.migrations.move(only(filled).id, "dashboard")


def test_who_leaves_the_line_by_itself_has_moved(filled: AnyRegistry) -> None:
    filled.register(V2)
    filled.migrations.acknowledge(only(filled).id, "ledger")

    filled.consumers.unsubscribe("dashboard", "orders@1")

    assert states(only(filled))["dashboard"] == "moved"


def test_later_subscribers_are_part_of_the_migration(filled: AnyRegistry) -> None:
    filled.register(V2)
    filled.migrations.acknowledge(only(filled).id, "ledger")

    subscribe(filled, "late", "operational_reporting", "plan")

    (row,) = [one for one in only(filled).consumers if one.consumer == "late"]
    assert (row.state, row.effect, row.changed_at) == ("waiting", "hit", None)


def test_only_its_team_and_stewards_may_acknowledge_for_a_consumer(backend: Backend, filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id

    for name, role, team in (("olga", "owner", "checkout"), ("vera", "viewer", None)):
        with pytest.raises(NotAllowed):
            backend.acting_as(name, role, team).migrations.acknowledge(identity, "ledger")
    with pytest.raises(NotAllowed):
        backend.acting_as("lea", "owner", "ledger-team").migrations.waive(
            identity, "ledger", reason="x", until=date(2026, 4, 1)
        )

    board = backend.acting_as("lea", "contributor", "ledger-team").migrations.acknowledge(identity, "ledger")
    assert board.state == "open"


def test_a_consumer_outside_the_migration_is_not_found(filled: AnyRegistry) -> None:
    filled.register(V2)

    with pytest.raises(NotFound, match="'nobody' is not part of migration"):
        filled.migrations.acknowledge(only(filled).id, "nobody")
    with pytest.raises(NotFound, match="no migration 4711; see: treaty migrate status"):
        filled.migrations.get(4711)


def test_consumers_are_reminded_before_the_window_ends_and_once_after(backend: Backend, filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id
    filled.migrations.acknowledge(identity, "ledger")
    filled.migrations.move(identity, "names")
    assert filled.tick() == []

    reminded = []
    for _ in range(95):
        backend.clock.pass_days(1)
        reminded += [(backend.clock.now - START).days for _ in filled.tick()]

    assert reminded == [60, 83, 89, 91]
    assert [one.kind for one in filled.notices.notices(limit=500).items if one.kind.startswith("migration.re")] == [
        "migration.reminder"
    ] * 3
    (late,) = told(filled, "migration.overdue")
    assert late.details["consumers"] == {"dashboard": "waiting", "ledger": "acknowledged"}
    assert {"dashboard", "dashboard-team", "ledger", "growth"} <= set(late.parties)
    assert "names" not in late.parties


def test_a_window_that_is_short_reminds_only_while_it_runs(registry: AnyRegistry, backend: Backend) -> None:
    registry.register(V1)
    subscribe(registry, "dashboard", "operational_reporting", "plan")
    registry.register(orders("2.0.0", [ID, MONEY], migration={**PLAN, "window": "30 d"}))
    assert registry.tick() == []

    backend.clock.pass_days(29)
    (step,) = registry.tick()

    assert step.reason == "the window ends on 2026-03-31; still to move: dashboard"
    assert registry.tick() == []


def test_can_i_retire_reads_the_migration(filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id
    filled.migrations.acknowledge(identity, "ledger")
    filled.migrations.waive(identity, "dashboard", reason="it is switched off", until=date(2026, 12, 31))

    answer = filled.consumers.can_i_retire("orders@1")

    said = [(one.severity, one.message) for one in answer.reasons]
    assert ("error", "ledger still reads orders@1") in said
    assert ("warning", f"migration {identity} to orders@2 is open; its window ends on 2026-05-30") in said
    assert (
        "warning",
        "dashboard still reads orders@1, and is waived until 2026-12-31: it is switched off",
    ) in said
    assert ("error", "dashboard still reads orders@1") not in said


def test_a_line_that_is_retired_ends_its_migration(backend: Backend, filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id
    filled.migrations.acknowledge(identity, "ledger")
    for name in ("ledger", "dashboard", "names"):
        filled.migrations.move(identity, name)
    filled.deprecate_line("orders@1", deprecation_uri="https://wiki.example.org/move")
    backend.clock.pass_days(40)
    filled.tick()

    filled.retire_line("orders@1")

    assert only(filled).state == "closed"
    assert filled.migrations.list(state="open").items == []


def proof_of(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Write a proof as `treaty migrate prove` hands it in."""
    sides = {
        side: {"id": ORDERS, "version": one["version"], "digest": contract_digest(contract_from(one))}
        for side, one in (("before", before), ("after", after))
    }
    return {**sides, "at": "2026-03-01T00:00:00+00:00", "holds": True, "shims_digest": "0" * 64, "shims": []}


def test_a_proof_is_stored_with_its_migration(filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id

    board = filled.migrations.record_proof(identity, proof_of(V1, V2))

    assert (board.proven, board.proof) == (True, proof_of(V1, V2))
    filled.migrations.acknowledge(identity, "ledger")
    assert filled.migrations.list().items[0].proven is True
    assert len(audited(filled, "migration.prove")) == 1


def test_a_proof_about_something_else_is_refused(backend: Backend, filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id

    with pytest.raises(Refused, match=r"the proof is not about orders 2\.0\.0 as registered here"):
        filled.migrations.record_proof(identity, proof_of(V1, orders("2.0.0", [ID], migration=PLAN)))
    with pytest.raises(InvalidDocument, match="this is not a proof"):
        filled.migrations.record_proof(identity, {**proof_of(V1, V2), "holds": "yes"})


def test_a_proof_by_another_team_is_refused_and_changes_nothing(backend: Backend, filled: AnyRegistry) -> None:
    filled.register(V2)
    identity = only(filled).id
    (entries,) = backend.rows("SELECT count(*) FROM audit")

    with pytest.raises(NotAllowed, match="lea may not register contract 'orders': lea is an owner of team ledger-team"):
        backend.acting_as("lea", "owner", "ledger-team").migrations.record_proof(identity, proof_of(V1, V2))

    board = filled.migrations.get(identity)
    assert (board.proven, board.proof) == (None, None)
    assert backend.rows("SELECT count(*) FROM audit") == [entries]


def test_a_migration_has_a_guide_for_each_consumer(filled: AnyRegistry) -> None:
    filled.register(V2)
    filled.migrations.acknowledge(only(filled).id, "ledger")

    answer = filled.migrations.path(ORDERS, "1.0.0", "2.0.0")

    guides = {one["consumer"]: one for one in answer.guides}
    assert [one["before"] for one in guides["ledger"]["fields"]] == ["ltv"]
    assert (guides["ledger"]["by"], guides["names"]["fields"]) == ("2026-05-30", [])
    back = next(one for one in answer.views if one["way"] == "back")
    assert "`money` AS `ltv`" in back["sql"]
    assert answer.path["objects"][0]["back"]["fields"][1]["fidelity"] == "impossible"


def test_pages_lead_from_one_migration_to_the_next(registry: AnyRegistry) -> None:
    for name in ("a", "b", "c"):
        registry.register({**V1, "id": name})
        subscribe(registry, "dashboard", "operational_reporting", "plan", line=f"{name}@1")
        registry.register({**V2, "id": name})

    first = registry.migrations.list(limit=2)
    rest = registry.migrations.list(limit=2, cursor=first.next)

    assert [one.contract for one in (*first.items, *rest.items)] == ["a", "b", "c"]
    assert rest.next is None
    assert [one.contract for one in registry.migrations.list(contract="b").items] == ["b"]
    assert registry.migrations.list(state="closed").items == []
