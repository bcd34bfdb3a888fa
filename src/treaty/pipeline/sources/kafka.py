"""Topics as a source: records that no run has read, up to the end that a run sees when it starts.

How far each partition was read is in the stamp of the raw rows, so that it is committed together with them. Spark reads
fixed ranges of offsets; its checkpoints and consumer groups are not used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.errors import Conflict, TreatyError
from treaty.kafka.connection import Connection, connect_with
from treaty.kafka.topics import OffsetRange, TopicReader, TopicState, no_permission
from treaty.pipeline.layers.raw import TOPIC_PARTITION, raw_rows
from treaty.pipeline.project.declarations import Kafka, LostOffsets, Source, Starting
from treaty.pipeline.sources.arrivals import ArrivalRequest, Arrivals
from treaty.pipeline.sources.ledger import Entry, FileOutcome
from treaty.pipeline.tables import Stamp
from treaty.spark.readers.read_errors import error_causes, explain_errors

PROGRESS = "topics"
"""The key in the stamp of what was read of each topic."""
_MAX_NAMED_RANGES = 5
_SMALL_RECORDS = 10_000
"""Up to this many new records are read by one task, and become one file of the raw table."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_READ_OPTIONS = {
    "includeHeaders": "true",
    "failOnDataLoss": "true",
    "kafka.isolation.level": "read_committed",
    "kafka.request.timeout.ms": "15000",
    "kafka.default.api.timeout.ms": "15000",
    "kafkaConsumer.pollTimeoutMs": "30000",
    "kafka.fetch.max.wait.ms": "10",  # the records are there; Spark's requests for offsets queue behind each wait
    "fetchOffset.numRetries": "1",
}


@dataclass(frozen=True)
class TopicProgress:
    """How far a topic was read: by partition, the offset of the next record."""

    id: str
    next: Mapping[int, int] = field(default_factory=dict)


def parse_progress(stamp: Stamp | None) -> dict[str, TopicProgress] | None:
    """Return the progress in the stamp of raw rows, by topic; None before the first run with topics."""
    text = stamp.extra.get(PROGRESS) if stamp else None
    if text is None:
        return None
    return {
        name: TopicProgress(entry["id"], {int(part): offset for part, offset in entry["next"].items()})
        for name, entry in json.loads(text).items()
    }


def format_progress(progress: Mapping[str, TopicProgress]) -> str:
    """Return the text for the stamp."""
    data = {
        name: {"id": topic.id, "next": {str(part): topic.next[part] for part in sorted(topic.next)}}
        for name, topic in sorted(progress.items())
    }
    return json.dumps(data, separators=(",", ":"))


@dataclass(frozen=True)
class LostRange:
    """Records that were deleted before a run could read them."""

    topic: str
    partition: int
    offsets: OffsetRange

    def __str__(self) -> str:
        count = self.offsets.length
        shown = (
            f"offset {self.offsets.first}" if count == 1 else f"offsets {self.offsets.first} to {self.offsets.end - 1}"
        )
        return f"{shown} of partition {self.partition} of {self.topic}"


@dataclass(frozen=True)
class NewRecords:
    """What a run reads: by topic and partition a range of offsets; the progress afterwards; and what was lost."""

    ranges: Mapping[str, Mapping[int, OffsetRange]]
    progress: Mapping[str, TopicProgress]
    lost: tuple[LostRange, ...] = ()

    @property
    def count(self) -> int:
        """Number of offsets to read; some may have no record, such as those of aborted transactions."""
        return sum(offsets.length for parts in self.ranges.values() for offsets in parts.values())


def find_new_records(
    topics: Sequence[TopicState], known: Mapping[str, TopicProgress] | None, starting: Starting, raw_table: str
) -> NewRecords:
    """Compare topics with the progress of earlier runs; only the first run starts at the latest records.

    A topic with another id, or with fewer records than were read, was created again and raises `Conflict`.
    """
    ranges: dict[str, dict[int, OffsetRange]] = {}
    progress = dict(known or {})
    lost: list[LostRange] = []
    for topic in topics:
        before = progress.get(topic.name)
        if before is not None and before.id != topic.id:
            raise Conflict(_created_again(topic.name, f"its id was {before.id} and is {topic.id}", raw_table))
        following: dict[int, int] = dict(before.next) if before else {}
        for part, available in topic.partitions.items():
            first = following.get(part)
            if first is None:
                is_skipped = known is None and starting is Starting.LATEST
                first = available.end if is_skipped else available.first
            elif first > available.end:
                why = f"partition {part} ends at offset {available.end}, and {first} was to be read next"
                raise Conflict(_created_again(topic.name, why, raw_table))
            elif first < available.first:
                lost.append(LostRange(topic.name, part, OffsetRange(first, available.first)))
                first = available.first
            following[part] = max(first, available.end)
            if first < available.end:
                ranges.setdefault(topic.name, {})[part] = OffsetRange(first, available.end)
        progress[topic.name] = TopicProgress(topic.id, following)
    return NewRecords(ranges, progress, tuple(lost))


def _created_again(topic: str, why: str, raw_table: str) -> str:
    return (
        f"topic {topic} was deleted and created again ({why}), and its records are not mixed with those in "
        f"{raw_table}; declare the new topic as a source with another name"
    )


def new_in_topics(spark: SparkSession, source: Source, origin: Kafka, request: ArrivalRequest) -> Arrivals:
    """Return the records that no run has read."""
    connection = connect_with(origin.bootstrap, origin.security, source.at, os.environ)
    known = parse_progress(request.before)
    topics = _describe_topics(connection, origin)
    new = find_new_records(topics, known, origin.starting, f"raw.{source.name}")
    if new.lost and origin.lost_offsets is LostOffsets.FAIL:
        raise Conflict(_lost_text(new.lost, origin, source.at))
    extra = {PROGRESS: format_progress(new.progress)}
    entries = tuple(_entries(new, request.arrived_at))
    if not new.ranges:
        return Arrivals(entries=entries, extra=extra, is_progress=new.progress != (known or {}))
    with explain_errors(f"topic {origin.topics} at {origin.bootstrap}"):
        records = _read_ranges(spark, connection, new)
        rows = raw_rows(records, source.name, request.run, request.arrived_at)
    rows = rows.coalesce(1) if new.count <= _SMALL_RECORDS else rows
    return Arrivals(rows, new.count, entries, extra=extra, read_again=_explain(connection, origin, source.at))


def _describe_topics(connection: Connection, origin: Kafka) -> tuple[TopicState, ...]:
    reader = TopicReader(connection)
    return reader.describe(reader.find(origin.topics, _matches(origin.pattern) if origin.pattern else None))


def _matches(pattern: str) -> Callable[[str], bool]:
    import re2

    compiled = re2.compile(pattern)
    return lambda name: compiled.fullmatch(name) is not None


def _read_ranges(spark: SparkSession, connection: Connection, new: NewRecords) -> DataFrame:
    def listed(value: Callable[[OffsetRange], int]) -> str:
        return json.dumps(
            {
                topic: {str(part): value(offsets) for part, offsets in parts.items()}
                for topic, parts in new.ranges.items()
            }
        )

    options = {
        "assign": json.dumps({topic: sorted(parts) for topic, parts in new.ranges.items()}),
        "startingOffsets": listed(lambda offsets: offsets.first),
        "endingOffsets": listed(lambda offsets: offsets.end),
    }
    records = spark.read.format("kafka").options(**_READ_OPTIONS, **connection.spark_options(), **options).load()
    return records.select(
        F.col("value").alias("payload"),
        F.concat(F.col("topic"), F.lit(TOPIC_PARTITION), F.col("partition").cast("string")).alias("file"),
        F.lit(None).cast("long").alias("file_size"),
        F.lit(None).cast("timestamp").alias("file_modified"),
        F.col("offset").alias("position"),
        _no_headers(),
        F.col("key"),
        F.col("topic"),
        F.col("partition"),
        F.col("timestamp").alias("broker_time"),
        F.col("headers").alias("record_headers"),
    )


def _no_headers() -> Column:
    return F.lit(None).cast("map<string,string>").alias("headers")


def _lost_text(lost: Sequence[LostRange], origin: Kafka, at: str) -> str:
    named = ", ".join(map(str, lost[:_MAX_NAMED_RANGES]))
    more = f" and {len(lost) - _MAX_NAMED_RANGES} more" if len(lost) > _MAX_NAMED_RANGES else ""
    return (
        f"records at {origin.bootstrap} were deleted before they were read: {named}{more}; to go on without them, set "
        f"lost_offsets: accept in {at}"
    )


def _entries(new: NewRecords, arrived_at: datetime) -> Iterator[Entry]:
    """Yield entries for the ledger: what is read of each partition, and what was lost."""
    seen = (arrived_at - _EPOCH) // timedelta(microseconds=1)
    for lost in new.lost:
        reason = f"offsets {lost.offsets.first} to {lost.offsets.end - 1} were deleted before they were read"
        name = f"{lost.topic}{TOPIC_PARTITION}{lost.partition}"
        yield Entry(name, None, seen, FileOutcome.LOST, reason)
    for topic, parts in new.ranges.items():
        for part, offsets in parts.items():
            reason = f"offsets {offsets.first} to {offsets.end - 1}"
            yield Entry(f"{topic}{TOPIC_PARTITION}{part}", None, seen, FileOutcome.READ, reason, rows=None)


def _explain(connection: Connection, origin: Kafka, at: str) -> Callable[[TreatyError], Arrivals]:
    """Return a function that raises the error of a failed reading in the words of the declaration."""

    def explain(error: TreatyError) -> Arrivals:
        message = _full_message(error)
        if "AuthorizationException" in message:
            raise no_permission(connection, origin.topics) from error
        if "OffsetOutOfRange" in message or "data loss" in message.lower():
            raise Conflict(
                f"records of topic {origin.topics} at {origin.bootstrap} were deleted while they were read; run again"
            ) from error
        if "org.apache.kafka" in message:
            reason = error_causes(message)[-1]
            raise Conflict(
                f"topic {origin.topics} at {origin.bootstrap} could not be read: {reason}; see {at}"
            ) from error
        raise error

    return explain


def _full_message(error: BaseException) -> str:
    cause: Any = error.__cause__ or getattr(error, "_cause", None)
    return str(error) if cause is None else f"{error}\nCaused by: {_full_message(cause)}"
