"""The schema registry over HTTP, durable on SQLite: reads by id, registrations, and a storm of the same schema."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

from benchmarks.http_load import get, load
from benchmarks.servers import Server, treaty_server
from benchmarks.timing import table

_ROUNDS = 3
_READERS = 16
_WRITERS = 16
_STORM = 64
_PER_ROUND = 320
_VERSIONS = 20
_PREFIX = "/schema-registry"


def run() -> str:
    """Measure one process, then kill it and check that every acknowledged version is on disk."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(treaty_server(folder))
        load(server.port, [_register(f"warm-{number}-value", number) for number in range(50)], _WRITERS)
        reads = [_read(server) for _ in range(_ROUNDS)]
        new_subjects = [_new_subjects(server, round_number) for round_number in range(_ROUNDS)]
        versions = [_new_versions(server, round_number) for round_number in range(_ROUNDS)]
        storm = load(server.port, [_register("storm-value", 1_000_000)] * _STORM, _STORM)
        registered = 50 + _ROUNDS * (_PER_ROUND + _WRITERS * (_VERSIONS + 1)) + 1
        server.kill()
        stored, storm_ids = _stored(Path(folder))
    rows = [
        (f"`GET /schemas/ids/…`, {_READERS} clients", f"{median(reads):,.0f}", "2,000"),
        (f"new subject with its draft contract, {_WRITERS} clients", f"{median(new_subjects):,.0f}", "200"),
        (f"new version with its contract version, {_WRITERS} clients", f"{median(versions):,.0f}", "200"),
    ]
    notes = [
        f"- {_STORM} identical registrations at once: {storm_ids} id, p99 {storm.p99 * 1e3:.0f} ms",
        f"- after SIGKILL, {stored:,} of {registered:,} acknowledged versions are stored",
    ]
    return table(("requests per second, one process", "treaty", "goal"), rows) + "\n\n" + "\n".join(notes)


def _schema(number: int, optional: int = 0) -> str:
    fields: list[dict[str, object]] = [{"name": "id", "type": "string"}, {"name": f"f{number}", "type": "long"}]
    fields += [{"name": f"o{one}", "type": ["null", "string"], "default": None} for one in range(optional)]
    return json.dumps({"type": "record", "name": "Event", "namespace": "bench", "fields": fields})


def _register(subject: str, number: int, optional: int = 0) -> bytes:
    body = json.dumps({"schema": _schema(number, optional)}).encode()
    head = f"POST {_PREFIX}/subjects/{subject}/versions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    media = "Content-Type: application/vnd.schemaregistry.v1+json\r\n"
    return f"{head}{media}Content-Length: {len(body)}\r\n\r\n".encode() + body


def _read(server: Server) -> float:
    requests = [get(f"{_PREFIX}/schemas/ids/{1 + number % 50}") for number in range(6_000)]
    return load(server.port, requests, _READERS).per_second


def _new_subjects(server: Server, round_number: int) -> float:
    first = 1_000 * (round_number + 1)
    requests = [_register(f"s{first + number}-value", first + number) for number in range(_PER_ROUND)]
    return load(server.port, requests, _WRITERS).per_second


def _new_versions(server: Server, round_number: int) -> float:
    """Register twenty versions of each of sixteen subjects."""
    first = 100_000 * (round_number + 1)
    load(server.port, [_register(f"v{first + one}-value", first + one) for one in range(_WRITERS)], _WRITERS)
    requests = [
        _register(f"v{first + one}-value", first + one, optional)
        for optional in range(1, _VERSIONS + 1)
        for one in range(_WRITERS)
    ]
    return load(server.port, requests, _WRITERS).per_second


def _stored(folder: Path) -> tuple[int, int]:
    (database,) = folder.glob("*.db")
    with closing(sqlite3.connect(database)) as connection:
        versions = connection.execute("SELECT count(*) FROM subject_versions").fetchone()[0]
        storm = connection.execute("SELECT count(*) FROM subject_versions WHERE subject = 'storm-value'").fetchone()[0]
    return int(versions), int(storm)
