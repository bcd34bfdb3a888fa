"""The API reference at /docs: Swagger UI, served from an installed package and never from another site."""

from __future__ import annotations

import mimetypes
from functools import cache
from importlib.metadata import version
from importlib.resources import files

from fastapi import Request
from fastapi.responses import Response

from treaty.catalog.links import Link
from treaty.catalog.rendering import Page, RenderContext, render
from treaty.errors import NotFound
from treaty.registry.access.permissions import Action
from treaty.server.pages.responses import SECURITY_HEADERS, compress, compressed_response
from treaty.server.routing import Routes

routes = Routes("service")
_PACKAGE = "fastapi-swagger"
_FILES = frozenset({"swagger-ui-bundle.js", "swagger-ui.css"})
_ONE_YEAR = "public, max-age=31536000, immutable"
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""Swagger UI has icons in data URLs."""


@routes.get("/docs", Action.READ, include_in_schema=False)
def api_docs(request: Request) -> Response:
    """Show the API reference."""
    app = request.app
    page = Page(
        Link(("docs",)),
        "api_docs.html",
        "API reference",
        "docs",
        {"openapi_url": app.openapi_url, "swagger_version": version(_PACKAGE)},
        assets=("api-docs.js",),
    )
    context = RenderContext(app.state.registry.context.database.clock(), name=app.state.catalog_name)
    headers = {**SECURITY_HEADERS, "Content-Security-Policy": _CONTENT_SECURITY_POLICY}
    return compressed_response(request, render(page, context).encode(), "text/html", headers)


@routes.get("/docs/files/{name}", Action.READ, include_in_schema=False)
def swagger_ui_file(request: Request, name: str) -> Response:
    """Return a file of Swagger UI; its address has the version of the package."""
    if name not in _FILES:
        raise NotFound(f"no such file: {name[:80]}")
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    headers = {"Content-Type": media, "Cache-Control": _ONE_YEAR, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(_compressed_file(name), headers={**headers, "Content-Encoding": "gzip"})
    return Response(_read_file(name), headers=headers)


def _read_file(name: str) -> bytes:
    return (files("fastapi_swagger") / "resources" / name).read_bytes()


@cache
def _compressed_file(name: str) -> bytes:
    """Return a file compressed, once: the bundle has 1.7 MB."""
    return compress(_read_file(name))
