"""Rows of a publication over HTTP: point reads by key, a stream of a million rows, and masks against clear values."""

from __future__ import annotations

import concurrent.futures
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from pyiceberg.catalog import load_catalog

ROWS = 1_000_000
ROWS_PER_FILE = 250_000
READS = 300
CLIENTS = 16
LINE = "bench.orders@1"
_COLUMNS = ("order_id", "customer", "email", "placed_at", "amount", "quantity", "state", "country", "note", "score")
_ENVIRONMENT = {"TREATY_CUSTOMERS_KEY": "a key for the benchmark only"}


def run() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder)) as (address, tokens, process):
        print("| what | measured |\n| --- | --- |")
        _point_reads(address, tokens["clear"], process)
        _streams(Path(folder), address, tokens, process)


def _point_reads(address: str, token: str, process: subprocess.Popen[str]) -> None:
    with _client(address, token) as client:
        for number in range(20):
            _read_row(client, number * 7)
        cpu = _cpu_seconds(process)
        times = [_timed(lambda number=number: _read_row(client, number * 3_331 % ROWS)) for number in range(READS)]  # type: ignore[misc]
    cpu = (_cpu_seconds(process) - cpu) / READS
    print(f"| processor time of the server for a point read | {_ms(cpu)} |")
    print(f"| point read, 1 client | p50 {_ms(statistics.median(times))}, p99 {_ms(_quantile(times, 0.99))} |")

    def work(offset: int) -> list[float]:
        with _client(address, token) as client:
            return [
                _timed(lambda number=number: _read_row(client, (offset * 62_501 + number * 7_919) % ROWS))  # type: ignore[misc]
                for number in range(READS // 4)
            ]

    started = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        parallel = [one for some in pool.map(work, range(CLIENTS)) for one in some]
    rate = len(parallel) / (time.perf_counter() - started)
    print(
        f"| point read, {CLIENTS} clients | p50 {_ms(statistics.median(parallel))}, "
        f"p99 {_ms(_quantile(parallel, 0.99))}, {rate:.0f} reads/s |"
    )


def _streams(folder: Path, address: str, tokens: dict[str, str], process: subprocess.Popen[str]) -> None:
    plain = min(_timed(lambda: _read_files(folder)) for _ in range(3))
    before = _memory(process)
    clear = min(_timed(lambda: _read_stream(address, tokens["clear"])) for _ in range(3))
    grown = _memory(process) - before
    masked = min(_timed(lambda: _read_stream(address, tokens["masked"])) for _ in range(3))
    redacted = min(_timed(lambda: _read_stream(address, tokens["redacted"])) for _ in range(3))
    print(f"| pyarrow reads the files, {ROWS:,} rows | {ROWS / plain:,.0f} rows/s |")
    print(f"| stream as Arrow, clear | {ROWS / clear:,.0f} rows/s, {plain / clear:.2f} × pyarrow, {grown:+.0f} MB |")
    print(f"| stream as Arrow, two columns redacted | {redacted / clear:.2f} × clear |")
    print(f"| stream as Arrow, two columns hashed ({ROWS:,} and 50,000 values) | {masked / clear:.2f} × clear |")


def _read_row(client: httpx2.Client, number: int) -> None:
    response = client.get(f"/data/{LINE}/ORD-{number:09}")
    assert response.status_code == 200, response.text


def _read_files(folder: Path) -> None:
    rows = 0
    for file in sorted(folder.rglob("data/*.parquet")):
        with pq.ParquetFile(file) as parquet:
            rows += sum(batch.num_rows for batch in parquet.iter_batches(20_000))
    assert rows == ROWS


def _read_stream(address: str, token: str) -> None:
    with _client(address, token) as client:
        headers = {"Accept": "application/vnd.apache.arrow.stream"}
        with client.stream("GET", f"/data/{LINE}?limit=all", headers=headers) as response:
            assert response.status_code == 200
            with pa.ipc.open_stream(io.BufferedReader(_Body(response.iter_raw()), 1 << 20)) as reader:
                assert sum(batch.num_rows for batch in reader) == ROWS


class _Body(io.RawIOBase):
    """The body of a response as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _memory(process: subprocess.Popen[str]) -> float:
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * 4096 / 1e6


def _cpu_seconds(process: subprocess.Popen[str]) -> float:
    times = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def _client(address: str, token: str) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=address, headers=headers, timeout=120, trust_env=False)


def _timed(action: Callable[[], None]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def _ms(seconds: float) -> str:
    return f"{seconds * 1_000:.0f} ms"


@contextmanager
def _server(folder: Path) -> Iterator[tuple[str, dict[str, str], subprocess.Popen[str]]]:
    """Publish the rows and serve them; yields the address, a token by view, and the process."""
    _write_table(folder)
    tokens = _register(folder)
    command = [sys.executable, "-m", "benchmarks.serving", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), tokens, process
    finally:
        process.terminate()
        process.wait(timeout=30)


def _write_table(folder: Path) -> None:
    table = _catalog(folder).create_table(
        "publications.orders_v1", _rows(0, 1).schema, properties={"write.parquet.row-group-limit": "20000"}
    )
    for start in range(0, ROWS, ROWS_PER_FILE):
        stamp = {"treaty.run": "1", "treaty.contract": "bench.orders 1.0.0"}
        table.append(_rows(start, ROWS_PER_FILE), snapshot_properties=stamp)


def _catalog(folder: Path) -> Any:
    catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{folder / 'lake.db'}", warehouse=f"file://{folder}")
    catalog.create_namespace_if_not_exists("publications")
    return catalog


def _rows(start: int, count: int) -> pa.Table:
    numbers = range(start, start + count)
    return pa.table(
        {
            "order_id": [f"ORD-{number:09}" for number in numbers],
            "customer": [f"customer {number * 7 % 50_000}" for number in numbers],
            "email": [f"customer{number}@example.org" for number in numbers],
            "placed_at": pa.array(
                [1_760_000_000_000_000 + number * 1_000_000 for number in numbers], pa.timestamp("us", "UTC")
            ),
            "amount": [number % 10_000 / 100 for number in numbers],
            "quantity": [number % 9 for number in numbers],
            "state": [("open", "paid", "shipped")[number % 3] for number in numbers],
            "country": [("de", "us", "fr", "jp")[number % 4] for number in numbers],
            "note": [f"note {number % 1_000}" for number in numbers],
            "score": [number * 0.5 for number in numbers],
        }
    )


def _register(folder: Path) -> dict[str, str]:
    from treaty.registry.service import Registry

    types = {"placed_at": "timestamp", "amount": "number", "quantity": "integer", "score": "number"}
    labels = {"customer": "restricted", "email": "restricted", "state": "internal", "country": "internal"}
    fields = [
        {
            "name": name,
            "logicalType": types.get(name, "string"),
            "description": f"The {name} of an order.",
            **({"primaryKey": True, "required": True} if name == "order_id" else {}),
            **({"classification": labels[name]} if name in labels else {}),
        }
        for name in _COLUMNS
    ]
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "bench.orders",
        "version": "1.0.0",
        "status": "active",
        "owners": [{"team": "orders", "contact": "#orders"}],
        "data_policy": {
            "classifications": {
                "restricted": {"mask": "hash", "key": "customers", "clear_for": ["clear", "redacted"]},
                "internal": {"mask": "redact", "clear_for": ["clear", "masked"]},
            }
        },
        "schema": [{"name": "orders", "description": "Orders.", "properties": fields}],
    }
    with Registry.open(str(folder / "registry.db")) as registry:
        registry.register(json.dumps(document).encode())
        tokens = {}
        for purpose in ("clear", "masked", "redacted"):
            registry.consumers.subscribe(
                purpose, LINE, consumer_class="operational_reporting", purpose=purpose, team="readers"
            )
            tokens[purpose] = registry.access.create_token(purpose, role="viewer").token
    return tokens


def _serve(folder: Path) -> None:
    """Serve the rows of a folder, in a process of its own; print the address."""
    import structlog

    from treaty.contracts.versions import Line
    from treaty.pipeline.tables.layout import TableNamespace
    from treaty.pipeline.tables.table_catalog import TableCatalog
    from treaty.policy.key_files import key_finder
    from treaty.registry.service import Registry
    from treaty.server.server import ServerOptions, serve
    from treaty.server.settings import AccessSettings
    from treaty.serving.cursors import CursorCodec
    from treaty.serving.data_service import DataService, ServedPublication
    from treaty.serving.published_table import LoadedTable, PublishedSnapshot, PublishedTable

    tables = TableCatalog(TableNamespace("lake"), lambda: _catalog(folder))

    def load() -> LoadedTable:
        loaded, stamps = tables.open_published("publications.orders_v1")
        return LoadedTable(
            loaded, tuple(PublishedSnapshot(one.snapshot, one.run, "1.0.0", one.committed_at) for one in stamps)
        )

    with Registry.open(str(folder / "registry.db")) as registry:
        publication = ServedPublication(Line("bench.orders", 1), "orders", PublishedTable(load), ("order_id",))
        cursors = CursorCodec(registry.context.secrets)
        service = DataService((publication,), cursors, key_finder(_ENVIRONMENT))
        options = ServerOptions("127.0.0.1", 0, AccessSettings(), open_rows=lambda _: service)
        structlog.configure(logger_factory=structlog.ReturnLoggerFactory())
        serve(registry, options, lambda address: print(address, flush=True))


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
