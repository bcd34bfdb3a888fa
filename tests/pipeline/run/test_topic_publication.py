"""Runs with a publication as a topic: nothing is sent before the audit, and an interrupted run is made up for."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.kafka import Kafka
from tests.pipeline.run.killed_run import Moment, run_until_killed
from tests.pipeline.run.kiosk import Kiosk, books, contracts, open_kiosk, ordered, paid
from treaty.pipeline.run import RunSummary
from treaty.pipeline.run.summary import StepSummary


def _open(spark: SparkSession, folder: Path, kafka: Kafka, name: str, bootstrap: str = "") -> tuple[Kiosk, str]:
    kiosk = open_kiosk(spark, folder, name)
    topic = f"kiosk.books.{name}.{os.getpid()}"
    _publish_to(kiosk, topic, bootstrap or kafka.bootstrap)
    return kiosk, topic


def _publish_to(kiosk: Kiosk, topic: str, bootstrap: str) -> None:
    (kiosk.folder / "publications/books.yaml").write_text(
        "contract: kiosk.books@1\nfrom: [sales]\nsql: books.sql\nas: topic\n"
        f"topic: {{name: {topic}, bootstrap: '{bootstrap}'}}\n"
    )


def _sent(kafka: Kafka, topic: str) -> list[tuple[str, Any]]:
    return [
        ((key or b"").decode(), None if value is None else json.loads(value)["amount"])
        for key, value in kafka.consume(topic)
    ]


def _books(summary: RunSummary) -> StepSummary:
    return next(step for step in summary.steps if step.name == "books")


def test_only_audited_rows_are_sent_and_late_changes_follow(spark: SparkSession, tmp_path: Path, kafka: Kafka) -> None:
    kiosk, topic = _open(spark, tmp_path, kafka, "sending")
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10), ordered(2, "B", 1, 20)])
    kiosk.deliver("paid", [paid(1, "A", 10), paid(2, "B", 20)])
    first = _books(kiosk.run())
    kiosk.deliver("ordered", [ordered(3, "C", 1, 700)])  # more than the contract of the publication allows
    kiosk.deliver("paid", [paid(3, "C", 700)])
    refused = _books(kiosk.run())
    before = _sent(kafka, topic)
    kiosk.contracts = contracts(books=books(most=900))
    kiosk.deliver("ordered", [ordered(4, "B", 2, 20, withdrawn=True)])
    last = _books(kiosk.run())

    assert first.remarks == (f"sent 2 records to the topic {topic}",)
    assert refused.outcome.value == "refused by audit"
    assert before == [("A", 10.00), ("B", 20.00)]
    assert last.outcome.value == "done"
    assert sorted(_sent(kafka, topic)[2:], key=lambda record: record[0]) == [("B", None), ("C", 700.00)]


def test_rows_stay_published_if_the_brokers_cannot_be_reached_and_the_next_run_sends_them(
    spark: SparkSession, tmp_path: Path, kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.pipeline.sinks.topic.cluster.REQUEST_TIMEOUT_S", 2.0)
    kiosk, topic = _open(spark, tmp_path, kafka, "unreachable", "127.0.0.1:1")
    kiosk.deliver("ordered", [ordered(1, "A", 1, 10)])
    kiosk.deliver("paid", [paid(1, "A", 10)])
    failed = _books(kiosk.run())
    published = kiosk.rows("publications.books_v1", "order_id")
    _publish_to(kiosk, topic, kafka.bootstrap)
    made_up = _books(kiosk.run())

    assert failed.outcome.value == "failed"
    assert f"the brokers at 127.0.0.1:1 cannot be reached for the topic {topic}" in failed.reasons[0]
    assert published == [("A",)]
    assert (made_up.outcome.value, made_up.counts.published) == ("done", 0)
    assert _sent(kafka, topic) == [("A", 10.00)]


def test_a_run_killed_while_it_sends_is_made_up_for_by_the_next(
    spark: SparkSession, tmp_path: Path, kafka: Kafka
) -> None:
    kiosk, topic = _open(spark, tmp_path, kafka, "killed")
    kiosk.deliver("ordered", [ordered(number, f"O{number}", 1, number) for number in range(1, 6)])
    kiosk.deliver("paid", [paid(number, f"O{number}", number) for number in range(1, 6)])

    killed = run_until_killed(kiosk, Moment.SENDING)
    in_between = _sent(kafka, topic)
    kiosk.run()

    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    assert in_between == []
    assert _sent(kafka, topic) == [(f"O{number}", float(number)) for number in range(1, 6)]
