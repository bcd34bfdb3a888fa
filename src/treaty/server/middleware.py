"""The ASGI middleware around every request: request id, limits, origin checks, error responses and the request log."""

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
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from treaty.registry.access.tokens import redact
from treaty.server.authenticator import Authenticator
from treaty.server.errors import API, has_error_model
from treaty.server.pages.error_pages import error_page, is_page_request, render_standalone
from treaty.server.schema_registry_paths import PREFIX as SCHEMA_REGISTRY
from treaty.server.settings import Limits, is_loopback

if TYPE_CHECKING:
    from treaty.server.metrics import ServerMetrics

Scope = dict[str, Any]
Headers = dict[bytes, bytes]
Receive = Callable[[], Any]
Send = Callable[[dict[str, Any]], Any]

_LOG = structlog.get_logger("treaty.server")
_PAGES = "/catalog/"
_REQUEST_ID = re.compile(rb"[0-9A-Za-z_-]{8,64}")
_DOCUMENT_TYPES = frozenset(
    {b"application/json", b"application/yaml", b"application/x-yaml", b"text/yaml", b"application/odcs+json"}
)
_SCHEMA_TYPES = frozenset({b"application/vnd.schemaregistry.v1+json", b"application/vnd.schemaregistry+json"})
_FORM_TYPES = frozenset({b"application/x-www-form-urlencoded", b"multipart/form-data"})
_DOCUMENT_PATHS = frozenset(
    {
        "/contracts",
        "/contracts/check",
        "/catalog/check",
        *(
            f"{API}/{name}"
            for name in ("contracts", "impact", "can-i-publish", "policies/check", "lineage", "lineage/batch")
        ),
    }
)
_MAX_FORM_BYTES = 500_000
_MAX_OTHER_BYTES = 1_000_000
"""For bodies that are no contract: they are parsed in the event loop."""

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_UNLOGGED_PATHS = frozenset({"/healthz"})


class Refusal(NamedTuple):
    """An error response that the middleware sends itself."""

    status: int
    code: str
    message: str


FOREIGN_HOST = Refusal(403, "not_allowed", "this server is open to its own machine only; use the host name localhost")
FOREIGN_ORIGIN = Refusal(
    403, "not_allowed", "this server is open to its own machine only; pages of other origins may not use it"
)
NUL_IN_ADDRESS = Refusal(422, "invalid", "the address contains a NUL character")
UNSUPPORTED_MEDIA_TYPE = Refusal(415, "unsupported_media_type", "send application/json or application/yaml")
UNSUPPORTED_FORM = Refusal(
    415, "unsupported_media_type", "send a form: application/x-www-form-urlencoded or multipart/form-data"
)
SHUTTING_DOWN = Refusal(503, "unavailable", "the server is shutting down; nothing was acknowledged; try again")
INTERNAL_ERROR = Refusal(500, "failed", "internal error; the server's log has the details under this request's id")


def too_large(limit: int) -> Refusal:
    """Return the refusal of a body that exceeds a limit."""
    return Refusal(413, "too_large", f"the body is larger than {limit:,} bytes")


def is_schema_path(path: str) -> bool:
    """Return whether a path belongs to the schema registry."""
    return path == SCHEMA_REGISTRY or path.startswith(f"{SCHEMA_REGISTRY}/")


class RequestMiddleware:
    """Checks the head of every request, and turns whatever the application raises into a response."""

    def __init__(
        self,
        app: Any,
        limits: Limits,
        authenticator: Authenticator,
        metrics: ServerMetrics,
        catalog_name: str,
        hsts_seconds: int,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._limits = limits
        self._authenticator = authenticator
        self._catalog_name = catalog_name
        self._timed_out = Refusal(503, "unavailable", f"no answer within {limits.seconds:g} seconds; try again")
        self._hsts = f"max-age={hsts_seconds}".encode() if hsts_seconds else None
        self._id_prefix = token_hex(6)  # unique per process; a counter makes the ids unique
        self._request_numbers = count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, within its limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: Headers = dict(scope["headers"])
        request_id = self._request_id(headers)
        scope.setdefault("state", {})["request_id"] = request_id
        limit = self._max_bytes(scope["path"])
        hsts = self._hsts if scope["scheme"] == "https" else None
        exchange = _Exchange(scope, receive, send, request_id, limit, self._limits.body_seconds, hsts)
        answered = _answered_like_get(scope)
        self._metrics.begin_request()
        try:
            refusal = self._check(scope, headers, limit)
            if refusal is FOREIGN_HOST and await run_in_threadpool(self._authenticator.requires_sign_in):
                refusal = self._check(scope, headers, limit)  # a token was created in the meantime
            if refusal is not None:
                await exchange.refuse(refusal, self._catalog_name)
                return
            async with asyncio.timeout(self._limits.seconds):
                await self._app(answered, exchange.receive, exchange.send)
        except TimeoutError:
            await exchange.refuse(self._timed_out, self._catalog_name)
        except asyncio.CancelledError:  # by uvicorn, when the time for a graceful shutdown is over
            await exchange.refuse(SHUTTING_DOWN, self._catalog_name)
        except ClientDisconnect:
            pass
        except Exception as error:
            _log_internal_error(request_id, error)
            await exchange.refuse(INTERNAL_ERROR, self._catalog_name)
        finally:
            exchange.log()
            self._metrics.end_request(scope["method"], answered, exchange.status, exchange.seconds)

    def _request_id(self, headers: Headers) -> str:
        """Return the id that the client sent, or a new one."""
        sent = headers.get(b"x-request-id")
        if sent is not None and _REQUEST_ID.fullmatch(sent):
            return sent.decode()
        return f"{self._id_prefix}{next(self._request_numbers):08x}"

    def _max_bytes(self, path: str) -> int:
        """Return how large a body may be; only contracts may be large."""
        if path in _DOCUMENT_PATHS or is_schema_path(path):
            return self._limits.body
        return min(self._limits.body, _MAX_FORM_BYTES if path.startswith(_PAGES) else _MAX_OTHER_BYTES)

    def _check(self, scope: Scope, headers: Headers, limit: int) -> Refusal | None:
        """Return why a request is refused by its head: size, address, origin or media type."""
        path, method = scope["path"], scope["method"]
        length = headers.get(b"content-length", b"0")
        if int(length) > limit:
            return too_large(limit)
        if "\x00" in path or b"%00" in scope["query_string"]:
            return NUL_IN_ADDRESS
        if not self._authenticator.sign_in_required:
            if not _is_local_host(headers.get(b"host", b"localhost")):
                return FOREIGN_HOST
            if method not in _SAFE_METHODS and b"origin" in headers and not _is_local_origin(headers[b"origin"]):
                return FOREIGN_ORIGIN
        has_body = length != b"0" or b"transfer-encoding" in headers
        if has_body and method in ("POST", "PUT", "PATCH"):
            media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
            if path.startswith(_PAGES):
                return None if media in _FORM_TYPES else UNSUPPORTED_FORM
            if media not in _DOCUMENT_TYPES and not (media in _SCHEMA_TYPES and is_schema_path(path)):
                return UNSUPPORTED_MEDIA_TYPE
        return None


class _Exchange:
    """One request and its response: limits the body, adds headers, and remembers the status for the log."""

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        request_id: str,
        max_bytes: int,
        body_seconds: float,
        hsts: bytes | None,
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._request_id = request_id
        self._hsts = hsts
        self._max_bytes = self._bytes_left = max_bytes
        self._body_seconds = body_seconds
        self._body_deadline: float | None = asyncio.get_running_loop().time() + body_seconds
        self.status: int | None = None
        self._started_at = time.perf_counter()

    async def receive(self) -> dict[str, Any]:
        try:
            async with asyncio.timeout_at(self._body_deadline):
                message: dict[str, Any] = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"the body did not arrive within {self._body_seconds:g} seconds") from None
        if message["type"] == "http.request":
            if not message.get("more_body", False):
                self._body_deadline = None
            self._bytes_left -= len(message.get("body", b""))
            if self._bytes_left < 0:
                raise HTTPException(413, too_large(self._max_bytes).message)
        return message

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [
                *message.get("headers", ()),
                (b"x-request-id", self._request_id.encode()),
                (b"x-content-type-options", b"nosniff"),
            ]
            if self._hsts:
                message["headers"].append((b"strict-transport-security", self._hsts))
        await self._send(message)

    async def refuse(self, refusal: Refusal, catalog_name: str) -> None:
        """Send a refusal, unless a response was started: as a page to a browser that asked for one, else as JSON."""
        if self.status is not None:
            return
        path = self._scope["path"]
        accept = next((value for name, value in self._scope["headers"] if name == b"accept"), b"")
        if is_page_request(path, accept.decode("latin-1")):
            page = error_page(refusal.status, refusal.message, self._request_id, path)
            body, fields = render_standalone(page, catalog_name)
        else:
            body, fields = self._render(path, refusal), {"Content-Type": "application/json"}
        headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
        headers.append((b"content-length", str(len(body)).encode()))
        if refusal.status == 503:
            headers.append((b"retry-after", b"2"))
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    def _render(self, path: str, refusal: Refusal) -> bytes:
        body: dict[str, Any] = {"detail": refusal.message}
        if is_schema_path(path):
            body = {"error_code": refusal.status, "message": refusal.message}
        if has_error_model(path):
            body = {"error": refusal.code, **body, "findings": [], "request_id": self._request_id}
        return json.dumps(body).encode()

    @property
    def seconds(self) -> float:
        """The time since the head of the request was received."""
        return time.perf_counter() - self._started_at

    def log(self) -> None:
        """Log one line without query, body and headers, which may contain secrets."""
        if self._scope["path"] in _UNLOGGED_PATHS:
            return
        _LOG.info(
            "request",
            request_id=self._request_id,
            method=self._scope["method"],
            path=redact(self._scope["path"]),
            status=self.status,
            milliseconds=round(self.seconds * 1_000, 1),
        )


def _answered_like_get(scope: Scope) -> Scope:
    """Return the scope with GET in place of HEAD. The server, which knows the original method, sends no body."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def _log_internal_error(request_id: str, error: Exception) -> None:
    """Log where an error happened, without its message, which may contain secrets."""
    trace = "".join(traceback.format_tb(error.__traceback__))
    _LOG.error("internal_error", request_id=request_id, error=type(error).__name__, trace=trace)


@lru_cache(1_000)
def _is_local_host(host: bytes) -> bool:
    return is_loopback(_without_port(host.decode("latin-1")))


@lru_cache(1_000)
def _is_local_origin(origin: bytes) -> bool:
    return is_loopback(_without_port(origin.decode("latin-1").partition("://")[2]))


def _without_port(name: str) -> str:
    name = name.lower()
    return name.rpartition("]")[0].lstrip("[") if name.startswith("[") else name.partition(":")[0]
