"""What every request passes: its id, its limits, where it may come from, and one line in the log."""

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
from typing import Any

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from treaty.registry.access.tokens import redact
from treaty.server.identity import Doorman
from treaty.server.pages.problems import drawn_alone, is_page, problem_page
from treaty.server.settings import Limits, is_loopback

Scope = dict[str, Any]
Receive = Callable[[], Any]
Send = Callable[[dict[str, Any]], Any]

_LOG = structlog.get_logger("treaty.server")
_ID = re.compile(rb"[0-9A-Za-z_-]{8,64}")
_MEDIA = (b"application/json", b"application/yaml", b"application/x-yaml", b"text/yaml", b"application/odcs+json")
_PAGES = "/catalog/"
_FORMS = (b"application/x-www-form-urlencoded", b"multipart/form-data")
_LARGE_FORMS = frozenset({"/catalog/check"})
_LARGEST_FORM = 500_000
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_QUIET = frozenset({"/healthz"})
_FOREIGN = (403, "not_allowed", "this server is open to its own machine only; name it localhost")
_ELSEWHERE = (
    403,
    "not_allowed",
    "this server is open to its own machine only; a page from elsewhere may not use it",
)
_MISTAKE = "the registry made a mistake; its log has the details under this request's id"


class Gate:
    """The outermost layer, without a framework's cost: a request that may not pass is answered here."""

    def __init__(self, app: Any, limits: Limits, doorman: Doorman, catalog_name: str) -> None:
        self._app = app
        self._limits = limits
        self._doorman = doorman
        self._catalog_name = catalog_name
        self._beginning = token_hex(6)  # ids that no other process has: a random beginning, and a count
        self._count = count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, within its limits."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if _ID.fullmatch(given) else f"{self._beginning}{next(self._count):08x}"
        scope.setdefault("state", {})["request_id"] = request_id
        largest = self._largest(scope["path"])
        passage = _Passage(scope, receive, send, request_id, largest, self._catalog_name)
        try:
            refusal = self._refusal(scope, headers, largest)
            if refusal is _FOREIGN and await run_in_threadpool(self._doorman.is_guarded):
                refusal = self._refusal(scope, headers, largest)  # a token was made meanwhile
            if refusal is not None:
                await passage.refuse(*refusal)
            else:
                async with asyncio.timeout(self._limits.seconds):
                    await self._app(scope, passage.receive, passage.send)
        except TimeoutError:
            await passage.refuse(503, "unavailable", f"no answer within {self._limits.seconds:g} seconds; try again")
        except HTTPException as error:  # of our own making: the body was larger than it said
            await passage.refuse(error.status_code, "too_large", str(error.detail))
        except ClientDisconnect:
            pass  # nobody is there to be answered
        except Exception as error:  # a mistake of ours; what it says may hold what must not be logged
            trace = "".join(traceback.format_tb(error.__traceback__))
            _LOG.error("mistake", request_id=request_id, error=type(error).__name__, trace=trace)
            await passage.refuse(500, "failed", _MISTAKE)
        finally:
            passage.log()

    def _largest(self, path: str) -> int:
        """Return how large a body may be: forms are small, but for the one that takes a document."""
        is_form = path.startswith(_PAGES) and path not in _LARGE_FORMS
        return min(self._limits.body, _LARGEST_FORM) if is_form else self._limits.body

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes], largest: int) -> tuple[int, str, str] | None:
        """Refuse what is too large, of no kind that is read, or led here by a name that is not this machine's."""
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > largest:
            return 413, "too_large", f"the body is larger than {largest:,} bytes"
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            return 422, "invalid", "the address holds a NUL character, which no name has"
        if not self._doorman.guarded_as_far_as_known:
            if not _leads_here(headers.get(b"host", b"localhost")):
                return _FOREIGN
            if scope["method"] not in _SAFE and b"origin" in headers and not _comes_from_here(headers[b"origin"]):
                return _ELSEWHERE
        has_body = length != b"0" or b"transfer-encoding" in headers
        media = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if has_body and scope["method"] in ("POST", "PUT", "PATCH"):
            if scope["path"].startswith(_PAGES):
                return None if media in _FORMS else (415, "unsupported_media_type", "send the form of the page")
            if media not in _MEDIA:
                return 415, "unsupported_media_type", "send application/json or application/yaml"
        return None


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
                raise HTTPException(413, f"the body is larger than {self._largest:,} bytes")
        return message

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            message["headers"] = [
                *message.get("headers", ()),
                (b"x-request-id", self._id.encode()),
                (b"x-content-type-options", b"nosniff"),
            ]
        await self._send(message)

    async def refuse(self, status: int, code: str, words: str) -> None:
        if self._status is not None:
            return
        answer: dict[str, Any] = {"detail": words}
        if self._scope["path"].startswith("/api/v1"):
            answer = {"error": code, "detail": words, "findings": [], "request_id": self._id}
        body, kind = json.dumps(answer).encode(), {"Content-Type": "application/json"}
        accepted = next((value for name, value in self._scope["headers"] if name == b"accept"), b"")
        if is_page(self._scope["path"], accepted.decode("latin-1")):
            page = problem_page(status, words, self._id, self._scope["path"])
            body, kind = drawn_alone(page, self._catalog_name)
        headers = [(name.lower().encode(), value.encode()) for name, value in kind.items()]
        headers.append((b"content-length", str(len(body)).encode()))
        if status == 503:
            headers.append((b"retry-after", b"2"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    def log(self) -> None:
        """Write one line: no query, no body, no header, where secrets might stand."""
        if self._scope["path"] in _QUIET:
            return
        _LOG.info(
            "request",
            request_id=self._id,
            method=self._scope["method"],
            path=redact(self._scope["path"]),
            status=self._status,
            milliseconds=round((time.perf_counter() - self._began) * 1_000, 1),
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
