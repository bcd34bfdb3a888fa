"""Killed while clients register schemas: every acknowledged id is there, and none was given twice."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from tests.server.running import ServingProcess, client_of
from tests.server.schema_client import SchemaClient, order_with
from treaty.registry.service import Registry

ROUNDS = 2
WRITERS = 6
KILL_AFTER = 40


class Storm:
    """Clients that register one schema after the other, until the server is gone."""

    def __init__(self, process: ServingProcess, number: int) -> None:
        self.acknowledged: dict[tuple[str, int], tuple[int, str]] = {}
        self._process = process
        self._address = process.address
        self._round = number
        self._lock = threading.Lock()

    def run(self) -> None:
        with ThreadPoolExecutor(WRITERS) as pool:
            for one in [pool.submit(self._write, writer) for writer in range(WRITERS)]:
                one.result()

    def _write(self, writer: int) -> None:
        subject = f"storm.{self._round}.{writer}-value"
        with client_of(self._address) as client:
            schemas = SchemaClient(client)
            for number in range(500):
                names = [f"w{writer}", *(f"r{self._round}f{one}" for one in range(number))]
                text = order_with(*names)
                try:
                    answer = schemas.register(subject, text)
                except httpx2.TransportError:
                    return
                assert answer.status_code == 200, answer.text
                body = answer.json()
                with self._lock:
                    self.acknowledged[subject, body["version"]] = (
                        body["id"],
                        json.dumps(json.loads(text), separators=(",", ":")),
                    )
                    if len(self.acknowledged) == KILL_AFTER:
                        self._process.kill()


def test_acknowledged_ids_are_there_after_a_crash(database: str, tmp_path: Path) -> None:
    acknowledged: dict[tuple[str, int], tuple[int, str]] = {}
    for number in range(ROUNDS):
        with ServingProcess(database, tmp_path / "log") as process:
            storm = Storm(process, number)
            storm.run()
        acknowledged |= storm.acknowledged

    assert len(acknowledged) >= ROUNDS * KILL_AFTER
    texts: dict[int, str] = {}
    with ServingProcess(database, tmp_path / "log") as process, client_of(process.address) as client:
        schemas = SchemaClient(client)
        for (subject, version), (identity, text) in acknowledged.items():
            assert texts.setdefault(identity, text) == text
            found = schemas.get(f"/subjects/{subject}/versions/{version}").json()
            assert (found["id"], found["schema"]) == (identity, text)
            assert schemas.get(f"/schemas/ids/{identity}").json()["schema"] == text
    with Registry.open(database) as registry:
        assert registry.access.verify_audit().whole


def test_two_processes_give_one_id_to_one_schema(database: str, tmp_path: Path) -> None:
    with (
        ServingProcess(database, tmp_path / "one") as one,
        ServingProcess(database, tmp_path / "other") as other,
        client_of(one.address) as first,
        client_of(other.address) as second,
        ThreadPoolExecutor(16) as pool,
    ):
        clients = [SchemaClient(first), SchemaClient(second)]
        answers = list(
            pool.map(lambda n: clients[n % 2].register(f"subject.{n // 8}", order_with(f"f{n // 8}")).json(), range(64))
        )

    by_subject: dict[int, set[tuple[int, int]]] = {}
    for number, answer in enumerate(answers):
        by_subject.setdefault(number // 8, set()).add((answer["id"], answer["version"]))
    assert all(len(given) == 1 for given in by_subject.values())
    assert sorted(identity for given in by_subject.values() for identity, _ in given) == list(range(1, 9))


@pytest.mark.parametrize("workers", [1, 2])
def test_command_serves_the_port_of_the_setting(tmp_path: Path, workers: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        str(Path(sys.executable).parent / "treaty"),
        "serve",
        "--port",
        "0",
        "--workers",
        str(workers),
        "--format",
        "json",
    ]
    environment = {**os.environ, "TREATY_CONFLUENT_PORT": str(port)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        with client_of(f"http://127.0.0.1:{port}") as own, client_of(address) as other:
            assert SchemaClient(own, "").register("orders-value", order_with("note")).json()["id"] == 1
            assert SchemaClient(own, "").get("/subjects").json() == ["orders-value"]
            assert SchemaClient(other).get("/subjects").json() == ["orders-value"]
            assert own.get("/datasets").status_code == 404
    finally:
        process.terminate()
        process.wait(60)
        assert process.stdout is not None
        process.stdout.close()
