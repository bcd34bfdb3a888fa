"""The entrance: what every request is asked before anybody looks into it, its id, and its line in the log."""

from __future__ import annotations

import json
import re
import time
import traceback
from functools import lru_cache
from itertools import count
from secrets import token_hex
from typing import Any, NamedTuple

import structlog

from treaty.registry.access.tokens import redact
from treaty.server.errors import API
from treaty.server.identity import Doorman
from treaty.server.settings import Limits, is_loopback

Scope = dict[str, Any]
Headers = dict[bytes, bytes]

PAGES = "/catalog/"
_LOG = structlog.get_logger("treaty.server")
_ID = re.compile(rb"[0-9A-Za-z_-]{8,64}")
_MEDIA = (b"application/json", b"application/yaml", b"application/x-yaml", b"text/yaml", b"application/odcs+json")
_FORMS = (b"application/x-www-form-urlencoded", b"multipart/form-data")
_TAKE_DOCUMENTS = frozenset(
    {
        "/contracts",
        "/contracts/check",
        "/catalog/check",
        *(f"{API}/{name}" for name in ("impact", "can-i-publish", "policies/check")),
    }
)
_LARGEST_FORM = 500_000
_LARGEST_BESIDES = 1_000_000
"""Bytes of what is no document: it is read where others wait, so that it has to be read soon."""

_MOST_DIGITS = 19
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_QUIET = frozenset({"/healthz"})


class Refusal(NamedTuple):
    """Why a request may not pass: its status, and a code and words for whoever asked."""

    status: int
    code: str
    words: str


FOREIGN = Refusal(403, "not_allowed", "this server is open to its own machine only; name it localhost")
_ELSEWHERE = Refusal(
    403, "not_allowed", "this server is open to its own machine only; a page from elsewhere may not use it"
)
NUL = Refusal(422, "invalid", "the address holds a NUL character, which no name has")
_NO_FORM = Refusal(415, "unsupported_media_type", "send the form of the page")
NO_DOCUMENT = Refusal(415, "unsupported_media_type", "send application/json or application/yaml")
STOPPING = Refusal(503, "unavailable", "the server is shutting down; nothing was acknowledged; try again")
MISTAKE = Refusal(500, "failed", "the registry made a mistake; its log has the details under this request's id")


class Entrance:
    """Looks at the head of a request: how large it is, of what kind, and where it comes from."""

    def __init__(self, limits: Limits, doorman: Doorman) -> None:
        self.limits = limits
        self.too_late = Refusal(503, "unavailable", f"no answer within {limits.seconds:g} seconds; try again")
        self._doorman = doorman
        self._beginning = token_hex(6)  # ids that no other process has: a random beginning, and a count
        self._count = count()

    def id_of(self, headers: Headers) -> str:
        """Return the id that a request came with, or a new one."""
        given = headers.get(b"x-request-id")
        if given is not None and _ID.fullmatch(given):
            return given.decode()
        return f"{self._beginning}{next(self._count):08x}"

    def largest(self, path: str) -> int:
        """Return how large a body may be: only documents are large."""
        if path in _TAKE_DOCUMENTS:
            return self.limits.body
        return min(self.limits.body, _LARGEST_FORM if path.startswith(PAGES) else _LARGEST_BESIDES)

    def refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Refuse what is too large, of no kind that is read, or led here by a name that is not this machine's."""
        path, method = scope["path"], scope["method"]
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > _MOST_DIGITS or int(length) > self.largest(path):
            return too_large(self.largest(path))
        if "\x00" in path or b"%00" in scope["query_string"]:
            return NUL
        if not self._doorman.guarded_as_far_as_known:
            if not _leads_here(headers.get(b"host", b"localhost")):
                return FOREIGN
            if method not in _SAFE and b"origin" in headers and not _comes_from_here(headers[b"origin"]):
                return _ELSEWHERE
        has_body = length != b"0" or b"transfer-encoding" in headers
        if has_body and method in ("POST", "PUT", "PATCH"):
            media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if path.startswith(PAGES):
                return None if media in _FORMS else _NO_FORM
            if media not in _MEDIA:
                return NO_DOCUMENT
        return None


def too_large(largest: int) -> Refusal:
    """Say that a body is too large."""
    return Refusal(413, "too_large", f"the body is larger than {largest:,} bytes")


def in_json(path: str, refusal: Refusal, request_id: str) -> bytes:
    """Return a refusal in the one shape of errors, or as the first API says it on its paths."""
    if not path.startswith(API):
        return json.dumps({"detail": refusal.words}).encode()
    told = {"error": refusal.code, "detail": refusal.words, "findings": [], "request_id": request_id}
    return json.dumps(told).encode()


def besides(status: int) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that a refusal has besides those of every answer."""
    return ((b"retry-after", b"2"),) if status == 503 else ()


def of_every_answer(request_id: str) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that every answer has."""
    return (b"x-request-id", request_id.encode()), (b"x-content-type-options", b"nosniff")


def log_mistake(request_id: str, error: Exception) -> None:
    """Write where a mistake of ours happened; what it says may hold what must not be logged."""
    trace = "".join(traceback.format_tb(error.__traceback__))
    _LOG.error("mistake", request_id=request_id, error=type(error).__name__, trace=trace)


def log_request(scope: Scope, request_id: str, status: int | None, began: float) -> None:
    """Write one line: no query, no body, no header, where secrets might stand."""
    if scope["path"] in _QUIET:
        return
    _LOG.info(
        "request",
        request_id=request_id,
        method=scope["method"],
        path=redact(scope["path"]),
        status=status,
        milliseconds=round((time.perf_counter() - began) * 1_000, 1),
    )


@lru_cache(1_000)
def _leads_here(host: bytes) -> bool:
    """Tell whether a request was made to a name of this machine."""
    return is_loopback(_without_port(host.decode("latin-1")))


@lru_cache(1_000)
def _comes_from_here(origin: bytes) -> bool:
    """Tell whether the page that a browser sends a request for is of this machine; a program names none."""
    return is_loopback(_without_port(origin.decode("latin-1").partition("://")[2]))


def _without_port(name: str) -> str:
    name = name.lower()
    return name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
