"""`treaty kafka` starts one broker per folder, finds it again and stops it by its process id."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Treaty
from tests.kafka import Kafka, Record
from treaty.kafka.arrivals import ArrivalWatch, Position
from treaty.kafka.broker import HOST, find_broker, free_port, stop_broker
from treaty.kafka.connection import Connection


@pytest.fixture
def _stopped_broker(tmp_path: Path) -> Iterator[None]:
    """Stop the broker of the test at its end."""
    yield
    stop_broker(tmp_path / ".treaty" / "kafka")


@pytest.mark.usefixtures("_stopped_broker")
def test_a_broker_is_started_once_and_keeps_its_topics(treaty: Treaty, tmp_path: Path) -> None:
    port = free_port()
    kafka = Kafka(f"{HOST}:{port}", "")

    started = treaty("kafka", "up", "--port", str(port))
    assert started.output == f"Kafka runs at {HOST}:{port}; stop it with: treaty kafka down\n"
    topic = kafka.create_topic()
    kafka.produce(topic, [Record(b"one", b"key")])
    assert treaty("kafka", "up", "--port", str(port)).output == f"Kafka runs at {HOST}:{port} already\n"
    elsewhere = treaty("kafka", "up", "--port", str(free_port()))
    assert elsewhere.code == 1
    assert f"Kafka runs at {HOST}:{port} already; stop it first with: treaty kafka down" in elsewhere.errors

    watch = ArrivalWatch([Connection(kafka.bootstrap)])
    place = {kafka.bootstrap: [Position("orders", topic, 0, 1)]}
    assert watch.wait(place, 1) == frozenset()
    status = json.loads(treaty("kafka", "status", "--format", "json").output)
    assert (status["running"], status["bootstrap"]) == (True, f"{HOST}:{port}")
    os.kill(status["process"], signal.SIGKILL)
    deadline = time.monotonic() + 30
    while find_broker(tmp_path / ".treaty" / "kafka"):
        assert time.monotonic() < deadline
    assert treaty("kafka", "status").output == "no Kafka broker is running; start one with: treaty kafka up\n"

    treaty("kafka", "up", "--port", str(port))
    assert kafka.consume(topic) == [(b"key", b"one")]
    kafka.produce(topic, [b"two"])
    assert watch.wait(place, 60) == {"orders"}, "a wait goes on after a restart of the broker"
    watch.close()
    assert treaty("kafka", "down").output == "stopped\n"
    assert treaty("kafka", "down").output == "no Kafka broker is running\n"


def test_a_port_in_use_is_reported(treaty: Treaty) -> None:
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        result = treaty("kafka", "up", "--port", str(other.getsockname()[1]))

    assert result.code == 1
    assert "Address already in use; choose another port with --port" in result.errors
    assert treaty("kafka", "status", "--format", "json").output == '{"running": false}\n'


def test_a_folder_that_cannot_be_created_is_reported(treaty: Treaty, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = treaty("kafka", "up", "--folder", "file/broker")

    assert result.code == 1
    assert "file/broker: Not a directory; choose another with --folder" in result.errors


def test_tests_share_a_broker(kafka: Kafka) -> None:
    topic = kafka.create_topic(partitions=2)
    kafka.produce(topic, [Record(b"a", b"k", 1), Record(None, b"k", 0), b"c"])

    assert kafka.consume(topic) == [(b"k", None), (None, b"c"), (b"k", b"a")]
