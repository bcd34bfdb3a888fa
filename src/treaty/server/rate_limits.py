"""Rate limits: how many expensive requests and failed sign-ins one client may send per minute, counted per process."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from enum import StrEnum
from functools import lru_cache
from typing import Any

from treaty.errors import Unavailable
from treaty.registry.access.actors import Actor, NotAuthenticated
from treaty.server.settings import LimitedClients, RateLimits, is_loopback

MAX_BUCKETS = 10_000
"""Clients that are counted at the same time; beyond that, the one that was quiet for longest is forgotten."""

BYTES_PER_REQUEST = 100_000
"""A larger body counts as several requests."""

_MINUTE = 60.0
_MAX_NAME_LENGTH = 64
_IPV6_NETWORK = 64  # the smallest network that a provider assigns
_NOT_SIGNED_IN = frozenset({"anonymous", "local"})


class Cost(StrEnum):
    """What a request to a route costs the server."""

    NORMAL = "normal"
    EXPENSIVE = "expensive"  # judges documents, or computes on many rows


class TooManyRequests(Unavailable):
    """A client sends more than it may; nothing was done."""

    def __init__(self, what: str, seconds: float) -> None:
        self.retry_after = max(1, math.ceil(seconds))
        super().__init__(f"too many {what}; try again in {self.retry_after} s")


class TokenBuckets:
    """One bucket per key. It contains the allowance of a minute when it is full, and fills up evenly."""

    def __init__(
        self, per_minute: int, clock: Callable[[], float] = time.monotonic, max_buckets: int = MAX_BUCKETS
    ) -> None:
        self._interval = _MINUTE / per_minute
        self._clock = clock
        self._max_buckets = max_buckets
        self._full_at: dict[str, float] = {}
        self._lock = threading.Lock()

    def seconds_to_wait(self, key: str) -> float:
        """Return the time until the bucket of a key has a token; 0 if it has one."""
        with self._lock:
            lacking = self._full_at.get(key, 0.0) - self._clock()
        return max(0.0, lacking + self._interval - _MINUTE)

    def take(self, key: str, tokens: int = 1) -> None:
        """Take tokens out of a bucket, even if it has fewer."""
        with self._lock:
            full_at = max(self._full_at.pop(key, 0.0), self._clock())
            if len(self._full_at) >= self._max_buckets:
                del self._full_at[next(iter(self._full_at))]
            self._full_at[key] = full_at + tokens * self._interval

    def __len__(self) -> int:
        """Return the number of buckets in memory."""
        return len(self._full_at)


class RateLimiter:
    """Counts the requests of clients: of those who signed in by who they are, of others by their address."""

    def __init__(self, limits: RateLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._clients = limits.clients
        self._expensive = TokenBuckets(limits.expensive, clock)
        self._failures = TokenBuckets(limits.failed_sign_ins, clock)

    def admit(self, scope: MutableMapping[str, Any], actor: Actor, cost: Cost) -> None:
        """Count a request; raise TooManyRequests if its client sent too many."""
        if cost is Cost.NORMAL:
            return
        key = self._client(scope, actor)
        if key is None:
            return
        if seconds := self._expensive.seconds_to_wait(key):
            raise TooManyRequests("expensive requests", seconds)
        self._expensive.take(key)
        scope["state"]["rate_limit_key"] = key

    def count_body(self, scope: MutableMapping[str, Any], size: int) -> None:
        """Count the body of an admitted request: once more for every further 100,000 bytes."""
        key, more = scope["state"].get("rate_limit_key"), max(0, size - 1) // BYTES_PER_REQUEST
        if key is not None and more:
            self._expensive.take(key, more)

    @contextmanager
    def sign_in(self, scope: MutableMapping[str, Any]) -> Iterator[None]:
        """Count the use of credentials if they turn out to be invalid; raise TooManyRequests after too many."""
        key = self._address(scope)
        if key is not None and (seconds := self._failures.seconds_to_wait(key)):
            raise TooManyRequests("invalid credentials from this address", seconds)
        try:
            yield
        except NotAuthenticated:
            if key is not None:
                self._failures.take(key)
            raise

    def _client(self, scope: MutableMapping[str, Any], actor: Actor) -> str | None:
        """Return the key of the bucket of a client; None if the client is not limited."""
        address = self._address(scope)
        return address if address is None or actor.via in _NOT_SIGNED_IN else actor.identity

    def _address(self, scope: MutableMapping[str, Any]) -> str | None:
        """Return the network that a request comes from: of a trusted proxy's client, as uvicorn resolved it."""
        if self._clients is LimitedClients.NONE:
            return None
        host = scope["client"][0] if scope.get("client") else "127.0.0.1"  # a socket in the file system
        network = client_network(host)
        return None if self._clients is LimitedClients.REMOTE and is_loopback(network) else network


@lru_cache(1_000)
def client_network(host: str) -> str:
    """Return what is counted as one client: an IPv4 address, or a network of 64 bits of IPv6."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host[:_MAX_NAME_LENGTH]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    if address.is_loopback:
        return str(address)
    return str(ipaddress.ip_network((int(address), _IPV6_NETWORK), strict=False))
