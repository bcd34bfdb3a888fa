"""HTML responses: rendering, compression and security headers."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

from fastapi import Request
from fastapi.responses import Response

from treaty.catalog.rendering import Page, RenderContext, render
from treaty.server.content_negotiation import parse_accept
from treaty.server.pages.visits import Visit

BASE = "/catalog"
MIN_COMPRESSED_BYTES = 1_000
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Accept, Cookie, Accept-Encoding",
}


def page_response(request: Request, visit: Visit, page: Page) -> Response:
    """Render a page for a visit."""
    context = RenderContext(visit.registry.context.database.clock(), visit.visitor, name=request.app.state.catalog_name)
    response = compressed_response(request, render(page, context).encode(), "text/html", SECURITY_HEADERS)
    response.status_code = page.status
    visit.apply_cookies(response)
    return response


def compressed_response(request: Request, content: bytes, media: str, headers: Mapping[str, str]) -> Response:
    """Return content, compressed if the client accepts gzip."""
    content_type = f"{media}; charset=utf-8" if media.startswith("text/") else media
    all_headers = {"Content-Type": content_type, **headers}
    if len(content) > MIN_COMPRESSED_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        content = compress(content)
        all_headers["Content-Encoding"] = "gzip"
    return Response(content, headers=all_headers)


def compress(content: bytes) -> bytes:
    """Compress content with gzip. The same content gives the same bytes."""
    return gzip.compress(content, 6, mtime=0)


def prefers_html(accept: str) -> bool:
    """Return whether a client is a browser: it names HTML in its Accept header, and does not prefer JSON."""
    qualities = parse_accept(accept)
    html = qualities.get("text/html", 0.0)
    return html > 0 and html >= qualities.get("application/json", 0.0)
