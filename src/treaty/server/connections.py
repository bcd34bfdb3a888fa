"""Connections: HTTP as uvicorn speaks it, with answers in one packet and a lane for what is asked most."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from typing import Any, cast

from starlette.requests import Request

from treaty.errors import TreatyError
from treaty.server.awaiting import mail_of
from treaty.server.entrance import (
    MISTAKE,
    STOPPING,
    Refusal,
    besides,
    in_json,
    log_mistake,
    log_request,
    of_every_answer,
)
from treaty.server.errors import answer_to
from treaty.server.express import Answer, Asked, Express
from treaty.server.packets import Joined

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # where there is no httptools, uvicorn has another protocol
    HttpToolsProtocol = None  # type: ignore[assignment, misc]

_WRITTEN_HERE = frozenset({b"content-type", b"content-length"})


def protocol(express: Express) -> Any:
    """Return the HTTP protocol to serve with, in uvicorn's terms."""
    if HttpToolsProtocol is None:
        return "auto"

    class Connection(HttpToolsProtocol):
        _expected: _Ride | None = None
        """A request of the express lane whose body is still to come."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(cast("asyncio.Transport", Joined(transport, self.loop)))
            self.mail = mail_of(self.loop)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self._expected is not None:
                self._expected.leave()
                self._expected = None

        def _start_asgi_task(self, cycle: Any, app: Any) -> None:
            self._unset_keepalive_if_required()  # an answer in the midst of a packet set it, and this one goes on
            ride = None if self.flow.write_paused else _board(express, self, cycle)
            if ride is None:
                super()._start_asgi_task(cycle, app)
            elif cycle.more_body:
                self._expected = ride
            else:  # it came behind another, whose answer led here: one after the other, not one inside the other
                self.loop.call_soon(ride.go)

        def on_message_complete(self) -> None:
            super().on_message_complete()
            ride, self._expected = self._expected, None
            if ride is not None:
                ride.go()

    return Connection


def _board(express: Express, connection: Any, cycle: Any) -> _Ride | None:
    """Let a request take the lane, if it can."""
    headers = dict(cycle.scope["headers"])
    try:
        asked = express.asked(cycle.scope, headers)
    except TreatyError:  # who may not do that is told so by the routes
        return None
    except Exception as error:  # the routes may still know an answer
        log_mistake(express.entrance.id_of(headers), error)
        return None
    return None if asked is None else _Ride(express, connection, cycle, asked, express.entrance.id_of(headers))


class _Ride:
    """One request on the express lane: it waits for its body and for the registry, and is answered once."""

    def __init__(self, express: Express, connection: Any, cycle: Any, asked: Asked, request_id: str) -> None:
        self._entrance = express.entrance
        self._connection = connection
        self._cycle = cycle
        self._asked = asked
        self._id = request_id
        self._began = time.perf_counter()
        self._future: Future[Any] | None = None
        self._is_over = False
        self._deadline = connection.loop.call_later(
            self._entrance.limits.seconds, self._give_up, self._entrance.too_late
        )
        connection.tasks.add(self)  # a server that stops waits for these, and cancels them in the end

    def go(self) -> None:
        """Ask the registry, now that the body is there."""
        if self._is_over:
            return
        began = self._tried(self._begin)
        if isinstance(began, Answer):
            self._send(began)
            return
        self._future = began
        began.add_done_callback(self._post)

    def cancel(self, msg: object = None) -> None:
        """Give up, as soon as whoever asks for that is done with asking."""
        self._connection.loop.call_soon(self._give_up, STOPPING)

    def leave(self) -> None:
        """End without an answer: nobody is there any more."""
        self._is_over = True
        self._end(None)

    def _post(self, _settled: object) -> None:
        """Let the loop know, from the thread that settled it."""
        self._connection.mail.put(self._arrive)

    def _arrive(self) -> None:
        if not self._is_over:
            self._send(self._tried(self._answer))
        self._future = None  # it knows this ride, which would keep both

    def _begin(self) -> Answer | Future[Any]:
        return self._asked.begin(bytes(self._cycle.body))

    def _answer(self) -> Answer:
        return self._asked.answer(cast("Future[Any]", self._future).result())

    def _tried(self, work: Callable[[], Any]) -> Any:
        """Do something; whatever goes wrong is an answer, too."""
        try:
            return work()
        except TreatyError as error:
            self._cycle.scope.setdefault("state", {})["request_id"] = self._id
            told = answer_to(Request(self._cycle.scope), error)
            more = tuple(pair for pair in told.raw_headers if pair[0] not in _WRITTEN_HERE)
            return Answer(told.status_code, bytes(told.body), more)
        except Exception as error:
            log_mistake(self._id, error)
            return self._refused(MISTAKE)

    def _refused(self, refusal: Refusal) -> Answer:
        body = in_json(self._cycle.scope["path"], refusal, self._id)
        return Answer(refusal.status, body, besides(refusal.status))

    def _give_up(self, refusal: Refusal) -> None:
        """Answer in time; what is not begun by now is taken back."""
        if self._future is not None:
            self._future.cancel()
        if not self._is_over:
            self._send(self._refused(refusal))

    def _send(self, answer: Answer) -> None:
        self._is_over = True
        connection, cycle = self._connection, self._cycle
        if not cycle.disconnected and not connection.transport.is_closing():
            connection.transport.write_whole(self._written(answer))
            cycle.response_started = cycle.response_complete = True
            if not cycle.keep_alive:
                connection.transport.close()
            cycle.on_response()
        self._end(answer.status)

    def _end(self, status: int | None) -> None:
        self._deadline.cancel()
        self._connection.tasks.discard(self)
        with suppress(Exception):  # a log that cannot be written must not reach whoever reads the connection
            log_request(self._cycle.scope, self._id, status, self._began)

    def _written(self, answer: Answer) -> bytes:
        lines = [_opening(answer.status)]
        for name, value in (*self._cycle.default_headers, *answer.headers, *of_every_answer(self._id)):
            lines += (name, b": ", value, b"\r\n")
        if not self._cycle.keep_alive:
            lines.append(b"connection: close\r\n")
        lines += (b"content-length: %d\r\n\r\n" % len(answer.body), answer.body)
        return b"".join(lines)


@lru_cache
def _opening(status: int) -> bytes:
    """Return the first line of an answer, and what all of them are."""
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n".encode()
