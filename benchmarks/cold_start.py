"""How long a command takes from a cold start, against Python alone and against datacontract-cli; and a server."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.documents import contract_text
from benchmarks.http_load import contract, load, post
from benchmarks.peers import WORK, peer_binary
from benchmarks.servers import treaty_server
from benchmarks.timing import command, medians, table

_PEER = "datacontract-cli==1.2.8"
_ROUNDS = 15
_STARTS = 5


def run() -> str:
    """Measure help and lint of a small and a large document, in turns with the peer."""
    peer = peer_binary("datacontract-cli", _PEER, "datacontract")
    ours = str(Path(sys.executable).with_name("treaty"))
    small, large = _document(10), _document(1_000)
    taken = medians(
        {
            "python": command(sys.executable, "-c", "pass"),
            "ours help": command(ours, "--help"),
            "peer help": command(peer, "--help"),
            "ours small": command(ours, "lint", small),
            "peer small": command(peer, "lint", small),
            "ours large": command(ours, "lint", large),
            "peer large": command(peer, "lint", large),
        },
        _ROUNDS,
    )
    rows = []
    for title, key in (("--help", "help"), ("lint, 10 fields", "small"), ("lint, 1,000 fields", "large")):
        mine, theirs = taken[f"ours {key}"], taken[f"peer {key}"]
        rows.append(
            (
                title,
                _ms(taken["python"]),
                _ms(mine),
                f"{mine / taken['python']:.1f}",
                _ms(theirs),
                f"{theirs / mine:.1f} ×",
            )
        )
    header = ("command", "python -c pass (floor)", "treaty", "to the floor", f"`{_PEER}`", "treaty is faster by")
    return f"{table(header, rows)}\n\n{measure_server_start()}"


def measure_server_start() -> str:
    """Start `treaty serve` on an existing SQLite registry, and measure until a version is registered."""
    seconds, cpu_seconds = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_STARTS + 1):
            started_at = time.perf_counter()
            with treaty_server(folder) as server:
                load(server.port, [post(contract(number), None)], 1)
                if number:  # the first start creates the database
                    seconds.append(time.perf_counter() - started_at)
                    cpu_seconds.append(server.cpu_seconds())
    header = ("treaty serve, existing SQLite registry", "start to writable", "CPU", "goal")
    row = ("median of 5 restarts", f"{median(seconds):.2f} s", f"{median(cpu_seconds):.2f} s", "2 s")
    return table(header, [row])


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"


def _document(fields: int) -> str:
    path = WORK / f"contract-{fields}.yaml"
    path.write_text(contract_text(fields))
    return str(path)
