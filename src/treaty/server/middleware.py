"""What every request to the framework passes: its id, its limits, where it may come from, and one line in the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from treaty.server.entrance import (
    FOREIGN,
    MISTAKE,
    STOPPING,
    Entrance,
    Refusal,
    Scope,
    besides,
    in_json,
    log_mistake,
    log_request,
    of_every_answer,
    too_large,
)
from treaty.server.identity import Doorman
from treaty.server.pages.problems import drawn_alone, is_page, problem_page

Receive = Callable[[], Any]
Send = Callable[[dict[str, Any]], Any]


class Gate:
    """The outermost layer, without a framework's cost: a request that may not pass is answered here."""

    def __init__(self, app: Any, entrance: Entrance, doorman: Doorman, catalog_name: str) -> None:
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
            if refusal is FOREIGN and await run_in_threadpool(self._doorman.is_guarded):
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
            log_mistake(request_id, error)
            await passage.refuse(MISTAKE)
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
            message["headers"] = [*message.get("headers", ()), *of_every_answer(self._id)]
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        if self._status is not None:
            return
        path = self._scope["path"]
        body, kind = in_json(path, refusal, self._id), {"Content-Type": "application/json"}
        accepted = next((value for name, value in self._scope["headers"] if name == b"accept"), b"")
        if is_page(path, accepted.decode("latin-1")):
            page = problem_page(refusal.status, refusal.words, self._id, path)
            body, kind = drawn_alone(page, self._catalog_name)
        headers = [(name.lower().encode(), value.encode()) for name, value in kind.items()]
        headers += [(b"content-length", str(len(body)).encode()), *besides(refusal.status)]
        await self.send({"type": "http.response.start", "status": refusal.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    def log(self) -> None:
        log_request(self._scope, self._id, self._status, self._began)
