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
from treaty.server.openapi import error_responses, merge_responses
from treaty.server.rate_limits import Cost, RateLimiter
from treaty.server.request_models import IsoDatetime

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

Cursor = Annotated[str | None, Query(description="The `next` value of the previous page.", max_length=2_000)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE_SIZE, description="The maximum number of items.")]

_ACTION, _COST = "treaty_action", "treaty_cost"


class Routes:
    """The routes of one noun."""

    def __init__(self, tag: str, prefix: str = "") -> None:
        self.tag = tag
        self.router = APIRouter(prefix=prefix, tags=[tag])

    def get(
        self, path: str, action: Action, errors: tuple[int, ...] = (), cost: Cost = Cost.NORMAL, **options: Any
    ) -> Callable[..., Any]:
        """Declare a GET route."""
        return self._route("GET", path, action, cost, errors, options)

    def post(
        self, path: str, action: Action, errors: tuple[int, ...] = (), cost: Cost = Cost.NORMAL, **options: Any
    ) -> Callable[..., Any]:
        """Declare a POST route."""
        return self._route("POST", path, action, cost, (*errors, 408, 413, 415), options)

    def put(
        self, path: str, action: Action, errors: tuple[int, ...] = (), cost: Cost = Cost.NORMAL, **options: Any
    ) -> Callable[..., Any]:
        """Declare a PUT route."""
        return self._route("PUT", path, action, cost, (*errors, 408, 413, 415), options)

    def delete(
        self, path: str, action: Action, errors: tuple[int, ...] = (), cost: Cost = Cost.NORMAL, **options: Any
    ) -> Callable[..., Any]:
        """Declare a DELETE route."""
        return self._route("DELETE", path, action, cost, errors, options)

    def _route(
        self, method: str, path: str, action: Action, cost: Cost, errors: tuple[int, ...], options: dict[str, Any]
    ) -> Callable[[Endpoint], Endpoint]:
        responses = options.pop("responses", {})
        if options.get("include_in_schema", True):
            expected = error_responses({401, 403, 413, 422, 429, 503, *errors}, self.router.prefix)
            responses = merge_responses(expected, responses)

        def declare(endpoint: Endpoint) -> Endpoint:
            setattr(endpoint, _ACTION, action)
            setattr(endpoint, _COST, cost)
            self.router.add_api_route(
                path, endpoint, methods=[method], responses=responses, operation_id=endpoint.__name__, **options
            )
            return endpoint

        return declare


def action_of(endpoint: object) -> Action | None:
    """Return the action that a route declares."""
    return getattr(endpoint, _ACTION, None)


def cost_of(endpoint: object) -> Cost:
    """Return the cost class that a route declares."""
    cost: Cost = getattr(endpoint, _COST, Cost.NORMAL)
    return cost


def admit(request: Request, actor: Actor) -> None:
    """Raise if the actor may not do what the route is for, or sends too many expensive requests."""
    endpoint = request.scope["endpoint"]
    check_permission(actor, action_of(endpoint))
    limiter: RateLimiter = request.app.state.rate_limiter
    limiter.admit(request.scope, actor, cost_of(endpoint))


def verify_credentials(request: Request, authorization: str | None) -> Actor:
    """Return who sends the request; count invalid credentials, and refuse new ones after too many of them."""
    authenticator: Authenticator = request.app.state.authenticator
    if authorization is None or authenticator.unconfirmed_actor(authorization) is not None:
        return authenticator.actor(authorization)
    limiter: RateLimiter = request.app.state.rate_limiter
    with limiter.sign_in(request.scope):
        return authenticator.actor(authorization)


async def caller_registry(request: Request) -> Registry:
    """Return the registry acting as the caller; raise if the caller may not do what the route is for."""
    authenticator: Authenticator = request.app.state.authenticator
    authorization = request.headers.get("authorization")
    actor = authenticator.cached_actor(authorization)
    if actor is None:
        actor = await run_in_threadpool(verify_credentials, request, authorization)
    return _acting_as(request, actor)


async def writer_registry(request: Request) -> Registry:
    """Return what `caller_registry` does, for a single write: its transaction checks that the token is not revoked."""
    authenticator: Authenticator = request.app.state.authenticator
    actor = authenticator.unconfirmed_actor(request.headers.get("authorization"))
    return await caller_registry(request) if actor is None else _acting_as(request, actor)


def _acting_as(request: Request, actor: Actor) -> Registry:
    admit(request, actor)
    registry: Registry = request.app.state.registry_for(actor)
    return registry


CallerRegistry = Annotated[RegistryApi, Depends(caller_registry)]
Now = Annotated[
    IsoDatetime | None,
    Query(
        description="Show the state at this time, if nothing else happens until then. Nothing is changed or sent.",
        examples=["2027-03-31T00:00:00Z"],
    ),
]


def shown_registry(registry: CallerRegistry, now: Now = None) -> RegistryApi:
    """Return the registry of the caller as it is at the time that the request asks about."""
    return registry if now is None else registry.at(now)


ShownRegistry = Annotated[RegistryApi, Depends(shown_registry)]


def next_page_link(request: Request, cursor: str | None) -> dict[str, str]:
    """Return the Link header to the next page: relative, with the path escaped as the client sent it."""
    if cursor is None:
        return {}
    query = request.url.include_query_params(cursor=cursor).query
    return {"Link": f'<{request.scope["raw_path"].decode("ascii")}?{query}>; rel="next"'}
