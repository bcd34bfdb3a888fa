"""Topics as a source: every record is read once and unmodified, and what goes wrong is named."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.certificates import write_certificate
from tests.kafka import PASSWORD, USER, Kafka, Record
from tests.pipeline.sources.landing import NOON, asking
from tests.pipeline.tables.orders import place_of
from treaty.contracts.versions import Line
from treaty.errors import Conflict, NotAllowed, NotFound, TreatyError, Unavailable
from treaty.kafka.broker import HOST, free_port
from treaty.kafka.connection import Connection
from treaty.kafka.topics import TopicReader
from treaty.pipeline.layers.raw import RAW
from treaty.pipeline.project import declarations
from treaty.pipeline.project.declarations import LostOffsets, Source, Starting
from treaty.pipeline.sources import ArrivalRequest, Arrivals, read_arrivals
from treaty.pipeline.tables import NewStamp, Tables

RAW_TABLE = "raw.orders"


def topic_source(bootstrap: str, topic: str = "", **more: object) -> Source:
    """Return a source that reads a topic."""
    origin = declarations.Kafka(bootstrap, topic)
    return Source("orders", Line("shop.orders", 1), replace(origin, **more), at="sources/orders.yaml:1")  # type: ignore[arg-type]


def test_records_are_kept_unmodified(any_spark: SparkSession, request: pytest.FixtureRequest, kafka: Kafka) -> None:
    topic = kafka.create_topic(partitions=2)
    headers = (("trace", b"\x00\xff"), ("trace", None))
    kafka.produce(topic, [Record(b"\xff\x00", b"\x01", 1, headers), Record(b"{}"), Record(None, b"gone"), Record(b"")])
    tables = Tables(any_spark, place_of(request))

    _run(tables, 1, topic_source(kafka.bootstrap, topic))

    rows = sorted(tables.read(RAW_TABLE).collect(), key=lambda row: (row["partition"], row["position"]))
    assert [(row["partition"], row["position"], row["key"], row["payload"]) for row in rows] == [
        (0, 0, None, b"{}"),
        (0, 1, b"gone", None),
        (0, 2, None, b""),
        (1, 0, b"\x01", b"\xff\x00"),
    ]
    assert [(header["key"], header["value"]) for header in rows[3]["record_headers"]] == list(headers)
    assert {row["topic"] for row in rows} == {topic}
    assert {row["file"] for row in rows} == {f"{topic}#0", f"{topic}#1"}
    assert {(row["source"], row["_run"]) for row in rows} == {("orders", 1)}
    assert all(abs(row["broker_time"].timestamp() - time.time()) < 3600 for row in rows)


def test_each_run_reads_what_follows(spark: SparkSession, request: pytest.FixtureRequest, kafka: Kafka) -> None:
    topic = kafka.create_topic()
    source = topic_source(kafka.bootstrap, topic)
    tables = Tables(spark, place_of(request))
    kafka.produce(topic, [b"0"])
    assert _run(tables, 1, source).new == 1
    assert _run(tables, 2, source).rows is None
    kafka.produce(topic, [b"1"])
    assert _run(tables, 3, source).new == 1
    kafka.add_partitions(topic, 2)
    kafka.produce(topic, [Record(b"2", partition=1), b"3"])
    assert _run(tables, 4, source).new == 2

    kafka.produce(topic, [b"4", b"5", b"6"])
    kafka.delete_records(topic, 4)
    lost = f"were deleted before they were read: offset 3 of partition 0 of {topic}; .* lost_offsets: accept in sources"
    with pytest.raises(Conflict, match=lost):
        _run(tables, 5, source)
    accepted = _run(tables, 6, topic_source(kafka.bootstrap, topic, lost_offsets=LostOffsets.ACCEPT))
    assert [entry.remark for entry in accepted.left_out] == [
        f"{topic}#0: offsets 3 to 3 were deleted before they were read"
    ]

    kafka.delete_topic(topic)
    with pytest.raises(NotFound, match=f"there is no topic {topic} at {kafka.bootstrap}"):
        _run(tables, 7, source)
    kafka.recreate_topic(topic)
    kafka.produce(topic, [b"other"] * 9)
    with pytest.raises(Conflict, match=f"topic {topic} was deleted and created again"):
        _run(tables, 8, source)

    rows = tables.read(RAW_TABLE).select("payload", "_run").collect()
    assert sorted((bytes(row["payload"]), row["_run"]) for row in rows) == [
        (b"0", 1),
        (b"1", 3),
        (b"2", 4),
        (b"3", 4),
        (b"5", 6),
        (b"6", 6),
    ]


def test_a_pattern_reads_topics_that_are_added(
    spark: SparkSession, request: pytest.FixtureRequest, kafka: Kafka
) -> None:
    first = kafka.create_topic("added")
    prefix = first.replace(".", "[.]")
    source = topic_source(kafka.bootstrap, pattern=f"{prefix}.*", starting=Starting.LATEST)
    tables = Tables(spark, place_of(request))
    kafka.produce(first, [b"before"])
    assert _run(tables, 1, source).rows is None
    second = f"{first}.later"
    kafka.recreate_topic(second)
    kafka.produce(second, [b"b"])
    kafka.produce(first, [b"a"])
    assert _run(tables, 2, source).new == 2

    rows = tables.read(RAW_TABLE).select("topic", "payload").collect()
    assert {row["topic"]: bytes(row["payload"]) for row in rows} == {first: b"a", second: b"b"}


def test_aborted_transactions_are_not_read(spark: SparkSession, request: pytest.FixtureRequest, kafka: Kafka) -> None:
    from confluent_kafka import Producer

    topic = kafka.create_topic()
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    tables = Tables(spark, place_of(request))
    for number, finish in enumerate((producer.commit_transaction, producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(topic, str(number).encode())
        producer.flush(30)
        if number == 0:
            assert _run(tables, 1, topic_source(kafka.bootstrap, topic)).rows is None
        finish(30)
    kafka.produce(topic, [b"2"])

    _run(tables, 2, topic_source(kafka.bootstrap, topic))

    assert sorted(bytes(row["payload"]) for row in tables.read(RAW_TABLE).collect()) == [b"0", b"2"]
    assert _run(tables, 3, topic_source(kafka.bootstrap, topic)).rows is None


def test_brokers_that_cannot_be_reached_are_named_soon(spark: SparkSession) -> None:
    bootstrap = f"{HOST}:{free_port()}"
    started = time.monotonic()
    with pytest.raises(
        Unavailable, match=f"brokers at {bootstrap} cannot be reached for topic orders: .* bootstrap in"
    ):
        read_arrivals(spark, topic_source(bootstrap, "orders"), asking())
    assert time.monotonic() - started < 30


def test_an_unknown_topic_is_named(spark: SparkSession, kafka: Kafka) -> None:
    topic = kafka.create_topic()
    with pytest.raises(NotFound, match=f"there is no topic {topic}s at .* did you mean '{topic}'"):
        read_arrivals(spark, topic_source(kafka.bootstrap, f"{topic}s"), asking())


def test_missing_variables_are_named(spark: SparkSession, kafka: Kafka) -> None:
    source = topic_source(kafka.secured, "orders", security={"user": "SHOP_USER_OF_NOBODY"})
    with pytest.raises(NotFound, match=r"orders.yaml:1: the environment has no SHOP_USER_OF_NOBODY \(security.user\)"):
        read_arrivals(spark, source, asking())


@pytest.mark.parametrize("listener", ["secured", "encrypted"])
def test_users_must_sign_in_and_be_allowed(
    spark: SparkSession,
    request: pytest.FixtureRequest,
    kafka: Kafka,
    monkeypatch: pytest.MonkeyPatch,
    listener: str,
) -> None:
    topic, address = kafka.create_topic(), getattr(kafka, listener)
    kafka.produce(topic, [b"1"])
    variables = kafka.environment(address)
    source = topic_source(address, topic, security={name: f"SHOP_{name.upper()}" for name in variables})
    tables = Tables(spark, place_of(request))
    for name, value in {**variables, "password": "wrong"}.items():
        monkeypatch.setenv(f"SHOP_{name.upper()}", value)

    with pytest.raises(NotAllowed, match=f"the brokers at {address} refused to sign in for topic {topic}"):
        _run(tables, 1, source)
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    with pytest.raises(TreatyError, match=f"topic {topic} at {address}"):
        _run(tables, 2, source)
    kafka.allow(USER, topic, "DESCRIBE")
    with pytest.raises(NotAllowed, match=f"no permission to read topic {topic} at {address}; allow the user of"):
        _run(tables, 3, source)
    kafka.allow(USER, topic, "READ")
    _run(tables, 4, source)

    assert [bytes(row["payload"]) for row in tables.read(RAW_TABLE).collect()] == [b"1"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ca": "other.pem"}, "refused to sign in for topic orders: .*certificate verify failed.*security names in"),
        ({"ca": "missing.pem"}, "invalid security settings: .*ssl.ca.location"),
        (
            {"protocol": "SASL_PLAINTEXT"},
            "cannot be reached for topic orders: .*, and bootstrap and security.protocol in",
        ),
        ({"mechanism": "PLAIN"}, "refused to sign in for topic orders: .*SASL.*PLAIN"),
        ({"mechanism": "MAGIC"}, "invalid security settings: .*MAGIC"),
    ],
    ids=["another authority", "no file", "no encryption", "a mechanism that is off", "an unknown mechanism"],
)
def test_wrong_security_settings_are_one_error_that_names_them(
    kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], message: str
) -> None:
    write_certificate(tmp_path, "other")
    monkeypatch.chdir(tmp_path)
    connection = Connection(kafka.encrypted, "sources/orders.yaml:1", kafka.environment(kafka.encrypted, **changed))

    with pytest.raises(TreatyError, match=message) as caught:
        TopicReader(connection).find("orders")

    assert "sources/orders.yaml:1" in str(caught.value)


def _run(tables: Tables, run: int, source: Source) -> Arrivals:
    tables.ensure(RAW_TABLE, RAW, {})
    found = read_arrivals(tables.spark, source, ArrivalRequest(run, NOON, before=tables.stamp(RAW_TABLE)))
    rows = tables.spark.createDataFrame([], RAW) if found.rows is None else found.rows
    if found.rows is None and not found.is_progress:
        return found
    try:
        tables.append(RAW_TABLE, rows, NewStamp(run, {}, "", "", {}, found.extra))
    except TreatyError as error:
        assert found.read_again is not None
        found.read_again(error)
    return found
