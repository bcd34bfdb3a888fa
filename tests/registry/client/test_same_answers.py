"""The client answers with the very values that the registry behind it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from tests.registry.backends import START, AnyRegistry, Clock, Served, bearer_of, sqlite_file
from tests.registry.offers import ID, LTV, ORDERS, PLAN, PLAN_FIELD, USERS, made_from, orders, users
from treaty.contracts.text.writer import write_yaml
from treaty.observability import Measure
from treaty.registry.client import RegistryClient
from treaty.registry.model.contract_answers import Query
from treaty.registry.service import Registry

BREAKING = orders("2.0.0", [ID, {**PLAN_FIELD, "required": True}], slaProperties=[])


@pytest.fixture
def both(served: Served, template: Path, tmp_path: Path, clock: Clock) -> Iterator[tuple[Registry, RegistryClient]]:
    with Registry.open(sqlite_file(template, tmp_path), clock=clock) as local:
        _fill(local, clock)
        served.put(local)
        with RegistryClient(served.url, bearer_of("local", "admin")) as client:
            yield local, client


def _fill(it: Registry, clock: Clock) -> None:
    it.notices.add_channel("checkout", kind="log", target="team")
    it.register(orders(fields=[ID, PLAN_FIELD, LTV, {"name": "größe", "logicalType": "integer"}]))
    it.register(orders("2.0.0", [ID, PLAN_FIELD], migration=PLAN, tags=["x"]))
    it.register(write_yaml(users()))
    it.register(made_from("marts", "orders@1:ltv"))
    it.register(orders(id="policy", tier="domain"))
    it.consumers.subscribe("dashboard", "orders@1", consumer_class="decision_automation", fields=["ltv"], team="bi")
    it.consumers.subscribe("board", "marts@1", consumer_class="external_regulatory", contact="#board")
    it.governance.waive("sla_relaxed", owner="a", reason="b", until="2026-12-31")
    it.access.create_token("ci", role="contributor", team="checkout")
    it.measures.record([Measure(ORDERS, "run", clock.now, 0.0), Measure(USERS, "volume", clock.now, 7.0)])
    it.deprecate_line("orders@1", deprecation_uri="https://wiki.example.org/move")
    clock.pass_days(30)
    it.tick()


QUESTIONS: dict[str, Callable[[AnyRegistry], object]] = {
    "datasets": lambda it: it.datasets(limit=2),
    "search": lambda it: it.search(Query(text="orders")),
    "latest": lambda it: it.latest(ORDERS),
    "get": lambda it: it.get(USERS, "1.0.0"),
    "given": lambda it: it.given(USERS, "1.0.0"),
    "history": lambda it: it.history(ORDERS, limit=1),
    "lines": lambda it: it.lines(ORDERS),
    "diff": lambda it: it.diff(ORDERS, "1.0.0", "2.0.0", compatibility="full_transitive"),
    "check": lambda it: it.check(BREAKING),
    "check under a mode": lambda it: it.check(write_yaml(BREAKING), compatibility="forward"),
    "check what is compatible": lambda it: it.check(orders("2.1.0", [ID, PLAN_FIELD, LTV])),
    "impact": lambda it: it.consumers.impact(orders("1.1.0", [ID]), compatibility="full"),
    "can_i_publish": lambda it: it.consumers.can_i_publish(orders("1.1.0", [ID])),
    "can_i_retire": lambda it: it.consumers.can_i_retire("orders@1"),
    "subscriptions": lambda it: it.consumers.subscriptions(limit=1),
    "subscriptions of a team": lambda it: it.consumers.subscriptions(team="bi"),
    "migrations of a team": lambda it: it.migrations.list(team="bi"),
    "activity": lambda it: it.activity(limit=4),
    "activity of a contract": lambda it: it.activity(contract=ORDERS, kind="lifecycle", since=date(2026, 1, 1)),
    "upcoming": lambda it: it.upcoming(team="bi", days=400),
    "teams": lambda it: it.teams(limit=1),
    "graph": lambda it: it.consumers.graph("orders@1", depth=3),
    "map": lambda it: it.consumers.layout("orders", hops=2, direction="downstream"),
    "map of all": lambda it: it.consumers.layout(limit=3),
    "who reads what": lambda it: it.dependency_map.entries(limit=2),
    "domains": lambda it: it.consumers.domains(),
    "policies": lambda it: it.governance.policies(),
    "check_policies": lambda it: it.governance.check_policies(made_from("m", "orders", parent="policy", fields=[LTV])),
    "waivers": lambda it: it.governance.waivers(),
    "proposals": lambda it: it.governance.proposals(),
    "channels": lambda it: it.notices.channels(),
    "notices": lambda it: it.notices.notices(party="dashboard"),
    "measures": lambda it: it.measures.current(limit=1),
    "measures over time": lambda it: it.measures.history(ORDERS, "run", since=START.date()),
    "grid": lambda it: it.measures.grid(since=START.date()),
    "incidents": lambda it: it.incidents.list(state="open", limit=1),
    "incidents of a team": lambda it: it.incidents.list(contract=ORDERS, team="checkout"),
    "incident": lambda it: it.incidents.get(it.incidents.list().items[0].id),
    "health": lambda it: it.incidents.health(ORDERS),
    "health of a line": lambda it: it.incidents.health("orders@2"),
    "health of all": lambda it: it.incidents.overview(limit=1),
    "tokens": lambda it: it.access.tokens(),
    "audit": lambda it: it.access.audit(subject="orders"),
    "verify_audit": lambda it: it.access.verify_audit(),
}


def test_client_and_local_registry_return_the_same_answers(both: tuple[Registry, RegistryClient]) -> None:
    local, client = both
    for name, ask in QUESTIONS.items():
        assert ask(client) == ask(local), name
