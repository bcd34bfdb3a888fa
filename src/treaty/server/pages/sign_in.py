"""Signing in to the pages with an access token, and signing out."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlencode, urlsplit

from fastapi import Query, Request
from fastapi.responses import RedirectResponse, Response

from treaty.catalog import links
from treaty.catalog.rendering import Message, Page
from treaty.errors import InvalidDocument, NotAllowed
from treaty.registry.access.actors import Actor
from treaty.registry.access.oidc_sign_in import OidcSignIn
from treaty.registry.access.permissions import Action
from treaty.registry.access.tokens import redact
from treaty.server.authenticator import Authenticator
from treaty.server.pages import cookies
from treaty.server.pages.forms import PublicForm
from treaty.server.pages.responses import BASE, page_response
from treaty.server.pages.visits import AnyVisit, Visit
from treaty.server.routing import Routes, verify_credentials
from treaty.server.sessions import NewSession

routes = Routes("catalog", BASE)
_FRONT = "/"
MAX_REDIRECT_PATH = 2_000
_BLANKS = re.compile(r"\s+")
_LOCAL_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f-\U0010ffff]*")
MAX_TOKEN_LENGTH = 16_000
_TOO_LONG = f"the token has more than {MAX_TOKEN_LENGTH:,} characters; use the API"
_NO_TOKEN = "paste a token; an admin creates one with: treaty admin token create"  # noqa: S105
Then = Annotated[str | None, Query(max_length=MAX_REDIRECT_PATH)]


@routes.get("/sign-in", Action.READ, include_in_schema=False)
def sign_in_page(request: Request, visit: AnyVisit, then: Then = None) -> Response:
    """Show the sign-in form."""
    return sign_in_form(request, visit, safe_redirect_path(then))


@routes.post("/sign-in", Action.READ, include_in_schema=False)
def sign_in(request: Request, form: PublicForm) -> Response:
    """Sign in with a valid token."""
    authenticator: Authenticator = request.app.state.authenticator
    then = safe_redirect_path(form.values.optional("then"))
    token = _BLANKS.sub("", form.values.text("token")).removeprefix("Bearer")
    try:
        actor = _verify(request, token)
    except (NotAllowed, InvalidDocument) as error:
        status = 422 if isinstance(error, InvalidDocument) else 403
        return sign_in_form(request, form.visit, then, Message("bad", redact(str(error))), status)
    session = authenticator.sessions.begin(actor, until=authenticator.expires_at(token), replaces=form.visit.session_id)
    return redirect_signed_in(request, then, session, actor)


@routes.post("/sign-out", Action.READ, include_in_schema=False)
def sign_out(request: Request, form: PublicForm) -> Response:
    """Sign out: the session ends here, not only in the browser."""
    if form.visit.session_id is not None:
        authenticator: Authenticator = request.app.state.authenticator
        authenticator.sessions.end(form.visit.session_id)
    secret = cookies.new_secret()
    response = RedirectResponse(_FRONT, 303)
    cookies.delete_cookie(request, response, cookies.SESSION)
    cookies.set_cookie(request, response, cookies.VISIT, secret)
    cookies.set_flash(request, response, secret, Message("good", "You are signed out."))
    return response


def safe_redirect_path(then: str | None) -> str:
    """Return the path if it is a page of this server, else the front page: no redirect leaves this server."""
    if not then or not _LOCAL_PATH.fullmatch(then):
        return _FRONT
    path = urlsplit(then).path
    is_page = path in (_FRONT, BASE) or path.startswith(f"{BASE}/")
    return then if is_page and not path.startswith((f"{BASE}/sign-", f"{BASE}/assets/")) else _FRONT


def _verify(request: Request, token: str) -> Actor:
    if not token:
        raise InvalidDocument(_NO_TOKEN)
    if len(token) > MAX_TOKEN_LENGTH:
        raise InvalidDocument(_TOO_LONG)
    return verify_credentials(request, f"Bearer {token}")


def redirect_signed_in(request: Request, then: str, session: NewSession, actor: Actor) -> Response:
    """Redirect with the cookie of a new session; the secret of the anonymous visit is not used any more."""
    response = RedirectResponse(then, 303)
    cookies.set_cookie(request, response, cookies.SESSION, session.id, session.seconds)
    cookies.delete_cookie(request, response, cookies.VISIT)
    cookies.set_flash(request, response, session.id, Message("good", f"You are signed in as {actor.name}."))
    return response


def sign_in_form(
    request: Request, visit: Visit, then: str, problem: Message | None = None, status: int = 200
) -> Response:
    """Show the sign-in page, with a problem if there is one."""
    provider: OidcSignIn | None = request.app.state.provider
    authenticator: Authenticator = request.app.state.authenticator
    page = Page(
        links.sign_in(),
        "sign_in.html",
        "Sign in",
        "",
        {
            "then": then,
            "problem": problem,
            "is_guarded": authenticator.requires_sign_in(),
            "provider": provider.provider if provider else None,
            "provider_url": f"{BASE}/sign-in/provider?{urlencode({'then': then})}",
        },
        ("actions.css",),
        status,
    )
    return page_response(request, visit.with_forms(), page)
