"""The visitor of a page, who signs in with a cookie. The API accepts no cookies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from treaty.catalog.rendering import Message, Visitor
from treaty.errors import NotAllowed
from treaty.registry.access.actors import Actor
from treaty.registry.service import Registry
from treaty.server.authenticator import Authenticator, check_permission
from treaty.server.pages import sessions
from treaty.server.routing import action_of

SESSION_ENDED = Message("warn", "Your session has ended. Sign in again to continue.")
CookieChange = Callable[[Request, Response], None]


@dataclass(frozen=True)
class Visit:
    """A request for a page: the registry acting as the visitor, and what the page shows about the visitor."""

    registry: Registry
    visitor: Visitor
    request: Request
    secret: str | None = None
    """Authenticates the visitor's forms and one-time messages."""
    cookie_changes: tuple[CookieChange, ...] = ()

    def apply_cookies(self, response: Response) -> None:
        """Set and delete cookies in the response."""
        for change in self.cookie_changes:
            change(self.request, response)

    def with_forms(self) -> Visit:
        """Return the visit with a form token, also for an anonymous visitor."""
        if self.visitor.form_token is not None:
            return self
        secret = self.secret or sessions.new_secret()
        visitor = replace(self.visitor, form_token=sessions.form_token(secret))
        new_cookie = () if self.secret else (_set_visit_cookie(secret),)
        return replace(self, visitor=visitor, secret=secret, cookie_changes=(*self.cookie_changes, *new_cookie))

    def set_flash(self, response: Response, message: Message) -> None:
        """Show a message on the next page, once."""
        if self.secret is not None:
            sessions.set_flash(self.request, response, self.secret, message)


async def authorized_visit(request: Request) -> Visit:
    """Return the visit; raise if the visitor may not do what the route is for."""
    visit = await any_visit(request)
    request.state.visit = visit  # an error page is rendered for the same visitor
    check_permission(visit.registry.context.actor, action_of(request.scope["endpoint"]))
    return visit


async def any_visit(request: Request) -> Visit:
    """Return the visit of any visitor, with or without permission to read."""
    authenticator: Authenticator = request.app.state.authenticator
    if _is_cached(request, authenticator):
        return _visit(request, authenticator)
    return await run_in_threadpool(_visit, request, authenticator)


def _is_cached(request: Request, authenticator: Authenticator) -> bool:
    has_session = sessions.has_cookie(request, sessions.SESSION)
    return not has_session and authenticator.cached_actor(_authorization(request)) is not None


def _authorization(request: Request) -> str | None:
    """Return a bearer token in the request; other schemes are meant for a proxy in front of this server."""
    authorization = request.headers.get("authorization")
    return authorization if authorization is not None and authorization.lower().startswith("bearer ") else None


def _visit(request: Request, authenticator: Authenticator) -> Visit:
    authorization = _authorization(request)
    token = sessions.read_secret(request, sessions.SESSION) if authorization is None else None
    actor, has_ended = _actor(authenticator, authorization, token)
    if token is None and authorization is None and sessions.has_cookie(request, sessions.SESSION):
        has_ended = True
    is_signed_in = token is not None and not has_ended
    secret = token if is_signed_in else sessions.read_secret(request, sessions.VISIT)
    cookie_changes: list[CookieChange] = [_delete_cookie(sessions.SESSION)] if has_ended else []
    can_act = actor.via != "anonymous"
    if can_act and secret is None:
        secret = sessions.new_secret()
        cookie_changes.append(_set_visit_cookie(secret))
    message = SESSION_ENDED if has_ended else None
    if secret and sessions.has_cookie(request, sessions.FLASH):
        message = sessions.read_flash(request, secret) or message
        cookie_changes.append(_delete_cookie(sessions.FLASH))
    visitor = Visitor(
        name=actor.name if can_act and actor.via != "local" else None,
        can_sign_in=not can_act,
        form_token=sessions.form_token(secret) if can_act and secret else None,
        actor=actor,
        message=message,
    )
    registry: Registry = request.app.state.registry
    return Visit(registry.acting_as(actor), visitor, request, secret, tuple(cookie_changes))


def _actor(authenticator: Authenticator, authorization: str | None, token: str | None) -> tuple[Actor, bool]:
    """Return the actor, and whether a session cookie is no longer valid."""
    if token is None:
        return authenticator.actor(authorization), False
    try:
        return authenticator.actor(f"Bearer {token}"), False
    except NotAllowed:
        return authenticator.actor(None), True


def _set_visit_cookie(secret: str) -> CookieChange:
    return lambda request, response: sessions.set_cookie(request, response, sessions.VISIT, secret)


def _delete_cookie(name: str) -> CookieChange:
    return lambda request, response: sessions.delete_cookie(request, response, name)


AuthorizedVisit = Annotated[Visit, Depends(authorized_visit)]
AnyVisit = Annotated[Visit, Depends(any_visit)]
