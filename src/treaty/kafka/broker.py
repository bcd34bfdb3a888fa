"""A local Kafka broker: one process on loopback that keeps its data in a folder.

While the broker runs, it holds the lock of its folder, since it inherits the locked file. Whether a broker runs is
therefore known even if its process was killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from treaty.errors import Conflict, MissingExtra, Unavailable
from treaty.kafka.jars import fetch_broker_jars
from treaty.spark.jars import ReportStep, print_to_stderr
from treaty.spark.java import find_java

HOST = "127.0.0.1"
START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 30.0
POLL_INTERVAL_S = 0.1
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_JVM_OPTIONS = ("-Xms128m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_LISTS = ("listeners", "advertised.listeners", "listener.security.protocol.map")
_ADDRESS, _LOCK, _LOG, _PROPERTIES, _DATA = "broker.json", "broker.lock", "broker.log", "server.properties", "data"


@dataclass(frozen=True)
class LocalBroker:
    """A running local broker, as its file describes it."""

    bootstrap: str
    pid: int
    started: float
    folder: str

    @property
    def log(self) -> Path:
        """The log of the broker."""
        return Path(self.folder) / _LOG


def find_broker(folder: Path) -> LocalBroker | None:
    """Return the broker of a folder if it is running."""
    if not _is_running(folder):
        return None
    try:
        return LocalBroker(**json.loads((folder / _ADDRESS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # it is starting


def start_broker(
    folder: Path,
    port: int,
    report: ReportStep = print_to_stderr,
    properties: Mapping[str, str] | None = None,
) -> LocalBroker:
    """Start the broker of a folder unless it is running, and wait until it answers.

    Topics of an earlier start are kept. `properties` are added to those of the broker; listeners extend its own.
    """
    if broker := find_broker(folder):
        return broker
    jars = fetch_broker_jars(report)
    _create_folder(folder)
    with _locked(folder) as lock:
        _check_port(port)
        bootstrap = f"{HOST}:{port}"
        _write_properties(folder, port, properties or {})
        (folder / _ADDRESS).unlink(missing_ok=True)
        (folder / _LOG).write_bytes(b"")
        if not (folder / _DATA / "meta.properties").is_file():
            _format(folder, jars)
        with (folder / _LOG).open("ab") as log:
            process = subprocess.Popen(  # noqa: S603
                [*_java(jars), "kafka.Kafka", str(folder / _PROPERTIES)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(lock,),
            )
        _wait_until_ready(process, bootstrap, folder)
        broker = LocalBroker(bootstrap, process.pid, time.time(), str(folder))
        _write_address(folder, broker)
        process.returncode = 0  # it outlives this process on purpose, so Python does not wait for it
    return broker


def stop_broker(folder: Path) -> LocalBroker | None:
    """Stop the broker of a folder and wait until it has ended; None if none was running."""
    broker = find_broker(folder)
    if broker is None:
        return None
    for stop_signal in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(broker.pid, stop_signal)
        if _wait(lambda: not _is_running(folder), STOP_TIMEOUT_S):
            (folder / _ADDRESS).unlink(missing_ok=True)
            return broker
    raise Unavailable(f"process {broker.pid} did not stop within {STOP_TIMEOUT_S:g} s; its log is {broker.log}")


def free_port() -> int:
    """Return a port on loopback that is free at the moment."""
    with socket.socket() as free:
        free.bind((HOST, 0))
        port: int = free.getsockname()[1]
        return port


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot create {folder}: {error.strerror}; choose another with --folder") from None


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Hold the lock of a folder, which a process that inherits the file descriptor keeps."""
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield lock
    except BlockingIOError:
        raise Conflict(f"a broker is starting in {folder}; see: treaty kafka status") from None
    finally:
        os.close(lock)


def _is_running(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)


def _check_port(port: int) -> None:
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((HOST, port))
        except OSError as error:
            hint = "choose another port with --port, or stop the program that uses it"
            raise Unavailable(f"cannot listen at {HOST}:{port}: {error.strerror}; {hint}") from None


def _write_properties(folder: Path, port: int, more: Mapping[str, str]) -> None:
    controller = free_port()
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "listeners": f"PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{HOST}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": str(folder / _DATA),
        "num.partitions": "1",
        "auto.create.topics.enable": "false",
        "message.max.bytes": str(MAX_MESSAGE_BYTES),
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
    for name, value in more.items():
        properties[name] = f"{properties[name]},{value}" if name in _LISTS and name in properties else value
    text = "".join(f"{name}={value}\n" for name, value in properties.items())
    (folder / _PROPERTIES).write_text(text, encoding="utf-8")


def _java(jars: Path) -> Sequence[str]:
    return [str(find_java().program), *_JVM_OPTIONS, "-cp", f"{jars}/*"]


def _format(folder: Path, jars: Path) -> None:
    """Prepare the data folder for a new cluster."""
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    options = [f"--cluster-id={cluster}", f"--config={folder / _PROPERTIES}"]  # an id may begin with a hyphen
    command = [*_java(jars), "kafka.tools.StorageTool", "format", *options]
    result = subprocess.run(command, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False)  # noqa: S603
    if result.returncode:
        raise Unavailable(f"cannot prepare {folder / _DATA}: {_last_line(result.stderr or result.stdout)}")


def _wait_until_ready(process: subprocess.Popen[bytes], bootstrap: str, folder: Path) -> None:
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError:
        process.terminate()
        raise MissingExtra("a local Kafka broker", "kafka") from None
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0, "reconnect.backoff.max.ms": 200})

    def answers() -> bool:
        client.poll(0)
        try:
            return bool(client.list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    if _wait(lambda: process.poll() is not None or answers(), START_TIMEOUT_S) and process.poll() is None:
        return
    process.kill()
    process.wait()
    log = folder / _LOG
    reason = _last_line(log.read_text(encoding="utf-8", errors="replace"))
    raise Unavailable(f"the Kafka broker did not start: {reason}; its log is {log}")


def _write_address(folder: Path, broker: LocalBroker) -> None:
    temporary = folder / f".{_ADDRESS}"
    temporary.write_text(json.dumps(asdict(broker)), encoding="utf-8")
    temporary.replace(folder / _ADDRESS)


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds; return whether it does."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(POLL_INTERVAL_S)
    return holds


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    return lines[-1] if lines else "no reason was given"
