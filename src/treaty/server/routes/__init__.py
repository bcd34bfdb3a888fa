"""The routes of the HTTP API, by noun."""

from treaty.server.routes import (
    access,
    activity,
    consumers,
    contracts,
    first_api,
    governance,
    measures,
    migrations,
    notices,
    service,
)
from treaty.server.routing import Routes

ROUTES: tuple[Routes, ...] = (
    first_api.routes,
    service.routes,
    contracts.routes,
    consumers.routes,
    governance.routes,
    migrations.routes,
    notices.routes,
    activity.routes,
    measures.routes,
    access.routes,
)
"""All API routes, in matching order."""
