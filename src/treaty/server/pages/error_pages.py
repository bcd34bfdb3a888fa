"""Error pages for browsers, in place of the JSON errors of the API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from treaty.catalog import links
from treaty.catalog.links import LiveUrls
from treaty.catalog.rendering import ANONYMOUS, Page, RenderContext, Visitor, render
from treaty.contracts.findings import Finding, Severity
from treaty.errors import NotFound, TreatyError, WithFindings
from treaty.registry.access.actors import NotAuthenticated
from treaty.registry.access.tokens import redact
from treaty.server.errors import error_status, http_error_response, treaty_error_response, validation_error_response
from treaty.server.pages.responses import BASE, SECURITY_HEADERS, compressed_response, prefers_html
from treaty.server.pages.visits import SESSION_ENDED
from treaty.server.rate_limits import TooManyRequests

_SAFE_METHODS = frozenset({"GET", "HEAD"})
MAX_SHOWN_FINDINGS = 20
MAX_SHOWN_PATH = 200


class _StatusText(NamedTuple):
    """The headline and hint of an error page."""

    headline: str
    hint: str


_STATUS_TEXTS = {
    401: _StatusText("Sign in", "Sign in with a token. An admin creates one with: treaty admin token create"),
    403: _StatusText("Not allowed", "Ask someone with permission, or go back to the contracts."),
    404: _StatusText("Page not found", "Search for it in the list of contracts."),
    405: _StatusText("Method not allowed", "Go back to the page and use its form."),
    409: _StatusText("Conflict", "Go back, check the current state, and try again."),
    413: _StatusText("Too large", "Send less, or use the command line for large documents: treaty check"),
    415: _StatusText("Unsupported format", "Go back and use the form on the page."),
    422: _StatusText("Invalid request", "Check the address and your input, and try again."),
    429: _StatusText("Too many requests", "Wait as long as the message says, and try again. Nothing was changed."),
    503: _StatusText("Temporarily unavailable", "Try again in a moment. Nothing was changed."),
}
_INTERNAL_ERROR = _StatusText("Internal error", "Report the request id below to the operator of this server.")
_NOT_SIGNED_IN = "You are not signed in, or your session has ended. Nothing was changed."


def is_page_request(path: str, accept: str) -> bool:
    """Return whether a browser asks for a page, so that errors are rendered as pages."""
    return (path in ("/", BASE) or path.startswith(f"{BASE}/")) and prefers_html(accept)


def add_error_pages(app: FastAPI) -> None:
    """Render errors of page requests as pages; other requests keep the JSON responses."""
    app.add_exception_handler(TreatyError, _page_or(treaty_error_response, _treaty_error_page))
    app.add_exception_handler(RequestValidationError, _page_or(validation_error_response, _validation_error_page))
    app.add_exception_handler(HTTPException, _page_or(http_error_response, _http_error_page))


def error_page(
    status: int,
    message: str,
    request_id: str,
    path: str,
    findings: Sequence[Finding] = (),
    headline: str | None = None,
) -> Page:
    """Return the page about an error: what happened, where, and what to do next."""
    text = _STATUS_TEXTS.get(status, _INTERNAL_ERROR)
    return Page(
        links.contracts(),
        "error.html",
        headline or text.headline,
        "",
        {
            "headline": headline or text.headline,
            "message": redact(message),
            "hint": text.hint,
            "findings": tuple(
                replace(finding, message=redact(finding.message)) for finding in findings[:MAX_SHOWN_FINDINGS]
            ),
            "more": max(0, len(findings) - MAX_SHOWN_FINDINGS),
            "request_id": request_id,
            "path": redact(path)[:MAX_SHOWN_PATH],
            "number": status,
        },
        status=status,
    )


def render_standalone(page: Page, catalog_name: str, visitor: Visitor = ANONYMOUS) -> tuple[bytes, dict[str, str]]:
    """Render an error page without a request, and return it with its headers."""
    content = render(page, RenderContext(datetime.now(UTC), visitor, name=catalog_name)).encode()
    return content, {"Content-Type": "text/html; charset=utf-8", **SECURITY_HEADERS}


def error_page_response(request: Request, status: int, message: str, findings: Sequence[Finding] = ()) -> Response:
    """Return an error page for the visitor of a request."""
    visit = getattr(request.state, "visit", None)
    page = error_page(status, message, request.state.request_id, request.url.path, findings)
    visitor = _without_repetition(visit.visitor, status) if visit else ANONYMOUS
    content, headers = render_standalone(page, request.app.state.catalog_name, visitor)
    response = compressed_response(request, content, "text/html", headers)
    response.status_code = status
    if visit is not None:
        visit.apply_cookies(response)
    return response


def _without_repetition(visitor: Visitor, status: int) -> Visitor:
    """Drop the message about an ended session from a page that shows the same."""
    return replace(visitor, message=None) if status == 401 and visitor.message is SESSION_ENDED else visitor


def _page_or(
    json_handler: Callable[[Request, Exception], Response], page_handler: Callable[[Request, Exception], Response]
) -> Callable[[Request, Exception], Response]:
    def handle(request: Request, error: Exception) -> Response:
        is_page = is_page_request(request.scope["path"], request.headers.get("accept", ""))
        return (page_handler if is_page else json_handler)(request, error)

    return handle


def _treaty_error_page(request: Request, error: Exception) -> Response:
    if (
        isinstance(error, NotAuthenticated)
        and request.method in _SAFE_METHODS
        and request.url.path != LiveUrls().url(links.sign_in())
    ):
        return _to_sign_in(request)
    status, _, message = error_status(request, error)
    if isinstance(error, NotAuthenticated):
        message = _NOT_SIGNED_IN
    elif isinstance(error, NotFound):  # pages have their own hint
        message = error.what
    response = error_page_response(request, status, message, error.findings if isinstance(error, WithFindings) else ())
    if status == 503:
        response.headers["Retry-After"] = "2"
    elif isinstance(error, TooManyRequests):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


def _to_sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, which returns to this page."""
    query = f"?{request.url.query}" if request.url.query else ""
    url = LiveUrls().url(links.sign_in(f"{request.url.path}{query}"))
    response = RedirectResponse(url, 303)
    visit = getattr(request.state, "visit", None)
    if visit is not None:
        visit.apply_cookies(response)
    return response


def _validation_error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    findings = tuple(
        Finding(item["type"], Severity.ERROR, f"{item['loc'][-1] if item['loc'] else 'the request'}: {item['msg']}")
        for item in error.errors()
    )
    return error_page_response(request, 422, "Part of the request is invalid.", findings)


def _http_error_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        return error_page_response(request, 404, "There is no page at this address.")
    if error.status_code == 400:  # a malformed form
        return error_page_response(request, 422, f"The form cannot be read: {error.detail}")
    response = error_page_response(request, error.status_code, str(error.detail))
    if error.status_code == 405:
        response.headers["Allow"] = http_error_response(request, error).headers["Allow"]
    return response
