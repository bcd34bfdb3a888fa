"""Two publishers of the same facts are interchangeable; otherwise the first difference has its key and field."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.spark.test_certification import CONTRACTS, GOOD, NOW, event, write
from treaty.events.comparison import Comparison, DifferenceKind
from treaty.spark.event_records import Transport, read_record_files
from treaty.spark.publisher_comparison import compare_publishers


def compared(spark: SparkSession, folder: Path, left: Iterable[Any], right: Iterable[Any]) -> Comparison:
    sides = [
        read_record_files(spark, write(folder / name, records), Transport(name))
        for name, records in (("native.jsonl", left), ("adapter.jsonl", right))
    ]
    return compare_publishers(sides[0], sides[1], CONTRACTS, ("native", "adapter"), NOW)


def test_publishers_that_differ_in_what_is_left_open_are_interchangeable(spark: SparkSession, tmp_path: Path) -> None:
    """Times of events, numbers of the sequence, redeliveries and the order across keys may differ."""
    other = [event("ClassPublished", "b", 1), event("ClassCancelled", "b", 2)]
    later = {"occurredAt": "2026-11-01T10:00:07+00:00"}
    moved = [
        event("ClassPublished", "b", 5),
        event("ClassPublished", "good", 1, **later),
        event("ClassPublished", "good", 1, **later),
        event("ClassCancelled", "b", 6),
        event("ClassUpdated", "good", 2, capacity=12),
        event("ClassCancelled", "good", 3),
    ]

    found = compared(spark, tmp_path, [*GOOD, *other], moved)

    assert found.differences == ()
    assert found.interchangeable
    assert (found.left.events, found.right.events, found.right.keys) == (6, 6, 2)


def test_every_difference_has_its_first_key(spark: SparkSession, tmp_path: Path) -> None:
    both = ["f1", "f2", "longer", "shorter", "type", "end"]
    left = [event("ClassPublished", key, 1) for key in [*both, "gone"]]
    right = [event("ClassPublished", key, 1) for key in [*both, "new"]]
    left += [event("ClassUpdated", "f1", 2, coach={"coachId": "x"}), event("ClassUpdated", "f2", 2)]
    right += [
        event("ClassUpdated", "f1", 2, coach={"coachId": "y"}),
        event("ClassUpdated", "f2", 2, coach={"coachId": "z"}),
    ]
    left += [event("ClassCancelled", "longer", 2), event("ClassUpdated", "type", 2)]
    right += [event("ClassCancelled", "shorter", 2), event("ClassCancelled", "type", 2)]

    found = compared(spark, tmp_path, left, right)

    assert {
        one.kind: (one.count, one.event_type, one.field, one.key, one.position, one.left, one.right)
        for one in found.differences
    } == {
        DifferenceKind.KEY_MISSING: (1, None, None, "gone", None, None, None),
        DifferenceKind.KEY_EXTRA: (1, None, None, "new", None, None, None),
        DifferenceKind.EVENT_MISSING: (1, "ClassCancelled", None, "longer", 2, "ClassCancelled", None),
        DifferenceKind.EVENT_EXTRA: (1, "ClassCancelled", None, "shorter", 2, None, "ClassCancelled"),
        DifferenceKind.EVENT_TYPE: (1, "ClassUpdated", None, "type", 2, "ClassUpdated", "ClassCancelled"),
        DifferenceKind.FIELD: (2, "ClassUpdated", "coach.coachId", "f1", 2, "x", "y"),
    }
    assert not found.interchangeable


def test_optional_fields_may_be_absent_in_single_events_but_not_be_distributed_otherwise(
    spark: SparkSession, tmp_path: Path
) -> None:
    named = {"coachId": "x", "coachName": "Robin"}
    left = [
        event("ClassPublished", str(n), 1, coach=named, **({"correlationId": "c"} if n % 2 else {})) for n in range(200)
    ]
    right = [event("ClassPublished", str(n), 1, **({} if n % 2 else {"correlationId": "c"})) for n in range(200)]

    (found,) = compared(spark, tmp_path, left, right).differences

    assert (found.kind, found.event_type, found.field) == (
        DifferenceKind.DISTRIBUTION,
        "ClassPublished",
        "coach.coachName",
    )
    assert (found.left, found.right) == ("100.0 % have it", "0.0 % have it")
