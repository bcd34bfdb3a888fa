"""Several processes on one port and one database: each answers on its own, and one that falls is replaced."""

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

_SETTLED = 5.0
"""Seconds that one process must have lived before any that falls is replaced: what cannot start is told."""

_PAUSE = 1.0


def serve_with_workers(
    open_registry: Callable[[], Registry],
    serving: ServerOptions,
    on_start: Callable[[str, Registry], None],
    workers: int,
) -> None:
    """Serve with several processes until told to stop."""
    if not hasattr(os, "fork"):
        raise Unavailable("several workers need a system that can fork; use --workers 1")
    listeners = open_sockets(serving.host, serving.port, workers)
    try:
        with open_registry() as registry:  # closed again before the processes part: each opens its own
            check_exposure(registry, serving)
            on_start(_address(listeners[0]), registry)
        _Crew(lambda place: _work(open_registry, serving, listeners[place]), workers).run()
    finally:
        for listener in listeners:
            listener.close()


class _Crew:
    """The processes, and what becomes of them."""

    def __init__(self, work: Callable[[int], None], workers: int) -> None:
        self._work = work
        self._size = workers
        self._since: dict[int, float] = {}
        self._places: dict[int, int] = {}
        self._leaving = False
        self._settled = False
        self._watched, self._held = os.pipe()  # held open by the first process alone: its end is seen by the others

    def run(self) -> None:
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, self._leave)
        for place in range(self._size):
            self._start(place)
        while self._since:
            pid, _ = os.wait()
            lived = time.monotonic() - self._since.pop(pid, 0.0)
            if self._leaving:
                continue
            self._settled = self._settled or lived >= _SETTLED
            if not self._settled:
                self._leave()
                raise Unavailable("a worker could not start; its reason stands above")
            if lived < _SETTLED:
                time.sleep(_PAUSE)
            self._start(self._places.pop(pid))

    def _start(self, place: int) -> None:
        pid = os.fork()
        if pid:
            self._since[pid], self._places[pid] = time.monotonic(), place
            return
        code = 1
        try:
            for sign in (signal.SIGTERM, signal.SIGINT):
                signal.signal(sign, signal.SIG_DFL)
            os.close(self._held)
            threading.Thread(target=self._follow, name="treaty-crew", daemon=True).start()
            self._work(place)
            code = 0
        finally:
            os._exit(code)

    def _follow(self) -> None:
        """Leave when the first process is gone, however it went."""
        os.read(self._watched, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _leave(self, *_: object) -> None:
        self._leaving = True
        for pid in self._since:
            os.kill(pid, signal.SIGTERM)


def _work(open_registry: Callable[[], Registry], serving: ServerOptions, listener: socket.socket) -> None:
    with open_registry() as registry:
        run_server(registry, serving, lambda _: None, listener)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


_WAITING = 2_048


def open_sockets(host: str, port: int, count: int) -> list[socket.socket]:
    """Return a socket for each of so many processes, all on one port.

    Processes that share one socket race for it, and the first to wake takes all that wait. Linux deals connections out
    evenly among sockets that share a port; elsewhere the processes share one.
    """
    first = _bound(host, port)
    if not sys.platform.startswith("linux") or count == 1:
        return [_opened(first)] * count
    taken = first.getsockname()[1]  # bound alone at first, so that a port of somebody else's is not shared by mistake
    first.close()
    return [_opened(_bound(host, taken, socket.SO_REUSEPORT)) for _ in range(count)]


def _bound(host: str, port: int, *options: int) -> socket.socket:
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


def _opened(bound: socket.socket) -> socket.socket:
    bound.listen(_WAITING)
    return bound
