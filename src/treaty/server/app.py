"""The app: routes by noun on one registry."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

import treaty
from treaty.catalog.rendering import DEFAULT_SITE_NAME
from treaty.registry.access.oidc import OidcVerifier
from treaty.registry.local import Registry
from treaty.server.authenticator import AccessSettings, Authenticator
from treaty.server.background import BackgroundThreads
from treaty.server.errors import add_error_handlers
from treaty.server.examples.answers import with_examples
from treaty.server.middleware import RequestChecks, RequestMiddleware
from treaty.server.pages import PAGES
from treaty.server.pages.error_pages import add_error_pages
from treaty.server.routes import ROUTES
from treaty.server.settings import Limits

_UNOBSERVED: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}


def create_app(
    registry: Registry,
    access: AccessSettings | None = None,
    oidc: OidcVerifier | None = None,
    limits: Limits | None = None,
    tending: BackgroundThreads | None = None,
    catalog_name: str = DEFAULT_SITE_NAME,
) -> App:
    """Build the app on a registry; the caller closes the registry."""
    app = App(
        title="Treaty",
        version=treaty.__version__,
        summary="Every data boundary an explicit, versioned, executable contract",
        lifespan=_lifespan(tending),
        redoc_url=None,
        telemetry=None if _is_observed() else _UNOBSERVED,
    )
    doorman = Authenticator(registry.desk.database, access or AccessSettings(), oidc)
    app.state.registry = registry
    app.state.doorman = doorman
    app.state.catalog_name = catalog_name
    app.state.wake_courier = tending.wake if tending else _nobody_to_wake
    for routes in (*ROUTES, *PAGES):
        app.include_router(routes.router)
    add_error_handlers(app)
    add_error_pages(app)
    doorman.is_guarded()
    app.add_middleware(
        RequestMiddleware,
        entrance=RequestChecks(limits or Limits(), doorman),
        doorman=doorman,
        catalog_name=catalog_name,
    )
    return app


class App(FastAPI):
    """The application, whose OpenAPI description has an example of every request and answer."""

    def openapi(self) -> dict[str, Any]:
        """Describe the API, with an example of every request and every answer."""
        if self.openapi_schema is None:
            self.openapi_schema = with_examples(super().openapi())
        return self.openapi_schema


def _is_observed() -> bool:
    """Tell whether OpenTelemetry was set up around us; else the framework would look for it at every request."""
    return any(name.startswith("OTEL_") for name in os.environ)


def _lifespan(tending: BackgroundThreads | None) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        if tending is None:
            yield
            return
        tending.start()
        try:
            yield
        finally:
            tending.stop()

    return live


def _nobody_to_wake() -> None:
    """Do nothing: this app delivers no notices itself."""
