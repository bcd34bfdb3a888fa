"""Servers for the tests: in a thread of this process, or in a process of their own that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import httpx2
import uvicorn
from fastapi import FastAPI

TIMEOUT_S = 60.0
"""Seconds after which a test that waits for a server has failed."""

_ROOT = Path(__file__).parents[2]


class _Server(uvicorn.Server):
    """Says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self.listens.set()


@contextmanager
def running(app: FastAPI, **options: Any) -> Iterator[str]:
    """Serve an app from a thread; yields its address."""
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        http="h11",
        log_config=None,
        access_log=False,
        timeout_keep_alive=int(TIMEOUT_S),  # a slow machine must not lose connections that wait
        **{"timeout_graceful_shutdown": 5, **options},
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.listens.wait(TIMEOUT_S)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def client_of(address: str, token: str | None = None) -> httpx2.Client:
    """Return a client with connections of its own."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.Client(base_url=address, headers=headers, timeout=TIMEOUT_S, trust_env=False)


class ServingProcess:
    """A server in a process of its own, begun by a test and ended with it."""

    def __init__(self, database: str, log: Path, *arguments: str) -> None:
        self.log = log
        self._errors: IO[bytes] = log.open("ab")
        command = [sys.executable, "-m", "tests.server.serving_process", database, *arguments]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self._address: str | None = None

    @property
    def address(self) -> str:
        """Where it listens; waits until it does."""
        if self._address is None:
            assert self._process.stdout is not None
            self._address = self._process.stdout.readline().strip()
            assert self._address, self.log.read_text()
        return self._address

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def kill(self) -> None:
        """End it without a word, as a power cut would."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(TIMEOUT_S)

    def stop(self) -> int:
        """Ask it to end, and return how it ended."""
        self._process.terminate()
        return self._process.wait(TIMEOUT_S)

    def __enter__(self) -> ServingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.stop()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()
