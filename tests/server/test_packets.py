"""Answers on the wire: head and body in one packet, and nothing kept back that somebody waits for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
import uvicorn

from treaty.server.connections import protocol
from treaty.server.packets import Joined

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
LARGE = b"x" * 200_000


class Recorded(asyncio.Transport):
    """A transport that remembers what it was given, one entry for each call."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.sent.append(b"closed")


def written(*parts: bytes) -> list[bytes]:
    """Return what a transport is given for an answer that is written in one go."""

    async def write() -> list[bytes]:
        recorded = Recorded()
        joined = Joined(recorded, asyncio.get_running_loop())
        for part in parts:
            joined.write(part)
        await asyncio.sleep(0)
        return recorded.sent

    return asyncio.run(write())


@pytest.mark.parametrize(
    ("parts", "sent"),
    [
        pytest.param([HEAD, b"body"], [HEAD + b"body"], id="a head waits for its body"),
        pytest.param([HEAD], [HEAD], id="a head without a body is sent all the same"),
        pytest.param([HEAD, b"one", b"two"], [HEAD + b"one", b"two"], id="what follows is sent at once"),
        pytest.param([HEAD, LARGE], [HEAD, LARGE], id="a large body is not copied"),
        pytest.param([HEAD, b""], [HEAD], id="an empty body"),
        pytest.param([HEAD, b"a", HEAD, b"b"], [HEAD + b"a", HEAD + b"b"], id="two answers"),
        pytest.param([b"data: HTTP/1.1"], [b"data: HTTP/1.1"], id="no head"),
    ],
)
def test_what_is_sent_together(parts: list[bytes], sent: list[bytes]) -> None:
    assert written(*parts) == sent


def test_a_head_is_sent_before_the_connection_closes() -> None:
    async def close() -> list[bytes]:
        recorded = Recorded()
        joined = Joined(recorded, asyncio.get_running_loop())
        joined.write(HEAD)
        joined.close()
        await asyncio.sleep(0)
        return recorded.sent

    assert asyncio.run(close()) == [HEAD, b"closed"]


async def _app(scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]) -> None:
    if scope["path"] == "/told":
        await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"6")]})
    if scope["path"] == "/later":
        await receive()  # for what the client sends once it has the head
    await send({"type": "http.response.body", "body": b"answer"})


class _NoLane:
    """Answers nothing, so that everything reaches the app."""

    def asked(self, *_: object) -> None:
        return None


def asked(request: bytes, then: bytes, until: bytes) -> bytes:
    """Send a request to a real server, wait for a part of its answer, send the rest, and return all of the answer."""

    async def ask() -> bytes:
        listener = socket.create_server(("127.0.0.1", 0))
        spoken = protocol(cast("Any", _NoLane()))
        config = uvicorn.Config(cast("Any", _app), http=spoken, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(request)
            first = await asyncio.wait_for(reader.readuntil(until), 10)
            writer.write(then)
            rest = await asyncio.wait_for(reader.read(), 10)
            writer.close()
            return first + rest
        finally:
            server.should_exit = True
            await serving

    return asyncio.run(ask())


def test_who_waits_for_a_head_before_sending_more_gets_it() -> None:
    request = b"POST /later HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"

    assert asked(request, b"more", b"\r\n\r\n").endswith(b"\r\n\r\nanswer")


def test_who_asks_whether_to_go_on_is_told_so() -> None:
    request = (
        b"POST /told HTTP/1.1\r\nHost: here\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
    )
    answer = asked(request, b"more", b"HTTP/1.1 100 Continue\r\n\r\n")

    assert b"HTTP/1.1 200 OK" in answer
    assert answer.endswith(b"\r\n\r\nanswer")


def test_a_head_alone_answers_a_question_for_it() -> None:
    answer = asked(b"HEAD / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", b"", b"\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert not answer.endswith(b"answer")
