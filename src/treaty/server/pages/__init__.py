"""The catalog's pages over HTTP."""

from treaty.server.pages import (
    actions,
    api_docs,
    catalog,
    dependency_map,
    drift,
    incidents,
    legacy_feeds,
    project_data,
    provider_sign_in,
    sign_in,
)
from treaty.server.routing import Routes

PAGES: tuple[Routes, ...] = (
    catalog.routes,
    dependency_map.routes,
    incidents.routes,
    drift.routes,
    legacy_feeds.routes,
    project_data.routes,
    actions.routes,
    sign_in.routes,
    provider_sign_in.routes,
    api_docs.routes,
)
"""All page routes, in matching order."""
