"""The retailer's pipeline over topics: the same rows as from files, whatever is repeated or read in another order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.retail.topics import events_of, order_of
from tests.kafka import Kafka
from tests.pipeline.retail.observed_outcomes import PRODUCTS, SOURCES
from tests.pipeline.retail.retailer import NOW, SECRET, Retailer, open_retailer, plain
from treaty.cli.pipeline_project import open_project
from treaty.pipeline.run import RunEnvironment, run_project

TABLES = (
    *(f"products.{name}" for name in PRODUCTS),
    "reconciliation.commercial_order",
    "publications.finance_recognized_sale_v1",
    "publications.finance_recognized_sale_v2",
    "publications.fulfillment_order_ready_v1",
    "publications.customer_order_timeline_v1",
    "publications.marketplace_partner_order_export_v1",
    "publications.marketplace_partner_feed_v1",
)
REDELIVERED_EVERY = 10
"""The second producer sends every tenth event of the first again."""


@pytest.fixture(scope="module")
def from_topics(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, kafka: Kafka, retailer: Retailer
) -> Retailer:
    """The retailer with a topic for each event, after one run over both waves."""
    opened = open_retailer(spark, tmp_path_factory.mktemp("retail_topics"), "retail_topics")
    topics = {event: kafka.create_topic(event, 2, max_message_bytes="16000000") for event in _events(retailer)}
    for event, topic in topics.items():
        source = f"contract: {event}@1\ntopic: {topic}\nbootstrap: {kafka.bootstrap}\nidentity: [event_id]\n"
        (opened.folder / f"sources/{event.rpartition('.')[2]}.yaml").write_text(source)
    _produce(kafka, topics, retailer.landing)
    project = open_project(opened.folder, None)
    environment = RunEnvironment(hash_secret=SECRET)
    now = NOW + timedelta(days=2)
    opened.summaries.append(
        run_project(opened.tables, project.project, dict(project.contracts.by_line), environment=environment, now=now)
    )
    return opened


def _events(retailer: Retailer) -> list[str]:
    return sorted({event for event, _ in events_of(retailer.landing)})


def _produce(kafka: Kafka, topics: Mapping[str, str], landing: Path) -> None:
    """Produce both waves by order; meanwhile partitions are added, and another producer repeats what was sent.

    Events that follow the rebalance are in other partitions than earlier ones of the same order, and are therefore
    read before them or after them.
    """
    sent = [(topics[event], line) for event, line in events_of(landing)]
    half = len(sent) // 2
    kafka.produce_keyed((topic, order_of(line), line) for topic, line in sent[:half])
    for topic in topics.values():
        kafka.add_partitions(topic, 3)
    kafka.produce_keyed((topic, order_of(line), line) for topic, line in sent[:half:REDELIVERED_EVERY])
    kafka.produce_keyed((topic, order_of(line), line) for topic, line in sent[half:])


def _rows(retailer: Retailer, table: str) -> Counter[str]:
    """Return the rows that the next reader sees, without the columns that say how and when they were computed."""
    frame = retailer.tables.current_rows(table)
    names = [name for name in frame.columns if not name.startswith("_") or name == "_outcome"]
    rows = frame.select(*names).collect()
    return Counter(json.dumps(plain(row.asDict(recursive=True)), default=str, sort_keys=True) for row in rows)


def _open_exceptions(retailer: Retailer) -> list[tuple[str, ...]]:
    frame = retailer.tables.read("reconciliation.commercial_order_exceptions").where("state <> 'resolved'")
    kept = [name for name in frame.columns if name not in ("_run", "first_seen", "last_seen")]
    return sorted(tuple(map(str, row)) for row in frame.select(*kept).collect())


def _accepted(retailer: Retailer, source: str) -> Counter[str]:
    rows = retailer.tables.read(f"events.{source}").where("_outcome = 'accepted'").select("event_id").collect()
    return Counter(row["event_id"] for row in rows)


def _quarantined(retailer: Retailer, source: str) -> set[bytes]:
    """Return the lines that were quarantined; a line that is delivered again is quarantined again."""
    events = retailer.tables.read(f"events.{source}").where("_outcome = 'quarantined'")
    places = events.selectExpr("_source_file AS file", "_position AS position")
    rows = retailer.tables.read(f"raw.{source}").join(places, ["file", "position"]).select("payload").collect()
    return {bytes(row["payload"]) for row in rows}


def test_a_run_over_topics_succeeds_with_every_partition(from_topics: Retailer) -> None:
    (summary,) = from_topics.summaries
    partitions = from_topics.tables.read("raw.order_placed").select("partition").distinct().count()

    assert summary.succeeded, [step.reasons for step in summary.unsuccessful]
    assert partitions == 3


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_events_are_accepted_and_quarantined(retailer: Retailer, from_topics: Retailer, source: str) -> None:
    accepted = _accepted(from_topics, source)

    assert set(accepted.values()) == {1}
    assert accepted == _accepted(retailer, source)
    assert _quarantined(from_topics, source) == _quarantined(retailer, source)


def test_redelivered_events_are_duplicates(retailer: Retailer, from_topics: Retailer) -> None:
    def duplicates(opened: Retailer) -> int:
        return sum(opened.tables.read(f"events.{name}").where("_outcome = 'duplicate'").count() for name in SOURCES)

    assert duplicates(from_topics) > duplicates(retailer) + 100


@pytest.mark.parametrize("table", TABLES)
def test_tables_have_the_same_rows_as_from_files(retailer: Retailer, from_topics: Retailer, table: str) -> None:
    rows = _rows(from_topics, table)

    assert rows.total() > 10
    assert rows - _rows(retailer, table) == Counter()
    assert _rows(retailer, table) - rows == Counter()


def test_the_same_exceptions_are_open(retailer: Retailer, from_topics: Retailer) -> None:
    assert _open_exceptions(from_topics) == _open_exceptions(retailer) != []
