"""Addresses of the schema registry: escapes in names, contexts in paths, Basic credentials, and a port of its own."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from treaty.registry.access.tokens import parse_token

Scope = MutableMapping[str, Any]
PREFIX = "/schema-registry"
CONTEXT_STATE = "schema_context"
_BASIC = b"basic "
_EMPTY_CREDENTIALS = _BASIC + base64.b64encode(b":").lower()
_CONTEXTS = "contexts"


@dataclass(frozen=True)
class SchemaRegistryRoute:
    """The route of a request as others see it: with the prefix."""

    path_format: str


class SchemaRegistryPaths:
    """Prepares requests for the routes of the schema registry.

    The path is matched with its escapes, so that a subject may contain `/` and `%`. A context before the path, such as
    `/contexts/.sales/subjects`, applies to all names in the request. Basic credentials become a bearer token.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        """Pass a request on to the routes."""
        if scope["type"] == "http":
            raw = scope["raw_path"].decode("ascii").partition("?")[0]
            path = raw.removeprefix(PREFIX).rstrip("/") or "/"  # some clients send /config/
            context, path = _split_context(path)
            state = {**scope.get("state", {}), CONTEXT_STATE: context}
            headers = [_as_bearer(*one) for one in scope["headers"] if not _is_empty(*one)]
            inner = {**scope, "path": path, "root_path": "", "headers": headers, "state": state}
            try:
                await self._app(inner, receive, send)
            finally:
                if "route" in inner:  # for the metrics of requests, which are counted by route
                    scope["route"] = SchemaRegistryRoute(PREFIX + inner["route"].path_format)
        else:
            await self._app(scope, receive, send)


class SchemaRegistryPort:
    """Answers requests to one port at `/` as the others are answered below `/schema-registry`."""

    def __init__(self, app: Any, port: int) -> None:
        self._app = app
        self._port = port

    async def __call__(self, scope: Scope, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        """Pass a request on to the application."""
        if scope["type"] == "http" and scope.get("server") and scope["server"][1] == self._port:
            raw = PREFIX.encode() + scope["raw_path"]
            scope = {**scope, "path": PREFIX + scope["path"], "raw_path": raw}
        await self._app(scope, receive, send)


def _split_context(path: str) -> tuple[str | None, str]:
    """Return the context that a path begins with, and the rest of the path."""
    parts = path.split("/", 3)
    if len(parts) < 4 or parts[1] != _CONTEXTS:
        return None, path
    return unquote(parts[2]), f"/{parts[3]}"


def _is_empty(name: bytes, value: bytes) -> bool:
    """Whether a header has Basic credentials without user and password, which some clients send if they have none."""
    return name == b"authorization" and value.lower() == _EMPTY_CREDENTIALS


def _as_bearer(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return a header; Basic credentials with the id of a token as user and the token or its secret as password."""
    if name != b"authorization" or not value.lower().startswith(_BASIC):
        return name, value
    try:
        user, _, password = base64.b64decode(value[len(_BASIC) :], validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return name, value
    parts = parse_token(password)
    token = f"treaty_{user}_{password}" if parts is None else password if user in ("", parts[0]) else ""
    return name, b"Bearer " + token.encode("ascii", "replace")
