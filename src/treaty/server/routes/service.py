"""Health checks of the service."""

from __future__ import annotations

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from treaty.registry.access.permissions import Action
from treaty.server.routing import Routes

routes = Routes("service")


@routes.get("/healthz", Action.READ)
async def alive() -> dict[str, str]:
    """Liveness probe: the process is running. No credentials needed."""
    return {"status": "ok"}


@routes.get("/readyz", Action.READ)
async def ready(request: Request) -> dict[str, str]:
    """Readiness probe: the database answers. No credentials needed."""
    await run_in_threadpool(request.app.state.registry.context.database.ping)
    return {"status": "ok"}
