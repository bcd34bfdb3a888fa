"""Generated streams conform to their contracts: life cycle, order, rules, invariants and types of values."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.events.gym_contracts import SALE_FIELDS, SUM_RULE, event_contract, gym_contracts, sale_contract
from treaty.errors import InvalidDocument
from treaty.events import KeyEvent, streams_of
from treaty.events.cloud_events import render_cloud_event, render_plain
from treaty.events.generator import EventGenerator, GeneratedEvent, GenerationOptions

GYM = gym_contracts()


def generate(count: int = 200, seed: str = "", contracts: Any = GYM, **options: Any) -> list[GeneratedEvent]:
    return EventGenerator(contracts, GenerationOptions(count, seed, **options)).generate()


def by_key(events: list[GeneratedEvent]) -> dict[str, list[GeneratedEvent]]:
    found = defaultdict(list)
    for event in events:
        found[event.key].append(event)
    return found


@given(seed=st.text(max_size=5), count=st.integers(1, 120))
@settings(max_examples=20, deadline=None)
def test_every_key_goes_through_its_life_cycle_in_order_without_gaps(seed: str, count: int) -> None:
    events = generate(count, seed)
    machine = streams_of(GYM)["classes"].machine

    assert len(events) == count
    for group in by_key(events).values():
        sequences = [event.values["eventSequence"] for event in group]
        judged = machine.judge(KeyEvent(event.type, event.values["eventSequence"]) for event in group)
        assert sequences == list(range(1, len(group) + 1))
        assert [one.violations for one in judged] == [()] * len(group)
        assert group[-1].state == judged[-1].after


@given(seed=st.text(max_size=5))
@settings(max_examples=10, deadline=None)
def test_rules_and_invariants_hold(seed: str) -> None:
    for group in by_key(generate(150, seed)).values():
        before: dict[str, Any] = {}
        for event in group:
            now = dict(event.values)
            if event.type != "ClassCancelled":
                assert now["bookingOpensAt"] < now["bookingClosesAt"]
                assert now["occurredAt"] <= now["scheduledStart"] < now["scheduledEnd"]
            if before:
                assert now["tenantId"] == before["tenantId"]
                assert now.get("capacity", 10**9) >= before["capacity"]
            before = now if event.type != "ClassCancelled" else before


def test_sums_of_a_rule_are_solved() -> None:
    contract = sale_contract(
        schema=[{"name": "sales", "properties": SALE_FIELDS, "quality": [{**SUM_RULE, "mustBe": True}]}]
    )

    events = generate(80, contracts=[contract], null_share=0)

    assert all(one.values["gross"] == one.values["net"] + one.values["tax"] for one in events)


def test_the_same_seed_gives_the_same_stream() -> None:
    assert generate(50, "a") == generate(50, "a")
    assert generate(50, "a") != generate(50, "b")


def test_all_event_types_are_generated_and_times_follow_the_interval() -> None:
    events = generate(60, start=datetime(2026, 5, 1, tzinfo=UTC), interval=timedelta(seconds=2))

    assert {event.type for event in events} == {"ClassPublished", "ClassUpdated", "ClassCancelled"}
    assert events[3].sent_at == events[3].values["occurredAt"] == datetime(2026, 5, 1, 0, 0, 6, tzinfo=UTC)


def test_values_of_all_types_are_written_as_json() -> None:
    events = generate(40, contracts=[sale_contract()], null_share=0)
    first = json.loads(render_plain(events[0]))

    assert {name: type(value).__name__ for name, value in first.items()} == {
        "saleId": "str",
        "step": "int",
        "closedAt": "str",
        "net": "float" if isinstance(first["net"], float) else "int",
        "tax": "float" if isinstance(first["tax"], float) else "int",
        "gross": "float" if isinstance(first["gross"], float) else "int",
        "ratio": "float",
        "currency": "str",
        "channel": "str",
        "day": "str",
        "shownAt": "str",
        "isGift": "bool",
        "seal": "str",
        "ticket": "str",
        "lines": "list",
    }
    assert first["closedAt"] == "2026-01-01T00:00:00Z"
    assert not first["shownAt"].endswith("Z")
    assert all(len(event.values["currency"]) == 3 for event in events)


def test_optional_values_are_null_in_a_share_of_the_events() -> None:
    def nulls(share: float) -> int:
        return sum(
            one.values["channel"] is None for one in generate(100, contracts=[sale_contract()], null_share=share)
        )

    assert nulls(0) == 0
    assert nulls(1) == 100
    assert 10 < nulls(0.5) < 90


def test_a_cloud_event_has_the_type_the_key_and_the_event() -> None:
    event = generate(1)[0]

    envelope = json.loads(render_cloud_event(event))

    assert envelope["data"]["classId"] == envelope["subject"] == envelope["partitionkey"] == "class000000"
    assert (envelope["specversion"], envelope["type"]) == ("1.0", "ClassPublished")
    assert json.loads(render_plain(event, "kind")) == {"kind": "ClassPublished", **envelope["data"]}


def test_a_rule_that_only_spark_can_evaluate_is_named() -> None:
    rule = {"name": "spark", "type": "sql", "query": "datediff(day, closedAt, shownAt) < 9", "mustBe": True}
    generator = EventGenerator(
        [event_contract(SALE_FIELDS, schema=[{"name": "s", "properties": SALE_FIELDS, "quality": [rule]}])],
        GenerationOptions(5),
    )
    generator.generate()

    assert dict(generator.unevaluated) == {"spark": "datediff can only be evaluated by Spark"}


@pytest.mark.parametrize(
    ("contracts", "count", "message"),
    [
        (GYM[1:2], 5, "ClassUpdated cannot be the first event of a key in the stream classes"),
        (GYM, 0, "between 1 and 1,000,000 events can be generated, not 0"),
        ([*GYM, GYM[0]], 5, "two of the contracts are about ClassPublished"),
        ([event_contract([])], 5, "shop.SaleClosed has no fields"),
        (
            [
                event_contract(
                    [{"name": "id", "logicalType": "string", "enum": [{"value": "a"}], "primaryKey": True}],
                )
            ],
            5,
            "shop.SaleClosed allows only 1 keys of id; generate fewer events",
        ),
        (
            [event_contract(SALE_FIELDS, ordering={"key": ["sale"], "sequence": "step"})],
            5,
            "shop.SaleClosed is ordered by 'sale', which is not one of its fields",
        ),
        (
            [
                event_contract(
                    [],
                    schema=[
                        {
                            "name": "s",
                            "properties": SALE_FIELDS,
                            "quality": [{"name": "never", "type": "sql", "query": "net < 0", "mustBe": True}],
                        }
                    ],
                )
            ],
            5,
            "no values were found that satisfy the rule never of shop.SaleClosed",
        ),
    ],
)
def test_what_cannot_be_generated_is_said(contracts: Any, count: int, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        generate(count, contracts=contracts, null_share=0)
