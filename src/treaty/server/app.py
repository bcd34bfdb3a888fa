"""The FastAPI application: routes, pages, error handlers and middleware on one registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.concurrency import run_in_threadpool

import treaty
from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.access.oidc_sign_in import OidcSignIn
from treaty.registry.service import Registry
from treaty.schema_registry.contract_versions import Governance
from treaty.schema_registry.schema_cache import SchemaCache
from treaty.schema_registry.usage import UsageRecorder as SchemaUsageRecorder
from treaty.server.authenticator import Authenticator
from treaty.server.background import BackgroundThreads
from treaty.server.document_work import DocumentWork
from treaty.server.errors import add_error_handlers
from treaty.server.middleware import RequestMiddleware
from treaty.server.openapi import DescribedApi
from treaty.server.pages import PAGES
from treaty.server.pages.error_pages import add_error_pages
from treaty.server.rate_limits import RateLimiter
from treaty.server.routes import ROUTES
from treaty.server.routes.data import DataState
from treaty.server.schema_registry_app import SchemaRegistryParts, mount_schema_registry
from treaty.server.settings import AccessSettings, Limits
from treaty.tracing import flush_spans, is_tracing

if TYPE_CHECKING:
    from treaty.serving.data_service import DataService

MAX_CACHED_ACTORS = 1_000
UNTRACED_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})
_NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
_TRACING: TelemetryConfig = {
    "tracing": True,
    "metrics": False,  # /metrics has them
    "logs": False,  # they would contain the messages of exceptions
    "exclude": lambda scope: scope["path"] in UNTRACED_PATHS,
}


def create_app(
    registry: Registry,
    access: AccessSettings | None = None,
    oidc: OidcVerifier | None = None,
    limits: Limits | None = None,
    background: BackgroundThreads | None = None,
    catalog_name: str = DEFAULT_SITE_NAME,
    *,
    hsts_seconds: int = 0,
    provider: OidcSignIn | None = None,
    governance: Governance = Governance.OBSERVE,
) -> FastAPI:
    """Build the application on a registry, which the caller closes."""
    from treaty.server.metrics import ServerMetrics  # not before: see there

    limits = limits or Limits()
    metrics = ServerMetrics()
    registry.context.database.on_pending_writes(metrics.set_pending_writes)
    app = DescribedApi(
        title="Treaty",
        version=treaty.__version__,
        summary="A registry of data contracts: versions, compatibility, consumers and migrations.",
        lifespan=_lifespan(background),
        docs_url=None,  # FastAPI's page loads Swagger UI from another site; see pages/api_docs.py
        redoc_url=None,
        redirect_slashes=False,  # the redirect would repeat the Host header, which the client chooses
        telemetry=_TRACING if is_tracing() else _NO_TELEMETRY,  # without it, FastAPI need not look in every request
    )
    authenticator = Authenticator(registry.context.database, access or AccessSettings(), oidc)
    authenticator.requires_sign_in()
    set_registry(app, registry, authenticator)
    if background is not None:
        background.add_regular_job(authenticator.usage.flush)
        background.add_regular_job(authenticator.sessions.delete_ended)
    app.state.catalog_name = catalog_name
    app.state.provider = provider
    app.state.document_work = DocumentWork()
    app.state.metrics = metrics
    app.state.metrics_limit = limits.metrics
    app.state.rate_limiter = RateLimiter(limits.rates)
    app.state.wake_delivery = background.wake_delivery if background else _do_nothing
    usage = SchemaUsageRecorder(registry.context.database)
    mount_schema_registry(app, SchemaRegistryParts(SchemaCache(), usage, governance))
    if background is not None:
        background.add_regular_job(usage.flush)
    for routes in (*ROUTES, *PAGES):
        app.include_router(routes.router)
    add_error_handlers(app)
    add_error_pages(app)
    app.add_middleware(
        RequestMiddleware,
        limits=limits,
        authenticator=authenticator,
        metrics=metrics,
        catalog_name=catalog_name,
        hsts_seconds=hsts_seconds,
    )
    return app


def set_registry(app: FastAPI, registry: Registry, authenticator: Authenticator) -> None:
    """Set the registry that the routes of an application use; `registry_for` caches it per actor."""
    app.state.registry = registry
    app.state.registry_for = lru_cache(MAX_CACHED_ACTORS)(registry.acting_as)
    app.state.authenticator = authenticator


def serve_rows(
    app: FastAPI, registry: Registry, service: DataService, background: BackgroundThreads | None = None
) -> DataState:
    """Serve the rows of publications with an application; accesses are written every second and when it stops."""
    from treaty.serving.access_recorder import AccessRecorder

    state = DataState(service, AccessRecorder(registry.context))
    if background is not None:
        background.at_stop(state.recorder.close)
    app.state.data = state
    return state


def _lifespan(background: BackgroundThreads | None) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if background is not None:
            background.start()
        try:
            yield
        finally:
            if background is not None:
                background.stop()
            await run_in_threadpool(flush_spans)  # a worker is killed by the signal that ended its server

    return lifespan


def _do_nothing() -> None:
    """Replace the delivery worker, which this application does not run."""
