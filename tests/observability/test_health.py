"""One health state of a line, with its cause."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from treaty.contracts.versions import Line
from treaty.observability.evidence import BrokenRule, describe_breach, refusal_details
from treaty.observability.health import LineHealth, format_blocked, judge_health, worst_health
from treaty.observability.incidents import Incident
from treaty.observability.measures import Measure, State

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LINE, UPSTREAM = Line("orders", 1), Line("order_capture", 1)
REFUSED = refusal_details("order_capture", [BrokenRule("home_delivery_has_destination", 0.43, 0.1)])


def measure(
    name: str, state: State | None, value: float = 1.0, days: float = 0, promise: float | None = None
) -> Measure:
    return Measure("orders", name, NOW - timedelta(days=days), value, promise=promise, state=state, major=1)


def incident(measure: str, severity: State = State.FAILING, line: Line = LINE, identity: int = 3) -> Incident:
    return Incident(line, measure, severity, f"{measure} is broken", NOW, NOW, id=identity)


def shown(health: LineHealth) -> tuple[str | None, str, int | None]:
    return health.state.value if health.state else None, health.cause, health.incident


def test_the_worst_measure_counts() -> None:
    late = measure("freshness", State.FAILING, 111_600.0, promise=86_400.0)
    measures = [measure("run", State.HEALTHY), late, measure("rows", None)]

    assert shown(judge_health(LINE, measures, [], None, NOW)) == ("failing", "freshness 31 h > 24 h", None)


def test_nothing_judged_lately_is_no_state() -> None:
    measures = [measure("run", State.HEALTHY, days=2), measure("rows", None)]

    assert shown(judge_health(LINE, measures, [], None, NOW)) == (None, "", None)


def test_health_lapses_two_days_after_the_newest_measure() -> None:
    health = judge_health(LINE, [measure("run", State.HEALTHY), measure("volume", None)], [], None, NOW)

    assert (shown(health), health.valid_until) == (("healthy", "", None), NOW + timedelta(days=2))


def test_a_value_close_to_its_limit_is_a_warning() -> None:
    close = measure("freshness", State.WARNING, 82_800.0, promise=86_400.0)

    assert shown(judge_health(LINE, [close], [], None, NOW)) == (
        "warning",
        "freshness 23 h is close to the limit of 24 h",
        None,
    )


def test_an_open_incident_counts_without_a_measure_and_does_not_lapse() -> None:
    health = judge_health(LINE, [], [incident("run")], None, NOW)

    assert (shown(health), health.valid_until) == (("failing", "run is broken", 3), None)


def test_a_blocked_line_is_late_because_of_another_one() -> None:
    root = incident("run", line=UPSTREAM, identity=9)
    late = [measure("freshness", State.FAILING, 111_600.0, promise=86_400.0), measure("run", State.FAILING, 0.0)]

    health = judge_health(LINE, late, [], root, NOW)

    assert (health.state, health.blocked_by, health.incident) == ("blocked", UPSTREAM, 9)
    assert (format_blocked("order_capture"), format_blocked(None)) == (
        "blocked by order_capture",
        "blocked by a contract you may not see",
    )


def test_a_broken_promise_of_its_own_is_worse_than_being_blocked() -> None:
    root = incident("run", line=UPSTREAM, identity=9)

    assert shown(judge_health(LINE, [], [incident("validity")], root, NOW)) == ("failing", "validity is broken", 3)
    assert judge_health(LINE, [], [incident("volume", State.WARNING)], root, NOW).state == "blocked"


def test_a_contract_has_the_health_of_its_worst_line() -> None:
    fine = judge_health(Line("orders", 2), [measure("run", State.HEALTHY)], [], None, NOW)
    failing = judge_health(LINE, [], [incident("run")], None, NOW)

    assert worst_health([fine, failing]) == failing
    assert worst_health([]) is None


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        (
            Measure("order_capture", "run", NOW, 0.0, details={"run": 7, "refused": REFUSED}),
            "audit of order_capture refused run 7: rule home_delivery_has_destination 0.43 % > 0.1 %",
        ),
        (Measure("o", "run", NOW, 0.0, details={"run": 7, "error": "disk full"}), "run 7 failed: disk full"),
        (Measure("o", "run", NOW, 0.0), "the last run failed"),
        (Measure("o", "availability", NOW, 99.0, "%", 99.5), "availability 99 % < 99.5 %"),
        (Measure("o", "unsettled", NOW, 7.5, "%", 5.0), "unsettled 7.5 % > 5 %"),
        (Measure("o", "confidence", NOW, 0.5, "", 0.9), "confidence 0.5 < 0.9"),
        (
            Measure("o", "schema_drift", NOW, 4.0, details={"fields": ["a", "b", "c", "d"]}),
            "schema drift: 4 fields differ (a, b, c and 1 more)",
        ),
        (Measure("o", "run", NOW, 0.0, details={"refused": {"rules": ["odd", {}]}}), "audit of o refused the last run"),
    ],
)
def test_a_breach_is_told_in_a_few_words(measure: Measure, sentence: str) -> None:
    assert describe_breach(measure) == sentence
