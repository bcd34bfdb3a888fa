"""The visitor of a page, who signs in with a cookie. The API accepts no cookies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from treaty.catalog.rendering import Message, Visitor
from treaty.registry.service import Registry
from treaty.server.authenticator import Authenticator
from treaty.server.pages import cookies
from treaty.server.routing import admit, verify_credentials

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
    session_id: str | None = None
    """The secret id of the visitor's session."""

    def apply_cookies(self, response: Response) -> None:
        """Set and delete cookies in the response."""
        for change in self.cookie_changes:
            change(self.request, response)

    def with_forms(self) -> Visit:
        """Return the visit with a form token, also for an anonymous visitor."""
        if self.visitor.form_token is not None:
            return self
        secret = self.secret or cookies.new_secret()
        visitor = replace(self.visitor, form_token=cookies.form_token(secret))
        new_cookie = () if self.secret else (_set_visit_cookie(secret),)
        return replace(self, visitor=visitor, secret=secret, cookie_changes=(*self.cookie_changes, *new_cookie))

    def set_flash(self, response: Response, message: Message) -> None:
        """Show a message on the next page, once."""
        if self.secret is not None:
            cookies.set_flash(self.request, response, self.secret, message)


async def authorized_visit(request: Request) -> Visit:
    """Return the visit; raise if the visitor may not do what the route is for."""
    visit = await any_visit(request)
    request.state.visit = visit  # an error page is rendered for the same visitor
    admit(request, visit.registry.context.actor)
    return visit


async def any_visit(request: Request) -> Visit:
    """Return the visit of any visitor, with or without permission to read."""
    authenticator: Authenticator = request.app.state.authenticator
    if _is_cached(request, authenticator):
        return _visit(request, authenticator)
    return await run_in_threadpool(_visit, request, authenticator)


def _is_cached(request: Request, authenticator: Authenticator) -> bool:
    has_session = cookies.has_cookie(request, cookies.SESSION)
    return not has_session and authenticator.cached_actor(_authorization(request)) is not None


def _authorization(request: Request) -> str | None:
    """Return a bearer token in the request; other schemes are meant for a proxy in front of this server."""
    authorization = request.headers.get("authorization")
    return authorization if authorization is not None and authorization.lower().startswith("bearer ") else None


def _visit(request: Request, authenticator: Authenticator) -> Visit:
    authorization = _authorization(request)
    sent_id = cookies.read_secret(request, cookies.SESSION) if authorization is None else None
    member = authenticator.sessions.actor(sent_id) if sent_id is not None else None
    has_ended = member is None and authorization is None and cookies.has_cookie(request, cookies.SESSION)
    actor = member or verify_credentials(request, authorization)
    session_id = sent_id if member is not None else None
    secret = session_id or cookies.read_secret(request, cookies.VISIT)
    cookie_changes: list[CookieChange] = [_delete_cookie(cookies.SESSION)] if has_ended else []
    can_act = actor.via != "anonymous"
    if can_act and secret is None:
        secret = cookies.new_secret()
        cookie_changes.append(_set_visit_cookie(secret))
    message = SESSION_ENDED if has_ended else None
    if secret and cookies.has_cookie(request, cookies.FLASH):
        message = cookies.read_flash(request, secret) or message
        cookie_changes.append(_delete_cookie(cookies.FLASH))
    visitor = Visitor(
        name=actor.name if can_act and actor.via != "local" else None,
        can_sign_in=not can_act,
        form_token=cookies.form_token(secret) if can_act and secret else None,
        actor=actor,
        message=message,
    )
    registry: Registry = request.app.state.registry
    return Visit(registry.acting_as(actor), visitor, request, secret, tuple(cookie_changes), session_id)


def _set_visit_cookie(secret: str) -> CookieChange:
    return lambda request, response: cookies.set_cookie(request, response, cookies.VISIT, secret)


def _delete_cookie(name: str) -> CookieChange:
    return lambda request, response: cookies.delete_cookie(request, response, name)


AuthorizedVisit = Annotated[Visit, Depends(authorized_visit)]
AnyVisit = Annotated[Visit, Depends(any_visit)]
