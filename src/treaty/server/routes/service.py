"""Health checks of the service."""

from __future__ import annotations

from typing import Literal

from fastapi import Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from treaty.registry.access.permissions import Action
from treaty.server.routing import Routes

routes = Routes("service")


class ServiceStatus(BaseModel):
    """The state of the service."""

    status: Literal["ok"]


@routes.get("/healthz", Action.READ)
async def alive() -> ServiceStatus:
    """Liveness probe: the process is running. No credentials needed."""
    return ServiceStatus(status="ok")


@routes.get("/readyz", Action.READ)
async def ready(request: Request) -> ServiceStatus:
    """Readiness probe: the database answers. No credentials needed."""
    await run_in_threadpool(request.app.state.registry.context.database.ping)
    return ServiceStatus(status="ok")
