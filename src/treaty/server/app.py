"""The FastAPI application: routes, pages, error handlers and middleware on one registry."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

import treaty
from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.service import Registry
from treaty.server.authenticator import Authenticator
from treaty.server.background import BackgroundThreads
from treaty.server.errors import add_error_handlers
from treaty.server.middleware import RequestMiddleware
from treaty.server.pages import PAGES
from treaty.server.pages.error_pages import add_error_pages
from treaty.server.routes import ROUTES
from treaty.server.settings import AccessSettings, Limits

MAX_CACHED_ACTORS = 1_000
_NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}


def create_app(
    registry: Registry,
    access: AccessSettings | None = None,
    oidc: OidcVerifier | None = None,
    limits: Limits | None = None,
    background: BackgroundThreads | None = None,
    catalog_name: str = DEFAULT_SITE_NAME,
) -> FastAPI:
    """Build the application on a registry, which the caller closes."""
    app = FastAPI(
        title="Treaty",
        version=treaty.__version__,
        summary="A registry of data contracts: versions, compatibility, consumers and migrations.",
        lifespan=_lifespan(background),
        redoc_url=None,
        telemetry=None if _uses_opentelemetry() else _NO_TELEMETRY,
    )
    authenticator = Authenticator(registry.context.database, access or AccessSettings(), oidc)
    authenticator.requires_sign_in()
    set_registry(app, registry, authenticator)
    app.state.catalog_name = catalog_name
    app.state.wake_delivery = background.wake_delivery if background else _do_nothing
    for routes in (*ROUTES, *PAGES):
        app.include_router(routes.router)
    add_error_handlers(app)
    add_error_pages(app)
    app.add_middleware(
        RequestMiddleware, limits=limits or Limits(), authenticator=authenticator, catalog_name=catalog_name
    )
    return app


def set_registry(app: FastAPI, registry: Registry, authenticator: Authenticator) -> None:
    """Set the registry that the routes of an application use; `registry_for` caches it per actor."""
    app.state.registry = registry
    app.state.registry_for = lru_cache(MAX_CACHED_ACTORS)(registry.acting_as)
    app.state.authenticator = authenticator


def _uses_opentelemetry() -> bool:
    """Tell whether OpenTelemetry is configured; if not, FastAPI need not look for it in every request."""
    return any(name.startswith("OTEL_") for name in os.environ)


def _lifespan(background: BackgroundThreads | None) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if background is None:
            yield
            return
        background.start()
        try:
            yield
        finally:
            background.stop()

    return lifespan


def _do_nothing() -> None:
    """Stand in for the delivery worker, which this application does not run."""
