"""Clients that register versions without a pause and remember every answer."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

import httpx2

from tests.server.contracts import short
from tests.server.integrity import check_integrity
from tests.server.running import TIMEOUT_S, client_of
from treaty.registry.service import Registry

CLIENTS = 4
PAUSE_AFTER_REFUSAL_S = 0.05


@dataclass(frozen=True)
class Answer:
    """The answer to one registration."""

    contract: str
    version: str
    status: int
    retry_after: str | None
    at: float


@dataclass
class Load:
    """Four clients that write until the end of the context; each opens a new connection from time to time."""

    address: str
    answers: list[Answer] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __enter__(self) -> Load:
        for number in range(CLIENTS):
            thread = threading.Thread(target=self._write, args=(f"load.{number}",))
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, status: int, count: int = 1, within: float = TIMEOUT_S) -> float:
        """Wait until so many more requests of each client were answered with a status; return the seconds it took."""
        begun = time.monotonic()
        while time.monotonic() - begun < within:
            answers = [answer for answer in list(self.answers) if answer.at > begun and answer.status == status]
            if all(sum(answer.contract == f"load.{n}" for answer in answers) >= count for n in range(CLIENTS)):
                return time.monotonic() - begun
            time.sleep(0.02)
        statuses = [(round(answer.at - begun, 1), answer.status) for answer in self.answers[-20:]]
        raise AssertionError(f"not every client was answered with {status} within {within:g} s: {statuses}")

    def _write(self, contract: str) -> None:
        minor = 0
        while not self._stop.is_set():
            with client_of(self.address) as client:
                for _ in range(20):
                    if self._stop.is_set():
                        return
                    minor += 1
                    self._register(client, contract, f"1.{minor}.0")

    def _register(self, client: httpx2.Client, contract: str, version: str) -> None:
        response = client.post("/contracts", json=short(contract, version))
        retry_after = response.headers.get("retry-after")
        self.answers.append(Answer(contract, version, response.status_code, retry_after, time.monotonic()))
        if response.status_code != 201:
            time.sleep(PAUSE_AFTER_REFUSAL_S)

    def check(self, database: str) -> None:
        """See that every request was acknowledged or refused as temporary, and that what was acknowledged is there."""
        assert {(answer.status, answer.retry_after) for answer in self.answers} <= {(201, None), (503, "2")}
        acknowledged = {(answer.contract, answer.version) for answer in self.answers if answer.status == 201}
        with Registry.open(database) as registry:
            stored = {(name, version) for name, versions in check_integrity(registry).items() for version in versions}
        assert acknowledged <= stored
        sent = {(answer.contract, answer.version) for answer in self.answers}
        assert stored <= sent
