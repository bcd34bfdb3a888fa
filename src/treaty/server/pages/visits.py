"""Who visits a page: signed in by a cookie, which pages take and the API never does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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

SESSION_ENDED = Message("warn", "Your session has ended. Sign in again to go on where you were.")
Parting = Callable[[Request, Response], None]


@dataclass(frozen=True)
class Visit:
    """The registry in the name of whoever visits, and what pages should know of them."""

    registry: Registry
    visitor: Visitor
    request: Request
    secret: str | None = None
    """What this visitor's forms are recognised by."""
    partings: tuple[Parting, ...] = field(default=())
    """What the answer's cookies change."""

    def sign(self, response: Response) -> None:
        """Let the answer carry what the next visit is known by."""
        for change in self.partings:
            change(self.request, response)

    def with_forms(self) -> Visit:
        """Return the visit such that its page may have a form, even for somebody who did not sign in."""
        if self.visitor.form_token is not None:
            return self
        secret = self.secret or sessions.new_secret()
        visitor = replace(self.visitor, form_token=sessions.form_token(secret))
        kept = () if self.secret else (_keeping(secret),)
        return replace(self, visitor=visitor, secret=secret, partings=(*self.partings, *kept))

    def say(self, response: Response, message: Message) -> None:
        """Let the next page say something, once."""
        if self.secret is not None:
            sessions.set_flash(self.request, response, self.secret, message)


async def authorized_visit(request: Request) -> Visit:
    """Return the visit of whoever asks, if they may come this far."""
    visit = await any_visit(request)
    request.state.visit = visit  # so that a page about a problem is drawn for the same visitor
    check_permission(visit.registry.desk.actor, action_of(request.scope["endpoint"]))
    return visit


async def any_visit(request: Request) -> Visit:
    """Return the visit of whoever asks, whether or not they may read anything."""
    authenticator: Authenticator = request.app.state.authenticator
    if _is_known(request, authenticator):
        return _visit(request, authenticator)
    return await run_in_threadpool(_visit, request, authenticator)


def _is_known(request: Request, authenticator: Authenticator) -> bool:
    has_session = sessions.has_cookie(request, sessions.SESSION)
    return not has_session and authenticator.cached_actor(_authorization(request)) is not None


def _authorization(request: Request) -> str | None:
    """Return a bearer token that came along; what a browser sends to a proxy before this server is not meant for it."""
    given = request.headers.get("authorization")
    return given if given is not None and given.lower().startswith("bearer ") else None


def _visit(request: Request, authenticator: Authenticator) -> Visit:
    authorization = _authorization(request)
    token = sessions.read_secret(request, sessions.SESSION) if authorization is None else None
    actor, ended = _actor(authenticator, authorization, token)
    ended = ended or (token is None and authorization is None and sessions.has_cookie(request, sessions.SESSION))
    signed_in = token is not None and not ended
    secret = token if signed_in else sessions.read_secret(request, sessions.VISIT)
    partings: list[Parting] = [_forgetting(sessions.SESSION)] if ended else []
    acts = actor.via != "anonymous"
    if acts and secret is None:
        secret = sessions.new_secret()
        partings.append(_keeping(secret))
    message = SESSION_ENDED if ended else None
    if secret and sessions.has_cookie(request, sessions.FLASH):
        message = sessions.read_flash(request, secret) or message
        partings.append(_forgetting(sessions.FLASH))
    visitor = Visitor(
        name=actor.name if acts and actor.via != "local" else None,
        can_sign_in=not acts,
        form_token=sessions.form_token(secret) if acts and secret else None,
        actor=actor,
        message=message,
    )
    registry: Registry = request.app.state.registry
    return Visit(registry.acting_as(actor), visitor, request, secret, tuple(partings))


def _actor(authenticator: Authenticator, authorization: str | None, token: str | None) -> tuple[Actor, bool]:
    """Return who asks, and whether they were somebody else before their session ended."""
    if token is None:
        return authenticator.actor(authorization), False
    try:
        return authenticator.actor(f"Bearer {token}"), False
    except NotAllowed:
        return authenticator.actor(None), True


def _keeping(secret: str) -> Parting:
    return lambda request, response: sessions.set_cookie(request, response, sessions.VISIT, secret)


def _forgetting(name: str) -> Parting:
    return lambda request, response: sessions.delete_cookie(request, response, name)


AuthorizedVisit = Annotated[Visit, Depends(authorized_visit)]
AnyVisit = Annotated[Visit, Depends(any_visit)]
