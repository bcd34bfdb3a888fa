"""The routes of the HTTP API, by noun."""

from treaty.server.routes import (
    access,
    activity,
    certificates,
    consumers,
    contracts,
    cutovers,
    data,
    dependency_map,
    drift,
    first_api,
    governance,
    incidents,
    lineage,
    measures,
    metrics,
    migrations,
    notices,
    parallel_runs,
    service,
)
from treaty.server.routing import Routes

ROUTES: tuple[Routes, ...] = (
    first_api.routes,
    data.routes,  # early, because they are asked often
    lineage.routes,  # early, because clients send many events: each router before it costs time
    service.routes,
    metrics.routes,
    contracts.routes,
    consumers.routes,
    dependency_map.routes,
    governance.routes,
    migrations.routes,
    notices.routes,
    activity.routes,
    measures.routes,
    incidents.routes,
    parallel_runs.routes,
    certificates.routes,
    cutovers.routes,
    drift.routes,
    access.routes,
    data.openapi_routes,
)
"""All API routes, in matching order."""
