"""Topics in a pipeline: the same tables as from files, whatever is repeated, reordered, interrupted or broken."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.kafka import Kafka, Record
from tests.pipeline.run.kiosk import PARTITIONS, Killed, Kiosk, open_kiosk, open_topic_kiosk, ordered, paid
from treaty.kafka.broker import HOST, free_port, start_broker, stop_broker
from treaty.pipeline.quarantine import EventQuarantine
from treaty.pipeline.run import RunOptions

UP_TO_BOOKS = RunOptions(("+books",), max_parallel_steps=1)
WAVES: Sequence[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = (
    (
        [ordered(1, "A", 1, 10), ordered(2, "B", 1, 20), ordered(3, "C", 1, 30), ordered(1, "A", 1, 10)],
        [paid(1, "A", 10), paid(2, "B", 25), paid(2, "B", 25)],
    ),
    (
        [ordered(5, "B", 3, 25), ordered(4, "B", 2, 22), ordered(3, "C", 1, 30), ordered(6, "D", 1, 40)],
        [paid(4, "D", 40), paid(3, "C", 29), paid(1, "A", 10)],
    ),
)
"""Orders and payments: repeated in a wave and across waves, late, and unsettled."""


@pytest.fixture
def own_broker(tmp_path: Path) -> Iterator[Kafka]:
    """A broker that the test may stop."""
    port = free_port()
    start_broker(tmp_path / "broker", port)
    yield Kafka(f"{HOST}:{port}", "")
    stop_broker(tmp_path / "broker")


def test_topics_give_the_tables_that_files_give(spark: SparkSession, tmp_path: Path, own_broker: Kafka) -> None:
    from_files = open_kiosk(spark, tmp_path / "files", "from_files")
    from_topics, topics = open_topic_kiosk(spark, tmp_path / "topics", "from_topics", own_broker)
    for wave, (orders, payments) in enumerate(WAVES):
        from_files.deliver("ordered", orders)
        from_files.deliver("paid", payments)
        own_broker.produce(topics["ordered"], _shuffled(orders, wave))
        own_broker.produce(topics["paid"], _shuffled(payments, wave))
        stop_broker(tmp_path / "broker")
        start_broker(tmp_path / "broker", int(own_broker.bootstrap.rpartition(":")[2]))
        assert from_topics.run(UP_TO_BOOKS).succeeded
    assert from_files.run(UP_TO_BOOKS).succeeded

    for table in ("products.payments", "reconciliation.sales", "publications.books_v1"):
        assert from_topics.current_rows(table) == from_files.current_rows(table), table
    assert from_topics.rows("products.orders", "order_id", "amount", "_events") == from_files.rows(
        "products.orders", "order_id", "amount", "_events"
    )
    assert _open_exceptions(from_topics) == _open_exceptions(from_files) != []
    for source, fields in {"ordered": ("event", "order_id", "number", "amount"), "paid": ("event", "amount")}.items():
        events = f"events.{source}"
        assert from_topics.rows(events, *fields, "_outcome") == from_files.rows(events, *fields, "_outcome")


def test_interrupted_runs_neither_lose_nor_double_records(spark: SparkSession, tmp_path: Path, kafka: Kafka) -> None:
    kiosk, topics = open_topic_kiosk(spark, tmp_path, "dying_topics", kafka)
    wave, boundary, produced = 0, 1, 0
    steps = RunOptions(("+orders",), max_parallel_steps=1)
    while True:
        wave += 1
        orders = [ordered(10 * wave + n, "ABCD"[n], wave, 10 * wave + n) for n in range(4)]
        kafka.produce(topics["ordered"], [*_shuffled([*orders, orders[0]], wave), b"{torn"])
        produced += 6
        try:
            kiosk.run(steps, stop_at=boundary)
            break
        except Killed:
            boundary += 4
    assert boundary > 8, "no run was interrupted after its first steps"
    raw = kiosk.tables.read("raw.ordered").select("partition", "position").collect()
    assert len(raw) == len({tuple(row) for row in raw}) == produced
    outcomes = [outcome for (outcome,) in kiosk.rows("events.ordered", "_outcome")]
    assert {name: outcomes.count(name) for name in set(outcomes)} == {
        "accepted": 4 * wave,
        "duplicate": wave,
        "quarantined": wave,
    }
    survived = kiosk.current_rows("products.orders")

    kiosk.run(RunOptions(("+orders",), rebuild=True, from_raw=True, max_parallel_steps=1))

    assert kiosk.current_rows("products.orders") == survived


def test_poison_is_quarantined_with_its_place_and_bytes(spark: SparkSession, tmp_path: Path, kafka: Kafka) -> None:
    kiosk, topics = open_topic_kiosk(spark, tmp_path, "poison", kafka)
    big = b'{"event": "' + b"x" * 10_000_000
    poison = [b"", None, b'\xff\xfe{"event"', b'{"event": "o1", "order_id"', big]
    good = json.dumps(ordered(1, "A", 1, 10)).encode()
    kafka.produce(topics["ordered"], [*[Record(value, b"k", 1) for value in poison], Record(good, partition=1)])

    summary = kiosk.run(RunOptions(("+orders",), max_parallel_steps=1))

    assert summary.succeeded
    assert kiosk.rows("products.orders", "order_id", "amount") == [("A", "10.00")]
    rows = list(EventQuarantine.find(kiosk.tables.catalog, "ordered").rows(None))
    records = [row.record for row in rows if row.record is not None]
    assert [(record.partition, record.offset, record.value) for record in records] == [
        (1, offset, value) for offset, value in enumerate(poison)
    ]
    rules = [violation.rule for row in rows for violation in row.violations]
    assert rules == ["empty_value", "tombstone", "invalid_utf8", "malformed", "malformed"]
    assert rows[3].place == f"offset 3 of partition 1 of topic {topics['ordered']}"
    shown = rows[0].as_data()
    assert (shown["topic"], shown["partition"], shown["offset"], shown["value_base64"]) == (topics["ordered"], 1, 0, "")


def _open_exceptions(kiosk: Kiosk) -> list[tuple[str, ...]]:
    rows = kiosk.rows("reconciliation.sales_exceptions", "order_id", "assertion", "reason_class", "owner", "state")
    return [row for row in rows if row[-1] != "resolved"]


def _shuffled(events: Sequence[dict[str, Any]], wave: int) -> list[Record]:
    """Spread events over the partitions in another order, so that repeated ones are far apart."""
    values = [json.dumps(event).encode() for event in events]
    return [Record(value, partition=(number + wave) % PARTITIONS) for number, value in enumerate(reversed(values))]
