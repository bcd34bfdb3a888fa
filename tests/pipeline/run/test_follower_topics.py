"""Following topics: a record that arrives runs the steps that it reaches, and its row is sent on."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pyspark.sql import SparkSession

from tests.kafka import Kafka
from tests.pipeline.run.kiosk import books, contracts, open_kiosk, ordered, paid
from treaty.cli.follower import Follower
from treaty.pipeline.plan import plan
from treaty.pipeline.project import read_project
from treaty.pipeline.run import RunOptions


def test_a_record_runs_the_steps_that_it_reaches(spark: SparkSession, tmp_path: Path, kafka: Kafka) -> None:
    kiosk = open_kiosk(spark, tmp_path, "following")
    topics = {name: kafka.create_topic(name) for name in ("ordered", "paid")}
    for name, topic in topics.items():
        (tmp_path / f"sources/{name}.yaml").write_text(
            f"contract: kiosk.{name}@1\ntopic: {topic}\nbootstrap: {kafka.bootstrap}\nidentity: [event]\n"
        )
    sent_to = f"kiosk.books.following.{os.getpid()}"
    (tmp_path / "publications/books.yaml").write_text(
        "contract: kiosk.books@1\nfrom: [sales]\nsql: books.sql\nas: topic\n"
        f"topic: {{name: {sent_to}, bootstrap: '{kafka.bootstrap}'}}\n"
    )
    kiosk.contracts = contracts(books=books(latency={"profile": "real_time", "within": "5 s"}))
    kafka.produce(topics["ordered"], [json.dumps(ordered(1, "A", 1, 10)).encode()])
    kafka.produce(topics["paid"], [json.dumps(paid(1, "A", 10)).encode()])
    project = read_project(tmp_path)
    follower = Follower(project, plan(project, kiosk.contracts).steps, kiosk.tables.catalog, 3_600)

    kiosk.run()
    follower.note_run((), 0)
    kafka.produce(topics["ordered"], [json.dumps(ordered(2, "B", 1, 20)).encode()])
    due = follower.wait()
    kiosk.run(RunOptions(due, max_parallel_steps=1))
    follower.close()

    assert due == (
        "raw.ordered",
        "events.ordered",
        "products.orders",
        "reconciliation.sales",
        "publications.books_v1",
    )
    assert [(key, json.loads(value or b"{}")["is_paid"]) for key, value in kafka.consume(sent_to)] == [
        (b"A", True),
        (b"B", False),
    ]
