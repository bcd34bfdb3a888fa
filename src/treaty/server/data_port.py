"""A port of its own for the rows of publications, so that a network can be let in to the rows alone."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

from treaty.server.errors import DATA

Scope = MutableMapping[str, Any]
PATHS = (DATA, f"/openapi{DATA}")
PROBES = ("/healthz", "/readyz")


class DataPort:
    """Serves rows on one port only, and nothing but them and the probes there."""

    def __init__(self, app: Any, port: int) -> None:
        self._app = app
        self._port = port

    async def __call__(self, scope: Scope, receive: Callable[[], Any], send: Callable[[Any], Any]) -> None:
        """Pass a request on to the application, or answer 404."""
        if scope["type"] == "http" and (problem := self._problem(scope)) is not None:
            await JSONResponse({"detail": problem}, 404)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _problem(self, scope: Scope) -> str | None:
        path: str = scope["path"]
        is_own = bool(scope.get("server")) and scope["server"][1] == self._port
        is_about_rows = any(path == one or path.startswith(f"{one}/") for one in PATHS)
        if is_about_rows and not is_own:
            return f"rows are served on port {self._port}"
        if is_own and not is_about_rows and path not in PROBES:
            return f"this port serves rows only; see {DATA}"
        return None
