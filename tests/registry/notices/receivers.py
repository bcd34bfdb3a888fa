"""Real receivers on this machine: an HTTP server, one that never answers, and a mail server."""

from __future__ import annotations

import json
import queue
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class WebReceiver:
    """Answers as it is told, then with 200, and keeps what it received."""

    port: int
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    arrivals: queue.Queue[Received] = field(default_factory=queue.Queue)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook/s3cret-path"


@contextmanager
def web_receiver(
    *answers: int | tuple[int, dict[str, str]], tls: ssl.SSLContext | None = None
) -> Iterator[WebReceiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = Received(self.path, dict(self.headers), body)
            status, headers = receiver.answers.pop(0) if receiver.answers else (200, {})
            receiver.received.append(request)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            receiver.arrivals.put(request)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver = WebReceiver(server.server_port)
        receiver.answers = [one if isinstance(one, tuple) else (one, {}) for one in answers]
        with _serving(server):
            yield receiver


@dataclass
class SilentReceiver:
    """Takes connections and says nothing until it is let go."""

    port: int
    arrived: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)


@contextmanager
def silent_receiver() -> Iterator[SilentReceiver]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            receiver.arrived.set()
            receiver.let_go.wait(TIMEOUT_S)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        receiver = SilentReceiver(server.server_address[1])
        with _serving(server):
            try:
                yield receiver
            finally:
                receiver.let_go.set()


@dataclass
class MailReceiver:
    """Keeps the e-mails it took, and whom they were for."""

    port: int
    mails: list[bytes] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


@contextmanager
def mail_receiver(
    recipient_answer: str = "250 fine", tls: ssl.SSLContext | None = None, greeting: Sequence[str] = ("SIZE 1000000",)
) -> Iterator[MailReceiver]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 test")
            while line := self.rfile.readline().decode().strip():
                receiver.commands.append(line)
                if not self._obey(line.upper(), line):
                    return

        def _obey(self, verb: str, line: str) -> bool:
            if verb.startswith("EHLO"):
                offers = ["test", *greeting, *(["STARTTLS"] if tls else [])]
                for offer in offers[:-1]:
                    self._say(f"250-{offer}")
                self._say(f"250 {offers[-1]}")
            elif verb == "STARTTLS" and tls:
                self._say("220 go")
                self.connection = tls.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
            elif verb.startswith("RCPT"):
                receiver.recipients.append(line.partition("<")[2].partition(">")[0])
                self._say(recipient_answer)
            elif verb == "DATA":
                self._say("354 go")
                receiver.mails.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                self._say("250 taken")
            elif verb.startswith("AUTH"):
                self._say("235 welcome")
            elif verb == "QUIT":
                self._say("221 bye")
                return False
            else:
                self._say("250 fine")
            return True

        def finish(self) -> None:
            super().finish()
            self.connection.close()

        def _say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        receiver = MailReceiver(server.server_address[1])
        with _serving(server):
            yield receiver


def unused_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
