"""Serve a registry: where to listen, who may come in, and what runs beside it."""

from __future__ import annotations

import gc
import json
import logging
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import structlog
import uvicorn
from pydantic_core import PydanticSerializationError, to_json

from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.catalog.site import PublishTarget
from treaty.errors import Refused, Unavailable
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.access.oidc_settings import OidcSettings
from treaty.registry.notices.senders import Outlet
from treaty.registry.service import Registry
from treaty.server.app import create_app
from treaty.server.authenticator import Authenticator
from treaty.server.background import BackgroundThreads
from treaty.server.settings import AccessSettings, Limits, is_loopback


@dataclass(frozen=True)
class ServerOptions:
    """Everything a server is started with, besides the registry itself."""

    host: str
    port: int
    access: AccessSettings
    oidc: OidcSettings | None = None
    outlet: Outlet = field(default_factory=Outlet)
    limits: Limits = field(default_factory=Limits)
    publishing: PublishTarget | None = None
    catalog_name: str = DEFAULT_SITE_NAME


def serve(registry: Registry, serving: ServerOptions, on_start: Callable[[str], None]) -> None:
    """Serve until told to stop."""
    check_exposure(registry, serving)
    run_server(registry, serving, on_start)


def run_server(
    registry: Registry, serving: ServerOptions, on_start: Callable[[str], None], listener: socket.socket | None = None
) -> None:
    """Answer in this process, on a socket of its own or one that it was given."""
    _log_as_json()
    oidc = OidcVerifier(serving.oidc) if serving.oidc else None
    access = serving.access if is_loopback(serving.host) else replace(serving.access, required=True)
    background = BackgroundThreads(registry, serving.outlet, serving.publishing)
    app = create_app(registry, access, oidc, serving.limits, background, serving.catalog_name)
    config = uvicorn.Config(
        app,
        host=serving.host,
        port=serving.port,
        http="h11",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    _collect_seldom()
    server = _Server(config, on_start)
    try:
        server.run(sockets=[listener] if listener else None)
    except SystemExit as ended:  # uvicorn leaves by itself where it cannot listen
        if not ended.code or server.started:
            raise
        where = f"{serving.host} port {serving.port}"
        raise Unavailable(f"cannot listen on {where}; is it taken? try another --port") from None


def check_exposure(registry: Registry, serving: ServerOptions) -> None:
    """Refuse to open an unguarded registry to other machines."""
    if is_loopback(serving.host):
        return
    oidc = OidcVerifier(serving.oidc) if serving.oidc else None
    if not Authenticator(registry.desk.database, serving.access, oidc).requires_sign_in():
        raise Refused(
            f"{serving.host} can be reached from other machines, and nobody would have to sign in.\n"
            "Make a token first:   treaty token create admin --role admin\n"
            "or set access.oidc in treaty.yaml; or serve this machine alone with --host 127.0.0.1"
        )


class _Server(uvicorn.Server):
    """Says where it listens once it does."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell the port that was found where none was asked for."""
        await super().startup(sockets)
        if self.started and not sockets:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            self._on_start(f"http://{host}:{port}")


def _collect_seldom() -> None:
    """Leave what was loaded out of garbage collection, and look less often: requests leave little behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _line(_logger: object, level: str, said: structlog.typing.EventDict) -> str:
    """Write a line of the log in one go: every request has one, so that it should cost little."""
    said["level"] = level
    said["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return _written(structlog.processors.format_exc_info(_logger, level, said) if "exc_info" in said else said)


def _written(said: object, **_: object) -> str:
    """Write what is logged."""
    try:
        return to_json(said, fallback=repr).decode()
    except PydanticSerializationError:  # half a character, which Python's own writer escapes
        return json.dumps(said, default=repr)


def _log_as_json() -> None:
    """Write one JSON object a line to standard error, from the server and from the library alike."""
    said: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    as_json: list[structlog.typing.Processor] = [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_written),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *as_json],
            foreign_pre_chain=said,
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    structlog.configure(
        processors=[_line],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
