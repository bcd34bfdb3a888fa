"""A receiver of webhooks on a loopback address, for as long as a certification collects events."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from treaty.errors import Unavailable

MAX_BODY_BYTES = 5_000_000
_START_S = 10.0
_POLL_S = 0.05

Keep = Callable[[str, str | None], bool]
"""Keeps the text of an event and the type that its header states; returns False if no more are wanted."""


def receive(host: str, port: int, keep: Keep, full: threading.Event, seconds: float) -> None:
    """Receive events until there are enough or the time is over; the address is printed on standard error."""
    with _serving(host, port, keep) as address:
        typer.echo(f"post events to {address} for {seconds:g} s", err=True)
        full.wait(seconds)


def _application(keep: Keep) -> Starlette:
    async def post(request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                return _problem(413, f"a request has at most {MAX_BODY_BYTES:,} bytes; send fewer events at a time")
        kind = request.headers.get("ce-type")
        events = list(_events(body.decode("utf-8", "replace"), request.headers.get("content-type", "")))
        kept = await run_in_threadpool(lambda: [keep(text, kind) for text in events])
        if not all(kept):
            return _problem(503, "the certification has enough events")
        return Response(status_code=202)

    return Starlette(routes=[Route("/{path:path}", post, methods=["POST"])])


def _events(body: str, content_type: str) -> Iterator[str]:
    """Yield the texts of the events of a request: one event, a list of them, or one on each line."""
    if "ndjson" in content_type or "jsonl" in content_type:
        yield from (line for line in body.splitlines() if line.strip())
        return
    try:
        parsed = json.loads(body)
    except ValueError:
        yield body  # kept as it is, so that the certification reports it as unreadable
        return
    if isinstance(parsed, list):
        yield from (json.dumps(event) for event in parsed)
    else:
        yield body


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"title": text, "status": status}, status, media_type="application/problem+json")


@contextmanager
def _serving(host: str, port: int, keep: Keep) -> Iterator[str]:
    config = uvicorn.Config(_application(keep), host=host, port=port, log_level="critical", http="h11", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=_serve, args=(server,), daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + _START_S
        while not server.started:
            if not thread.is_alive() or time.monotonic() > deadline:
                raise Unavailable(f"cannot listen at {host}:{port}; choose another port, such as webhook://{host}:0")
            time.sleep(_POLL_S)
        used = server.servers[0].sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{used}/"
    finally:
        server.should_exit = True
        thread.join(_START_S)


def _serve(server: uvicorn.Server) -> None:
    try:
        server.run()
    except SystemExit:  # the address is taken; uvicorn has logged the reason
        return
