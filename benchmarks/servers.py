"""Servers to measure: started for it, found by what they print, and stopped in the end."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)")


@dataclass
class Server:
    """A server that runs: its process, its port, and how many contracts it was given."""

    name: str
    process: subprocess.Popen[str]
    port: int
    next: int = 0
    read: int = 0
    token: str | None = None
    """What clients sign in with; who has none asks as nobody in particular."""

    def numbers(self, count: int) -> range:
        """Return numbers of contracts that are not registered yet."""
        self.next += count
        return range(self.next - count, self.next)

    def unread(self, count: int) -> range:
        """Return numbers of contracts that were not read yet."""
        self.read += count
        return range(self.read - count, self.read)

    def sign_in(self) -> None:
        """Have clients sign in from now on, as they must once there is a token."""
        body = json.dumps({"name": "benchmark", "role": "admin"}).encode()
        where = f"http://127.0.0.1:{self.port}/api/v1/tokens"
        asked = urllib.request.Request(where, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked) as answer:  # noqa: S310
            self.token = json.load(answer)["token"]

    def memory(self) -> float:
        """Return the megabytes that the server and its processes hold."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in [self.process.pid, *children])
        return pages * 4096 / 1e6


@contextmanager
def treaty_server(work: str, workers: str = "1") -> Iterator[Server]:
    """Serve a registry in a folder."""
    database = str(Path(work) / f"registry-{workers}.db")
    command = [str(Path(sys.executable).with_name("treaty")), "serve", "--port", "0", "--database", database]
    with started("treaty", [*command, "--workers", workers]) as server:
        yield server


@contextmanager
def started(name: str, command: list[str]) -> Iterator[Server]:
    """Start a server, find its port in what it prints, and stop it in the end."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, text=True)
        try:
            yield Server(name, process, _port(process, said.fileno()))
        finally:
            process.terminate()
            process.wait(timeout=30)


def _port(process: subprocess.Popen[str], said: int) -> int:
    path = Path(f"/proc/self/fd/{said}")
    while process.poll() is None:
        if found := _ADDRESS.search(path.read_text()):
            return int(found[1])
        try:
            process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
    raise RuntimeError(f"the server did not start: {path.read_text()}")
