"""What a run reads of topics, given what earlier runs have read."""

from __future__ import annotations

import pytest

from treaty.errors import Conflict
from treaty.kafka.topics import OffsetRange, TopicState
from treaty.pipeline.project.declarations import Starting
from treaty.pipeline.sources.kafka import NewRecords, TopicProgress, find_new_records


def _find(
    *partitions: tuple[int, int], known: dict[int, int] | None = None, starting: Starting = Starting.EARLIEST
) -> NewRecords:
    topic = TopicState("orders", "id-1", {part: OffsetRange(*offsets) for part, offsets in enumerate(partitions)})
    progress = None if known is None else {"orders": TopicProgress("id-1", known)}
    return find_new_records([topic], progress, starting, "raw.orders")


def test_the_first_run_reads_what_is_there_or_only_what_follows() -> None:
    everything = _find((3, 10), (0, 0))
    assert everything.ranges == {"orders": {0: OffsetRange(3, 10)}}
    assert everything.progress == {"orders": TopicProgress("id-1", {0: 10, 1: 0})}
    assert everything.count == 7

    later = _find((3, 10), (0, 0), starting=Starting.LATEST)
    assert (later.ranges, later.progress) == ({}, everything.progress)


def test_later_runs_continue_and_read_added_partitions_from_their_beginning() -> None:
    new = _find((0, 12), (0, 5), known={0: 10}, starting=Starting.LATEST)

    assert new.ranges == {"orders": {0: OffsetRange(10, 12), 1: OffsetRange(0, 5)}}
    assert new.progress == {"orders": TopicProgress("id-1", {0: 12, 1: 5})}
    assert _find((0, 12), (0, 5), known={0: 12, 1: 5}).ranges == {}


def test_deleted_records_are_named() -> None:
    new = _find((12, 20), (5, 5), known={0: 10, 1: 4})

    assert list(map(str, new.lost)) == [
        "offsets 10 to 11 of partition 0 of orders",
        "offset 4 of partition 1 of orders",
    ]
    assert new.ranges == {"orders": {0: OffsetRange(12, 20)}}
    assert new.progress == {"orders": TopicProgress("id-1", {0: 20, 1: 5})}


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        (
            TopicState("orders", "id-2", {0: OffsetRange(0, 9)}),
            r"orders was deleted and created again \(its id was id-1 and is id-2\), .*raw.orders; declare the new",
        ),
        (
            TopicState("orders", "id-1", {0: OffsetRange(0, 2)}),
            "partition 0 ends at offset 2, and 4 was to be read next",
        ),
    ],
)
def test_a_topic_that_was_created_again_is_refused(topic: TopicState, message: str) -> None:
    with pytest.raises(Conflict, match=message):
        find_new_records([topic], {"orders": TopicProgress("id-1", {0: 4})}, Starting.EARLIEST, "raw.orders")
