"""Incidents open and close with measures, say what they block, and are shown to those who may see them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.registry.backends import START, AnyRegistry, Backend
from tests.registry.offers import ORDERS, made_from, orders
from treaty.errors import Conflict, InvalidDocument, NotAllowed, NotFound
from treaty.observability.measures import Measure
from treaty.registry.model.contract_answers import Query
from treaty.registry.service.retention import delete_expired

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
DAILY = [{"property": "freshness", "value": 24, "unit": "h"}]
SECRET = "secret_capture"  # noqa: S105


def run(contract: str = ORDERS, succeeded: bool = False, hours: float = 0, **details: object) -> Measure:
    return Measure(contract, "run", START + hours * HOUR, float(succeeded), details=details)


def kinds(registry: AnyRegistry) -> list[tuple[str, str]]:
    notices = registry.notices.notices(limit=500).items
    return sorted((one.kind, one.contract) for one in notices if one.kind.startswith("incident."))


def incidents(registry: AnyRegistry) -> list[tuple[str, str, str]]:
    return [(one.line, one.measure, one.state) for one in reversed(registry.incidents.list().items)]


@pytest.fixture
def chain(registry: AnyRegistry) -> AnyRegistry:
    """Register orders, and marts and a report that are made from them."""
    registry.register(orders(slaProperties=DAILY))
    registry.register(made_from("marts", ORDERS, slaProperties=DAILY, owners=[{"team": "bi"}]))
    registry.register(made_from("report", "marts", owners=[{"team": "board"}]))
    return registry


def test_a_failed_run_opens_an_incident_with_its_evidence(chain: AnyRegistry) -> None:
    chain.consumers.subscribe("dashboard", "marts@1", consumer_class="operational_reporting")
    chain.measures.record([run(run=7, error="no space left")])

    (incident,) = chain.incidents.list(state="open").items
    assert (incident.line, incident.title, incident.severity) == ("orders@1", "Run", "failing")
    assert incident.cause == "run 7 failed: no space left"
    assert incident.evidence == {
        "value": 0.0,
        "unit": "",
        "promise": 1.0,
        "details": {"run": 7, "error": "no space left"},
    }
    assert (incident.owners, incident.first_seen, incident.last_seen) == (["checkout"], START, START)
    assert (incident.blocked, incident.consumers) == (
        ["marts@1", "report@1"],
        {"operational_reporting": ["dashboard"]},
    )
    assert chain.incidents.get(incident.id) == incident
    assert chain.incidents.list(contract="orders@1", team="checkout").items == [incident]
    assert chain.incidents.list(team="bi").items == []


def test_list_header_graph_grid_and_api_show_the_same_state(chain: AnyRegistry) -> None:
    chain.measures.record([run(), run("marts", hours=1)])
    expected = {
        "marts": ("blocked", "blocked by orders"),
        "orders": ("failing", "the last run failed"),
        "report": ("blocked", "blocked by orders"),
    }

    found = chain.search(Query()).items
    assert {one.id: (one.health, one.cause) for one in found} == expected
    assert {one.contract: (one.health, one.cause) for one in chain.measures.grid().items} == expected
    assert {one.contract: (one.state, one.cause) for one in chain.incidents.overview().items} == expected
    assert [one.contract for one in chain.incidents.overview().items] == ["orders", "marts", "report"]
    assert {one.contract: (one.health, one.cause) for one in chain.consumers.layout().nodes} == expected
    for name, (state, cause) in expected.items():
        health = chain.incidents.health(name)
        assert (health.state, health.cause, health.lines[0].state) == (state, cause, state)
    assert chain.overview().health == {"failing": 1, "blocked": 2}
    assert [one.id for one in chain.search(Query(health="blocked")).items] == ["marts", "report"]
    assert [one.contract for one in chain.incidents.overview(state="failing").items] == ["orders"]
    assert chain.incidents.health("marts").blocked_by == "orders@1"


def test_a_blocked_line_is_free_again_when_its_root_cause_ends(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run(), run("marts")])
    backend.clock.now += HOUR
    chain.measures.record([run(succeeded=True, hours=1), run("marts", succeeded=True, hours=1)])

    assert incidents(chain) == [("orders@1", "run", "closed")]
    assert chain.overview().health == {"healthy": 2, "none": 1}
    assert [one.contract for one in chain.incidents.overview().items] == ["marts", "orders"]
    assert kinds(chain) == [("incident.closed", "orders"), ("incident.opened", "orders")]


def test_a_root_cause_that_is_found_later_takes_over(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run("marts")])
    backend.clock.now += HOUR
    chain.measures.record([run(hours=1)])

    marts, root = reversed(chain.incidents.list().items)
    assert (marts.line, marts.state, marts.root) == ("marts@1", "closed", root.id)
    assert marts.resolution == "caused by orders: the last run failed"
    assert (root.line, root.state) == ("orders@1", "open")
    assert kinds(chain) == [("incident.opened", "marts"), ("incident.opened", "orders")]


def test_measures_of_the_past_leave_incidents_but_send_no_notices(chain: AnyRegistry) -> None:
    chain.measures.record([run(hours=-20), run(succeeded=True, hours=-10)])

    (incident,) = chain.incidents.list().items
    assert (incident.state, incident.first_seen, incident.closed_at) == (
        "closed",
        START - 20 * HOUR,
        START - 10 * HOUR,
    )
    assert kinds(chain) == []


def test_a_late_measure_changes_nothing(chain: AnyRegistry) -> None:
    chain.measures.record([run(succeeded=True)])
    chain.measures.record([run(hours=-5)])

    assert (incidents(chain), chain.incidents.health(ORDERS).state) == ([], "healthy")


def test_silence_is_found_by_a_tick_and_ends_with_a_measure(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run(succeeded=True)])
    backend.clock.now = START + 29 * HOUR
    chain.tick()
    assert incidents(chain) == []

    backend.clock.now = START + 30 * HOUR
    chain.tick()
    assert chain.incidents.health(ORDERS).sentence == (
        "failing: nothing was measured since 2026-03-01 12:00 UTC; a freshness of 1 d is promised"
    )
    backend.clock.now = START + 90 * HOUR
    chain.tick()
    chain.tick()
    assert kinds(chain) == [("incident.escalated", "orders"), ("incident.opened", "orders")]

    chain.measures.record([run(succeeded=True, hours=90)])
    assert (incidents(chain), chain.incidents.health(ORDERS).state) == ([("orders@1", "silence", "closed")], "healthy")


def test_update_frequency_is_a_promise_to_be_measured(registry: AnyRegistry, backend: Backend) -> None:
    registry.register(orders(slaProperties=[{"property": "frequency", "value": 1, "unit": "h"}]))
    registry.measures.record([run(succeeded=True)])
    backend.clock.now = START + 2 * HOUR
    registry.tick()

    assert incidents(registry) == [("orders@1", "silence", "open")]


def test_a_line_without_a_promise_is_never_silent(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run("report", succeeded=True)])
    backend.clock.pass_days(300)
    chain.tick()

    assert (incidents(chain), chain.incidents.health("report").state) == ([], None)


def test_a_blocked_line_is_not_silent_until_its_root_cause_ends(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run("marts", succeeded=True), run()])
    backend.clock.now = START + 31 * HOUR
    chain.tick()
    assert incidents(chain) == [("orders@1", "run", "open")]

    chain.measures.record([run(succeeded=True, hours=31)])
    backend.clock.now = START + 56 * HOUR
    chain.tick()
    assert ("marts@1", "silence", "open") in incidents(chain)


def test_an_owner_acknowledges_an_incident_and_it_is_not_escalated(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run()])
    (incident,) = chain.incidents.list().items
    owner = backend.acting_as("ana", "contributor", "checkout")

    with pytest.raises(NotAllowed):
        backend.acting_as("bob", "owner", "bi").incidents.acknowledge(incident.id, reason="not mine")
    with pytest.raises(InvalidDocument):
        owner.incidents.acknowledge(incident.id, reason="  ")
    acknowledged = owner.incidents.acknowledge(incident.id, reason="the disk is being replaced")
    assert (acknowledged.acknowledged_by, acknowledged.reason) == ("ana", "the disk is being replaced")

    backend.clock.pass_days(3)
    chain.tick()
    assert kinds(chain) == [("incident.opened", "orders")]
    chain.measures.record([run(succeeded=True, hours=72)])
    with pytest.raises(Conflict, match="is closed since 2026-03-04 12:00 UTC"):
        owner.incidents.acknowledge(incident.id, reason="again")
    with pytest.raises(NotFound, match="there is no incident 999"):
        owner.incidents.acknowledge(999, reason="what?")
    assert [one.did for one in chain.activity(contract=ORDERS, kind="breach").items] == [
        "closed",
        "acknowledged",
        "breached",
    ]


def test_an_incident_ends_with_its_line(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run("report")])
    chain.retire("report", "1.0.0", override="nobody reads it")
    chain.tick()

    assert incidents(chain) == [("report@1", "run", "closed")]


def test_an_incident_ends_if_its_measure_is_given_up(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run("report")])
    backend.clock.pass_days(30)
    chain.tick()

    (incident,) = chain.incidents.list().items
    assert (incident.state, incident.resolution) == ("closed", "not measured for 30 days")


def test_private_contracts_are_not_named(chain: AnyRegistry, backend: Backend) -> None:
    hidden: dict[str, Any] = {"owners": [{"team": "risk"}], "visibility": "private"}
    chain.register(orders(id=SECRET, **hidden))
    chain.register(made_from("open_mart", SECRET))
    chain.register(made_from("secret_mart", ORDERS, **hidden))
    chain.measures.record([run(SECRET), run()])
    viewer, member = backend.acting_as("vi", "viewer"), backend.acting_as("ri", "owner", "risk")

    assert incidents(viewer) == [("orders@1", "run", "open")]
    (seen,) = viewer.incidents.list().items
    assert (seen.blocked, seen.hidden) == (["marts@1", "report@1"], 1)
    health = viewer.incidents.health("open_mart")
    assert (health.sentence, health.blocked_by, health.incident) == (
        "blocked by a contract you may not see",
        None,
        None,
    )
    assert {one.id: one.cause for one in viewer.search(Query()).items}["open_mart"] == (
        "blocked by a contract you may not see"
    )
    assert member.incidents.health("open_mart").sentence == f"blocked by {SECRET}"
    (secret,) = member.incidents.list(contract=SECRET).items
    for ask in (lambda: viewer.incidents.get(secret.id), lambda: viewer.incidents.health(SECRET)):
        with pytest.raises(NotFound):
            ask()
    parties = {one.contract: one.parties for one in chain.notices.notices().items if one.kind == "incident.opened"}
    assert parties[SECRET] == ["risk"]  # owners of open_mart may not know of it


def test_service_levels_are_part_of_the_health_of_a_contract(registry: AnyRegistry) -> None:
    registry.register(orders(slaProperties=[*DAILY, {"property": "retention", "value": 2, "unit": "y"}]))
    registry.measures.record(
        [Measure(ORDERS, "freshness", START - day * DAY, 31 * 3_600.0 if day == 4 else 60.0) for day in range(10)]
    )

    health = registry.incidents.health(ORDERS)

    assert [
        (one.property, one.promise, one.state, one.kept, one.budget, one.reason) for one in health.service_levels
    ] == [
        ("freshness", "≤ 1 d", "failing", 90.0, -100.0, None),
        (
            "retention",
            "≥ 730 d",
            None,
            None,
            None,
            "the age of the oldest rows is not measured; record a measure 'retention' in s",
        ),
    ]
    assert (health.state, health.window_days, health.incidents) == ("healthy", 30, [])


def test_old_evidence_is_deleted_and_the_incident_stays(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run(run=7)])
    chain.measures.record([run(succeeded=True, hours=1)])
    backend.clock.pass_days(402)

    deleted = delete_expired(backend.local.context)

    (incident,) = chain.incidents.list().items
    assert (deleted.evidence, incident.evidence, incident.cause) == (1, {}, "run 7 failed")
    assert delete_expired(backend.local.context).evidence == 0
    assert chain.access.verify_audit().whole


def test_a_changed_incident_is_found_by_the_audit(chain: AnyRegistry, backend: Backend) -> None:
    chain.measures.record([run()])
    backend.tamper("incidents", "UPDATE incidents SET severity = 'warning'")

    check = chain.access.verify_audit()

    assert [(one.part, one.subject) for one in check.differences] == [
        ("incidents", f"incident {chain.incidents.list().items[0].id}")
    ]


def test_an_unknown_state_is_refused(registry: AnyRegistry) -> None:
    with pytest.raises(InvalidDocument):
        registry.incidents.list(state="burning")
    with pytest.raises(InvalidDocument):
        registry.incidents.overview(state="burning")


def test_contracts_and_lines_that_do_not_exist_have_no_health(chain: AnyRegistry) -> None:
    for name in ("nothing", "orders@7"):
        with pytest.raises(NotFound):
            chain.incidents.health(name)
