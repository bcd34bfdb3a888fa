"""Generated streams certify, and every deliberate violation is found by the check that it names and by no other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests.events.gym_contracts import SALE_FIELDS, SUM_RULE, gym_contracts, sale_contract
from treaty.contracts import Contract
from treaty.events.certification import Certification
from treaty.events.checks import CheckId
from treaty.events.cloud_events import render_payload
from treaty.events.deliberate_violations import violate
from treaty.events.generator import EventGenerator, GeneratedEvent, GenerationOptions
from treaty.spark.certification import certify
from treaty.spark.event_records import Transport, read_capture

NOW = datetime(2026, 11, 19, 8, 0, tzinfo=UTC)
PARTITIONS = 64
SALES = [
    sale_contract(schema=[{"name": "sales", "properties": SALE_FIELDS, "quality": [{**SUM_RULE, "mustBe": True}]}])
]
NOT_OF_SALES = {CheckId.MOVE, CheckId.INVARIANT}
NOT_OF_THE_GYM = {CheckId.DUPLICATES}
LATE = {CheckId.LATENCY}
"""A late stream has all its events late, so it is certified by itself."""


def certified(
    spark: SparkSession, folder: Path, events: Iterable[GeneratedEvent], contracts: Sequence[Contract]
) -> Certification:
    """Certify events as a topic delivers them, each 100 ms after it was sent."""
    path = folder / "records.json"
    lines = (
        {
            "payload": render_payload(event),
            "type": event.type,
            "arrived_at": (event.sent_at + timedelta(milliseconds=100)).isoformat(),
            "partition": str(crc32(event.partition_key.encode()) % PARTITIONS),
        }
        for event in events
    )
    path.write_text("\n".join(map(json.dumps, lines)))
    transport = Transport("generated", has_arrival_times=True, has_partitions=True)
    return certify(read_capture(spark, str(path), transport), contracts, "generated", NOW)


def failures(found: Certification) -> dict[CheckId, int]:
    return {result.id: result.count for result in found.failures}


def expected(
    before: Sequence[GeneratedEvent], after: Sequence[GeneratedEvent], checks: Iterable[CheckId]
) -> dict[CheckId, int]:
    """Each check finds one event, except for wrong clocks, whose events are all ahead, and other partitions."""
    counts = dict.fromkeys(checks, 1)
    if CheckId.CLOCK in counts:
        counts[CheckId.CLOCK] = sum(next(iter(_times(event))).year > 2100 for event in after)
    if CheckId.PARTITION in counts:
        counts[CheckId.PARTITION] = sum(event.partition_key != event.key for event in after)
    return counts


def _times(event: GeneratedEvent) -> Iterable[datetime]:
    return (event.values[name] for name in ("occurredAt", "closedAt") if name in event.values)


@pytest.mark.parametrize(
    ("contracts", "absent"), [(gym_contracts(), NOT_OF_THE_GYM), (SALES, NOT_OF_SALES)], ids=["gym", "sales"]
)
def test_every_violation_is_found_by_its_check_only(
    spark: SparkSession, tmp_path: Path, contracts: list[Contract], absent: set[CheckId]
) -> None:
    checks = set(CheckId) - absent - LATE
    generator = EventGenerator(contracts, GenerationOptions(90, "violations"))
    events = generator.generate()

    clean = certified(spark, tmp_path, events, contracts)
    found = certified(spark, tmp_path, violated := violate(generator, events, list(checks)), contracts)

    assert failures(clean) == {}
    assert (clean.evidence.events, clean.unseen) == (90, ())
    assert failures(found) == expected(events, violated, checks)


@settings(max_examples=3, deadline=None)
@given(
    seed=st.text("abcdefgh", min_size=1, max_size=8),
    checks=st.sets(st.sampled_from(sorted(set(CheckId) - NOT_OF_THE_GYM - LATE)), min_size=1, max_size=4),
)
def test_any_violations_of_any_stream_are_found_by_their_checks_only(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, seed: str, checks: set[CheckId]
) -> None:
    contracts = gym_contracts()
    generator = EventGenerator(contracts, GenerationOptions(90, seed))
    events = generator.generate()

    violated = violate(generator, events, sorted(checks))
    found = certified(spark, tmp_path_factory.mktemp("stream"), violated, contracts)

    assert failures(found) == expected(events, violated, checks)


def test_late_streams_are_found_by_their_latency_only(spark: SparkSession, tmp_path: Path) -> None:
    contracts = gym_contracts()
    generator = EventGenerator(contracts, GenerationOptions(40))

    found = certified(spark, tmp_path, violate(generator, generator.generate(), [CheckId.LATENCY]), contracts)

    assert set(failures(found)) == LATE
