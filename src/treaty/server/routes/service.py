"""Health checks of the service."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import Request
from pydantic import BaseModel

from treaty.errors import Unavailable
from treaty.registry.access.permissions import Action
from treaty.server.routing import Routes

routes = Routes("service")
PROBE_TIMEOUT_S = 2.0


class ServiceStatus(BaseModel):
    """The state of the service."""

    status: Literal["ok"]


@routes.get("/healthz", Action.READ)
async def alive() -> ServiceStatus:
    """Liveness probe: the process is running. No credentials needed."""
    return ServiceStatus(status="ok")


@routes.get("/readyz", Action.READ)
async def ready(request: Request) -> ServiceStatus:
    """Readiness probe: the database can be written to. No credentials needed."""
    probe = asyncio.wrap_future(request.app.state.registry.context.database.probe_write())
    probe.add_done_callback(lambda done: done.exception())  # retrieved, or asyncio warns after a timeout
    finished, _ = await asyncio.wait({probe}, timeout=PROBE_TIMEOUT_S)
    if not finished:
        raise Unavailable(f"no write finished within {PROBE_TIMEOUT_S:g} seconds")
    probe.result()
    return ServiceStatus(status="ok")
