"""Several worker processes on one port and one database. A worker that dies is replaced."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

from treaty.errors import Unavailable
from treaty.registry.service import Registry
from treaty.server.server import ServerOptions, check_exposure, run_server

STARTUP_PERIOD_S = 5.0
"""If the first worker to die lived shorter than this, the server does not start."""

RESTART_PAUSE_S = 1.0
SOCKET_BACKLOG = 2_048


def serve_with_workers(
    open_registry: Callable[[], Registry],
    options: ServerOptions,
    on_start: Callable[[str, Registry], None],
    workers: int,
) -> None:
    """Serve with several processes until this process is asked to stop."""
    if not hasattr(os, "fork"):
        raise Unavailable("several workers need a system with fork(); use --workers 1")
    listeners = open_sockets(options.host, options.port, workers)
    try:
        with open_registry() as registry:  # closed before the fork: every worker opens its own
            check_exposure(registry, options)
            on_start(_format_address(listeners[0]), registry)
        _Supervisor(lambda index: _run_worker(open_registry, options, listeners[index]), workers).run()
    finally:
        for listener in listeners:
            listener.close()


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


def _run_worker(open_registry: Callable[[], Registry], options: ServerOptions, listener: socket.socket) -> None:
    with open_registry() as registry:
        run_server(registry, options, lambda _: None, listener)


def _format_address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def open_sockets(host: str, port: int, count: int) -> list[socket.socket]:
    """Return one listening socket per worker, all on the same port.

    Workers that share a socket compete for connections, and one may take all of them. Linux distributes connections
    evenly among sockets with SO_REUSEPORT; on other systems the workers share one socket.
    """
    first = _bind(host, port)
    if not sys.platform.startswith("linux") or count == 1:
        return [_listen(first)] * count
    bound_port = first.getsockname()[1]  # bound without SO_REUSEPORT first, so that a port in use is not shared
    first.close()
    return [_listen(_bind(host, bound_port, socket.SO_REUSEPORT)) for _ in range(count)]


def _bind(host: str, port: int, *options: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    for option in (socket.SO_REUSEADDR, *options):
        bound.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise Unavailable(f"cannot listen on {host} port {port}: {error.strerror}; try another --port") from None
    return bound


def _listen(bound: socket.socket) -> socket.socket:
    bound.listen(SOCKET_BACKLOG)
    return bound
