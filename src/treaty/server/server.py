"""Serving a registry with uvicorn: options, exposure check, logging."""

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

GRACEFUL_SHUTDOWN_S = 10


@dataclass(frozen=True)
class ServerOptions:
    """Everything that a server is started with, except the registry."""

    host: str
    port: int
    access: AccessSettings
    oidc: OidcSettings | None = None
    outlet: Outlet = field(default_factory=Outlet)
    limits: Limits = field(default_factory=Limits)
    publishing: PublishTarget | None = None
    catalog_name: str = DEFAULT_SITE_NAME


def serve(registry: Registry, options: ServerOptions, on_start: Callable[[str], None]) -> None:
    """Serve until the process is asked to stop; `on_start` receives the address."""
    check_exposure(registry, options)
    run_server(registry, options, on_start)


def run_server(
    registry: Registry, options: ServerOptions, on_start: Callable[[str], None], listener: socket.socket | None = None
) -> None:
    """Serve in this process, on its own socket or on the given one."""
    _configure_logging()
    oidc = OidcVerifier(options.oidc) if options.oidc else None
    access = options.access if is_loopback(options.host) else replace(options.access, required=True)
    background = BackgroundThreads(registry, options.outlet, options.publishing)
    config = uvicorn.Config(
        create_app(registry, access, oidc, options.limits, background, options.catalog_name),
        host=options.host,
        port=options.port,
        http="h11",  # httptools accepts headers of any size and mishandles Upgrade
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACEFUL_SHUTDOWN_S,
        h11_max_incomplete_event_size=options.limits.head,
        timeout_keep_alive=options.limits.keep_alive,
        limit_concurrency=options.limits.connections,
    )
    _tune_garbage_collection()
    server = _Server(config, on_start)
    try:
        server.run(sockets=[listener] if listener else None)
    except SystemExit as exit_:  # uvicorn exits by itself if it cannot listen
        if not exit_.code or server.started:
            raise
        address = f"{options.host} port {options.port}"
        raise Unavailable(f"cannot listen on {address}; it may be in use; try another --port") from None


def check_exposure(registry: Registry, options: ServerOptions) -> None:
    """Refuse to serve other machines without sign-in."""
    if is_loopback(options.host):
        return
    oidc = OidcVerifier(options.oidc) if options.oidc else None
    if not Authenticator(registry.context.database, options.access, oidc).requires_sign_in():
        raise Refused(
            f"other machines can reach {options.host}, but no token or OIDC provider is configured.\n"
            "Create a token first:   treaty admin token create admin --role admin\n"
            "or set access.oidc in treaty.yaml, or serve this machine only with --host 127.0.0.1"
        )


class _Server(uvicorn.Server):
    """Reports its address once it listens."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[str], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and report the address with the port that was chosen for port 0."""
        await super().startup(sockets)
        if self.started and not sockets:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            self._on_start(f"http://{host}:{port}")


def _tune_garbage_collection() -> None:
    """Exclude what was loaded at start from garbage collection, and collect less often: requests leave little."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def _render_event(logger: object, level: str, event: structlog.typing.EventDict) -> str:
    """Render a log event of the server in one step, since every request has one."""
    event["level"] = level
    event["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    if "exc_info" in event:
        event = structlog.processors.format_exc_info(logger, level, event)
    return _to_json(event)


_ENCODER = json.JSONEncoder(default=repr)


def _to_json(event: object, **_: object) -> str:
    return _ENCODER.encode(event)


def _configure_logging() -> None:
    """Write one JSON object per line to standard error, for the server and for other libraries."""
    shared: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    rendering: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_to_json),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processors=rendering, foreign_pre_chain=shared))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    structlog.configure(
        processors=[_render_event],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
