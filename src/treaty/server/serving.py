"""Serve a registry: where to listen, who may come in, and what runs beside it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import structlog
import uvicorn

from treaty.errors import Refused, Unavailable
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.access.oidc_settings import OidcSettings
from treaty.registry.local import Registry
from treaty.registry.notices.senders import Outlet
from treaty.server.app import create_app
from treaty.server.identity import AccessSettings, Doorman
from treaty.server.settings import Limits, is_loopback
from treaty.server.tending import Tending


@dataclass(frozen=True)
class Serving:
    """Everything a server is started with, besides the registry itself."""

    host: str
    port: int
    access: AccessSettings
    oidc: OidcSettings | None = None
    outlet: Outlet = field(default_factory=Outlet)
    limits: Limits = field(default_factory=Limits)


def serve(registry: Registry, serving: Serving, on_start: Callable[[str], None]) -> None:
    """Serve until told to stop."""
    check_exposure(registry, serving)
    _log_as_json()
    oidc = OidcVerifier(serving.oidc) if serving.oidc else None
    app = create_app(registry, serving.access, oidc, serving.limits, Tending(registry, serving.outlet))
    config = uvicorn.Config(
        app,
        host=serving.host,
        port=serving.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    server = _Server(config, on_start)
    server.run()
    if not server.started:
        raise Unavailable(f"cannot listen on {serving.host} port {serving.port}; is it taken? try another --port")


def check_exposure(registry: Registry, serving: Serving) -> None:
    """Refuse to open an unguarded registry to other machines."""
    if is_loopback(serving.host):
        return
    oidc = OidcVerifier(serving.oidc) if serving.oidc else None
    if not Doorman(registry.desk.database, serving.access, oidc).is_guarded():
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

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """Start, and tell the port that was found where none was asked for."""
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
            self._on_start(f"http://{host}:{port}")


def _log_as_json() -> None:
    """Write one JSON object a line to standard error, from the server and from the library alike."""
    shared: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        foreign_pre_chain=shared,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
