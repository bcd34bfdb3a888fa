"""Killed in a storm of writes: what was acknowledged is there, nothing is half there, and no repair is needed."""

from __future__ import annotations

import random
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2

from tests.server.contracts import short
from tests.server.integrity import check_integrity
from tests.server.running import ServingProcess, client_of
from treaty.registry.service import Registry

ROUNDS = 3
WRITERS = 8


class Storm:
    """Writers that register one version after the other, until nobody answers."""

    def __init__(self, process: ServingProcess, begin_at: int, kill_after: int) -> None:
        self.acknowledged: dict[str, list[str]] = defaultdict(list)
        self._process = process
        self._address = process.address
        self._begin_at = begin_at
        self._left = kill_after
        self._lock = threading.Lock()

    def blow(self) -> None:
        with ThreadPoolExecutor(WRITERS) as pool:
            for one in [pool.submit(self._write, f"storm.{writer}") for writer in range(WRITERS)]:
                one.result()

    def _write(self, contract: str) -> None:
        with client_of(self._address) as client:
            for patch in range(self._begin_at, self._begin_at + 1_000):
                try:
                    answer = client.post("/contracts", json=short(contract, f"1.0.{patch}"))
                except httpx2.TransportError:
                    return
                assert answer.status_code == 201, answer.text
                self._note(contract, f"1.0.{patch}")

    def _note(self, contract: str, version: str) -> None:
        with self._lock:
            self.acknowledged[contract].append(version)
            self._left -= 1
            if self._left == 0:
                self._process.kill()


def test_acknowledged_writes_are_complete_after_a_crash(database: str, tmp_path: Path) -> None:
    moments = random.Random(4)  # noqa: S311
    acknowledged: dict[str, set[str]] = defaultdict(set)
    for number in range(ROUNDS):
        with ServingProcess(database, tmp_path / "log") as process:
            storm = Storm(process, number * 1_000, moments.randrange(20, 150))
            storm.blow()
        for contract, versions in storm.acknowledged.items():
            acknowledged[contract] |= set(versions)

        with Registry.open(database) as registry:
            found = check_integrity(registry)
        for contract, taken in acknowledged.items():
            kept = set(found[contract])
            assert taken <= kept
            assert len(kept - taken) <= number + 1  # what was on its way when a round ended, at most

    with ServingProcess(database, tmp_path / "log") as process, client_of(process.address) as client:
        assert client.get("/readyz").status_code == 200
        assert client.post("/contracts", json=short("after.the.storm")).status_code == 201
        assert client.get("/api/v1/audit/verify").json()["whole"] is True
