"""Which breaches open, continue and close incidents, and where their root cause is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from treaty.contracts.versions import Line
from treaty.observability.evidence import SILENCE
from treaty.observability.incidents import Incident, Lineage, Observation, abandon, decide, escalate, observe
from treaty.observability.measures import Measure, State

START = datetime(2026, 3, 1, 6, tzinfo=UTC)
HOUR = timedelta(hours=1)
A, B, C, OTHER = (Line(name, 1) for name in ("a", "b", "c", "other"))
CHAIN = Lineage({B: frozenset({A}), C: frozenset({B})})
FAILING, WARNING = State.FAILING, State.WARNING


def breach(line: Line, measure: str, hours: float = 0, severity: State = FAILING) -> Observation:
    return Observation(line, measure, START + hours * HOUR, severity, f"{measure} is broken")


def kept(line: Line, measure: str, hours: float = 0) -> Observation:
    return Observation(line, measure, START + hours * HOUR, cause=measure)


def stored(line: Line, measure: str, identity: int = 1, severity: State = FAILING) -> Incident:
    blocked = tuple(sorted(CHAIN.downstream(line))) if measure == "run" else ()
    return Incident(line, measure, severity, "broken", START, START, id=identity, blocked=blocked)


def test_a_breach_opens_one_incident_however_often_it_is_seen() -> None:
    decision = decide([], [breach(A, "freshness"), breach(A, "freshness", 2)], CHAIN)

    (incident,) = decision.opened
    assert (incident.line, incident.measure, incident.severity) == (A, "freshness", FAILING)
    assert (incident.first_seen, incident.last_seen) == (START, START + 2 * HOUR)
    assert (decision.updated, decision.escalated, decision.closed) == ((), (), ())


def test_a_breach_that_is_seen_again_continues_its_incident() -> None:
    decision = decide([stored(A, "volume")], [breach(A, "volume", 5)], CHAIN)

    assert [(one.id, one.first_seen, one.last_seen) for one in decision.updated] == [(1, START, START + 5 * HOUR)]
    assert (decision.opened, decision.closed) == ((), ())


def test_an_incident_closes_when_its_promise_is_kept_again() -> None:
    decision = decide([stored(A, "freshness"), stored(B, "schema_drift", 2)], [kept(A, "freshness", 3)], CHAIN)

    assert [(one.id, one.closed_at, one.resolution) for one in decision.closed] == [
        (1, START + 3 * HOUR, "kept again: freshness")
    ]


def test_an_incident_that_becomes_worse_is_escalated() -> None:
    decision = decide([stored(A, "volume", severity=WARNING)], [breach(A, "volume", 1)], CHAIN)

    assert [(one.id, one.severity, one.escalated_at) for one in decision.escalated] == [(1, FAILING, START + HOUR)]


def test_a_refused_line_blocks_what_is_made_from_it() -> None:
    decision = decide([], [breach(C, "run"), breach(B, "run"), breach(A, "run"), breach(C, "freshness")], CHAIN)

    assert [(one.line, one.measure, one.blocked) for one in decision.opened] == [(A, "run", (B, C))]
    assert [(one.line, one.measure) for one in decision.suppressed] == [(B, "run"), (C, "run"), (C, "freshness")]


def test_what_has_nothing_to_do_with_the_flow_of_data_is_an_incident_of_a_blocked_line() -> None:
    decision = decide([stored(A, "run")], [breach(B, "schema_drift"), breach(OTHER, "run")], CHAIN)

    assert [(one.line, one.measure) for one in decision.opened] == [(OTHER, "run"), (B, "schema_drift")]


def test_a_root_cause_that_is_found_later_closes_the_incidents_that_it_caused() -> None:
    decision = decide([stored(C, "freshness", 7)], [breach(A, "run", 1)], CHAIN)

    assert [(one.id, one.root, one.resolution) for one in decision.closed] == [
        (7, (A, "run"), "caused by a: run is broken")
    ]
    assert [one.line for one in decision.opened] == [A]


def test_a_warning_blocks_nothing() -> None:
    decision = decide([stored(A, "run", severity=WARNING)], [breach(B, "run")], CHAIN)

    assert [one.line for one in decision.opened] == [B]


def test_a_line_whose_run_failed_is_not_late_and_silent_besides() -> None:
    decision = decide([stored(A, "run")], [breach(A, "freshness", 1), breach(A, SILENCE, 30)], CHAIN)

    assert decision.opened == ()
    assert [one.measure for one in decision.suppressed] == ["freshness", SILENCE]


def test_an_incident_that_began_and_ended_in_one_batch_is_closed_without_being_opened() -> None:
    decision = decide([], [kept(A, "run", 2), breach(A, "run")], CHAIN)

    assert decision.opened == ()
    assert [(one.id, one.first_seen, one.closed_at) for one in decision.closed] == [(None, START, START + 2 * HOUR)]


def test_lines_that_are_made_from_each_other_do_not_hang() -> None:
    cycle = Lineage({A: frozenset({B}), B: frozenset({A})})

    decision = decide([], [breach(A, "run"), breach(B, "run")], cycle)

    assert [(one.line, one.blocked) for one in decision.opened] == [(A, (B,))]


def test_only_lasting_incidents_without_an_answer_are_escalated_once() -> None:
    waiting, seen, told = stored(A, "run"), stored(B, "drift", 2), stored(C, "drift", 3)
    incidents = [
        waiting,
        Incident(seen.line, "drift", FAILING, "", START, START, id=2, acknowledged_at=START),
        Incident(told.line, "drift", FAILING, "", START, START, id=3, escalated_at=START),
    ]

    assert escalate(incidents, START + timedelta(hours=23), timedelta(days=1)) == ()
    assert [one.id for one in escalate(incidents, START + timedelta(days=1), timedelta(days=1))] == [1]


def test_incidents_that_nobody_measures_any_more_are_closed_but_silence_stays() -> None:
    closed = abandon([stored(A, "freshness"), stored(B, SILENCE, 2)], START + timedelta(days=30))

    assert [(one.id, one.resolution) for one in closed] == [(1, "not measured for 30 days")]


def test_only_broken_promises_and_unusual_values_are_breaches() -> None:
    def severity(name: str, state: State | None, **details: object) -> State | None:
        seen = observe(Measure("a", name, START, 1.0, state=state, details=details, major=1))
        return seen.severity if seen else None

    assert severity("freshness", State.FAILING) is FAILING
    assert severity("freshness", State.WARNING) is None  # close to the limit
    assert severity("volume", State.WARNING, expected={"low": 5, "high": 9}) is WARNING
    assert severity("schema_drift", State.WARNING) is WARNING
    assert severity("quarantined_share", State.WARNING) is None
    assert severity("volume", None) is None
