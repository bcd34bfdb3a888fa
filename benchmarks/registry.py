"""The durable registry over HTTP against the in-memory server it takes its API from, in turns, same client."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median

from benchmarks.http_load import Rate, contract, get, load, post
from benchmarks.peers import peer_binary
from benchmarks.servers import Server, started, treaty_server
from benchmarks.timing import table

_PEER = "data-contract-registry[api]==0.2.0"
_INSIDE = 10_000
_ROUNDS = 5
_WORKERS = ("1", "2")


def run() -> str:
    """Fill each server, then measure both in turns."""
    with ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory())
        servers = [stack.enter_context(_peer())]
        servers += [stack.enter_context(treaty_server(work, workers)) for workers in _WORKERS]
        for server in servers:
            load(server.port, _posts(server, _INSIDE), 16)
        before = [server.memory() for server in servers]
        measured = _measured(servers, "")
        for server in servers[1:]:
            server.sign_in()
        measured |= _measured(servers, ", signed in")
        after = [server.memory() for server in servers]
        listing = [_listing(server) for server in servers[1:]]
    rows = [(title, *_row(rates)) for title, rates in measured.items()]
    names = ["peer, in memory", *(f"treaty, {workers} worker{'s'[: int(workers) > 1]}" for workers in _WORKERS)]
    header = (
        "requests per second, 10,000 contracts inside",
        names[0],
        *(part for one in names[1:] for part in (one, "ratio")),
    )
    notes = [
        f"- {one}: memory {a:.0f} MB before the rounds, {b:.0f} MB after"
        for one, a, b in zip(names, before, after, strict=True)
    ]
    notes += [f"- {one}: {said}" for one, said in zip(names[1:], listing, strict=True)]
    return table(header, rows) + "\n\n" + "\n".join(notes)


def _measured(servers: list[Server], how: str) -> dict[str, list[float]]:
    return {title + how: [median(rates) for rates in _rounds(servers, measure)] for title, measure in _MEASURES.items()}


def _row(rates: list[float]) -> list[str]:
    peer, *ours = rates
    return [f"{peer:,.0f}", *(part for rate in ours for part in (f"{rate:,.0f}", f"{rate / peer:.2f}"))]


def _rounds(servers: list[Server], measure: Callable[[Server], Rate]) -> list[list[float]]:
    found: list[list[float]] = [[] for _ in servers]
    for _ in range(_ROUNDS):
        for place, server in enumerate(servers):
            found[place].append(measure(server).per_second)
    return found


def _register(clients: int, count: int) -> Callable[[Server], Rate]:
    return lambda server: load(server.port, _posts(server, count), clients)


def _posts(server: Server, count: int) -> list[bytes]:
    return [post(contract(one), server.token) for one in server.numbers(count)]


def _latest(server: Server, numbers: Iterable[int]) -> list[bytes]:
    return [get(f"/contracts/team{one % 100}.data_{one}/latest", server.token) for one in numbers]


def _read(clients: int, count: int) -> Callable[[Server], Rate]:
    return lambda server: load(server.port, _latest(server, range(0, 7 * count, 7)), clients)


def _read_first(clients: int, count: int) -> Callable[[Server], Rate]:
    """Read what nobody has read since the last write."""
    return lambda server: load(server.port, _latest(server, server.unread(count)), clients)


_MEASURES = {
    "`POST /contracts`, 1 client": _register(1, 500),
    "`POST /contracts`, 16 clients": _register(16, 1_600),
    "`GET …/latest`, each for the first time, 1 client": _read_first(1, 600),
    "`GET …/latest`, each for the first time, 16 clients": _read_first(16, 1_200),
    "`GET …/latest`, 1 client": _read(1, 1_000),
    "`GET …/latest`, 16 clients": _read(16, 1_400),
}


def _listing(server: Server) -> str:
    """Say how long a page of versions takes as a dataset grows."""
    (number,) = server.numbers(1)
    small = _page_of_versions(server, number, range(200))
    large = _page_of_versions(server, number, range(200, 2_000))
    return f"a page of 100 versions takes {small.p50 * 1e3:.1f} ms of 200 versions, {large.p50 * 1e3:.1f} ms of 2,000"


def _page_of_versions(server: Server, number: int, minors: range) -> Rate:
    """Register some versions, and read a page of all."""
    load(server.port, [post(contract(number, f"1.{minor}.0"), server.token) for minor in minors], 1)
    path = f"/contracts/team{number % 100}.data_{number}/versions?limit=100"
    return load(server.port, [get(path, server.token)] * 100, 1)


@contextmanager
def _peer() -> Iterator[Server]:
    program = peer_binary("data-contract-registry", _PEER, "uvicorn")
    command = [program, "data_contract_registry.app:app", "--port", "0", "--no-access-log"]
    with started("peer", command) as server:
        yield server
