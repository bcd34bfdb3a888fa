"""Sockets to listen on: one for each process of a server where the system deals connections out among them."""

from __future__ import annotations

import socket
import sys

from treaty.errors import Unavailable

_WAITING = 2_048


def listening(host: str, port: int, count: int) -> list[socket.socket]:
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
