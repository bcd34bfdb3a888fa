"""Several processes on one port: they answer as one, and none outlives the one that began them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest

from tests.server.contracts import short
from tests.server.running import TIMEOUT_S, client_of
from treaty.errors import Unavailable
from treaty.registry.service import Registry
from treaty.server.sockets import open_sockets

WORKERS = 2
_OPENING = "Treaty is running at "


class Crew:
    """`treaty serve --workers 2`, begun by a test."""

    def __init__(self, database: Path) -> None:
        treaty = str(Path(sys.executable).with_name("treaty"))
        command = [treaty, "serve", "--port", "0", "--workers", str(WORKERS), "--database", str(database)]
        self.process = subprocess.Popen(
            command, cwd=database.parent, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.address = self.output.readline().strip().removeprefix(_OPENING)

    def ended(self) -> bool:
        """Wait until every process has let go of the output."""
        while select([self.output], [], [], TIMEOUT_S)[0]:
            if not self.output.readline():
                return True
        return False


@pytest.fixture
def crew(tmp_path: Path) -> Iterator[Crew]:
    one = Crew(tmp_path / "registry.db")
    yield one
    one.process.kill()
    one.process.wait()
    one.output.close()


def test_workers_answer_as_one_server(crew: Crew, tmp_path: Path) -> None:
    for number in range(12):
        with client_of(crew.address) as client:  # a new connection each: whichever process takes it
            assert client.post("/contracts", json=short("orders", f"1.{number}.0")).status_code == 201
            assert client.get("/contracts/orders/latest").json()["version"] == f"1.{number}.0"

    crew.process.send_signal(signal.SIGTERM)
    assert crew.process.wait(TIMEOUT_S) == 0
    assert crew.ended()
    with Registry.open(str(tmp_path / "registry.db")) as registry:
        assert registry.access.verify_audit().entries == 12


def test_workers_end_with_their_supervisor(crew: Crew) -> None:
    with client_of(crew.address) as client:
        assert client.get("/readyz").status_code == 200

    crew.process.kill()

    assert crew.ended()


def test_each_worker_has_its_own_socket_on_the_shared_port() -> None:
    sockets = open_sockets("127.0.0.1", 0, 2)
    try:
        (port,) = {one.getsockname()[1] for one in sockets}
        with pytest.raises(Unavailable, match="cannot listen"):  # shared with nobody else
            open_sockets("127.0.0.1", port, 2)
    finally:
        for one in sockets:
            one.close()
