"""Private contracts: who may read them, and what everyone else sees in their place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.registry.backends import AnyRegistry, Backend
from tests.registry.offers import ID, PLAN, PLAN_FIELD, made_from, orders
from treaty.errors import InvalidDocument, NotAllowed, NotFound, Refused
from treaty.observability.measures import Measure
from treaty.registry.model.contract_answers import Query
from treaty.registry.report import VersionRefused
from treaty.registry.rules import Approval, RegistryRules

SECRET = "mergers"  # noqa: S105
RISK = [{"team": "risk"}]


def secret(version: str = "1.0.0", **changes: Any) -> dict[str, Any]:
    """Return a private contract of the team risk."""
    return orders(version, **{"id": SECRET, "owners": RISK, "visibility": "private", **changes})


@pytest.fixture
def filled(backend: Backend, registry: AnyRegistry) -> Backend:
    """Return a registry with the open contract `orders` of checkout, and a private one that is made from it."""
    registry.register(orders())
    registry.register(secret(lineage=[{"contract": "orders", "fields": ["ltv"]}]))
    return backend


def risk(backend: Backend) -> AnyRegistry:
    return backend.acting_as("rita", "contributor", "risk")


def checkout(backend: Backend) -> AnyRegistry:
    return backend.acting_as("carl", "owner", "checkout")


def viewer(backend: Backend) -> AnyRegistry:
    return backend.acting_as("vera", "viewer")


READS: dict[str, Callable[[AnyRegistry], Any]] = {
    "latest": lambda registry: registry.latest(SECRET),
    "get": lambda registry: registry.get(SECRET, "1.0.0"),
    "given": lambda registry: registry.given(SECRET, "1.0.0"),
    "history": lambda registry: registry.history(SECRET),
    "lines": lambda registry: registry.lines(SECRET),
    "diff": lambda registry: registry.diff(SECRET, "1.0.0", "1.0.0"),
    "graph": lambda registry: registry.consumers.graph(SECRET),
    "map": lambda registry: registry.consumers.layout(f"{SECRET}@1"),
    "can_i_retire": lambda registry: registry.consumers.can_i_retire(f"{SECRET}@1"),
    "path": lambda registry: registry.migrations.path(SECRET, "1.0.0", "1.0.0"),
}


def not_found_texts(registry: AnyRegistry, requests: dict[str, Callable[[AnyRegistry], Any]]) -> dict[str, str]:
    """Return the text of the NotFound that each request raises."""
    texts = {}
    for name, request in requests.items():
        with pytest.raises(NotFound) as error:
            request(registry)
        texts[name] = str(error.value)
    return texts


def test_an_outsider_gets_the_answer_for_a_contract_that_does_not_exist(
    backend: Backend, registry: AnyRegistry
) -> None:
    before = not_found_texts(viewer(backend), READS)
    registry.register(secret())

    assert not_found_texts(viewer(backend), READS) == before
    for read in READS.values():
        read(risk(backend))


WRITES: dict[str, Callable[[AnyRegistry], Any]] = {
    "activate": lambda registry: registry.activate(SECRET, "1.0.0"),
    "deprecate": lambda registry: registry.deprecate(SECRET, "1.0.0", deprecation_uri="https://wiki.example.org"),
    "retire": lambda registry: registry.retire(SECRET, "1.0.0"),
    "archive": lambda registry: registry.archive(SECRET, "9.9.9"),
    "deprecate_line": lambda registry: registry.deprecate_line(
        f"{SECRET}@1", deprecation_uri="https://wiki.example.org"
    ),
    "retire_line": lambda registry: registry.retire_line(f"{SECRET}@1"),
    "breach": lambda registry: registry.notices.report_breach(SECRET, kind="sla_breach", message="late"),
    "subscribe": lambda registry: registry.consumers.subscribe(
        "board", f"{SECRET}@1", consumer_class="operational_reporting", team="checkout"
    ),
    "unsubscribe": lambda registry: registry.consumers.unsubscribe("risk-board", f"{SECRET}@1"),
}


def test_an_outsider_cannot_tell_by_writing_that_a_contract_exists(backend: Backend, registry: AnyRegistry) -> None:
    before = not_found_texts(checkout(backend), WRITES)
    registry.register(secret())
    registry.consumers.subscribe("risk-board", f"{SECRET}@1", consumer_class="operational_reporting", team="risk")

    assert not_found_texts(checkout(backend), WRITES) == before


def test_owners_named_teams_and_domains_and_stewards_may_read(open_backend: Callable[..., Backend]) -> None:
    backend = open_backend(RegistryRules(domains={"sales": ("sales-team",)}))
    backend.local.register(secret(visibility={"teams": ["growth"], "domains": ["sales"]}))
    readers = {
        ("contributor", "risk"): True,
        ("owner", "risk"): True,
        ("contributor", "growth"): True,
        ("contributor", "sales-team"): True,
        ("owner", "checkout"): False,
        ("owner", "Risk"): False,
        ("viewer", None): False,
        ("steward", None): True,
        ("admin", None): True,
    }

    seen = {reader: backend.acting_as("ann", *reader).datasets().items == [SECRET] for reader in readers}

    assert seen == readers


def test_registering_in_a_domain_does_not_open_the_contracts_of_that_domain(backend: Backend) -> None:
    backend.local.register(secret(domain="sales", visibility={"domains": ["sales"]}))
    checkout(backend).register(orders(domain="sales"))

    assert checkout(backend).datasets().items == ["orders"]


def test_the_highest_version_opens_and_closes_a_contract(backend: Backend, registry: AnyRegistry) -> None:
    seen = []
    for version in (secret(), secret("1.1.0", visibility=None), secret("2.0.0"), secret("1.2.0", visibility=None)):
        registry.register(version)
        seen.append(viewer(backend).datasets().items)

    assert seen == [[], [SECRET], [], []]


def test_a_contract_that_becomes_private_leaves_the_cache(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(secret(visibility=None))
    assert viewer(backend).latest(SECRET).version == "1.0.0"
    registry.register(secret("1.1.0"))

    assert registry.latest(SECRET).version == "1.1.0"
    with pytest.raises(NotFound):
        viewer(backend).latest(SECRET)


def test_a_team_that_subscribes_may_read_until_it_unsubscribes(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(secret())
    seen = [checkout(backend).datasets().items]
    registry.consumers.subscribe("board", f"{SECRET}@1", consumer_class="operational_reporting", team="checkout")
    seen.append(checkout(backend).datasets().items)
    checkout(backend).consumers.unsubscribe("board", f"{SECRET}@1")
    seen.append(checkout(backend).datasets().items)

    assert seen == [[], [SECRET], []]


def test_only_an_owner_may_change_who_may_read(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(secret())
    with pytest.raises(NotAllowed):
        risk(backend).register(secret("1.1.0", visibility=None))

    backend.acting_as("olga", "owner", "risk").register(secret("1.1.0", visibility=None))
    assert viewer(backend).datasets().items == [SECRET]


def test_a_hidden_id_is_not_available(filled: Backend) -> None:
    with pytest.raises(NotAllowed) as refused:
        checkout(filled).register(orders(id=SECRET))

    assert "the id 'mergers' is not available; choose another id" in str(refused.value)
    assert "risk" not in str(refused.value)


def test_a_check_of_a_hidden_id_tells_what_it_would_of_a_new_one(filled: Backend) -> None:
    candidate = orders(id=SECRET, fields=[ID])

    assert viewer(filled).check(candidate).issues == []
    assert viewer(filled).consumers.can_i_publish(candidate).answer
    assert viewer(filled).consumers.impact(candidate).before is None
    assert [issue.kind for issue in risk(filled).check(candidate).issues] != []


def test_lists_and_counts_leave_a_hidden_contract_out(filled: Backend) -> None:
    outsider, member = viewer(filled), risk(filled)

    for registry, names, teams in (
        (outsider, ["orders"], ["checkout"]),
        (member, [SECRET, "orders"], ["checkout", "risk"]),
    ):
        overview = registry.overview()
        assert registry.datasets().items == names
        assert [one.id for one in registry.search(Query(text="ltv")).items] == names
        assert (overview.contracts, list(overview.owners)) == (len(names), teams)
        assert [team.team for team in registry.teams().items] == teams
        assert sorted({entry.contract or "" for entry in registry.activity().items}) == sorted(names)
        assert sorted({notice.contract for notice in registry.notices.notices().items}) == sorted(names)
        assert [domain.lines for domain in registry.consumers.domains().domains] == [len(names)]


def test_measures_of_a_hidden_contract_are_unknown_to_others(filled: Backend) -> None:
    now = filled.clock.now
    measure = Measure(SECRET, "rows", now - timedelta(hours=1), 12)

    assert checkout(filled).measures.record([measure]).unknown == [SECRET]
    assert risk(filled).measures.record([measure]).recorded == 1
    for read in ("current", "grid"):
        assert [getattr(one(filled).measures, read)().items == [] for one in (viewer, risk)] == [True, False]
    assert viewer(filled).measures.history(SECRET, "rows").items == []
    assert len(risk(filled).measures.history(SECRET, "rows").items) == 1


def test_the_graph_ends_where_a_reader_may_not_look(filled: Backend, registry: AnyRegistry) -> None:
    registry.register(made_from("bonus", f"{SECRET}@1", owners=[{"team": "people"}]))
    registry.consumers.subscribe("risk-board", f"{SECRET}@1", consumer_class="operational_reporting", team="risk")

    for one, reached in ((viewer, []), (risk, [f"{SECRET}@1", "bonus@1", "risk-board"])):
        assert [node.name for node in one(filled).consumers.graph("orders@1").nodes] == reached
    everything = viewer(filled).consumers.layout()
    assert {node.name for node in everything.nodes} == {"orders@1", "bonus@1"}
    assert everything.edges == []
    assert viewer(filled).consumers.subscriptions().items == []
    with pytest.raises(NotFound):
        viewer(filled).consumers.graph("risk-board")


def test_the_impact_counts_what_the_owner_may_not_see(filled: Backend, registry: AnyRegistry) -> None:
    registry.consumers.subscribe("board", "orders@1", consumer_class="operational_reporting", fields=["ltv"])
    registry.consumers.subscribe(SECRET, "orders@1", consumer_class="operational_reporting", fields=["ltv"])
    breaking = orders("1.1.0", [ID, PLAN_FIELD])

    impact = checkout(filled).consumers.impact(breaking)
    decision = checkout(filled).consumers.can_i_publish(breaking)

    assert ([one.name for one in impact.affected], impact.hidden) == (["board"], 2)
    assert (decision.answer, decision.hidden) == (False, 2)
    assert "2 consumers you may not see are hit, or may be" in [reason.message for reason in decision.reasons]
    assert SECRET not in decision.model_dump_json()
    assert registry.consumers.impact(breaking).hidden == 0


def test_a_refusal_counts_what_the_owner_may_not_see(filled: Backend, registry: AnyRegistry) -> None:
    registry.consumers.subscribe(SECRET, "orders@1", consumer_class="operational_reporting")

    decision = checkout(filled).consumers.can_i_retire("orders@1")
    with pytest.raises(Refused) as refused:
        checkout(filled).archive("orders", "1.0.0")

    assert [reason.message for reason in decision.reasons[-2:]] == [
        "1 consumer you may not see still reads orders@1",
        "1 line you may not see is made from orders@1",
    ]
    assert str(refused.value).startswith(
        "orders 1.0.0 cannot be archived: 1 consumer you may not see, 1 line you may not see still need orders@1"
    )


def test_a_migration_counts_what_the_owner_may_not_see(
    open_backend: Callable[..., Backend],
) -> None:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    backend.local.register(orders())
    backend.local.register(secret())
    backend.local.consumers.subscribe(SECRET, "orders@1", consumer_class="decision_automation", team="risk")
    registration = checkout(backend).register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN))

    (migration,) = checkout(backend).migrations.list().items
    board = checkout(backend).migrations.get(migration.id)

    assert registration.waits_for == migration.missing == ["1 consumer you may not see"]
    assert (board.consumers, board.hidden, board.counts) == ([], 1, {"waiting": 1})
    assert [one.consumer for one in risk(backend).migrations.get(migration.id).consumers] == [SECRET]
    assert SECRET not in "".join(notice.model_dump_json() for notice in viewer(backend).notices.notices().items)
    assert SECRET not in "".join(entry.model_dump_json() for entry in viewer(backend).activity().items)


def test_a_consumer_behind_a_private_line_is_counted_without_its_name(
    open_backend: Callable[..., Backend],
) -> None:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    backend.local.register(orders())
    backend.local.register(secret(lineage=[{"contract": "orders", "mappings": {"ltv": ["ltv"]}}]))
    backend.local.consumers.subscribe(
        "risk-board", f"{SECRET}@1", consumer_class="decision_automation", fields=["ltv"], team="risk"
    )
    breaking = orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN)
    decision = checkout(backend).consumers.can_i_publish(breaking)
    registration = checkout(backend).register(breaking)

    (migration,) = checkout(backend).migrations.list().items
    seen = [decision, registration, migration, checkout(backend).migrations.get(migration.id)]
    with pytest.raises(NotFound) as unknown:
        checkout(backend).migrations.acknowledge(migration.id, "risk-board")
    risk(backend).migrations.acknowledge(migration.id, "risk-board", note="mergers are ready")
    seen += [*checkout(backend).activity().items, *checkout(backend).notices.notices().items]

    assert registration.waits_for == migration.missing == ["1 consumer you may not see"]
    assert str(unknown.value).endswith("its consumers: 1 consumer you may not see")
    assert [one for one in seen if "risk" in one.model_dump_json() or SECRET in one.model_dump_json()] == []
    assert [one.consumer for one in risk(backend).migrations.get(migration.id).consumers] == ["risk-board"]


def test_proposals_and_migrations_of_a_hidden_contract_do_not_exist(open_backend: Callable[..., Backend]) -> None:
    backend = open_backend(RegistryRules(approval=Approval.REQUIRED))
    backend.local.register(secret())
    backend.local.consumers.subscribe("risk-board", f"{SECRET}@1", consumer_class="decision_automation", team="risk")
    proposal = risk(backend).register(secret("2.0.0", fields=[ID, PLAN_FIELD], migration=PLAN)).proposal or 0
    (migration,) = risk(backend).migrations.list().items

    outsider = checkout(backend)
    assert (outsider.governance.proposals().items, outsider.migrations.list().items) == ([], [])
    for write, text in (
        (lambda: outsider.governance.approve(proposal), f"no proposal {proposal}"),
        (lambda: outsider.governance.decline(proposal), f"no proposal {proposal}"),
        (lambda: outsider.migrations.get(migration.id), f"no migration {migration.id}"),
        (lambda: outsider.migrations.acknowledge(migration.id, "risk-board"), f"no migration {migration.id}"),
        (lambda: outsider.migrations.move(migration.id, "risk-board"), f"no migration {migration.id}"),
        (lambda: outsider.migrations.record_proof(migration.id, {}), f"no migration {migration.id}"),
    ):
        with pytest.raises(NotFound, match=text):
            write()


def test_a_refused_private_contract_is_not_in_the_feed(backend: Backend, registry: AnyRegistry) -> None:
    with pytest.raises(VersionRefused):
        risk(backend).register(secret(tier="edge"))
    with pytest.raises(VersionRefused):
        registry.register(orders(tier="edge"))
    registry.register(orders(id="later"))

    assert [entry.contract for entry in viewer(backend).activity(kind="refusal").items] == ["orders"]


def test_a_waiver_of_a_hidden_contract_is_hidden(filled: Backend) -> None:
    for contract in (SECRET, "orders", "*"):
        filled.local.governance.waive("sla_relaxed", owner="risk", reason="a", until="2026-12-31", contract=contract)

    assert [waiver.contract for waiver in viewer(filled).governance.waivers().items] == ["orders", "*"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tier": "domain"}, "a policy binds other contracts, so everyone may read it; remove visibility"),
        (
            {"visibility": None, "customProperties": [{"property": "visibility", "value": "secret"}]},
            "the custom property visibility must be private, or name teams or domains; correct or rename it",
        ),
    ],
)
def test_a_visibility_that_cannot_be_kept_is_refused(
    registry: AnyRegistry, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(VersionRefused) as refused:
        registry.register(secret(**changes))

    assert [(issue.kind, issue.message) for issue in refused.value.report.errors] == [("visibility_invalid", message)]


def test_a_policy_check_leaves_hidden_children_out(backend: Backend, registry: AnyRegistry) -> None:
    policy = orders(id="policy", tier="domain", delivery={"guarantee": "at_least_once"})
    registry.register(policy)
    registry.register(secret(parent="policy", delivery={"guarantee": "at_least_once"}))
    stricter = {**policy, "version": "1.1.0", "delivery": {"guarantee": "exactly_once"}}

    assert [child.contract for child in viewer(backend).governance.check_policies(stricter).children] == []
    assert [child.contract for child in risk(backend).governance.check_policies(stricter).children] == [SECRET]
    assert SECRET not in viewer(backend).check(stricter).model_dump_json()


def test_a_hidden_parent_is_missing(filled: Backend) -> None:
    texts = []
    for parent in (SECRET, "nowhere"):
        with pytest.raises((InvalidDocument, VersionRefused)) as refused:
            checkout(filled).register(orders("1.1.0", parent=parent))
        texts.append(str(refused.value).replace(parent, "?"))

    assert texts[0] == texts[1]


def test_a_registry_can_be_shown_to_teams(backend: Backend) -> None:
    backend.local.register(orders())
    backend.local.register(secret())

    assert backend.local.shown_to().datasets().items == ["orders"]
    assert backend.local.shown_to("risk", "growth").datasets().items == [SECRET, "orders"]
    assert backend.local.datasets().items == [SECRET, "orders"]


def test_the_audit_log_vouches_for_the_readers(backend: Backend, registry: AnyRegistry) -> None:
    registry.register(secret())
    assert backend.local.access.verify_audit().whole
    backend.tamper("contracts", "UPDATE contracts SET readers = NULL")

    assert [one.subject for one in backend.local.access.verify_audit().differences] == [f"contract {SECRET}"]
