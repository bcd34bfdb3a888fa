"""Declaring routes: the action and error responses of each, the registry of its caller, and pages of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request
from starlette.concurrency import run_in_threadpool

from treaty.registry.access.actors import Actor
from treaty.registry.access.permissions import Action
from treaty.registry.api import RegistryApi
from treaty.registry.model.page import MAX_PAGE_SIZE
from treaty.registry.service import Registry
from treaty.server.authenticator import Authenticator, check_permission
from treaty.server.openapi import error_responses

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

Cursor = Annotated[str | None, Query(description="The `next` value of the previous page.", max_length=2_000)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="The maximum number of items.")]

_ACTION = "treaty_action"


class Routes:
    """The routes of one noun."""

    def __init__(self, tag: str, prefix: str = "") -> None:
        self.tag = tag
        self.router = APIRouter(prefix=prefix, tags=[tag])

    def get(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare a GET route."""
        return self._route("GET", path, action, errors, options)

    def post(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare a POST route."""
        return self._route("POST", path, action, (*errors, 413, 415), options)

    def put(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare a PUT route."""
        return self._route("PUT", path, action, (*errors, 413, 415), options)

    def delete(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare a DELETE route."""
        return self._route("DELETE", path, action, errors, options)

    def _route(
        self, method: str, path: str, action: Action, errors: tuple[int, ...], options: dict[str, Any]
    ) -> Callable[[Endpoint], Endpoint]:
        responses = error_responses({401, 403, 413, 422, 503, *errors}, self.router.prefix)
        for status, declared in options.pop("responses", {}).items():
            default = responses.get(status, {})
            content = {**default.get("content", {}), **declared.get("content", {})}
            responses[status] = {**default, **declared, **({"content": content} if content else {})}

        def declare(endpoint: Endpoint) -> Endpoint:
            setattr(endpoint, _ACTION, action)
            self.router.add_api_route(
                path, endpoint, methods=[method], responses=responses, operation_id=endpoint.__name__, **options
            )
            return endpoint

        return declare


def action_of(endpoint: object) -> Action | None:
    """Return the action that a route declares."""
    return getattr(endpoint, _ACTION, None)


async def caller_registry(request: Request) -> Registry:
    """Return the registry acting as the caller; raise if the caller may not do what the route is for."""
    authenticator: Authenticator = request.app.state.authenticator
    authorization = request.headers.get("authorization")
    actor = authenticator.cached_actor(authorization)
    if actor is None:
        actor = await run_in_threadpool(authenticator.actor, authorization)
    return _acting_as(request, actor)


async def writer_registry(request: Request) -> Registry:
    """Return what `caller_registry` does, for a single write: its transaction checks that the token is not revoked."""
    authenticator: Authenticator = request.app.state.authenticator
    actor = authenticator.unconfirmed_actor(request.headers.get("authorization"))
    return await caller_registry(request) if actor is None else _acting_as(request, actor)


def _acting_as(request: Request, actor: Actor) -> Registry:
    check_permission(actor, action_of(request.scope["endpoint"]))
    registry: Registry = request.app.state.registry_for(actor)
    return registry


CallerRegistry = Annotated[RegistryApi, Depends(caller_registry)]


def next_page_link(request: Request, cursor: str | None) -> dict[str, str]:
    """Return the Link header to the next page, with the path escaped as the client sent it."""
    if cursor is None:
        return {}
    url = request.url.replace(path=request.scope["raw_path"].decode("ascii"))
    return {"Link": f'<{url.include_query_params(cursor=cursor)}>; rel="next"'}
