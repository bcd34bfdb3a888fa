"""The registry over HTTP, durable on SQLite, against the in-memory server whose API it implements."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median

from benchmarks.http_load import LoadResult, contract, get, load, post
from benchmarks.peers import peer_binary
from benchmarks.servers import Server, start_server, treaty_server
from benchmarks.timing import table

_PEER = "data-contract-registry[api]==0.2.0"
_CONTRACTS = 10_000
_ROUNDS = 5
_WRITERS = 50


def run() -> str:
    """Fill both servers, measure them in turns, and check that every acknowledged write is on disk."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        peer = stack.enter_context(_peer_server())
        treaty = stack.enter_context(treaty_server(folder))
        for server in (peer, treaty):
            load(server.port, _posts(server, _CONTRACTS), 16)
        rows = _measure(peer, treaty)
        treaty.sign_in()
        rows += _measure(peer, treaty, ", signed in")
        p99 = {server.name: load(server.port, _posts(server, 2_000), _WRITERS).p99 for server in (peer, treaty)}
        memory = {server.name: server.memory() for server in (peer, treaty)}
        treaty.kill()
        stored = _count_versions(Path(folder))
    header = (
        f"requests per second, {_CONTRACTS:,} contracts inside",
        "peer, in memory",
        "treaty, on disk",
        "ratio",
        "goal",
    )
    notes = [
        f"- {_WRITERS} concurrent writers, p99: peer {p99['peer'] * 1e3:.0f} ms, treaty {p99['treaty'] * 1e3:.0f} ms",
        f"- memory at the end: peer {memory['peer']:.0f} MB, treaty {memory['treaty']:.0f} MB",
        f"- after SIGKILL, {stored:,} of {treaty.registered:,} acknowledged versions are stored",
    ]
    return table(header, rows) + "\n\n" + "\n".join(notes)


def _measure(peer: Server, treaty: Server, suffix: str = "") -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for title, (goal, measure) in _MEASURES.items():
        rates: dict[str, list[float]] = {peer.name: [], treaty.name: []}
        for _ in range(_ROUNDS):
            for server in (peer, treaty):
                rates[server.name].append(measure(server).per_second)
        theirs, ours = median(rates[peer.name]), median(rates[treaty.name])
        rows.append((title + suffix, f"{theirs:,.0f}", f"{ours:,.0f}", f"{ours / theirs:.2f}", goal))
    return rows


def _register(clients: int, count: int) -> Callable[[Server], LoadResult]:
    return lambda server: load(server.port, _posts(server, count), clients)


def _posts(server: Server, count: int) -> list[bytes]:
    return [post(contract(number), server.token) for number in server.new_numbers(count)]


def _read(clients: int, count: int) -> Callable[[Server], LoadResult]:
    def measure(server: Server) -> LoadResult:
        paths = [f"/contracts/team{number % 100}.data_{number}/latest" for number in range(0, 7 * count, 7)]
        return load(server.port, [get(path, server.token) for path in paths], clients)

    return measure


_MEASURES = {
    "`POST /contracts`, 1 client": ("0.25", _register(1, 500)),
    "`POST /contracts`, 16 clients": ("0.5", _register(16, 1_600)),
    "`GET …/latest`, 1 client": ("1.0", _read(1, 1_000)),
    "`GET …/latest`, 16 clients": ("1.0", _read(16, 1_400)),
}


def _count_versions(folder: Path) -> int:
    (database,) = folder.glob("*.db")
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute("SELECT count(*) FROM versions").fetchone()[0])


@contextmanager
def _peer_server() -> Iterator[Server]:
    program = peer_binary("data-contract-registry", _PEER, "uvicorn")
    command = [program, "data_contract_registry.app:app", "--port", "0", "--no-access-log"]
    with start_server("peer", command) as server:
        yield server
