"""What a browser is shown when something is not there, not allowed or not possible: a page, never bare JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from starlette.exceptions import HTTPException

from treaty.catalog import links
from treaty.catalog.links import LiveUrls
from treaty.catalog.rendering import ANONYMOUS, Page, RenderContext, Visitor, render
from treaty.contracts.findings import Finding, Severity
from treaty.errors import NotFound, TreatyError, WithFindings
from treaty.registry.access.actors import Unknown
from treaty.registry.access.tokens import redact
from treaty.server.errors import error_status, http_error_response, treaty_error_response, validation_error_response
from treaty.server.pages.responses import BASE, SECURITY_HEADERS, compressed_response, prefers_html
from treaty.server.pages.visits import SESSION_ENDED

_SAFE = frozenset({"GET", "HEAD"})
_SHOWN = 20
_LONGEST_ADDRESS = 200


@dataclass(frozen=True)
class _Words:
    """What a status means, and what to do about it."""

    headline: str
    hint: str


_SAID = {
    401: _Words("Sign in first", "Sign in with a token; an admin makes one with: treaty token create"),
    403: _Words("You may not do this", "Ask somebody who may, or go back to the contracts."),
    404: _Words("There is no such page", "Look for it by name in the list of contracts."),
    405: _Words("Nothing can be done here that way", "Go back to the page and use the form on it."),
    409: _Words("Not as things stand", "Go back, look at how things stand now, and try again."),
    413: _Words("That is too much at once", "Send less, or use the command line for large documents: treaty check"),
    415: _Words("The server cannot read that", "Go back and use the form on the page."),
    422: _Words("The server cannot make sense of that", "Check the address or what you entered, and try again."),
    503: _Words("Not just now", "Try again in a moment; nothing was changed."),
}
_NOT_SIGNED_IN = "You are not signed in, or your session has ended, so nothing was done."
_MISTAKE = _Words("Something went wrong here", "It is not your fault. Tell whoever runs this server the number below.")


def is_page_request(path: str, accept: str) -> bool:
    """Tell whether a browser asks for a page, and so should be answered with one."""
    return (path in ("/", BASE) or path.startswith(f"{BASE}/")) and prefers_html(accept)


def add_error_pages(app: FastAPI) -> None:
    """Let every error at a page become a page; elsewhere it stays what it was."""
    app.add_exception_handler(TreatyError, _page_or(treaty_error_response, _ours))
    app.add_exception_handler(RequestValidationError, _page_or(validation_error_response, _malformed))
    app.add_exception_handler(HTTPException, _page_or(http_error_response, _framework))


def error_page(
    status: int,
    words: str,
    request_id: str,
    path: str,
    findings: Sequence[Finding] = (),
    headline: str | None = None,
) -> Page:
    """Return the page that says what went wrong, where, and what to do next."""
    known = _SAID.get(status, _MISTAKE)
    return Page(
        links.contracts(),
        "problem.html",
        headline or known.headline,
        "",
        {
            "headline": headline or known.headline,
            "message": redact(words),
            "hint": known.hint,
            "findings": tuple(replace(one, message=redact(one.message)) for one in findings[:_SHOWN]),
            "more": max(0, len(findings) - _SHOWN),
            "request_id": request_id,
            "path": redact(path)[:_LONGEST_ADDRESS],
            "number": status,
        },
        status=status,
    )


def render_standalone(page: Page, catalog_name: str, visitor: Visitor = ANONYMOUS) -> tuple[bytes, dict[str, str]]:
    """Draw a problem where nothing else works, with the headers that guard it."""
    content = render(page, RenderContext(datetime.now(UTC), visitor, name=catalog_name)).encode()
    return content, {"Content-Type": "text/html; charset=utf-8", **SECURITY_HEADERS}


def error_page_response(request: Request, status: int, words: str, findings: Sequence[Finding] = ()) -> Response:
    """Answer a browser with a problem."""
    visit = getattr(request.state, "visit", None)
    page = error_page(status, words, request.state.request_id, request.url.path, findings)
    visitor = _told_once(visit.visitor, status) if visit else ANONYMOUS
    content, headers = render_standalone(page, request.app.state.catalog_name, visitor)
    response = compressed_response(request, content, "text/html", headers)
    response.status_code = status
    if visit is not None:
        visit.sign(response)
    return response


def _told_once(visitor: Visitor, status: int) -> Visitor:
    """Leave out that a session has ended where the problem itself says so; what else was left to be said is said."""
    return replace(visitor, message=None) if status == 401 and visitor.message is SESSION_ENDED else visitor


def _page_or(
    otherwise: Callable[[Request, Exception], Response], draw: Callable[[Request, Exception], Response]
) -> Callable[[Request, Exception], Response]:
    def handle(request: Request, error: Exception) -> Response:
        is_asked_for = is_page_request(request.scope["path"], request.headers.get("accept", ""))
        return (draw if is_asked_for else otherwise)(request, error)

    return handle


def _ours(request: Request, error: Exception) -> Response:
    if isinstance(error, Unknown) and request.method in _SAFE and request.url.path != LiveUrls().url(links.sign_in()):
        return _to_sign_in(request)
    status, _, words = error_status(request, error)
    if isinstance(error, Unknown):
        words = _NOT_SIGNED_IN
    elif isinstance(error, NotFound):  # where to look instead is said for pages by their own hint
        words = error.what
    response = error_page_response(request, status, words, error.findings if isinstance(error, WithFindings) else ())
    if status == 503:
        response.headers["Retry-After"] = "2"
    return response


def _to_sign_in(request: Request) -> Response:
    """Lead to the sign-in page, and from there back to where one wanted to go."""
    query = f"?{request.url.query}" if request.url.query else ""
    there = LiveUrls().url(links.sign_in(f"{request.url.path}{query}"))
    response = RedirectResponse(there, 303)
    visit = getattr(request.state, "visit", None)
    if visit is not None:
        visit.sign(response)
    return response


def _malformed(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    found = tuple(
        Finding(one["type"], Severity.ERROR, f"{one['loc'][-1] if one['loc'] else 'the request'}: {one['msg']}")
        for one in error.errors()
    )
    return error_page_response(request, 422, "Part of what was asked for cannot be read.", found)


def _framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if error.status_code == 404:
        return error_page_response(request, 404, "Nothing stands at this address.")
    if error.status_code == 400:  # what the framework says to a form that is none
        return error_page_response(request, 422, f"The form cannot be read: {error.detail}")
    response = error_page_response(request, error.status_code, str(error.detail))
    if error.status_code == 405:
        response.headers["Allow"] = http_error_response(request, error).headers["Allow"]
    return response
