"""The state machine of a stream: moves of a key, invariants, and laws over generated sequences of events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.contracts import contract_from
from treaty.contracts.event_lifecycles import Invariant, Move
from treaty.contracts.findings import Severity
from treaty.events import EventType, KeyEvent, StateMachine, streams_of

GROWS = Invariant("grows", "current.n >= previous.n", Severity.ERROR, "The number never falls.")
ODD = Invariant("odd", "current.n % 2 = 1", Severity.WARNING)
MACHINE = StateMachine(
    "classes",
    (
        EventType("Published", "c.published", (Move("published"),), (ODD,)),
        EventType("Updated", "c.updated", (Move("updated", "published"), Move("updated", "updated")), (GROWS,)),
        EventType("Cancelled", "c.cancelled", (Move("cancelled", "published"), Move("cancelled", "updated"))),
        EventType("Viewed", "c.viewed"),
    ),
)


def holds(invariant: Invariant, previous: KeyEvent | None, current: KeyEvent) -> bool | None:
    """The invariants of the machine, in Python."""
    if invariant is ODD:
        return bool(current.values["n"] % 2 == 1)
    return None if previous is None else bool(current.values["n"] >= previous.values["n"])


def sequence(*types: str, n: int = 1) -> list[KeyEvent]:
    return [KeyEvent(name, number, {"n": n}) for number, name in enumerate(types, 1)]


def test_a_key_goes_through_its_states() -> None:
    judged = MACHINE.judge(sequence("Published", "Viewed", "Updated", "Updated", "Cancelled"))

    assert [(one.before, one.after) for one in judged] == [
        (None, "published"),
        ("published", "published"),
        ("published", "updated"),
        ("updated", "updated"),
        ("updated", "cancelled"),
    ]
    assert all(one.is_accepted for one in judged)


@pytest.mark.parametrize(
    ("types", "position", "message"),
    [
        (["Updated"], 0, "Updated is the first event of its key; it needs the state published or updated"),
        (["Published", "Published"], 1, "Published must be the first event of its key, which is published"),
        (
            ["Published", "Cancelled", "Viewed", "Updated"],
            3,
            "Updated needs the state published or updated, and its key is cancelled",
        ),
        (["Published", "Sold"], 1, "Sold is not an event type of classes"),
    ],
)
def test_the_first_violation_has_its_reason(types: list[str], position: int, message: str) -> None:
    found = MACHINE.first_violation(sequence(*types))

    assert found is not None
    assert (found[0], found[1].message) == (position, message)


def test_a_refused_event_changes_neither_the_state_nor_what_the_next_event_is_compared_with() -> None:
    events = [
        KeyEvent("Published", 1, {"n": 5}),
        KeyEvent("Updated", 2, {"n": 3}),
        KeyEvent("Updated", 3, {"n": 4}),
        KeyEvent("Updated", 4, {"n": 6}),
    ]

    judged = MACHINE.judge(events, holds)

    assert [one.is_accepted for one in judged] == [True, False, False, True]
    assert [violation.message for violation in judged[2].violations] == ["must hold: The number never falls."]
    assert [violation.rule for violation in judged[2].violations] == ["lifecycle.invariant.grows"]


def test_a_warning_accepts_the_event() -> None:
    judged = MACHINE.judge([KeyEvent("Published", 1, {"n": 2})], holds)

    assert judged[0].is_accepted
    assert [violation.severity for violation in judged[0].violations] == [Severity.WARNING]
    assert MACHINE.first_violation([KeyEvent("Published", 1, {"n": 2})], holds) is None


def test_the_machine_names_its_states_and_what_may_come_next() -> None:
    assert MACHINE.states == ("published", "updated", "cancelled")
    assert MACHINE.final_states == ("cancelled",)
    assert MACHINE.event_types_from(None) == ("Published", "Viewed")
    assert MACHINE.event_types_from("updated") == ("Updated", "Cancelled", "Viewed")


TYPES = st.sampled_from(("Published", "Updated", "Cancelled", "Viewed", "Sold"))
EVENTS = st.lists(st.tuples(TYPES, st.integers(0, 4)), max_size=8).map(
    lambda listed: [KeyEvent(name, number, {"n": n}) for number, (name, n) in enumerate(listed)]
)


@given(EVENTS)
def test_accepted_events_are_a_path_from_the_start(events: list[KeyEvent]) -> None:
    state = None
    for judged in MACHINE.judge(events, holds):
        assert judged.before == state
        if judged.is_accepted:
            assert MACHINE.allows(state, judged.event.type)
            assert judged.after == MACHINE.next_state(state, judged.event.type)
        else:
            assert judged.after == state
        state = judged.after


@given(EVENTS)
def test_without_the_refused_events_nothing_is_refused(events: list[KeyEvent]) -> None:
    accepted = [one for one in MACHINE.judge(events, holds) if one.is_accepted]

    assert MACHINE.judge([one.event for one in accepted], holds) == tuple(accepted)
    assert MACHINE.first_violation([one.event for one in accepted], holds) is None


@given(EVENTS, st.integers(0, 8))
def test_later_events_do_not_change_the_judgement_of_earlier_ones(events: list[KeyEvent], length: int) -> None:
    assert MACHINE.judge(events[:length], holds) == MACHINE.judge(events, holds)[:length]


@given(EVENTS.flatmap(lambda events: st.tuples(st.just(events), st.permutations(events))))
def test_the_order_of_arrival_means_nothing(both: tuple[list[KeyEvent], list[KeyEvent]]) -> None:
    events, arrived = both

    assert MACHINE.in_order(arrived) == events


def test_events_with_one_sequence_are_in_the_order_of_a_life() -> None:
    at_once = [KeyEvent(name, 7) for name in ("Cancelled", "Viewed", "Updated", "Published")]

    assert [one.type for one in MACHINE.in_order(at_once)] == ["Published", "Cancelled", "Updated", "Viewed"]


def event_contract(event_type: str, lifecycle: dict[str, Any], **keys: Any) -> Any:
    ordering = {"key": ["class_id"], "sequence": "event_sequence"}
    fields = [{"name": "class_id", "logicalType": "string"}, {"name": "event_sequence", "logicalType": "integer"}]
    document = {
        "apiVersion": "v3.2.0",
        "kind": "DataContract",
        "id": f"gym.{event_type}",
        "version": "1.0.0",
        "event": {"type": event_type},
        "ordering": ordering,
        "lifecycle": {"stream": "classes", **lifecycle},
        "schema": [{"name": event_type, "properties": fields}],
    }
    return contract_from({**document, **keys})


def test_contracts_of_one_stream_make_one_machine() -> None:
    found = streams_of(
        [
            event_contract("Updated", {"moves": [{"from": "published", "to": "updated"}]}),
            event_contract("Published", {"moves": [{"to": "published"}]}),
            event_contract("Left", {"stream": "visits", "moves": [{"to": "left"}]}),
        ]
    )

    assert list(found) == ["classes", "visits"]
    assert [one.name for one in found["classes"].machine.event_types] == ["Published", "Updated"]
    assert found["classes"].machine.states == ("published", "updated")
    assert found["classes"].ordering == (("class_id",), "event_sequence")
    assert list(found["classes"].problems()) == []


def test_what_does_not_fit_together_in_a_stream_is_named() -> None:
    (stream,) = streams_of(
        [
            event_contract("A", {"moves": [{"to": "open"}, {"from": "lost", "to": "found"}]}),
            event_contract("B", {"moves": [{"from": "open", "to": "done"}]}, ordering={"key": ["id"], "sequence": "n"}),
            event_contract(
                "C", {}, schema=[{"name": "C", "properties": [{"name": "class_id", "logicalType": "integer"}]}]
            ),
            event_contract("A", {"moves": [{"to": "begun"}]}, id="gym.A2"),
        ]
    ).values()

    assert [(problem.contract, problem.message) for problem in stream.problems()] == [
        ("gym.B", "is ordered by id in n, and another contract of classes by class_id in event_sequence"),
        ("gym.A2", "A as the first event of a key moves to begun here and to open in gym.A"),
        ("gym.C", "class_id is integer here and string in another contract of classes"),
        ("gym.A", "no sequence of events of classes leads to the state lost"),
        ("gym.A", "no sequence of events of classes leads to the state found"),
        ("gym.A2", "no sequence of events of classes leads to the state begun"),
    ]
