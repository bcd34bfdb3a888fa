"""A real HTTP server that publishes the keys of an issuer, and the issuer that signs with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey

AUDIENCE = "https://treaty.example.com"
RSA = RSAKey.generate_key(2048, {"kid": "rsa-1", "use": "sig", "alg": "RS256"})
RSA_NEXT = RSAKey.generate_key(2048, {"kid": "rsa-2", "use": "sig"})
STRANGER = RSAKey.generate_key(2048, {"kid": "rsa-1"})
EC = ECKey.generate_key("P-256", {"kid": "ec-1"})


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: datetime = datetime(2026, 1, 3, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, by: timedelta) -> None:
        self.now += by


@dataclass
class Issuer:
    """What a key server publishes, and how often it was asked."""

    address: str
    keys: list[dict[str, Any]] = field(default_factory=list)
    documents: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def jwks_url(self) -> str:
        return f"{self.address}/keys"

    def publish(self, *keys: Key) -> None:
        self.keys = [dict(key.as_dict(private=False)) for key in keys]

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        discovery = {"issuer": self.address, "jwks_uri": self.jwks_url}
        usual = {
            "/keys": (200, json.dumps({"keys": self.keys}).encode()),
            "/.well-known/openid-configuration": (200, json.dumps(discovery).encode()),
        }
        return {**usual, **self.documents}.get(path, (404, b""))

    def sign(self, clock: Clock, key: Key = RSA, header: dict[str, Any] | None = None, **claims: Any) -> str:
        now = int(clock().timestamp())
        usual = {"iss": self.address, "aud": AUDIENCE, "sub": "ann", "iat": now, "exp": now + 300}
        given = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        algorithm = {"RSA": "RS256", "EC": "ES256"}[key.key_type]
        named = {"alg": algorithm, "kid": key.kid, **(header or {})}
        named = {name: value for name, value in named.items() if value is not None}
        return jwt.encode(named, given, key, algorithms=[algorithm])


@contextmanager
def key_server() -> Iterator[Issuer]:
    """Serve an issuer's documents on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = issuer.answer(self.path)
            self.send_response(status)
            if status == 302:
                self.send_header("location", "/keys")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            try:
                self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = Issuer(f"http://127.0.0.1:{server.server_port}")
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
