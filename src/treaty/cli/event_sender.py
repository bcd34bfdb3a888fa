"""Sending JSON lines to a topic, a webhook or a file, in their order."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from treaty.cli.publishers import KAFKA, MAX_RECORD_BYTES, Topic, connect_to, parse_publisher
from treaty.errors import InvalidDocument, NotFound, Unavailable

_WEBHOOKS = ("http://", "https://")
_FLUSH_S = 30.0
_REQUEST_S = 10.0
_ATTRIBUTES = ("specversion", "id", "source", "type", "subject", "time")


def send_lines(source: str, target: str, security: Mapping[str, str]) -> int:
    """Send the lines of a file, or of standard input, and return how many there were."""
    if "://" in target and not target.startswith((KAFKA, *_WEBHOOKS)):
        raise InvalidDocument(
            f"{target!r} is not a target; give kafka://HOST:PORT/TOPIC, the http:// or https:// address of a webhook, "
            "or a file"
        )
    with _lines_of(source) as lines:
        if target.startswith(KAFKA):
            topic = parse_publisher(target, security)
            assert isinstance(topic, Topic)  # noqa: S101  of this address
            return _send_to_topic(lines, topic)
        return _post(lines, target) if target.startswith(_WEBHOOKS) else _append(lines, Path(target))


@contextmanager
def _lines_of(source: str) -> Iterator[Iterator[str]]:
    if source == "-":
        yield _checked(sys.stdin, "<stdin>")
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(source).open(encoding="utf-8", errors="replace"))
        except OSError as error:
            raise NotFound(f"cannot read {source}: {error.strerror}; give a file of JSON lines, or -") from None
        yield _checked(file, source)


def _checked(file: IO[str], name: str) -> Iterator[str]:
    """Yield the lines that are not blank; refuse one that is too long."""
    number = 0
    while line := file.readline(MAX_RECORD_BYTES + 1):
        number += 1
        if len(line) > MAX_RECORD_BYTES:
            raise InvalidDocument(f"{name}:{number}: the line is longer than {MAX_RECORD_BYTES:,} characters")
        if line.strip():
            yield line.rstrip("\r\n")


def _cloud_event(line: str) -> Mapping[str, Any] | None:
    try:
        parsed = json.loads(line)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) and "specversion" in parsed and "data" in parsed else None


def _append(lines: Iterable[str], path: Path) -> int:
    count = 0
    try:
        with path.open("a", encoding="utf-8") as file:
            for line in lines:
                file.write(line + "\n")
                file.flush()
                count += 1
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}; check the path") from None
    return count


def _post(lines: Iterable[str], address: str) -> int:
    """Post each event in a request of its own; stop at the first that is refused."""
    import httpx2

    count = 0
    with httpx2.Client(timeout=_REQUEST_S) as client:
        for line in lines:
            kind = "application/cloudevents+json" if _cloud_event(line) is not None else "application/json"
            try:
                answer = client.post(address, content=line.encode(), headers={"content-type": kind})
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                reason = str(error) or type(error).__name__
                raise Unavailable(
                    f"cannot reach {address} after {count:,} events: {reason}; check the address"
                ) from None
            if not answer.is_success:
                raise Unavailable(
                    f"{address} answered {answer.status_code} to event {count + 1:,}; nothing more was sent"
                )
            count += 1
    return count


def _send_to_topic(lines: Iterable[str], topic: Topic) -> int:
    """Send each event as a record; a topic that does not exist is an error, since its name may be mistyped."""
    from confluent_kafka import KafkaException, Producer

    from treaty.kafka.topics import TopicReader

    connection = connect_to(topic)
    TopicReader(connection).find(topic.topic)
    settings = {"enable.idempotence": True, "partitioner": "murmur2_random", "linger.ms": 5, "log_level": 0}
    producer = Producer({**connection.client_settings(), **settings})
    failures: list[str] = []
    count = 0
    try:
        for line in lines:
            value, key, headers = _record(line)
            while True:
                try:
                    producer.produce(
                        topic.topic,
                        value,
                        key,
                        headers=headers,
                        on_delivery=lambda error, _: failures.append(error.str()) if error else None,
                    )
                    break
                except BufferError:
                    producer.poll(0.5)
            producer.poll(0)
            count += 1
            if failures:
                break
        left = producer.flush(_FLUSH_S)
    except KafkaException as error:
        raise Unavailable(f"cannot send to {topic.topic} at {topic.bootstrap}: {error.args[0].str()}") from None
    if failures or left:
        reason = failures[0] if failures else f"{left:,} records were not acknowledged in {_FLUSH_S:g} s"
        raise Unavailable(f"cannot send to {topic.topic} at {topic.bootstrap}: {reason}")
    return count


def _record(line: str) -> tuple[bytes, bytes | None, list[tuple[str, str | bytes | None]]]:
    """Return the value, key and headers of a line: those of a CloudEvent in binary mode, or the line alone."""
    event = _cloud_event(line)
    if event is None:
        return line.encode(), None, []
    data = event["data"]
    value = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    key = event.get("partitionkey", event.get("subject"))
    headers: list[tuple[str, str | bytes | None]] = [
        (f"ce_{name}", str(event[name])) for name in _ATTRIBUTES if event.get(name) is not None
    ]
    headers.append(("content-type", str(event.get("datacontenttype", "application/json"))))
    return value.encode(), None if key is None else str(key).encode(), headers
