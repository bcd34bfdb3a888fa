"""The URL of a receiver, taken apart once, so that what is checked is what is called."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from treaty.errors import InvalidDocument
from treaty.registry.notices.addresses import parse_host

_PORTS = {"http": 80, "https": 443}
_LONGEST = 2000
_UNFIT = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")
_SAFE = "/:@!$&'()*+,;=~-._?%"


@dataclass(frozen=True)
class WebTarget:
    """Where a request goes; the path may be a secret and is never shown."""

    scheme: str
    host: str
    port: int
    path: str = field(repr=False)

    @property
    def authority(self) -> str:
        """Return the host, with the port where it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Return what may be shown: scheme and host."""
        return f"{self.scheme}://{self.authority}"


def parse_web_target(text: str) -> WebTarget:
    """Read an http or https URL; errors never repeat it, since it may hold a secret."""
    if len(text) > _LONGEST:
        raise InvalidDocument(f"the URL is longer than {_LONGEST} characters; use a shorter one")
    if _UNFIT.search(text):
        raise InvalidDocument("the URL holds a space, a backslash or a control character; percent-encode it")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InvalidDocument("the URL cannot be read; write it like https://hooks.example.org/treaty") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise InvalidDocument(
            "the URL is not http or https with a host; write it like https://hooks.example.org/treaty"
        )
    if "@" in parts.netloc:
        raise InvalidDocument("the URL holds a user or password; leave them out and set a secret on the channel")
    if port == 0:
        raise InvalidDocument("the URL names port 0; use a port from 1 to 65535")
    path = quote(parts.path or "/", safe=_SAFE) + (f"?{quote(parts.query, safe=_SAFE)}" if parts.query else "")
    return WebTarget(parts.scheme, parse_host(parts.hostname), port or _PORTS[parts.scheme], path)
