"""Server processes to measure: started, found by the address they print, and stopped at the end."""

from __future__ import annotations

import json
import os
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
    """A running server and the number of contracts registered so far."""

    name: str
    process: subprocess.Popen[str]
    port: int
    registered: int = 0
    token: str | None = None

    def new_numbers(self, count: int) -> range:
        """Return numbers of contracts that are not registered yet."""
        self.registered += count
        return range(self.registered - count, self.registered)

    def sign_in(self) -> None:
        """Create a token, which clients send from now on."""
        body = json.dumps({"name": "benchmark", "role": "admin"}).encode()
        url = f"http://127.0.0.1:{self.port}/api/v1/tokens"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as response:  # noqa: S310
            self.token = json.load(response)["token"]

    def memory(self) -> float:
        """Return the resident memory of the server and its child processes in megabytes."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in [self.process.pid, *children])
        return pages * 4096 / 1e6

    def cpu_seconds(self) -> float:
        """Return the processor time that the server has used so far."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End the server without a chance to finish anything."""
        self.process.kill()
        self.process.wait(timeout=30)


@contextmanager
def treaty_server(folder: str) -> Iterator[Server]:
    """Serve a registry in a folder."""
    database = str(Path(folder) / "registry.db")
    command = [str(Path(sys.executable).with_name("treaty")), "serve", "--port", "0", "--database", database]
    with start_server("treaty", command) as server:
        yield server


@contextmanager
def start_server(name: str, command: list[str]) -> Iterator[Server]:
    """Start a server, read its port from its output, and stop it at the end."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, text=True)
        try:
            yield Server(name, process, _wait_for_port(process, output.fileno()))
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait_for_port(process: subprocess.Popen[str], output: int) -> int:
    path = Path(f"/proc/self/fd/{output}")
    while process.poll() is None:
        if match := _ADDRESS.search(path.read_text()):
            return int(match[1])
        try:
            process.wait(timeout=0.1)
        except subprocess.TimeoutExpired:
            continue
    raise RuntimeError(f"the server did not start: {path.read_text()}")
