"""The service itself: whether it lives, and whether it can work."""

from __future__ import annotations

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from treaty.registry.access.permissions import Action
from treaty.server.routing import Routes

routes = Routes("service")


@routes.get("/healthz", Action.READ)
async def alive() -> dict[str, str]:
    """Say that the process lives; anybody may ask."""
    return {"status": "ok"}


@routes.get("/readyz", Action.READ)
async def ready(request: Request) -> dict[str, str]:
    """Say that the database answers, or 503; anybody may ask."""
    await run_in_threadpool(request.app.state.registry.desk.database.ping)
    return {"status": "ok"}
