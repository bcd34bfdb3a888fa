"""What every request to the framework passes: its id, its limits, where it may come from, and one line in the log."""

from __future__ import annotations

import asyncio
import json
import re
import time
import traceback
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from secrets import token_hex
from typing import Any, NamedTuple

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from treaty.registry.access.tokens import redact
from treaty.server.authenticator import Authenticator
from treaty.server.errors import API
from treaty.server.pages.error_pages import error_page, is_page_request, render_standalone
from treaty.server.settings import Limits, is_loopback

Receive = Callable[[], Any]
Send = Callable[[dict[str, Any]], Any]


class RequestMiddleware:
    """The outermost layer, without a framework's cost: a request that may not pass is answered here."""

    def __init__(self, app: Any, entrance: RequestChecks, doorman: Authenticator, catalog_name: str) -> None:
        self._app = app
        self._entrance = entrance
        self._doorman = doorman
        self._catalog_name = catalog_name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, within its limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        entrance, headers = self._entrance, dict(scope["headers"])
        request_id = entrance.id_of(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        passage = _Passage(scope, receive, send, request_id, entrance.largest(scope["path"]), self._catalog_name)
        try:
            refusal = entrance.refusal(scope, headers)
            if refusal is FOREIGN_HOST and await run_in_threadpool(self._doorman.is_guarded):
                refusal = entrance.refusal(scope, headers)  # a token was made meanwhile
            if refusal is not None:
                await passage.refuse(refusal)
            else:
                async with asyncio.timeout(entrance.limits.seconds):
                    await self._app(scope, passage.receive, passage.send)
        except TimeoutError:
            await passage.refuse(entrance.too_late)
        except HTTPException as error:  # of our own making: the body was larger than it said
            await passage.refuse(Refusal(error.status_code, "too_large", str(error.detail)))
        except asyncio.CancelledError:  # by a server that stops
            await passage.refuse(STOPPING)
        except ClientDisconnect:
            pass  # nobody is there to be answered
        except Exception as error:
            log_internal_error(request_id, error)
            await passage.refuse(INTERNAL_ERROR)
        finally:
            passage.log()


class _Passage:
    """One request on its way: what came in, what went out."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, request_id: str, largest: int, catalog_name: str
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._id = request_id
        self._left = self._largest = largest
        self._catalog_name = catalog_name
        self._status: int | None = None
        self._began = time.perf_counter()

    async def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = await self._receive()
        if message["type"] == "http.request":
            self._left -= len(message.get("body", b""))
            if self._left < 0:
                raise HTTPException(413, too_large(self._largest).words)
        return message

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [*message.get("headers", ()), *common_headers(self._id)]
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        if self._status is not None:
            return
        path = self._scope["path"]
        body, kind = render_refusal(path, refusal, self._id), {"Content-Type": "application/json"}
        accepted = next((value for name, value in self._scope["headers"] if name == b"accept"), b"")
        if is_page_request(path, accepted.decode("latin-1")):
            page = error_page(refusal.status, refusal.words, self._id, path)
            body, kind = render_standalone(page, self._catalog_name)
        headers = [(name.lower().encode(), value.encode()) for name, value in kind.items()]
        headers += [(b"content-length", str(len(body)).encode()), *refusal_headers(refusal.status)]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    def log(self) -> None:
        log_request(self._scope, self._id, self._status, self._began)


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


FOREIGN_HOST = Refusal(403, "not_allowed", "this server is open to its own machine only; name it localhost")
_ELSEWHERE = Refusal(
    403, "not_allowed", "this server is open to its own machine only; a page from elsewhere may not use it"
)
NUL_IN_ADDRESS = Refusal(422, "invalid", "the address holds a NUL character, which no name has")
_NO_FORM = Refusal(415, "unsupported_media_type", "send the form of the page")
UNSUPPORTED_MEDIA_TYPE = Refusal(415, "unsupported_media_type", "send application/json or application/yaml")
STOPPING = Refusal(503, "unavailable", "the server is shutting down; nothing was acknowledged; try again")
INTERNAL_ERROR = Refusal(500, "failed", "the registry made a mistake; its log has the details under this request's id")


class RequestChecks:
    """Looks at the head of a request: how large it is, of what kind, and where it comes from."""

    def __init__(self, limits: Limits, doorman: Authenticator) -> None:
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
            return NUL_IN_ADDRESS
        if not self._doorman.guarded_as_far_as_known:
            if not _leads_here(headers.get(b"host", b"localhost")):
                return FOREIGN_HOST
            if method not in _SAFE and b"origin" in headers and not _comes_from_here(headers[b"origin"]):
                return _ELSEWHERE
        has_body = length != b"0" or b"transfer-encoding" in headers
        if has_body and method in ("POST", "PUT", "PATCH"):
            media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if path.startswith(PAGES):
                return None if media in _FORMS else _NO_FORM
            if media not in _MEDIA:
                return UNSUPPORTED_MEDIA_TYPE
        return None


def too_large(largest: int) -> Refusal:
    """Say that a body is too large."""
    return Refusal(413, "too_large", f"the body is larger than {largest:,} bytes")


def render_refusal(path: str, refusal: Refusal, request_id: str) -> bytes:
    """Return a refusal in the one shape of errors, or as the first API says it on its paths."""
    if not path.startswith(API):
        return json.dumps({"detail": refusal.words}).encode()
    told = {"error": refusal.code, "detail": refusal.words, "findings": [], "request_id": request_id}
    return json.dumps(told).encode()


def refusal_headers(status: int) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that a refusal has besides those of every answer."""
    return ((b"retry-after", b"2"),) if status == 503 else ()


def common_headers(request_id: str) -> tuple[tuple[bytes, bytes], ...]:
    """Return the headers that every answer has."""
    return (b"x-request-id", request_id.encode()), (b"x-content-type-options", b"nosniff")


def log_internal_error(request_id: str, error: Exception) -> None:
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
