"""kill -9 of a run that reads topics, around the commit of its raw rows, with restarts of the broker in between."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.kafka import Kafka, Record
from tests.pipeline.run.killed_run import Moment, run_until_killed
from tests.pipeline.run.kiosk import PARTITIONS, Kiosk, open_topic_kiosk, ordered, paid
from treaty.kafka.broker import HOST, free_port, start_broker, stop_broker


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Kafka]:
    """A broker that the test may stop."""
    port = free_port()
    start_broker(tmp_path / "broker", port)
    yield Kafka(f"{HOST}:{port}", "")
    stop_broker(tmp_path / "broker")


def _produce(broker: Kafka, topics: dict[str, str], wave: int) -> None:
    """Produce three orders and their payments, one order twice, over all partitions."""
    names = [f"{name}{wave}" for name in "ABC"]
    orders = [ordered(10 * wave + n, name, 1, 10 * wave + n) for n, name in enumerate(names)]
    payments = [paid(10 * wave + n, name, 10 * wave + n) for n, name in enumerate(names)]
    for source, events in {"ordered": [*orders, orders[0]], "paid": payments}.items():
        values = [json.dumps(event).encode() for event in events]
        broker.produce(
            topics[source], [Record(value, partition=n % PARTITIONS) for n, value in enumerate(reversed(values))]
        )


def _places(kiosk: Kiosk, source: str) -> list[tuple[int, int]]:
    rows = kiosk.tables.read(f"raw.{source}").select("partition", "position").collect()
    return sorted((row["partition"], row["position"]) for row in rows)


def test_runs_killed_around_the_commit_of_raw_rows_lose_and_double_nothing(
    spark: SparkSession, tmp_path: Path, broker: Kafka
) -> None:
    kiosk, topics = open_topic_kiosk(spark, tmp_path / "kiosk", "killed_topics", broker)
    read: dict[Moment, tuple[int, int]] = {}
    for wave, moment in enumerate((Moment.RAW_STAGED, Moment.RAW_PUBLISHED), start=1):
        _produce(broker, topics, wave)
        killed = run_until_killed(kiosk, moment)
        assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
        read[moment] = len(_places(kiosk, "ordered")), len(_places(kiosk, "paid"))
        assert kiosk.tables.stamp("events.paid") is None
        stop_broker(tmp_path / "broker")
        start_broker(tmp_path / "broker", int(broker.bootstrap.rpartition(":")[2]))
    _produce(broker, topics, 3)

    summary = kiosk.run()

    assert summary.succeeded, [step.reasons for step in summary.unsuccessful]
    assert read == {Moment.RAW_STAGED: (4, 0), Moment.RAW_PUBLISHED: (8, 6)}
    assert _places(kiosk, "ordered") == [(0, n) for n in range(6)] + [(1, n) for n in range(3)] + [
        (2, n) for n in range(3)
    ]
    assert _places(kiosk, "paid") == [(part, n) for part in range(PARTITIONS) for n in range(3)]
    outcomes = [outcome for (outcome,) in kiosk.rows("events.ordered", "_outcome")]
    assert (outcomes.count("accepted"), outcomes.count("duplicate"), len(outcomes)) == (9, 3, 12)
    assert kiosk.rows("publications.books_v1", "order_id", "amount", "is_paid") == [
        (f"{name}{wave}", f"{10 * wave + n}.00", "True") for n, name in enumerate("ABC") for wave in (1, 2, 3)
    ]
