"""A page becomes an answer: drawn, packed, and sent with what a browser needs to keep it safe."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

from fastapi import Request
from fastapi.responses import Response

from treaty.catalog.rendering import Page, RenderContext, render
from treaty.server.content_negotiation import parse_accept
from treaty.server.pages.visits import Visit

BASE = "/catalog"
_WORTH_PACKING = 1_000
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Accept, Cookie, Accept-Encoding",
}


def page_response(request: Request, visit: Visit, page: Page) -> Response:
    """Draw a page for whoever asked."""
    setting = RenderContext(visit.registry.desk.database.clock(), visit.visitor, name=request.app.state.catalog_name)
    response = compressed_response(request, render(page, setting).encode(), "text/html", SECURITY_HEADERS)
    response.status_code = page.status
    visit.sign(response)
    return response


def compressed_response(request: Request, content: bytes, media: str, headers: Mapping[str, str]) -> Response:
    """Return content, compressed for who can read that."""
    kind = f"{media}; charset=utf-8" if media.startswith("text/") else media
    sent = {"Content-Type": kind, **headers}
    if len(content) > _WORTH_PACKING and "gzip" in request.headers.get("accept-encoding", ""):
        content = gzip.compress(content, 6, mtime=0)
        sent["Content-Encoding"] = "gzip"
    return Response(content, headers=sent)


def prefers_html(accept: str) -> bool:
    """Tell a browser from a program by what it accepts: a browser names HTML, and likes JSON no better."""
    liked = parse_accept(accept)
    html = liked.get("text/html", 0.0)
    return html > 0 and html >= liked.get("application/json", 0.0)
