"""Local servers that store comments as GitHub and GitLab do, and record every request."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

BOT = "github-actions[bot]"


@dataclass
class CodeHost:
    """The comments on one request, in the order they were written."""

    address: str = ""
    writable: bool = True
    redirects_to: str | None = None
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)

    def say(self, body: str, login: str = BOT, number: int = 1) -> dict[str, Any]:
        """Write a comment."""
        comment = {"id": len(self.comments) + 1, "body": body, "user": {"login": login}, "author": {"id": number}}
        self.comments.append(comment)
        return comment

    def changes(self) -> list[str]:
        """Return what was asked to change something."""
        return [method for method, _, _ in self.requests if method != "GET"]


class _Handler(BaseHTTPRequestHandler):
    host: CodeHost

    def _answer(self) -> None:
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        self.host.requests.append((self.command, self.path, token))
        length = int(self.headers.get("Content-Length") or 0)
        values = json.loads(self.rfile.read(length)) if length else {}
        if self.host.redirects_to:
            self._send(302, {}, {"Location": self.host.redirects_to})
            return
        status, data = self._act(values)
        self._send(status, data, {})

    def _act(self, values: dict[str, Any]) -> tuple[int, Any]:
        url = urlsplit(self.path)
        if url.path == "/user":
            is_gitlab = self.headers.get("PRIVATE-TOKEN") is not None
            return (200, {"id": 1}) if is_gitlab else (403, {"message": "Resource not accessible by integration"})
        if self.command == "GET":
            asked = parse_qs(url.query)
            page, size = int(asked["page"][0]), int(asked["per_page"][0])
            return 200, self.host.comments[(page - 1) * size : page * size]
        if not self.host.writable:
            return 403, {"message": "Resource not accessible by integration"}
        if self.command == "POST":
            return 201, self.host.say(values["body"])
        found = re.search(r"/(\d+)$", url.path)
        number = int(found[1]) if found else 0
        self.host.comments[number - 1]["body"] = values["body"]
        return 200, self.host.comments[number - 1]

    def _send(self, status: int, data: Any, headers: dict[str, str]) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = _answer  # noqa: N815 - the names that the server looks for

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[CodeHost]:
    """Serve a host of code."""
    host = CodeHost()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"host": host}))
    host.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
