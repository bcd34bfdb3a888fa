"""The fold over the events of a key judges them as the state machine does, whichever order they arrive in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.contracts import contract_from
from treaty.contracts.event_lifecycles import Invariant
from treaty.events import KeyEvent, streams_of
from treaty.spark.stream_rules import EventColumns, StreamFlag, StreamRules, stream_rules

FIELDS = [
    {"name": "id", "logicalType": "string"},
    {"name": "seq", "logicalType": "integer"},
    {"name": "n", "logicalType": "integer"},
]
GROWS = {"name": "grows", "sql": "current.n >= previous.n"}
ODD = {"name": "odd", "sql": "current.n % 2 = 1", "severity": "warning"}
LIFECYCLES = {
    "Published": {"moves": [{"to": "published"}], "invariants": [ODD]},
    "Updated": {
        "moves": [{"from": "published", "to": "updated"}, {"from": "updated", "to": "updated"}],
        "invariants": [GROWS],
    },
    "Cancelled": {"moves": [{"from": "published", "to": "withdrawn"}, {"from": "updated", "to": "cancelled"}]},
    "Viewed": {"invariants": [GROWS, ODD]},
}
CONTRACTS = [
    contract_from(
        {
            "apiVersion": "v3.2.0",
            "kind": "DataContract",
            "id": f"gym.{name}",
            "version": "1.0.0",
            "event": {"type": name},
            "ordering": {"key": ["id"], "sequence": "seq"},
            "lifecycle": {"stream": "classes", **lifecycle},
            "schema": [{"name": name, "properties": FIELDS}],
        }
    )
    for name, lifecycle in LIFECYCLES.items()
]
STREAM = streams_of(CONTRACTS)["classes"]
MACHINE = STREAM.machine
Events = Sequence[tuple[str, int, int | None]]
"""Type, sequence and `n` of the events of a key."""


def holds(invariant: Invariant, previous: KeyEvent | None, current: KeyEvent) -> bool | None:
    """The invariants in Python; a comparison with a missing number is unknown."""
    n = current.values["n"]
    if invariant.name == "odd":
        return None if n is None else n % 2 == 1
    before = previous.values["n"] if previous else None
    return None if n is None or before is None else n >= before


def fold(spark: SparkSession, keys: Sequence[Events], rules: StreamRules) -> dict[int, Any]:
    """Return the result of the fold for each key; events arrive in the order in which they are listed."""
    rows = [
        (key, place, name, sequence, n)
        for key, events in enumerate(keys)
        for place, (name, sequence, n) in enumerate(events)
    ]
    frame = spark.createDataFrame(rows, "key INT, arrival INT, type STRING, seq BIGINT, n INT")
    columns = EventColumns(F.col("seq"), F.col("arrival"), F.xxhash64("n"), F.lit(0), F.lit(None).cast("string"))
    parts = [
        frame.where(F.col("type") == F.lit(name)).select("key", rules.event(name, columns, ["n"]).alias("event"))
        for name in rules.types
    ]
    events = parts[0]
    for part in parts[1:]:
        events = events.unionByName(part)
    kind: Any = events.schema["event"].dataType
    folded = events.groupBy("key").agg(F.collect_list("event").alias("events"))
    return {row["key"]: row["fold"] for row in folded.select("key", rules.fold("events", kind).alias("fold")).collect()}


TYPES = st.sampled_from(tuple(LIFECYCLES))
NUMBERS = st.one_of(st.none(), st.integers(0, 4))
KEYS = st.lists(
    st.lists(st.tuples(TYPES, st.integers(1, 9), NUMBERS), min_size=1, max_size=7, unique_by=lambda one: one[:2]),
    min_size=20,
    max_size=40,
)


@settings(max_examples=6, deadline=None)
@given(KEYS)
def test_the_fold_and_the_state_machine_agree(spark: SparkSession, keys: list[Events]) -> None:
    rules = stream_rules(CONTRACTS, STREAM, is_counted=True)

    folded = fold(spark, keys, rules)

    for number, events in enumerate(keys):
        ordered = MACHINE.in_order(KeyEvent(name, sequence, {"n": n}) for name, sequence, n in events)
        judged = MACHINE.judge(ordered, holds)
        expected = [
            (one.event.type, str(one.event.sequence), sorted(violation.rule for violation in one.violations))
            for one in judged
            if one.violations
        ]
        found = [
            (rules.types[one["type"]], one["sequence"], sorted(violated(rules, one["flags"])))
            for one in folded[number]["found"]
            if violated(rules, one["flags"])
        ]
        last = folded[number]["state"]
        assert found == expected
        assert (rules.states[last] if last >= 0 else None) == judged[-1].after


def violated(rules: StreamRules, flags: int) -> list[str]:
    """Return the ids of the rules of the life cycle that an event with these flags violates."""
    moved = ["lifecycle.move"] if flags & StreamFlag.MOVE else []
    return [*moved, *(f"lifecycle.invariant.{rule.invariant.name}" for rule in rules.broken(flags))]


def test_redeliveries_gaps_and_the_order_of_arrival_are_found(spark: SparkSession) -> None:
    repeated = [("Published", 1, 1), ("Published", 1, 1), ("Updated", 2, 1), ("Published", 1, 2), ("Updated", 2, 1)]
    swapped = [("Published", 1, 1), ("Updated", 3, 1), ("Updated", 2, 1), ("Updated", 4, 1)]
    gapped = [("Published", 1, 1), ("Updated", 4, 1), ("Viewed", 4, 1), ("Updated", 5, 1)]
    single = stream_rules(CONTRACTS, STREAM, is_counted=True, single=frozenset({"Updated"}))

    folded = fold(spark, [repeated, swapped, gapped], single)

    assert [entries(folded[key]) for key in range(3)] == [
        [("1", StreamFlag.CONFLICT, "1"), ("2", StreamFlag.DUPLICATE, "2")],
        [("3", StreamFlag.SEQUENCE, "2")],
        [("4", StreamFlag.GAP, "1")],
    ]
    assert [folded[key]["duplicates"] for key in range(3)] == [2, 0, 0]


def entries(folded: Any) -> list[tuple[str, int, str | None]]:
    """Return sequence, flags and last sequence of what was found."""
    return [(one["sequence"], one["flags"], one["last"]) for one in folded["found"]]
