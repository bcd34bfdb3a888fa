"""`treaty run --follow`: which steps are due, and waking up when a record arrives."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from tests.kafka import Kafka
from tests.pipeline.projects import laid_out
from treaty.cli.follower import Follower
from treaty.contracts import load
from treaty.contracts.versions import Line
from treaty.kafka.arrivals import ArrivalWatch, Position
from treaty.kafka.connection import Connection
from treaty.pipeline.plan import plan
from treaty.pipeline.project import read_project
from treaty.pipeline.tables import TableCatalog
from treaty.spark.session_options import IcebergCatalog, SparkOptions

CONTRACT = """
apiVersion: v3.2.0
kind: DataContract
id: shop.{name}
version: 1.0.0
status: active
{latency}schema:
  - name: {name}
    properties:
      - {{name: id, logicalType: string, required: true, primaryKey: true}}
"""
TOPIC = "contract: shop.{name}@1\ntopic: {name}\nbootstrap: localhost:9092\n"
FILES = "contract: shop.{name}@1\nfiles: landing/{name}/*.jsonl\n"


def _follower(folder: Path, placed: str) -> Follower:
    promises = {
        "ready": "latency: {profile: real_time, within: 5 s}\n",
        "books": "latency: {profile: hourly, within: 1 h}\n",
    }
    names = ("placed", "returned", "ready", "books")
    files = {f"contracts/{name}.yaml": CONTRACT.format(name=name, latency=promises.get(name, "")) for name in names}
    laid_out(
        folder,
        {
            **files,
            "sources/placed.yaml": placed.format(name="placed"),
            "sources/returned.yaml": FILES.format(name="returned"),
            "publications/ready.yaml": "contract: shop.ready@1\nfrom: [placed]\n",
            "publications/books.yaml": "contract: shop.books@1\nfrom: [returned]\n",
        },
    )
    project = read_project(folder)
    contracts = {
        Line(f"shop.{name}", 1): load((folder / f"contracts/{name}.yaml").read_text()).contract for name in names
    }
    lake = IcebergCatalog(f"jdbc:sqlite:{folder / 'lake.db'}", str(folder / "lake"), name="lake")
    catalog = TableCatalog.from_options(SparkOptions(catalog=lake))
    follower = Follower(project, plan(project, contracts).steps, catalog, 10)
    follower.note_run((), 1_000)
    return follower


def test_a_project_without_topics_runs_as_a_whole_after_each_pause(tmp_path: Path) -> None:
    follower = _follower(tmp_path, FILES)
    assert follower.due_at(1_009.9) == ()
    assert follower.due_at(1_010) == tuple(step.table for step in follower.steps)


def test_steps_off_the_fast_path_run_on_the_schedule_of_their_contract(tmp_path: Path) -> None:
    follower = _follower(tmp_path, TOPIC)
    assert follower.due_at(1_011) == ()
    assert follower.due_at(1_000 + 1_800) == (
        "raw.returned",
        "events.returned",
        "products.returned_latest",
        "publications.books_v1",
    )


def test_a_run_of_some_steps_postpones_only_these(tmp_path: Path) -> None:
    follower = _follower(tmp_path, TOPIC)
    follower.note_run(("publications.books_v1",), 2_000)
    assert "publications.books_v1" not in follower.due_at(2_800)
    assert "raw.returned" in follower.due_at(2_800)


def test_a_record_ends_the_wait_for_the_source_that_reads_it(kafka: Kafka) -> None:
    topics = [kafka.create_topic("watched"), kafka.create_topic("quiet")]
    kafka.produce(topics[0], [b"read before"])
    positions = {kafka.bootstrap: [Position(topic, topic, 0, 1 - number) for number, topic in enumerate(topics)]}
    watch = ArrivalWatch([Connection(kafka.bootstrap)])

    nothing = watch.wait(positions, 0.2)
    threading.Timer(0.3, lambda: kafka.produce(topics[0], [b"new"])).start()
    started = time.monotonic()
    arrived = watch.wait(positions, 60)
    watch.close()

    assert nothing == frozenset()
    assert arrived == {topics[0]}
    assert time.monotonic() - started < 60


def test_a_backlog_of_one_topic_does_not_hide_the_records_of_another(kafka: Kafka) -> None:
    topics = [kafka.create_topic("busy"), kafka.create_topic("also_busy"), kafka.create_topic("quiet")]
    for topic in topics[:2]:
        kafka.produce(topic, [b"waiting"] * 2_000)
    watch = ArrivalWatch([Connection(kafka.bootstrap)])

    arrived = watch.wait({kafka.bootstrap: [Position(topic, topic, 0, 0) for topic in topics]}, 60)
    watch.close()

    assert arrived == set(topics[:2])
