"""Fetching a small public document: in time, without redirects, and never more than a little."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from treaty.errors import Unavailable

Fetch = Callable[[str], bytes]
"""Returns what is at an address, or raises Unavailable."""

SECONDS = 5.0
LARGEST = 1_000_000


def fetch_document(url: str) -> bytes:
    """Return the document at an address; proxies and certificates named in the environment are not used."""
    try:
        import httpx2
    except ImportError:
        raise Unavailable("fetching keys needs the package httpx2; run: pip install 'treaty[server]'") from None

    deadline = monotonic() + SECONDS
    headers = {"accept": "application/json", "accept-encoding": "identity"}  # so that the size read is the size sent
    body = bytearray()
    try:
        with httpx2.stream("GET", url, headers=headers, timeout=SECONDS, trust_env=False) as response:
            if response.status_code != httpx2.codes.OK:
                raise Unavailable(f"{url} answers {response.status_code}, not 200; check the address")
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > LARGEST:
                    raise Unavailable(f"{url} sends more than {LARGEST} bytes; check the address")
                if monotonic() > deadline:
                    raise Unavailable(f"{url} takes more than {SECONDS:.0f} s; try again")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise Unavailable(f"cannot reach {url}: {error or type(error).__name__}; try again") from None
    return bytes(body)
