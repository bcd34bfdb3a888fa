"""Deliberate violations: one key each, and refused where the contract states nothing that could be violated."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.events.gym_contracts import gym_contracts, sale_contract
from treaty.errors import InvalidDocument
from treaty.events.checks import CheckId
from treaty.events.cloud_events import render_cloud_event, render_payload
from treaty.events.deliberate_violations import violate
from treaty.events.generator import EventGenerator, GeneratedEvent, GenerationOptions


def violated(*checks: CheckId, count: int = 120) -> tuple[list[GeneratedEvent], list[GeneratedEvent]]:
    generator = EventGenerator(gym_contracts(), GenerationOptions(count))
    events = generator.generate()
    return events, violate(generator, events, checks)


def changed(before: list[GeneratedEvent], after: list[GeneratedEvent]) -> list[GeneratedEvent]:
    known = Counter(map(render_cloud_event, before))
    return [event for event in after if not known[render_cloud_event(event)]]


@pytest.mark.parametrize(
    ("check", "added"),
    [
        (CheckId.READABLE, 1),
        (CheckId.FIELDS, 0),
        (CheckId.TIME_ZONE, 0),
        (CheckId.RULES, 0),
        (CheckId.CLOSED, 0),
        (CheckId.EXCLUSIONS, 0),
        (CheckId.IDENTITY, 1),
        (CheckId.CONFLICT, 1),
        (CheckId.GAPS, 0),
        (CheckId.EVENT_TYPE, 1),
        (CheckId.MOVE, 1),
        (CheckId.INVARIANT, 0),
    ],
)
def test_a_violation_changes_or_adds_one_event(check: CheckId, added: int) -> None:
    before, after = violated(check)

    assert len(after) == len(before) + added
    assert len(changed(before, after)) == 1


def test_events_are_swapped() -> None:
    before, after = violated(CheckId.SEQUENCE)
    keys = {one.key for one, other in zip(before, after, strict=True) if one.id != other.id and one.key == other.key}
    late = [event for event in changed(before, after) if event.key in keys]

    assert len(after) == len(before)
    assert len(late) == 1
    assert [one.values["eventSequence"] for one in after if one.key == late[0].key][-2:] == [
        late[0].values["eventSequence"] + 1,
        late[0].values["eventSequence"],
    ]


def test_all_violations_at_once_are_of_different_keys() -> None:
    checks = [check for check in CheckId if check not in (CheckId.DUPLICATES, CheckId.LATENCY, CheckId.PARTITION)]
    before, after = violated(*checks, count=80)

    assert len({event.key for event in changed(before, after)}) == len(checks)


def test_a_record_is_cut_off() -> None:
    before, after = violated(CheckId.READABLE)

    payload = render_payload(changed(before, after)[0])

    with pytest.raises(ValueError, match=r"Unterminated|Expecting|delimiter"):
        json.loads(payload)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (CheckId.DUPLICATES, "delivery.duplicates cannot be violated: at_least_once allows an event to repeat"),
    ],
)
def test_what_the_contracts_do_not_promise_cannot_be_violated(check: CheckId, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        violated(check)


def test_a_stream_that_leaves_no_room_for_a_violation_is_refused() -> None:
    generator = EventGenerator([sale_contract()], GenerationOptions(1))

    with pytest.raises(InvalidDocument, match=r"no key of 1 generated events can violate ordering\.gaps"):
        violate(generator, generator.generate(), [CheckId.GAPS])
