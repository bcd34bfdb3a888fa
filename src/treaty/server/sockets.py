"""The sockets that the server listens on; they are opened first, so that a port in use is reported at once."""

from __future__ import annotations

import socket
import sys

from treaty.errors import Unavailable

SOCKET_BACKLOG = 2_048


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
