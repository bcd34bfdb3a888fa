"""Serving a registry with uvicorn: options, exposure check, logging."""

from __future__ import annotations

import gc
import json
import logging
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import structlog
import uvicorn

from treaty.catalog.project_data import ProjectData
from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.catalog.site import PublishTarget
from treaty.errors import Refused
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.access.oidc_settings import OidcSettings
from treaty.registry.access.oidc_sign_in import OidcSignIn
from treaty.registry.access.tokens import redact
from treaty.registry.notices.secret_box import SecretBox
from treaty.registry.notices.senders import Outlet
from treaty.registry.service import Registry
from treaty.schema_registry.contract_versions import Governance
from treaty.server.app import create_app, serve_rows
from treaty.server.authenticator import Authenticator
from treaty.server.background import BackgroundThreads
from treaty.server.data_port import DataPort
from treaty.server.schema_registry_paths import SchemaRegistryPort
from treaty.server.settings import AccessSettings, Limits, Tls, is_loopback
from treaty.server.sockets import open_sockets
from treaty.tracing import tracing

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp

    from treaty.serving.data_service import DataService

GRACEFUL_SHUTDOWN_S = 10
SWITCH_INTERVAL_S = 0.001


@dataclass(frozen=True)
class SchemaRegistryOptions:
    """The port on which the schema registry is served at `/`, and whether contracts are enforced there."""

    port: int | None = None
    governance: Governance = Governance.OBSERVE


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
    trusted_proxies: tuple[str, ...] | None = None
    tls: Tls | None = None
    hsts_seconds: int = 0
    schema_registry: SchemaRegistryOptions = field(default_factory=SchemaRegistryOptions)
    data: ProjectData | None = None
    """The tables of a project, whose exceptions and quarantined rows the pages show."""
    open_rows: Callable[[SecretBox], DataService] | None = None
    """Opens the publications whose rows are served, with the keys that encrypt cursors."""
    data_port: int | None = None
    """The port on which rows are served, and nothing else; None: they are served on the port of the server."""

    @property
    def ports(self) -> list[int]:
        """The port of the server, and those of the schema registry and of rows if they have one of their own."""
        others = (self.schema_registry.port, self.data_port if self.open_rows is not None else None)
        return [self.port, *(port for port in others if port is not None)]

    def address(self, host: str, port: int) -> str:
        """Return the URL of the server at a host and port."""
        return f"{'https' if self.tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def serve(registry: Registry, options: ServerOptions, on_start: Callable[[str], None]) -> None:
    """Serve until the process is asked to stop; `on_start` receives the address."""
    check_exposure(registry, options)
    with ExitStack() as stack:
        listeners = [stack.enter_context(open_sockets(options.host, port, 1)[0]) for port in options.ports]
        run_server(registry, options, on_start, *listeners)


def run_server(
    registry: Registry,
    options: ServerOptions,
    on_start: Callable[[str], None],
    *listeners: socket.socket,
) -> None:
    """Serve in this process; `on_start` receives the address once requests are answered.

    There is a listening socket for each of the ports in `options`, in their order.
    """
    _configure_logging()
    with tracing("treaty-server", redact=redact):
        _run_app(registry, options, on_start, listeners)


def _run_app(
    registry: Registry,
    options: ServerOptions,
    on_start: Callable[[str], None],
    listeners: Sequence[socket.socket],
) -> None:
    oidc = OidcVerifier(options.oidc) if options.oidc else None
    provider = (
        OidcSignIn(options.oidc, oidc, registry.context.database.clock)
        if options.oidc and oidc and options.oidc.client_id
        else None
    )
    access = options.access if is_loopback(options.host) else replace(options.access, required=True)
    background = BackgroundThreads(registry, options.outlet, options.publishing)
    tls = options.tls.context() if options.tls else None
    app = create_app(
        registry,
        access,
        oidc,
        options.limits,
        background,
        options.catalog_name,
        hsts_seconds=options.hsts_seconds,
        provider=provider,
        governance=options.schema_registry.governance,
    )
    app.state.project_data = options.data
    if options.open_rows is not None:
        serve_rows(app, registry, options.open_rows(registry.context.secrets), background)
    config = uvicorn.Config(
        _with_own_ports(app, options, [listener.getsockname()[1] for listener in listeners[1:]]),
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
        ssl_context_factory=(lambda _config, _default: tls) if tls else None,
        forwarded_allow_ips=list(options.trusted_proxies) if options.trusted_proxies else None,
    )
    _tune_interpreter()
    address = options.address(*listeners[0].getsockname()[:2])
    _Server(config, lambda: on_start(address)).run(sockets=list(listeners))


def _with_own_ports(app: FastAPI, options: ServerOptions, ports: Sequence[int]) -> ASGIApp:
    """Return the application with what is served on ports of its own; `ports` are the ones that are listened on."""
    remaining = iter(ports)
    wrapped: ASGIApp = app
    if options.schema_registry.port is not None:
        wrapped = SchemaRegistryPort(wrapped, next(remaining))
    if options.open_rows is not None and options.data_port is not None:
        wrapped = DataPort(wrapped, next(remaining))
    return wrapped


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
    """Reports when it has started."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and report it."""
        await super().startup(sockets)
        if self.started:
            self._on_start()


def _tune_interpreter() -> None:
    """Exclude what was loaded at start from garbage collection, and collect less often: requests leave little.

    Threads that judge documents hand over to the event loop five times as often as by default.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


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
