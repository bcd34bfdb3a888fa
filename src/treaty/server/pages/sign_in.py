"""Signing in to the pages with an access token, and signing out."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response

from treaty.catalog import links
from treaty.catalog.rendering import Message, Page
from treaty.errors import InvalidDocument, NotAllowed
from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action
from treaty.registry.access.tokens import redact
from treaty.server.authenticator import Authenticator
from treaty.server.pages import sessions
from treaty.server.pages.forms import PublicForm
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AnyVisit, Visit
from treaty.server.routing import Routes

routes = Routes("catalog", BASE)
_FRONT = "/"
MAX_REDIRECT_PATH = 2_000
_BLANKS = re.compile(r"\s+")
_LOCAL_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f-\U0010ffff]*")
_TOO_LONG = f"the token has more than {sessions.MAX_TOKEN_LENGTH:,} characters, too long for a cookie; use the API"
_NO_TOKEN = "paste a token; an admin creates one with: treaty admin token create"  # noqa: S105
Then = Annotated[str | None, Query(max_length=MAX_REDIRECT_PATH)]


@routes.get("/sign-in", Action.READ, include_in_schema=False)
def sign_in_page(request: Request, visit: AnyVisit, then: Then = None) -> Response:
    """Show the sign-in form."""
    return _page(request, visit, safe_redirect_path(then))


@routes.post("/sign-in", Action.READ, include_in_schema=False)
def sign_in(request: Request, form: PublicForm) -> Response:
    """Sign in with a valid token."""
    authenticator: Authenticator = request.app.state.authenticator
    then = safe_redirect_path(form.values.optional("then"))
    token = _BLANKS.sub("", form.values.text("token")).removeprefix("Bearer")
    try:
        actor = _verify(authenticator, token)
    except (NotAllowed, InvalidDocument) as error:
        status = 422 if isinstance(error, InvalidDocument) else 403
        return _page(request, form.visit, then, Message("bad", redact(str(error))), status)
    response = RedirectResponse(then, 303)
    seconds = _session_seconds(form.visit.registry.context.database.clock(), authenticator.expires_at(token))
    sessions.set_cookie(request, response, sessions.SESSION, token, seconds)
    sessions.delete_cookie(request, response, sessions.VISIT)
    sessions.set_flash(request, response, token, Message("good", f"You are signed in as {actor.name}."))
    return response


@routes.post("/sign-out", Action.READ, include_in_schema=False)
def sign_out(request: Request, form: PublicForm) -> Response:
    """Sign out."""
    secret = sessions.new_secret()
    response = RedirectResponse(_FRONT, 303)
    sessions.delete_cookie(request, response, sessions.SESSION)
    sessions.set_cookie(request, response, sessions.VISIT, secret)
    sessions.set_flash(request, response, secret, Message("good", "You are signed out."))
    return response


def safe_redirect_path(then: str | None) -> str:
    """Return the path if it is a page of this server, else the front page: no redirect leaves this server."""
    if not then or not _LOCAL_PATH.fullmatch(then):
        return _FRONT
    path = urlsplit(then).path
    is_page = path in (_FRONT, BASE) or path.startswith(f"{BASE}/")
    return then if is_page and not path.startswith((f"{BASE}/sign-", f"{BASE}/assets/")) else _FRONT


def _verify(authenticator: Authenticator, token: str) -> Actor:
    if not token:
        raise InvalidDocument(_NO_TOKEN)
    if len(token) > sessions.MAX_TOKEN_LENGTH:
        raise InvalidDocument(_TOO_LONG)
    return authenticator.actor(f"Bearer {token}")


def _session_seconds(now: datetime, expires_at: datetime | None) -> int:
    longest = sessions.MAX_SESSION.total_seconds()
    return max(1, math.floor(longest if expires_at is None else min(longest, (expires_at - now).total_seconds())))


def _page(request: Request, visit: Visit, then: str, problem: Message | None = None, status: int = 200) -> Response:
    authenticator: Authenticator = request.app.state.authenticator
    page = Page(
        links.sign_in(),
        "sign_in.html",
        "Sign in",
        "",
        {"then": then, "problem": problem, "is_guarded": authenticator.requires_sign_in()},
        ("actions.css",),
        status,
    )
    return page_response(request, visit.with_forms(), page)
