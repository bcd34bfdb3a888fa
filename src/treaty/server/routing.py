"""Routes that say what they are about: each names its action, and asks whether the caller may come that far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool

from treaty.registry.access.rules import Action
from treaty.registry.local import Registry
from treaty.server.authenticator import Authenticator, check_permission
from treaty.server.errors import API, DetailModel, ErrorModel

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

_RULE = "treaty_action"
_IN_WORDS = {
    400: "Not as things stand.",
    401: "Sign in first.",
    403: "Not allowed.",
    404: "Not there.",
    409: "Something stands against it.",
    413: "Too large.",
    415: "Neither JSON nor YAML.",
    422: "Malformed, or refused.",
    503: "Not now; nothing was acknowledged.",
}


class Routes:
    """The routes of one noun."""

    def __init__(self, tag: str, prefix: str = "") -> None:
        self.tag = tag
        self.router = APIRouter(prefix=prefix, tags=[tag])
        self._model = ErrorModel if prefix.startswith(API) else DetailModel

    def get(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare what is read at a path."""
        return self._route("GET", path, action, errors, options)

    def post(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare what is done at a path."""
        return self._route("POST", path, action, (*errors, 413, 415), options)

    def put(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare what is put at a path."""
        return self._route("PUT", path, action, (*errors, 413, 415), options)

    def delete(self, path: str, action: Action, errors: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
        """Declare what is taken away at a path."""
        return self._route("DELETE", path, action, errors, options)

    def _route(
        self, method: str, path: str, action: Action, errors: tuple[int, ...], options: dict[str, Any]
    ) -> Callable[[Endpoint], Endpoint]:
        known = sorted({401, 403, 413, 422, 503, *errors})
        responses: dict[int | str, dict[str, Any]] = {
            code: {"model": self._model, "description": _IN_WORDS[code]} for code in known
        }
        for code, declared in options.pop("responses", {}).items():
            responses[code] = {**responses.get(code, {}), **declared}

        def declare(endpoint: Endpoint) -> Endpoint:
            setattr(endpoint, _RULE, action)
            self.router.add_api_route(
                path, endpoint, methods=[method], responses=responses, operation_id=endpoint.__name__, **options
            )
            return endpoint

        return declare


def action_of(endpoint: object) -> Action | None:
    """Return the action a route names."""
    return getattr(endpoint, _RULE, None)


async def caller_registry(request: Request) -> Registry:
    """Return the registry in the name of whoever asks, if they may come this far."""
    doorman: Authenticator = request.app.state.doorman
    authorization = request.headers.get("authorization")
    actor = doorman.actor_for_sure(authorization)
    if actor is None:
        actor = await run_in_threadpool(doorman.actor, authorization)
    check_permission(actor, action_of(request.scope["endpoint"]))
    registry: Registry = request.app.state.registry
    return registry.acting_as(actor)


CallerRegistry = Annotated[Registry, Depends(caller_registry)]
