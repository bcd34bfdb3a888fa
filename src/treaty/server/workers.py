"""Several worker processes on one port and one database. A worker that dies is replaced."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from treaty.errors import Unavailable
from treaty.registry.service import Registry
from treaty.server.server import ServerOptions, check_exposure, run_server
from treaty.server.sockets import open_sockets

STARTUP_PERIOD_S = 5.0
"""If the first worker to die lived shorter than this, the server does not start."""

RESTART_PAUSE_S = 1.0
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of the folder in which processes share their metrics; prometheus_client reads it at its import."""


def serve_with_workers(
    open_registry: Callable[[], Registry],
    options: ServerOptions,
    on_start: Callable[[str, Registry], None],
    workers: int,
) -> None:
    """Serve with several processes until this process is asked to stop."""
    if not hasattr(os, "fork"):
        raise Unavailable("several workers need a system with fork(); use --workers 1")
    by_port = [open_sockets(options.host, port, workers) for port in options.ports]
    listeners = [listener for some in by_port for listener in some]
    try:
        with open_registry() as registry:  # closed before the fork: every worker opens its own
            check_exposure(registry, options)
            if options.tls:
                options.tls.context()  # unusable files are reported once, not by every worker
            on_start(options.address(*listeners[0].getsockname()[:2]), registry)
        with _shared_metrics():
            _Supervisor(
                lambda index: _run_worker(open_registry, options, *(some[index] for some in by_port)), workers
            ).run()
    finally:
        for listener in listeners:
            listener.close()


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """Let the workers share their metrics in a new folder: in the folder that the variable names, or a temporary one.

    Values of earlier servers are not counted again, because their files are in other folders.
    """
    given = os.environ.get(METRICS_FOLDER)
    try:
        with TemporaryDirectory(prefix="treaty-metrics-", dir=given or None) as folder:
            os.environ[METRICS_FOLDER] = folder
            yield
    except FileNotFoundError as error:
        raise Unavailable(f"cannot share metrics in {METRICS_FOLDER}: no folder {error.filename}") from None
    finally:
        if given is None:
            os.environ.pop(METRICS_FOLDER, None)
        else:
            os.environ[METRICS_FOLDER] = given


def _forget_gauges(pid: int) -> None:
    """Remove the gauges of a worker that has died; its counters stay part of the sums."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(pid)  # type: ignore[no-untyped-call]


class _Supervisor:
    """Starts the workers, replaces those that die, and stops them."""

    def __init__(self, run_worker: Callable[[int], None], workers: int) -> None:
        self._run_worker = run_worker
        self._workers = workers
        self._started_at: dict[int, float] = {}
        self._indexes: dict[int, int] = {}
        self._stopping = False
        self._startup_succeeded = False
        self._read_end, self._write_end = os.pipe()  # only this process holds the write end; workers see it close

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        for index in range(self._workers):
            self._start(index)
        while self._started_at:
            pid, _ = os.wait()
            lifetime = time.monotonic() - self._started_at.pop(pid, 0.0)
            _forget_gauges(pid)
            if self._stopping:
                continue
            self._startup_succeeded = self._startup_succeeded or lifetime >= STARTUP_PERIOD_S
            if not self._startup_succeeded:
                self._stop()
                raise Unavailable("a worker could not start; see its error above")
            if lifetime < STARTUP_PERIOD_S:
                time.sleep(RESTART_PAUSE_S)
            self._start(self._indexes.pop(pid))

    def _start(self, index: int) -> None:
        pid = os.fork()
        if pid:
            self._started_at[pid], self._indexes[pid] = time.monotonic(), index
            return
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.close(self._write_end)
            threading.Thread(target=self._exit_with_supervisor, name="treaty-supervisor", daemon=True).start()
            self._run_worker(index)
            code = 0
        finally:
            os._exit(code)

    def _exit_with_supervisor(self) -> None:
        """Stop this worker when the supervisor ends for any reason."""
        os.read(self._read_end, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _stop(self, *_: object) -> None:
        self._stopping = True
        for pid in self._started_at:
            os.kill(pid, signal.SIGTERM)


def _run_worker(open_registry: Callable[[], Registry], options: ServerOptions, *listeners: socket.socket) -> None:
    with open_registry() as registry:
        run_server(registry, options, lambda _: None, *listeners)
