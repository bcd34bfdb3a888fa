"""HTTP connections to one checked address, with a deadline for the full exchange."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpcore2

from treaty.registry.notices.addresses import Address, Resolve, system_resolve

_CHUNK = 16 * 1024


@cache
def _system_tls() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()


@dataclass(frozen=True)
class Wire:
    """How names are resolved, connections made, and how many seconds they may take."""

    resolve: Resolve = system_resolve
    network: httpcore2.NetworkBackend = field(default_factory=httpcore2.SyncBackend)
    tls: Callable[[], ssl.SSLContext] = _system_tls
    connect_within: float = 5.0
    answer_within: float = 10.0
    seconds: Callable[[], float] = time.monotonic


SYSTEM_WIRE = Wire()


@dataclass(frozen=True)
class Deadline:
    """The end of the full exchange; a receiver that sends single bytes cannot extend it."""

    at: float
    seconds: Callable[[], float]

    def within(self, timeout: float | None) -> float:
        """Return the seconds that a step may take, at most those it asks for."""
        left = self.at - self.seconds()
        if left <= 0:
            raise httpcore2.TimeoutException("the exchange took too long")
        return left if timeout is None else min(left, timeout)


class PinnedNetwork(httpcore2.NetworkBackend):
    """Connects to the checked address, even if the host resolves to another one by now; TLS verifies the host."""

    def __init__(self, address: Address, network: httpcore2.NetworkBackend, deadline: Deadline) -> None:
        self._address = address
        self._network = network
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the address instead of the host."""
        timeout = self._deadline.within(timeout)
        stream = self._network.connect_tcp(str(self._address), port, timeout, local_address, socket_options)
        return TimedStream(stream, self._deadline)


class TimedStream(httpcore2.NetworkStream):
    """A connection on which each step has only the time left until the deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read available bytes."""
        return self._stream.read(max_bytes, self._deadline.within(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write in pieces, so that a slow reader meets the deadline too."""
        for start in range(0, len(buffer), _CHUNK):
            self._stream.write(buffer[start : start + _CHUNK], self._deadline.within(timeout))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        """Begin TLS for the host, not for the address."""
        try:
            stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.within(timeout))
        except BaseException:
            self._stream.close()
            raise
        return TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Return information on the connection."""
        return self._stream.get_extra_info(info)
