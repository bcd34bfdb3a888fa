"""Publishers as the command line names them, and collecting what they send, bounded by count and time."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer

from treaty.errors import InvalidDocument, NotFound, Unavailable
from treaty.kafka.connection import CLIENT_SETTINGS, Connection, connect_with
from treaty.suggestions import choose

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message

RUN, KAFKA, WEBHOOK = "run:", "kafka://", "webhook://"
MAX_RECORD_BYTES = 1_000_000
_POLL_S = 0.2
_STOP_S = 5.0
_MAX_STDERR = 2_000
_WEB_ADDRESSES = ("http://", "https://", "ftp://")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TYPE_HEADER = "ce_type"


@dataclass(frozen=True)
class Limits:
    """How much is collected of a publisher at most."""

    events: int
    seconds: float


@dataclass(frozen=True)
class Captured:
    """Records that were collected into a file, and which limit ended it."""

    path: Path
    count: int
    bounded_by: str | None = None
    has_arrival_times: bool = False
    has_partitions: bool = False


@dataclass(frozen=True)
class RecordFiles:
    """A file, folder or glob of JSON lines."""

    path: str

    @property
    def name(self) -> str:
        """The name of the publisher, if none is given."""
        return Path(self.path).stem or self.path


@dataclass(frozen=True)
class Command:
    """A command that prints events as JSON lines."""

    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the publisher, if none is given: that of its program or script."""
        named = [argument for argument in self.arguments if not argument.startswith("-")]
        return Path(named[1] if len(named) > 1 else named[0]).stem


@dataclass(frozen=True)
class Topic:
    """A Kafka topic."""

    bootstrap: str
    topic: str
    security: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the publisher, if none is given."""
        return self.topic


@dataclass(frozen=True)
class Webhook:
    """An address of this machine that the publisher posts to."""

    host: str
    port: int

    @property
    def name(self) -> str:
        """The name of the publisher, if none is given."""
        return "webhook"


Publisher = RecordFiles | Command | Topic | Webhook


def parse_publisher(text: str, security: Mapping[str, str]) -> Publisher:
    """Parse a publisher: a path, `run:COMMAND`, `kafka://HOST:PORT/TOPIC` or `webhook://127.0.0.1:PORT`."""
    if text.startswith(RUN):
        return _parse_command(text.removeprefix(RUN))
    if text.startswith(KAFKA):
        bootstrap, _, topic = text.removeprefix(KAFKA).partition("/")
        if not bootstrap or not topic or "/" in topic:
            raise InvalidDocument(f"{text!r} is not a topic; write it like kafka://127.0.0.1:9092/classes")
        return Topic(bootstrap, topic, security)
    if text.startswith(WEBHOOK):
        return _parse_webhook(text)
    if text.startswith(_WEB_ADDRESSES):
        raise InvalidDocument(
            f"{text!r} is not a publisher: events are not fetched from the web; let it post "
            "to webhook://127.0.0.1:PORT, or give a file of JSON lines, run:COMMAND or kafka://HOST:PORT/TOPIC"
        )
    return RecordFiles(text)


def _parse_command(text: str) -> Command:
    try:
        arguments = tuple(shlex.split(text))
    except ValueError as error:
        raise InvalidDocument(f"cannot read the command {text!r}: {error}") from None
    if not arguments:
        raise InvalidDocument("run: needs a command, such as 'run:python publisher.py'")
    return Command(arguments)


def _parse_webhook(text: str) -> Webhook:
    hint = "write it like webhook://127.0.0.1:8099"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InvalidDocument(f"{text!r} is not an address: {error}; {hint}") from None
    if host not in _LOOPBACK:
        raise InvalidDocument(
            f"{text!r} is not an address of this machine, and receivers are not open to others; {hint}"
        )
    return Webhook(host, port or 0)


class _Spool:
    """The file that records are collected in; counts them, and knows when a limit is reached."""

    def __init__(self, file: IO[str], limits: Limits) -> None:
        self._file, self._limits = file, limits
        self._deadline = time.monotonic() + limits.seconds
        self._lock = threading.Lock()
        self.full = threading.Event()
        self.count = 0

    @property
    def seconds_left(self) -> float:
        """How long may still be waited."""
        return max(0.0, self._deadline - time.monotonic())

    @property
    def bounded_by(self) -> str | None:
        """The limit that is reached."""
        if self.full.is_set():
            return f"{self._limits.events:,} events"
        return f"{self._limits.seconds:g} s" if not self.seconds_left else None

    def add(
        self,
        payload: str,
        *,
        type_: str | None = None,
        arrived_at: datetime | None = None,
        partition: str | None = None,
    ) -> bool:
        """Keep a record; return False if there are enough."""
        with self._lock:
            if self.full.is_set():
                return False
            entry = {
                "payload": payload,
                "type": type_,
                "arrived_at": arrived_at.isoformat() if arrived_at else None,
                "partition": partition,
            }
            self._file.write(json.dumps(entry) + "\n")
            self.count += 1
            if self.count >= self._limits.events:
                self.full.set()
            return True


def capture(publisher: Command | Topic | Webhook, folder: Path, limits: Limits, *, live: bool) -> Captured:
    """Collect the records of a publisher into a file in a folder; `live` ones happen while they are collected."""
    path = folder / "records.json"
    with path.open("w", encoding="utf-8") as file:
        spool = _Spool(file, limits)
        if isinstance(publisher, Command):
            bounded = _run(publisher, spool, live=live)
            return Captured(path, spool.count, bounded, live)
        if isinstance(publisher, Webhook):
            from treaty.cli.webhook_receiver import receive

            receive(
                publisher.host,
                publisher.port,
                lambda text, kind: _received(spool, text, kind, live),
                spool.full,
                limits.seconds,
            )
            return Captured(path, spool.count, spool.bounded_by, live)
        timed = _consume(publisher, spool)
        return Captured(path, spool.count, spool.bounded_by if spool.full.is_set() else None, timed, True)


def _received(spool: _Spool, text: str, kind: str | None, live: bool) -> bool:
    return spool.add(text, type_=kind, arrived_at=datetime.now(UTC) if live else None)


def _run(command: Command, spool: _Spool, *, live: bool) -> str | None:
    """Run a command and keep its lines; it is stopped when a limit is reached."""
    shown = shlex.join(command.arguments)
    try:
        process = subprocess.Popen(  # noqa: S603  the user's own command, without a shell
            command.arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as error:
        raise NotFound(f"cannot run {shown}: {error.strerror}; check the command") from None
    with process:
        errors = _Tail(process.stderr)
        try:
            _keep_lines(process, spool, live=live)
            bounded = spool.bounded_by
            code = process.wait(_STOP_S) if bounded is None else 0
        except subprocess.TimeoutExpired:  # it has closed its output, and goes on
            bounded, code = f"the end of its output, after {_STOP_S:g} s", 0
        finally:
            _stop(process)
            reason = errors.text()
    if code:
        raise Unavailable(f"{shown} ended with exit code {code}{reason or '; run it by itself to see why'}")
    return bounded


def _keep_lines(process: subprocess.Popen[bytes], spool: _Spool, *, live: bool) -> None:
    for line in _lines(process.stdout, spool):
        text = line.decode("utf-8", "replace").strip()
        if text:
            spool.add(text, arrived_at=datetime.now(UTC) if live else None)
        if spool.full.is_set():
            return


def _lines(output: IO[bytes] | None, spool: _Spool) -> Iterator[bytes]:
    """Yield the lines of a running command until it ends or the time is over."""
    if output is None:
        return
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while spool.seconds_left:
            if not selector.select(min(_POLL_S, spool.seconds_left)):
                continue
            chunk = os.read(output.fileno(), 65_536)
            if not chunk:
                if pending:
                    yield pending
                return
            *lines, pending = (pending + chunk).split(b"\n")
            yield from lines
            if len(pending) > MAX_RECORD_BYTES:
                raise InvalidDocument(
                    f"the command prints a line of more than {MAX_RECORD_BYTES:,} bytes; print one event on each line"
                )


class _Tail:
    """Reads standard error, so that the command does not block on it, and keeps its end."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._stream, self._end = stream, b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while self._stream is not None and (chunk := self._stream.read(4_096)):
            self._end = (self._end + chunk)[-_MAX_STDERR:]

    def text(self) -> str:
        """Return the last line, to be appended to a message."""
        self._thread.join(_STOP_S)
        lines = self._end.decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()


def parse_security(texts: Sequence[str] | None) -> dict[str, str]:
    """Parse `--security SETTING=VARIABLE`: the environment variable of each security setting."""
    pairs: dict[str, str] = {}
    for text in texts or ():
        name, _, variable = text.partition("=")
        if not name or not variable:
            raise typer.BadParameter(f"{text!r} is not a pair; write SETTING=VARIABLE", param_hint="--security")
        if name not in CLIENT_SETTINGS:
            raise typer.BadParameter(
                f"there is no setting {name!r}; {choose(name, CLIENT_SETTINGS)}", param_hint="--security"
            )
        pairs[name] = variable
    return pairs


def connect_to(topic: Topic) -> Connection:
    """Return a connection to the brokers of a topic, with the values of the variables of its security settings."""
    return connect_with(topic.bootstrap, topic.security, "the arguments of this command", os.environ)


def _consume(topic: Topic, spool: _Spool) -> bool:
    """Keep the records that a topic has now; return whether the broker stamped their arrival."""
    from treaty.kafka.topics import TopicReader

    connection = connect_to(topic)
    reader = TopicReader(connection)
    reader.find(topic.topic)
    (state,) = reader.describe([topic.topic])
    ends = {part: offsets for part, offsets in state.partitions.items() if offsets.length}
    if not ends:
        return False
    consumer = _consumer(connection)
    try:
        return _read_until(consumer, topic.topic, {part: (span.first, span.end) for part, span in ends.items()}, spool)
    finally:
        consumer.close()


def _read_until(consumer: Consumer, topic: str, ends: Mapping[int, tuple[int, int]], spool: _Spool) -> bool:
    from confluent_kafka import TIMESTAMP_LOG_APPEND_TIME, TopicPartition

    consumer.assign([TopicPartition(topic, part, first) for part, (first, _) in ends.items()])
    open_parts, stamped = set(ends), True
    while open_parts and not spool.full.is_set():
        if not spool.seconds_left:
            raise Unavailable(f"topic {topic} was not read to its end in time; wait longer with --seconds")
        for message in consumer.consume(num_messages=1_000, timeout=_POLL_S):
            if (problem := message.error()) is not None:
                raise Unavailable(f"cannot read topic {topic}: {problem.str()}")
            kind, millis = message.timestamp()
            stamped = stamped and kind == TIMESTAMP_LOG_APPEND_TIME
            _keep(message, spool, datetime.fromtimestamp(millis / 1000, UTC))
        for place in consumer.position([TopicPartition(topic, part) for part in open_parts]):
            if place.offset >= ends[place.partition][1]:
                open_parts.discard(place.partition)
    return stamped


def _keep(message: Message, spool: _Spool, at: datetime) -> None:
    headers: dict[str, Any] = dict(message.headers() or ())
    kind = headers.get(_TYPE_HEADER)
    type_ = kind.decode("utf-8", "replace") if isinstance(kind, bytes) else None
    text = (message.value() or b"").decode("utf-8", "replace")
    spool.add(text, type_=type_, arrived_at=at, partition=str(message.partition()))


def _consumer(connection: Connection) -> Consumer:
    from confluent_kafka import Consumer

    settings: dict[str, Any] = {
        **connection.client_settings(),
        "group.id": "treaty-certify",  # partitions are assigned, and nothing is committed
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "log_level": 0,
    }
    return Consumer(settings)
