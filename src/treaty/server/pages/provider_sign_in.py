"""Signing in to the pages with the account of an identity provider."""

from __future__ import annotations

import base64
import re
from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response

from treaty.catalog.rendering import Message
from treaty.errors import Conflict, NotAllowed, NotFound, TreatyError, Unavailable
from treaty.registry.access.oidc_settings import CALLBACK_PATH
from treaty.registry.access.oidc_sign_in import MAX_DURATION, CallbackQuery, LoginAttempt, OidcSignIn
from treaty.registry.access.permissions import Action
from treaty.registry.access.tokens import redact
from treaty.server.authenticator import Authenticator
from treaty.server.pages import cookies
from treaty.server.pages.responses import BASE
from treaty.server.pages.sign_in import Then, redirect_signed_in, safe_redirect_path, sign_in_form
from treaty.server.pages.visits import AnyVisit, Visit
from treaty.server.rate_limits import RateLimiter
from treaty.server.routing import Routes
from treaty.server.settings import is_loopback

routes = Routes("catalog", BASE)
_COOKIE = re.compile(r"([0-9A-Za-z_-]{43})~([0-9]{1,12})~([0-9A-Za-z_-]{0,2700})")
_REFUSED = (NotAllowed, Conflict, Unavailable)
Parameter = Annotated[str | None, Query(max_length=4_000)]


@routes.get("/sign-in/provider", Action.READ, include_in_schema=False)
def begin_provider_sign_in(request: Request, visit: AnyVisit, then: Then = None) -> Response:
    """Send the browser to the identity provider."""
    target = safe_redirect_path(then)
    try:
        provider = _provider(request)
        attempt = provider.begin()
        response = RedirectResponse(provider.authorization_url(attempt, _redirect_url(request, provider)), 303)
    except _REFUSED as error:
        return _failed(request, visit, target, error)
    cookies.set_cookie(request, response, cookies.LOGIN, _format(attempt, target), int(MAX_DURATION.total_seconds()))
    response.headers["Cache-Control"] = "no-store"
    return response


@routes.get("/sign-in/callback", Action.READ, include_in_schema=False)
def complete_provider_sign_in(
    request: Request,
    visit: AnyVisit,
    state: Parameter = None,
    code: Parameter = None,
    error: Parameter = None,
    error_description: Parameter = None,
    iss: Parameter = None,
) -> Response:
    """Sign in whom the identity provider vouches for."""
    authenticator: Authenticator = request.app.state.authenticator
    limiter: RateLimiter = request.app.state.rate_limiter
    attempt, target = _parse(cookies.read_value(request, cookies.LOGIN))
    query = CallbackQuery(state or "", code, error, error_description, iss)
    try:
        provider = _provider(request)
        with limiter.sign_in(request.scope):
            actor = authenticator.unmistakable(provider.complete(attempt, query, _redirect_url(request, provider)))
        session = authenticator.sessions.begin(actor, replaces=visit.session_id, login=query.state)
    except _REFUSED as problem:
        response = _failed(request, visit, target, problem)
    else:
        response = redirect_signed_in(request, target, session, actor)
    cookies.delete_cookie(request, response, cookies.LOGIN)
    response.headers["Cache-Control"] = "no-store"
    return response


def _provider(request: Request) -> OidcSignIn:
    provider: OidcSignIn | None = request.app.state.provider
    if provider is None:
        raise NotFound("no identity provider is configured for these pages; set access.oidc.client_id")
    return provider


def _redirect_url(request: Request, provider: OidcSignIn) -> str:
    """Return the address of the callback: that of the settings, or on this machine that of the request."""
    if provider.settings.redirect_url is not None:
        return provider.settings.redirect_url
    if not is_loopback(request.url.hostname or ""):
        raise Unavailable(f"set access.oidc.redirect_url to the address of this server with {CALLBACK_PATH}")
    return f"{request.url.scheme}://{request.url.netloc}{CALLBACK_PATH}"


def _failed(request: Request, visit: Visit, then: str, error: TreatyError) -> Response:
    """Show the sign-in page with the reason, which is escaped like any text."""
    status = {Conflict: 409, Unavailable: 503}.get(type(error), 403)
    return sign_in_form(request, visit, then, Message("bad", redact(str(error))), status)


def _format(attempt: LoginAttempt, then: str) -> str:
    encoded = base64.urlsafe_b64encode(then.encode()).decode().rstrip("=")
    return f"{attempt.secret}~{attempt.expires}~{encoded}"


def _parse(value: str) -> tuple[LoginAttempt | None, str]:
    """Read the cookie of a sign-in; the page to return to is checked like one in an address."""
    match = _COOKIE.fullmatch(value)
    if match is None:
        return None, safe_redirect_path(None)
    try:
        then = base64.urlsafe_b64decode(match[3] + "=" * (-len(match[3]) % 4)).decode()
    except ValueError:
        then = ""
    return LoginAttempt(match[1], int(match[2])), safe_redirect_path(then)
