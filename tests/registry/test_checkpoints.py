"""Signed checkpoints outside the database show that the log was cut or rewritten."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.registry.backends import Backend, Clock
from tests.registry.offers import orders
from treaty.errors import InvalidDocument, Unavailable
from treaty.registry.notices.addresses import AddressRule
from treaty.registry.notices.senders import Outlet
from treaty.registry.rules import CheckpointRules, RegistryRules
from treaty.registry.service import Registry
from treaty.registry.service.checkpoints import publish_checkpoint
from treaty.server.background import BackgroundThreads

KEY = "k" * 32
CUT = (
    ("audit", "DELETE FROM audit WHERE seq = 2"),
    ("versions", "DELETE FROM versions WHERE seq = 2"),
    ("contracts", "DELETE FROM contracts WHERE id = 'refunds'"),
)
"""Removes the registration of refunds from every table."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "checkpoints.jsonl"


def open_registry(tmp_path: Path, clock: Clock, file: Path | None = None, url: str | None = None) -> Registry:
    rules = RegistryRules(checkpoints=CheckpointRules(KEY, file, url), addresses=AddressRule.ALLOW_PRIVATE)
    return Registry.open(str(tmp_path / "registry.db"), rules=rules, clock=clock)


def test_a_checkpoint_is_one_signed_line(tmp_path: Path, clock: Clock, file: Path) -> None:
    with open_registry(tmp_path, clock, file) as registry:
        assert publish_checkpoint(registry.context) is None  # the log is empty
        registry.register(orders())
        checkpoint = publish_checkpoint(registry.context)
        publish_checkpoint(registry.context)
        result = registry.access.verify_audit()

    assert checkpoint is not None
    assert [json.loads(line) for line in file.read_text().splitlines()] == [checkpoint.model_dump()]
    assert (checkpoint.seq, checkpoint.at, f"1:{checkpoint.hash}") == (1, "2026-03-01T12:00:00+00:00", result.head)
    assert (result.whole, result.checkpoints) == (True, 1)
    assert file.stat().st_mode & 0o077 == 0


def test_history_that_was_removed_everywhere_is_missing_from_the_log(tmp_path: Path, clock: Clock, file: Path) -> None:
    with open_registry(tmp_path, clock, file) as registry:
        registry.register(orders())
        registry.register(orders(id="refunds"))
        publish_checkpoint(registry.context)
        backend = Backend("sqlite", registry, clock)
        for table, statement in CUT:
            backend.tamper(table, statement)
        with_checkpoints = registry.access.verify_audit()
        file.unlink()
        without = registry.access.verify_audit()

    assert (without.whole, without.checkpoints) == (True, 0)
    assert (with_checkpoints.whole, with_checkpoints.differences) == (False, [])
    assert [(one.seq, one.reason) for one in with_checkpoints.breaks] == [(2, "it is missing")]


@pytest.mark.parametrize(
    "line", ['{"seq": 1, "hash": "x", "at": "y", "signature": "z"}', "not a checkpoint", '{"seq": "é"}', "[]"]
)
def test_a_line_that_is_not_signed_is_named(tmp_path: Path, clock: Clock, file: Path, line: str) -> None:
    with open_registry(tmp_path, clock, file) as registry:
        registry.register(orders())
        publish_checkpoint(registry.context)
        file.write_text(f"{file.read_text()}{line}\n")
        result = registry.access.verify_audit()

    assert (result.whole, result.checkpoints) == (False, 1)
    assert [one.reason for one in result.breaks] == [f"line 2 of {file} is not signed with the key"]


class _Receiver(BaseHTTPRequestHandler):
    bodies: list[Any]

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_request(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Any]]]:
    """Return the address of a server, and the checkpoints that it received."""
    bodies: list[Any] = []
    server = HTTPServer(("127.0.0.1", 0), type("Receiver", (_Receiver,), {"bodies": bodies}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/in", bodies
    server.shutdown()
    server.server_close()


def test_a_checkpoint_is_posted_to_a_url(tmp_path: Path, clock: Clock, receiver: tuple[str, list[Any]]) -> None:
    url, bodies = receiver
    with open_registry(tmp_path, clock, url=url) as registry:
        registry.register(orders())
        checkpoint = publish_checkpoint(registry.context)

    assert checkpoint is not None
    assert bodies == [checkpoint.model_dump()]


def test_a_place_that_cannot_be_reached_is_a_clear_error(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "elsewhere").write_text("a file, not a folder")
    with open_registry(tmp_path, clock, tmp_path / "elsewhere" / "checkpoints.jsonl") as registry:
        registry.register(orders())
        with pytest.raises(Unavailable, match="cannot write a checkpoint to"):
            publish_checkpoint(registry.context)
    with Registry.open(str(tmp_path / "registry.db")) as registry, pytest.raises(InvalidDocument, match="is set"):
        publish_checkpoint(registry.context)


def test_the_server_signs_new_entries(tmp_path: Path, clock: Clock, file: Path) -> None:
    with open_registry(tmp_path, clock, file) as registry:
        registry.register(orders())
        threads = BackgroundThreads(registry, Outlet())
        threads.start()
        try:
            for _ in range(500):
                if file.exists() and file.read_text():
                    break
                threading.Event().wait(0.01)
        finally:
            threads.stop()
        result = registry.access.verify_audit()

    assert (result.whole, result.checkpoints) == (True, 1)
