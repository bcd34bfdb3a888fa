"""Where the server listens, who must sign in, and what a request may cost."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8090


@dataclass(frozen=True)
class AccessSettings:
    """Whether clients must sign in even if no token exists, and whether anonymous clients may read."""

    required: bool = False
    open_reading: bool = True


@dataclass(frozen=True)
class Limits:
    """What a request and a connection may cost: sizes in bytes, times in seconds."""

    body: int = 4_000_000
    seconds: float = 60
    body_seconds: float = 30
    head: int = 32_768
    keep_alive: int = 5
    connections: int = 1_000


@lru_cache(1_000)
def is_loopback(host: str) -> bool:
    """Tell whether a host name or address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
