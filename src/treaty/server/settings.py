"""How the server listens and how much it takes from a request."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from functools import lru_cache

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8090


@dataclass(frozen=True)
class Limits:
    """How much a request may take."""

    body: int = 4_000_000
    seconds: float = 60


@lru_cache(1_000)
def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
