"""The SQL of invariants: conditions over the event and the one before it, checked by the allow-list of rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events.test_state_machine import event_contract
from treaty.contracts.event_lifecycles import Invariant
from treaty.errors import InvalidDocument
from treaty.events import parse_invariant, streams_of
from treaty.events.streams import Stream

FIELDS = [
    {"name": "class_id", "logicalType": "string"},
    {"name": "capacity", "logicalType": "integer"},
    {"name": "coach", "logicalType": "object", "properties": [{"name": "id", "logicalType": "string"}]},
]


def stream() -> Stream:
    published: Any = event_contract(
        "Published", {"moves": [{"to": "published"}]}, schema=[{"name": "Published", "properties": FIELDS}]
    )
    return streams_of([published, event_contract("Cancelled", {"moves": [{"from": "published", "to": "gone"}]})])[
        "classes"
    ]


@pytest.mark.parametrize(
    ("sql", "current", "previous"),
    [
        ("current.capacity >= previous.capacity", ("capacity",), ("capacity",)),
        ("current.coach.id = previous.coach.id AND current.capacity > 0", ("capacity", "coach"), ("coach",)),
        ("previous.event_sequence IS NULL OR current.capacity > 0", ("capacity",), ("event_sequence",)),
    ],
)
def test_an_invariant_reads_fields_of_both_events(
    sql: str, current: tuple[str, ...], previous: tuple[str, ...]
) -> None:
    rule = parse_invariant(stream(), stream().contracts[1], Invariant("kept", sql))

    assert (rule.event_type, rule.contract) == ("Published", "gym.Published")
    assert (tuple(sorted(rule.reads("current"))), tuple(sorted(rule.reads("previous")))) == (current, previous)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("current.capazity > 0", "the invariant kept of gym.Published: its SQL reads 'capazity' inside"),
        ("capacity > 0", "reads 'capacity', which is not a column"),
        ("current.capacity + 1", "is not a condition"),
        ("SELECT count(*) FROM event", "is not a condition on one event"),
        ("reflect('java.lang.System', 'exit') = 1", "the invariant kept of gym.Published: its SQL"),
        ("current.capacity >", "the invariant kept of gym.Published"),
    ],
)
def test_what_is_no_condition_over_both_events_is_refused(sql: str, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message.replace("(", r"\(").replace(")", r"\)")):
        parse_invariant(stream(), stream().contracts[1], Invariant("kept", sql))
